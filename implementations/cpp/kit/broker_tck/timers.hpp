// A clock that moves when it is told to, and the timeouts that wait by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "rig.hpp"

namespace broker_tck {

class Timers;

// A timer that was armed.
class Timeout {
 public:
  Timeout(Timers& timers, std::int64_t deadline, std::function<void(Timeout&)> fired)
      : timers_(timers), deadline_(deadline), fired_(std::move(fired)) {}

  void cancel();  // disarms it; a firing that is on its way already may still arrive: see cancelled
  bool cancelled() const { return cancelled_; }
  std::int64_t deadline() const { return deadline_; }

 private:
  friend class Timers;
  Timers& timers_;
  std::int64_t deadline_;
  std::function<void(Timeout&)> fired_;
  bool cancelled_ = false;
};

// The clock and the timeouts of one trace. The unit is the contract's.
class Timers {
 public:
  explicit Timers(std::int64_t now) : now_(now) {}

  std::int64_t now() const { return now_; }

  std::shared_ptr<Timeout> arm(std::int64_t deadline, std::function<void(Timeout&)> fired) {
    return live_.emplace_back(std::make_shared<Timeout>(*this, deadline, std::move(fired)));
  }

  // Moves the clock. Timeouts fire on the way, each at its deadline; of several, the one that was armed first.
  void advance(std::int64_t by) {
    std::int64_t until = now_ + by;
    int at_once = 0;
    for (auto first = next(); first != live_.end() && (*first)->deadline_ <= until; first = next()) {
      std::shared_ptr<Timeout> timeout = *first;
      at_once = timeout->deadline_ > now_ ? 0 : at_once + 1;
      if (at_once > most_firings) throw Failure("RuntimeError", "the timer fires and fires, and time does not move");
      now_ = std::max(now_, timeout->deadline_);
      live_.erase(first);
      timeout->fired_(*timeout);
    }
    now_ = until;
  }

  // Has the timeout fire all the same that was cancelled last.
  void stale() {
    if (std::shared_ptr<Timeout> last = last_cancelled_) last->fired_(*last);
  }

  // Sets the clock. Timeouts wait by one that never jumps, so their deadlines move along.
  void jump(std::int64_t by) {
    now_ += by;
    for (auto& timeout : live_) timeout->deadline_ += std::min(by, INT64_MAX - timeout->deadline_);  // no time is later
  }

  // The deadlines, in ascending order.
  std::vector<std::int64_t> armed() const {
    std::vector<std::int64_t> deadlines;
    for (const auto& timeout : live_) deadlines.push_back(timeout->deadline_);
    std::sort(deadlines.begin(), deadlines.end());
    return deadlines;
  }

 private:
  friend class Timeout;
  static constexpr int most_firings = 10'000;

  std::int64_t now_;
  std::vector<std::shared_ptr<Timeout>> live_;  // in the order in which they were armed
  std::shared_ptr<Timeout> last_cancelled_;

  std::vector<std::shared_ptr<Timeout>>::iterator next() {
    return std::min_element(live_.begin(), live_.end(),
                            [](const auto& a, const auto& b) { return a->deadline_ < b->deadline_; });
  }
};

inline void Timeout::cancel() {
  auto& live = timers_.live_;
  auto found = std::find_if(live.begin(), live.end(), [this](const auto& each) { return each.get() == this; });
  cancelled_ = true;
  if (found != live.end()) {
    timers_.last_cancelled_ = *found;
    live.erase(found);
  }
}

}  // namespace broker_tck
