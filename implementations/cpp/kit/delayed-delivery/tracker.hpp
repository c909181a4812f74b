// A small tracker that conforms: put yours in its place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "broker_tck/delayed_delivery.hpp"

// Tracks delayed messages in a sorted set, each with the key of the bucket of time that it is in.
class Tracker final : public broker_tck::DelayedDeliveryTracker {
  using Position = broker_tck::Position;
  using Positions = broker_tck::Positions;
  using Timeout = broker_tck::Timeout;

 public:
  Tracker(const broker_tck::DelayedDeliveryConfig& config, broker_tck::Clock clock, broker_tck::Timer timer)
      : strict_(config.strict),
        lookahead_(config.lookahead),
        tick_(config.tick),
        clock_(std::move(clock)),
        timer_(std::move(timer)) {
    while (width_ <= tick_ / 2) width_ *= 2;
  }

  bool add_message(std::int64_t ledger, std::int64_t entry, std::int64_t at) override {
    if (at <= cutoff()) {
      is_fixed_ = false;
      return false;
    }
    held_.insert({key(at), {ledger, entry}});
    update_timer();
    is_fixed_ = is_fixed_ && at >= highest_ - tick_;
    highest_ = std::max(highest_, at);
    return true;
  }

  bool has_message_available() override {
    bool available = is_due();
    if (!available) update_timer();
    return available;
  }

  Positions get_scheduled_messages(std::int64_t most) override {
    Positions taken;
    for (; most > 0 && is_due(); --most) {
      taken.push_back(held_.begin()->second);
      held_.erase(held_.begin());
    }
    std::sort(taken.begin(), taken.end());
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());  // one that was due in two buckets comes once
    if (held_.empty()) {
      is_fixed_ = true;
      highest_ = 0;
    }
    update_timer();
    return taken;
  }

  bool should_pause_all_deliveries() override {
    bool enough = lookahead_ > 0 && number_of_delayed_messages() >= lookahead_;
    return enough && is_fixed_ && !has_message_available();
  }

  void reset_tick_time(std::int64_t tick) override { tick_ = tick; }
  std::int64_t number_of_delayed_messages() override { return static_cast<std::int64_t>(held_.size()); }
  std::int64_t buffer_memory_usage() override { return 24 * number_of_delayed_messages(); }
  void clear() override { held_.clear(); }
  void close() override { disarm(); }

 private:
  bool strict_;
  std::int64_t lookahead_, tick_, width_ = 1;  // the width of a bucket: the tick, rounded down to a power of two
  broker_tck::Clock clock_;
  broker_tck::Timer timer_;
  std::set<std::pair<std::int64_t, Position>> held_;
  std::int64_t highest_ = 0;
  bool is_fixed_ = true;
  std::shared_ptr<Timeout> timeout_;
  std::optional<std::int64_t> target_, last_run_;

  std::int64_t cutoff() const { return clock_() + (strict_ ? 0 : tick_); }

  // The key of a time's bucket: the bucket's first time, or with strict delivery its last one.
  std::int64_t key(std::int64_t at) const {
    if (!strict_) return at & -width_;
    return (std::min(at, INT64_MAX - width_ + 1) + width_ - 1) & -width_;
  }

  // Whether the first bucket is due.
  bool is_due() const { return !held_.empty() && held_.begin()->first + (strict_ ? 0 : width_ - 1) <= cutoff(); }

  void disarm() {
    if (timeout_) timeout_->cancel();
    timeout_.reset();
    target_.reset();
  }

  // Arms the timer for the first bucket, a tick after the last run at the earliest.
  void update_timer() {
    if (held_.empty()) return disarm();
    std::int64_t key = held_.begin()->first, now = clock_();
    std::int64_t wake = strict_ ? key : std::max(key, key + width_ - 1 - tick_);
    if (target_ == wake) return;
    disarm();
    if (last_run_ && *last_run_ > now) last_run_.reset();  // the clock was set back
    if (wake > now) {
      target_ = wake;
      std::int64_t at = last_run_ ? std::max(wake, *last_run_ + tick_) : wake;
      timeout_ = timer_(at, [this](Timeout& timeout) { return fired(timeout); });
    }
  }

  // What the timer calls. True asks for a read.
  bool fired(const Timeout& timeout) {
    if (timeout.cancelled()) return false;  // it was on its way already
    last_run_ = clock_();
    timeout_.reset();
    target_.reset();
    return true;
  }
};
