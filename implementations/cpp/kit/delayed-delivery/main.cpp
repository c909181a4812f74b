// Lets broker-tck check a delayed-delivery tracker.
#include "broker_tck/delayed_delivery.hpp"
#include "tracker.hpp"

int main() {
  broker_tck::Declaration declared;
  declared.profiles = {"timebucket-ideal"};
  declared.capabilities = {{"entry_id_bits", 63}};
  declared.software = "my tracker 0.1";
  return broker_tck::serve_delayed_delivery(declared, [](const auto& config, auto clock, auto timer) {
    return std::make_unique<Tracker>(config, std::move(clock), std::move(timer));
  });
}
