// Lets broker-tck check a tracker of negative acks.
#include "broker_tck/negative_acks.hpp"
#include "tracker.hpp"

int main() {
  broker_tck::Declaration declared;
  declared.profiles = {"pip-393-spec"};
  declared.capabilities = {{"precision_bits", 62}, {"threads", true}, {"chunk_ledgers", true}};
  declared.software = "my tracker 0.1";
  return broker_tck::serve_negative_acks(
      declared, [](const auto& config, const auto& clocks, auto timer, auto& consumer) {
        return std::make_unique<Tracker>(config, clocks, std::move(timer), consumer);
      });
}
