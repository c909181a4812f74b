// Contract negative-acks: a tracker of messages that a consumer could not process.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "timers.hpp"

namespace broker_tck {

constexpr std::int64_t nanoseconds_of_a_millisecond = 1'000'000;
constexpr std::size_t ids_of_a_request = 1'000;

struct NegativeAcksConfig {
  std::int64_t delay_us;                                // the delay of every nack without a backoff, in microseconds
  std::int64_t precision_bits;                          // how many low bits of an instant in milliseconds do not matter
  std::optional<std::vector<std::int64_t>> backoff_ms;  // a backoff: delays by redelivery count, the last for all above
  std::optional<std::vector<double>> multiplier;        // another: the first and the longest delay in ms, the factor

  explicit NegativeAcksConfig(const Json& config)
      : delay_us(config["delay_us"].integer()), precision_bits(config["precision_bits"].integer()) {
    if (const Json* delays = config.find("backoff_ms")) {
      backoff_ms.emplace();
      for (const Json& each : delays->array()) backoff_ms->push_back(each.integer());
    }
    if (const Json* numbers = config.find("multiplier")) {
      multiplier.emplace();
      for (const Json& each : numbers->array()) multiplier->push_back(each.number());
    }
  }

  // The delay of the backoff in milliseconds; none: there is no backoff.
  std::optional<std::int64_t> backoff(std::int64_t redelivery_count) const {
    if (backoff_ms) return (*backoff_ms)[std::min<std::size_t>(redelivery_count, backoff_ms->size() - 1)];
    if (!multiplier) return std::nullopt;
    double first = (*multiplier)[0], longest = (*multiplier)[1], factor = (*multiplier)[2];
    if (first == 0) return 0;
    double grown = first * std::pow(factor, static_cast<double>(redelivery_count));
    return static_cast<std::int64_t>(std::min(grown, longest));
  }
};

// The two clocks of a client. It has no other source of time.
struct Clocks {
  virtual ~Clocks() = default;
  virtual std::int64_t wall() const = 0;       // milliseconds since the epoch; they may jump, both ways
  virtual std::int64_t monotonic() const = 0;  // nanoseconds since some moment; they only go forward
};

// Arms a timeout for a time of the monotonic clock, and calls fired then, never inside of a call to the tracker.
using NackTimer = std::function<std::shared_ptr<Timeout>(std::int64_t deadline, std::function<void(Timeout&)> fired)>;

// What a tracker works for.
struct Consumer {
  virtual ~Consumer() = default;
  // The application's callback, with all ids of a firing. It may call the tracker.
  virtual void on_negative_acks_send(const Positions& ids) = 0;
  // Sends one request, of at most 1,000 ids. It may throw.
  virtual void redeliver_unacknowledged_messages(const Positions& ids) = 0;
};

// What an application nacks.
struct MessageId {
  Position position;
  std::int64_t batch_index = -1;  // -1: the message is not of a batch
  Positions chunks = {};          // the places of all its chunks, in ascending order; none: it is not in chunks
};

// Tracks messages that were nacked. Calls come one at a time. While the tracker calls its consumer back, other calls
// come: from the same thread, or from another one.
struct NegativeAcksTracker {
  virtual ~NegativeAcksTracker() = default;
  // Tracks a message by its id alone.
  virtual void add(const MessageId& id) = 0;
  // Tracks a message that was redelivered so often before.
  virtual void add_message(const MessageId& id, std::int64_t redelivery_count) = 0;
  // How many items are tracked.
  virtual std::int64_t nacked_messages_count() = 0;
  // Disarms the timer and lets go of everything.
  virtual void close() = 0;
};

using NegativeAcksFactory =
    std::function<std::unique_ptr<NegativeAcksTracker>(const NegativeAcksConfig&, const Clocks&, NackTimer, Consumer&)>;

inline Positions sorted(Positions ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

// What one call of the callback came to.
struct Emission {
  std::int64_t at;
  Positions ids;                 // sorted
  std::vector<Positions> made;   // the requests that followed, each sorted
  bool failed = false;           // whether one threw

  // The requests, as the protocol has them.
  std::string requests() const {
    Positions requested;
    std::vector<std::int64_t> sizes;
    bool fit = true;
    for (const Positions& request : made) {
      requested.insert(requested.end(), request.begin(), request.end());
      sizes.push_back(static_cast<std::int64_t>(request.size()));
      fit = fit && request.size() <= ids_of_a_request;
    }
    bool own = std::all_of(requested.begin(), requested.end(),
                           [&](const Position& p) { return std::binary_search(ids.begin(), ids.end(), p); });
    if (made.empty() || (failed && own && fit)) return "0";
    if (sorted(requested) != ids) return json(made);
    if (sizes.size() == 1) return "1";
    if (fit && sizes.size() == (ids.size() - 1) / ids_of_a_request + 1) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {  // it does not matter where the ids are cut: the full ones first
        sizes[i] = static_cast<std::int64_t>(std::min(ids_of_a_request, ids.size() - i * ids_of_a_request));
      }
    }
    return json(sizes);
  }
};

// A tracker as a Subject, and the consumer that it works for. If there are threads, the first call inside a callback
// comes from another thread. If that call waits for a mutex that the tracker holds, the kit ends the program after five
// seconds, which is a finding.
class NegativeAcks final : public Subject, Consumer, Clocks {
 public:
  NegativeAcks(const Json& config, bool threads, const NegativeAcksFactory& fresh)
      : timers_(config["clock"].integer() * nanoseconds_of_a_millisecond), elsewhere_(threads) {
    auto timer = [this](std::int64_t at, std::function<void(Timeout&)> fired) { return arm(at, std::move(fired)); };
    tracker_ = fresh(NegativeAcksConfig(config), *this, timer, *this);
  }

  std::string perform(const Operation& o) override {
    const std::string& name = o.name();
    if (name == "adv") return timers_.advance(o.integer(0) * nanoseconds_of_a_millisecond), told();
    if (name == "stale") return timers_.stale(), told();
    if (name == "nack") {
      tracker_->add_message({{o.integer(0), o.integer(1)}}, o.integer(2));
    } else if (name == "id") {
      tracker_->add({{o.integer(0), o.integer(1)}});
    } else if (name == "batch") {
      tracker_->add_message({{o.integer(0), o.integer(1)}, o.integer(2)}, o.integer(3));
    } else if (name == "chunked") {
      chunked({o.integer(0), o.integer(1)}, o.integer(2), o.integer(3), o.integer(4));
    } else if (name == "spread") {
      spread({o.integer(0), o.integer(1)}, o.integer(2), o.integer(3), o.integer(4), o.integer(5));
    } else if (name == "fill") {
      fill(o);
    } else if (name == "jump") {
      ahead_ += o.integer(0);
    } else if (name == "fail") {
      failing_ = true;
    } else if (name == "inside") {
      inside(o);
    } else if (name == "close") {
      tracker_->close();
    } else {
      throw Failure("UnknownOperation", name);
    }
    return "null";
  }

  std::string seen() override {
    std::vector<std::int64_t> armed = timers_.armed();
    for (std::int64_t& deadline : armed) deadline = in_ms(deadline);
    return json(tracker_->nacked_messages_count()) + "," + json(armed);
  }

  std::int64_t wall() const override { return timers_.now() / nanoseconds_of_a_millisecond + ahead_; }
  std::int64_t monotonic() const override { return timers_.now(); }

  void on_negative_acks_send(const Positions& ids) override {
    emissions_.push_back({in_ms(timers_.now()), sorted(ids), {}});
    for (const auto& call : std::exchange(inner_, {})) {
      if (std::exchange(elsewhere_, false)) {
        std::async(std::launch::async, call).get();
      } else {
        call();
      }
    }
  }

  void redeliver_unacknowledged_messages(const Positions& ids) override {
    if (std::exchange(failing_, false)) {
      emissions_.back().failed = true;
      throw RequestFailed();
    }
    emissions_.back().made.push_back(sorted(ids));
  }

 private:
  struct RequestFailed : Failure {
    RequestFailed() : Failure("RequestFailed", "the broker did not take it") {}
  };

  Timers timers_;
  std::int64_t ahead_ = 0;  // of the wall clock, in milliseconds
  bool failing_ = false;    // whether the next request throws
  bool elsewhere_;          // whether the next call inside a callback comes from another thread
  std::vector<std::function<void()>> inner_;
  std::vector<Emission> emissions_;
  std::unique_ptr<NegativeAcksTracker> tracker_;  // ends before the timers, whose timeouts it has

  // Arms a timeout. What a request throws ends where the timer fires.
  std::shared_ptr<Timeout> arm(std::int64_t at, std::function<void(Timeout&)> fired) {
    return timers_.arm(at, [fired = std::move(fired)](Timeout& timeout) {
      try {
        fired(timeout);
      } catch (const RequestFailed&) {
      }
    });
  }

  // A time in milliseconds, rounded up.
  static std::int64_t in_ms(std::int64_t nanoseconds) {
    return (nanoseconds + nanoseconds_of_a_millisecond - 1) / nanoseconds_of_a_millisecond;
  }

  // Nacks a message in chunks, the last of which is at a place. Each other one is apart lower than the next.
  void chunked(Position last, std::int64_t chunks, std::int64_t count, std::int64_t apart) {
    in_chunks(last, chunks, count, [&](std::int64_t back) { return Position(last.first, last.second - back * apart); });
  }

  // The same with the earlier chunks in other ledgers, two by two: of the same entry, and of one that is lower.
  void spread(Position last, std::int64_t chunks, std::int64_t count, std::int64_t apart, std::int64_t below) {
    in_chunks(last, chunks, count, [&](std::int64_t back) {
      return Position(last.first - (back + 1) / 2 * below, last.second - (back + 1) % 2 * apart);
    });
  }

  // Nacks a message in chunks. earlier returns the place of the chunk that is so many before the last.
  template <class Earlier>
  void in_chunks(Position last, std::int64_t chunks, std::int64_t count, Earlier earlier) {
    Positions places;
    for (std::int64_t back = chunks - 1; back > 0; --back) places.push_back(earlier(back));
    places.push_back(last);
    tracker_->add_message({last, -1, places}, count);
  }

  // Nacks many messages, of several ledgers in turn, with redelivery counts that rise and begin anew.
  void fill(const Operation& o) {
    std::int64_t step = o.integer(2), n = o.integer(3), ledgers = o.integer(5), rising = o.integer(6);
    std::int64_t turns = o.integer(7) ? o.integer(7) : n, chunks = o.integer(8);
    for (std::int64_t i = 0; i < n; ++i) {
      Position place{o.integer(0) + i % ledgers, o.integer(1) + i / ledgers * step};
      std::int64_t count = o.integer(4);
      if (rising) count = std::min<std::int64_t>(count + i % turns * rising, INT32_MAX);
      if (chunks > 1) {
        chunked(place, chunks, count, 1);
      } else {
        tracker_->add_message({place}, count);
      }
    }
  }

  void inside(const Operation& o) {
    if (o.text(0) == "close") {
      inner_.push_back([this] { tracker_->close(); });
    } else {
      Position place{o.integer(1), o.integer(2)};
      inner_.push_back([this, place, count = o.integer(3)] { tracker_->add_message({place}, count); });
    }
  }

  // What was emitted since it was last asked.
  std::string told() {
    std::vector<std::string> written;
    for (const Emission& each : std::exchange(emissions_, {})) {
      written.push_back(json_list({json(each.at), json(each.ids), each.requests()}));
    }
    return json_list(written);
  }
};

// Has broker-tck check trackers that fresh makes. Returns the exit status of the program.
inline int serve_negative_acks(const Declaration& declared, const NegativeAcksFactory& fresh) {
  return serve("negative-acks", declared, [&](const Json& config) {
    return std::make_unique<NegativeAcks>(config, declared.has("threads"), fresh);
  });
}

}  // namespace broker_tck
