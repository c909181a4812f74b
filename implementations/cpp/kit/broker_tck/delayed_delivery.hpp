// Contract delayed-delivery: a tracker of the delayed messages of one subscription.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "timers.hpp"

namespace broker_tck {

struct DelayedDeliveryConfig {
  std::int64_t tick;       // milliseconds, at least 1; reset_tick_time may change it later
  bool strict;             // whether a message must never be handed out before its time
  std::int64_t lookahead;  // how many messages of one fixed delay are held before reading pauses; 0: never
};

// The time now, in milliseconds since the epoch. A tracker has no other source of time.
using Clock = std::function<std::int64_t()>;

// Arms a timeout for an absolute time in milliseconds, and calls fired then, never inside of a call to the tracker.
// fired answers whether the dispatcher must read now. A time that has passed fires when the clock moves.
using Timer = std::function<std::shared_ptr<Timeout>(std::int64_t deadline, std::function<bool(Timeout&)> fired)>;

// Tracks delayed messages. Times are absolute, in milliseconds. Calls come one at a time.
struct DelayedDeliveryTracker {
  virtual ~DelayedDeliveryTracker() = default;
  // Tracks a message. False: it was not taken, the caller dispatches it now.
  virtual bool add_message(std::int64_t ledger, std::int64_t entry, std::int64_t deliver_at) = 0;
  // Whether a message may be handed out now.
  virtual bool has_message_available() = 0;
  // Hands out at most so many messages that are due, in the order of their positions.
  virtual Positions get_scheduled_messages(std::int64_t most) = 0;
  // Whether the dispatcher must stop reading, because all is delayed alike.
  virtual bool should_pause_all_deliveries() = 0;
  // Changes the tick time.
  virtual void reset_tick_time(std::int64_t tick) = 0;
  // How many messages are tracked.
  virtual std::int64_t number_of_delayed_messages() = 0;
  // Estimates the size of the index in bytes.
  virtual std::int64_t buffer_memory_usage() = 0;
  // Forgets every message.
  virtual void clear() = 0;
  // Disarms the timer and lets go of everything. It may be called again; no other call follows.
  virtual void close() = 0;
};

using DelayedDeliveryFactory =
    std::function<std::unique_ptr<DelayedDeliveryTracker>(const DelayedDeliveryConfig&, Clock, Timer)>;

// A tracker as a Subject.
class DelayedDelivery final : public Subject {
 public:
  DelayedDelivery(const Json& config, const DelayedDeliveryFactory& fresh) : timers_(config["clock"].integer()) {
    DelayedDeliveryConfig own{config["tick"].integer(), config["strict"].boolean(), config["lookahead"].integer()};
    auto timer = [this](std::int64_t deadline, std::function<bool(Timeout&)> fired) {
      return timers_.arm(deadline, [this, fired = std::move(fired)](Timeout& timeout) {
        if (fired(timeout)) asked_.push_back(timers_.now());
      });
    };
    tracker_ = fresh(own, [this] { return timers_.now(); }, timer);
  }

  std::string perform(const Operation& o) override {
    const std::string& name = o.name();
    asked_.clear();
    if (name == "add") return json(tracker_->add_message(o.integer(0), o.integer(1), o.integer(2)));
    if (name == "fill") return json(fill(o));
    if (name == "has") return json(tracker_->has_message_available());
    if (name == "get") return json(tracker_->get_scheduled_messages(o.integer(0)));
    if (name == "pause") return json(tracker_->should_pause_all_deliveries());
    if (name == "memory") return json(tracker_->buffer_memory_usage());
    if (name == "adv") return timers_.advance(o.integer(0)), json(asked_);
    if (name == "stale") return timers_.stale(), json(!asked_.empty());
    if (name == "tick") {
      tracker_->reset_tick_time(o.integer(0));
    } else if (name == "jump") {
      timers_.jump(o.integer(0));
    } else if (name == "clear") {
      tracker_->clear();
    } else if (name == "close") {
      tracker_->close();
    } else {
      throw Failure("UnknownOperation", name);
    }
    return "null";
  }

  std::string seen() override { return json(tracker_->number_of_delayed_messages()) + "," + json(timers_.armed()); }

 private:
  Timers timers_;
  std::vector<std::int64_t> asked_;                  // the times at which a firing asked for a read
  std::unique_ptr<DelayedDeliveryTracker> tracker_;  // ends before the timers, whose timeouts it has

  // Adds many messages. Returns how many of them were taken.
  std::int64_t fill(const Operation& o) {
    std::int64_t step = o.integer(2), apart = o.integer(5), taken = 0;
    for (std::int64_t i = 0; i < o.integer(3); ++i) {
      taken += tracker_->add_message(o.integer(0), o.integer(1) + i * step, o.integer(4) + i * apart);
    }
    return taken;
  }
};

// Has broker-tck check trackers that fresh makes. Returns the exit status of the program.
inline int serve_delayed_delivery(const Declaration& declared, const DelayedDeliveryFactory& fresh) {
  return serve("delayed-delivery", declared,
               [&](const Json& config) { return std::make_unique<DelayedDelivery>(config, fresh); });
}

}  // namespace broker_tck
