// A tracker of negative acks in C++, behind broker_tck.hpp: a map of buckets by the moment at which they are due.
#include "broker_tck.hpp"

#include <set>

using namespace broker_tck;

namespace {

class Tracker final : public NegativeAcksTracker {
 public:
  Tracker(const NegativeAcksConfig& config, const Clocks& clocks, NackTimer timer, Consumer& consumer)
      : config_(config), clocks_(clocks), timer_(std::move(timer)), consumer_(consumer) {}

  void add(const MessageId& id) override { add_message(id, 0); }

  void add_message(const MessageId& id, std::int64_t redelivery_count) override {
    if (is_closed_) return;
    std::int64_t wait = delay(redelivery_count);
    buckets_[key(clocks_.wall() + wait)][id.position] = id.chunks.empty() ? Positions{id.position} : id.chunks;
    arm(wait);
  }

  std::int64_t nacked_messages_count() override {
    std::int64_t count = 0;
    for (auto& [key, bucket] : buckets_) count += static_cast<std::int64_t>(bucket.size());
    return count;
  }

  void close() override {
    is_closed_ = true;
    buckets_.clear();
    disarm();
  }

 private:
  static constexpr std::size_t ids_of_a_request = 1'000;
  static constexpr std::int64_t nanoseconds_of_a_millisecond = 1'000'000;

  NegativeAcksConfig config_;
  const Clocks& clocks_;
  NackTimer timer_;
  Consumer& consumer_;
  std::map<std::int64_t, std::map<Position, Positions>> buckets_;  // of each entry what is emitted for it
  std::shared_ptr<Timeout> timeout_;
  bool is_closed_ = false;

  std::int64_t delay(std::int64_t redelivery_count) const {
    if (config_.backs_off()) return config_.backoff(redelivery_count);
    return std::max<std::int64_t>(config_.delay_us / 1000, 100);
  }

  // The bucket of an instant: its low bits are cleared.
  std::int64_t key(std::int64_t instant) const {
    if (config_.precision_bits > 62) return instant < 0 ? INT64_MIN : 0;
    return instant & -(std::int64_t{1} << config_.precision_bits);
  }

  // Has the timer fire after so long, unless it fires sooner.
  void arm(std::int64_t wait) {
    std::int64_t deadline = clocks_.monotonic() + wait * nanoseconds_of_a_millisecond;
    if (timeout_ && timeout_->deadline <= deadline) return;
    disarm();
    timeout_ = timer_(deadline, [this](Timeout& timeout) { fired(timeout); });
  }

  void disarm() {
    if (timeout_) timeout_->cancel();
    timeout_.reset();
  }

  // Takes the buckets that are due, arms for the next one, and only then calls.
  void fired(const Timeout& timeout) {
    if (timeout.cancelled()) return;
    timeout_.reset();
    std::int64_t now = clocks_.wall();
    std::set<Position> due;
    for (auto bucket = buckets_.begin(); bucket != buckets_.end() && bucket->first <= now; bucket = buckets_.erase(bucket)) {
      for (auto& [position, emitted] : bucket->second) due.insert(emitted.begin(), emitted.end());
    }
    if (!buckets_.empty()) arm(buckets_.begin()->first - now);
    Positions ids(due.begin(), due.end());
    if (!ids.empty()) consumer_.on_negative_acks_send(ids);
    for (std::size_t from = 0; from < ids.size(); from += ids_of_a_request) {
      std::size_t to = std::min(from + ids_of_a_request, ids.size());
      consumer_.redeliver_unacknowledged_messages(Positions(ids.begin() + static_cast<std::ptrdiff_t>(from), ids.begin() + static_cast<std::ptrdiff_t>(to)));
    }
  }
};

}  // namespace

int main() {
  Declaration declared;
  declared.software = "negative_acks.cpp 1";
  declared.profiles = {"pip-393-spec"};
  declared.numbers["precision_bits"] = 62;
  declared.capabilities["threads"] = true;
  declared.capabilities["chunk_ledgers"] = true;
  return serve_negative_acks(declared, [](const NegativeAcksConfig& config, const Clocks& clocks, NackTimer timer, Consumer& consumer) {
    return std::make_unique<Tracker>(config, clocks, std::move(timer), consumer);
  });
}
