// A small tracker that conforms: put yours in its place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "broker_tck/negative_acks.hpp"

// Tracks messages in a sorted map, by the key of the bucket in which they become due.
class Tracker final : public broker_tck::NegativeAcksTracker {
  using Position = broker_tck::Position;
  using Positions = broker_tck::Positions;
  using MessageId = broker_tck::MessageId;
  using Timeout = broker_tck::Timeout;

 public:
  Tracker(const broker_tck::NegativeAcksConfig& config, const broker_tck::Clocks& clocks, broker_tck::NackTimer timer,
          broker_tck::Consumer& consumer)
      : config_(config), clocks_(clocks), timer_(std::move(timer)), consumer_(consumer) {}

  void add(const MessageId& id) override { add_message(id, 0); }

  void add_message(const MessageId& id, std::int64_t redelivery_count) override {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;
    std::int64_t wait = delay(redelivery_count);
    Positions& chunks = held_[{key(clocks_.wall() + wait), id.position}];
    if (!id.chunks.empty()) chunks = id.chunks;
    arm(wait);
  }

  std::int64_t nacked_messages_count() override {
    std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(held_.size());
  }

  void close() override {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    held_.clear();
    disarm();
  }

 private:
  static constexpr std::int64_t nanoseconds_of_a_millisecond = 1'000'000, shortest_delay = 100;
  static constexpr std::ptrdiff_t ids_of_a_request = 1'000;

  broker_tck::NegativeAcksConfig config_;
  const broker_tck::Clocks& clocks_;
  broker_tck::NackTimer timer_;
  broker_tck::Consumer& consumer_;
  std::mutex mutex_;  // never held while the consumer is called, which may call back
  std::map<std::pair<std::int64_t, Position>, Positions> held_;  // the chunks of each message; none: it has no chunks
  std::shared_ptr<Timeout> timeout_;
  bool is_closed_ = false;

  std::int64_t delay(std::int64_t redelivery_count) const {
    return config_.backoff(redelivery_count).value_or(std::max(config_.delay_us / 1000, shortest_delay));
  }

  // The key of an instant's bucket: the instant with its low bits cleared.
  std::int64_t key(std::int64_t instant) const { return instant & -(std::int64_t{1} << config_.precision_bits); }

  // Has the timer fire after so many milliseconds, unless it fires sooner.
  void arm(std::int64_t wait) {
    std::int64_t deadline = clocks_.monotonic() + wait * nanoseconds_of_a_millisecond;
    if (timeout_ && timeout_->deadline() <= deadline) return;
    disarm();
    timeout_ = timer_(deadline, [this](Timeout& timeout) { fired(timeout); });
  }

  void disarm() {
    if (timeout_) timeout_->cancel();
    timeout_.reset();
  }

  // What the timer calls.
  void fired(const Timeout& timeout) {
    Positions ids = take(timeout);
    if (!ids.empty()) consumer_.on_negative_acks_send(ids);
    for (auto from = ids.begin(); from != ids.end();) {
      auto to = from + std::min(ids_of_a_request, ids.end() - from);
      consumer_.redeliver_unacknowledged_messages(Positions(from, to));
      from = to;
    }
  }

  // Removes what is due, and arms the timer for the rest. Returns each id once, those of chunks as well.
  Positions take(const Timeout& timeout) {
    std::lock_guard lock(mutex_);
    if (timeout.cancelled()) return {};  // it was on its way already
    timeout_.reset();
    std::int64_t now = clocks_.wall();
    Positions due;
    auto first = held_.begin();
    for (; first != held_.end() && first->first.first <= now; first = held_.erase(first)) {
      const auto& [held, chunks] = *first;
      due.push_back(held.second);
      due.insert(due.end(), chunks.begin(), chunks.end());
    }
    if (!held_.empty()) arm(first->first.first - now);
    std::sort(due.begin(), due.end());
    due.erase(std::unique(due.begin(), due.end()), due.end());
    return due;
  }
};
