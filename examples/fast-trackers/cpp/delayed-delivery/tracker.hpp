// A tracker that is written for speed. It keeps a bitmap of entries for each ledger of each bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "broker_tck/delayed_delivery.hpp"
#include "entries.hpp"

// Tracks delayed messages in buckets of time.
class Tracker final : public broker_tck::DelayedDeliveryTracker {
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
    count_ += buckets_[key(at)][ledger].add(entry);
    update_timer();
    is_fixed_ = is_fixed_ && at >= highest_ - tick_;
    highest_ = std::max(highest_, at);
    return true;
  }

  bool has_message_available() override {
    bool available = is_due(buckets_.begin());
    if (!available) update_timer();
    return available;
  }

  Positions get_scheduled_messages(std::int64_t most) override {
    Positions taken;
    for (auto bucket = buckets_.begin(); most > 0 && is_due(bucket); bucket = buckets_.begin()) {
      auto& ledgers = bucket->second;
      while (most > 0 && !ledgers.empty()) {
        auto& [ledger, entries] = *ledgers.begin();
        std::int64_t count = entries.take(ledger, most, taken);
        most -= count;
        count_ -= count;
        if (entries.empty()) ledgers.erase(ledgers.begin());
      }
      if (ledgers.empty()) buckets_.erase(bucket);
    }
    std::sort(taken.begin(), taken.end());
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());  // one that was due in two buckets comes once
    if (buckets_.empty()) {
      is_fixed_ = true;
      highest_ = 0;
    }
    update_timer();
    return taken;
  }

  bool should_pause_all_deliveries() override {
    return lookahead_ > 0 && count_ >= lookahead_ && is_fixed_ && !has_message_available();
  }

  void reset_tick_time(std::int64_t tick) override { tick_ = tick; }
  std::int64_t number_of_delayed_messages() override { return count_; }

  std::int64_t buffer_memory_usage() override {
    std::int64_t bytes = 0;
    for (const auto& [key, ledgers] : buckets_) {
      for (const auto& [ledger, entries] : ledgers) bytes += entries.bytes();
    }
    return bytes;
  }

  void clear() override {
    buckets_.clear();
    count_ = 0;
  }

  void close() override { disarm(); }

 private:
  using Buckets = std::map<std::int64_t, std::map<std::int64_t, Entries>>;

  bool strict_;
  std::int64_t lookahead_, tick_, width_ = 1;  // the width of a bucket: the tick, rounded down to a power of two
  broker_tck::Clock clock_;
  broker_tck::Timer timer_;
  Buckets buckets_;
  std::int64_t count_ = 0, highest_ = 0;
  bool is_fixed_ = true;
  std::shared_ptr<Timeout> timeout_;
  std::optional<std::int64_t> target_, last_run_;

  std::int64_t cutoff() const { return clock_() + (strict_ ? 0 : tick_); }

  // The key of a time's bucket: the bucket's first time, or with strict delivery its last one.
  std::int64_t key(std::int64_t at) const {
    if (!strict_) return at & -width_;
    return (std::min(at, INT64_MAX - width_ + 1) + width_ - 1) & -width_;
  }

  bool is_due(Buckets::const_iterator bucket) const {
    return bucket != buckets_.end() && bucket->first + (strict_ ? 0 : width_ - 1) <= cutoff();
  }

  void disarm() {
    if (timeout_) timeout_->cancel();
    timeout_.reset();
    target_.reset();
  }

  // Arms the timer for the first bucket, a tick after the last run at the earliest.
  void update_timer() {
    if (buckets_.empty()) return disarm();
    std::int64_t key = buckets_.begin()->first, now = clock_();
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
