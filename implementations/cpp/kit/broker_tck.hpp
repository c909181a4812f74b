// broker_tck.hpp: lets broker-tck check an implementation that is written in C++ (17 or later).
//
// A program calls serve_delayed_delivery or serve_negative_acks in its main function, with a function that makes its
// implementation. The header speaks the protocol of broker-tck on standard input and output, and has the clock, the
// timers, and whatever else the implementation is given. Write what you print to standard error: standard output
// belongs to the protocol.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace broker_tck {

using Position = std::pair<std::int64_t, std::int64_t>;  // of a message: its ledger id and its entry id
using Positions = std::vector<Position>;

// What an operation ends with that fails, by the name that rules know it by. Any other exception is told by the name
// "exception".
struct Failure : std::runtime_error {
  std::string name;
  explicit Failure(std::string name, const std::string& message = "")
      : std::runtime_error(message), name(std::move(name)) {}
};

// ---- JSON, as much of it as the protocol has

// What was read: null, true, false and objects' values are told apart by their kind.
struct Json {
  enum Kind { nothing, yes, no, whole, fraction, text, array, object } kind = nothing;
  std::int64_t integer = 0;
  double real = 0;
  std::string word;
  std::vector<Json> items;            // of an array
  std::map<std::string, Json> names;  // of an object

  double number() const { return kind == fraction ? real : static_cast<double>(integer); }
  const Json& operator[](std::size_t i) const { return items.at(i); }
  const Json& operator[](const std::string& name) const { return names.at(name); }
  bool has(const std::string& name) const { return names.count(name) && names.at(name).kind != nothing; }
};

// Reads one line.
class Reader {
 public:
  explicit Reader(const std::string& line) : at_(line.c_str()) {}

  Json value() {
    Json read;
    switch (next()) {
      case '[':
        read.kind = Json::array;
        for (open('['); !closed(']');) read.items.push_back(value());
        break;
      case '{':
        read.kind = Json::object;
        for (open('{'); !closed('}');) {
          std::string name = string();
          open(':');
          read.names[name] = value();
        }
        break;
      case '"':
        read.kind = Json::text;
        read.word = string();
        break;
      case 't':
        read.kind = Json::yes;
        at_ += 4;
        break;
      case 'f':
        read.kind = Json::no;
        at_ += 5;
        break;
      case 'n':
        at_ += 4;
        break;
      default:
        number(read);
    }
    return read;
  }

 private:
  const char* at_;

  char next() {
    while (*at_ == ' ' || *at_ == ',' || *at_ == '\n' || *at_ == '\r') ++at_;
    return *at_;
  }

  void open(char mark) {
    if (next() != mark) throw std::runtime_error(std::string("expected ") + mark + " before " + at_);
    ++at_;
  }

  bool closed(char mark) {
    bool is_closed = next() == mark;
    at_ += is_closed;
    if (!is_closed && *at_ == 0) throw std::runtime_error("the line ends too early");
    return is_closed;
  }

  std::string string() {
    std::string read;
    for (open('"'); *at_ && *at_ != '"'; ++at_) {
      if (*at_ == '\\' && *++at_ == 'u') {
        append(read, std::strtol(std::string(at_ + 1, 4).c_str(), nullptr, 16));
        at_ += 4;
      } else {
        read += *at_;
      }
    }
    open('"');
    return read;
  }

  static void append(std::string& to, long letter) {  // in UTF-8; the protocol has no letters above U+FFFF
    if (letter < 0x80) {
      to += static_cast<char>(letter);
    } else if (letter < 0x800) {
      to += {static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))};
    } else {
      to += {static_cast<char>(0xE0 | letter >> 12), static_cast<char>(0x80 | (letter >> 6 & 0x3F)),
             static_cast<char>(0x80 | (letter & 0x3F))};
    }
  }

  void number(Json& read) {
    char *end, *end_of_real;
    read.kind = Json::whole;
    read.integer = std::strtoll(at_, &end, 10);
    read.real = std::strtod(at_, &end_of_real);
    if (end_of_real > end) read.kind = Json::fraction;
    if (end_of_real == at_) throw std::runtime_error(std::string("no JSON: ") + at_);
    at_ = std::max<const char*>(end, end_of_real);
  }
};

inline std::string json(bool value) { return value ? "true" : "false"; }
inline std::string json(std::int64_t value) { return std::to_string(value); }
inline std::string json(const char* value);
inline std::string json(const std::string& value) {
  std::string written = "\"";
  for (char letter : value) {
    if (letter == '"' || letter == '\\') written += '\\';
    written += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return written + '"';
}
inline std::string json(const char* value) { return json(std::string(value)); }
inline std::string json(const Position& p) { return "[" + json(p.first) + "," + json(p.second) + "]"; }
template <class T>
std::string json(const std::vector<T>& values) {
  std::string written = "[";
  for (const T& value : values) written += (written.size() > 1 ? "," : "") + json(value);
  return written + "]";
}
inline std::string json_list(const std::vector<std::string>& written) {  // of values that are JSON already
  std::string list = "[";
  for (const std::string& each : written) list += (list.size() > 1 ? "," : "") + each;
  return list + "]";
}
const std::string null = "null";

// ---- The conversation

// What a program says of its implementation before it is asked anything.
struct Declaration {
  std::vector<std::string> profiles;                // what it is checked against; none: the specification
  std::map<std::string, std::int64_t> numbers;      // capabilities that are numbers
  std::map<std::string, bool> capabilities;         // the others: what it lacks or has besides
  std::string software;                             // its name and version

  std::string written(const std::string& contract) const {
    std::string able;
    for (auto& [name, value] : numbers) able += (able.empty() ? "" : ",") + json(name) + ":" + json(value);
    for (auto& [name, value] : capabilities) able += (able.empty() ? "" : ",") + json(name) + ":" + json(value);
    return "{\"protocol\":1,\"contract\":" + json(contract) + (profiles.empty() ? "" : ",\"profiles\":" + json(profiles)) +
           ",\"capabilities\":{" + able + "},\"levels\":[\"operations\",\"traces\"],\"software\":" + json(software) + "}";
  }
};

// Does the operations of one trace. Results and observables are JSON.
struct Subject {
  virtual ~Subject() = default;
  virtual std::string perform(const std::string& name, const std::vector<Json>& fields) = 0;
  virtual std::string seen() = 0;  // all observables, in the contract's order, with commas between
};

// What f returns; the failure that it ends with, as JSON.
inline std::string attempt(const std::function<std::string()>& f, bool& failed) {
  auto told = [&](const std::string& name, const char* message) {
    failed = true;
    return "{\"error\":" + json(name) + ",\"message\":" + json(message) + "}";
  };
  try {
    return f();
  } catch (const Failure& error) {
    return told(error.name, error.what());
  } catch (const std::exception& error) {
    return told("exception", error.what());
  }
}

// The answer to an operation: its result, then the observables. If these cannot be told, the error is the result.
inline std::string answer(Subject* subject, const std::string& unmade, const Json& operation) {
  if (!subject) return "[" + unmade + ",null,null]";
  std::vector<Json> fields(operation.items.begin() + 1, operation.items.end());
  bool failed = false, unseen = false;
  std::string result = attempt([&] { return subject->perform(operation[0].word, fields); }, failed);
  std::string seen = attempt([&] { return subject->seen(); }, unseen);
  return unseen ? "[" + seen + ",null,null]" : "[" + result + "," + seen + "]";
}

// Speaks the protocol until standard input ends, with a new subject for each trace. The exit status.
inline int serve(const std::string& contract, const Declaration& declared,
                 const std::function<std::unique_ptr<Subject>(const Json& config)>& fresh) {
  std::ios::sync_with_stdio(false);
  std::cout << declared.written(contract) << std::endl;
  std::string line, unmade = null;
  std::getline(std::cin, line);
  if (Json reply = Reader(line).value(); reply.has("error")) {
    std::cerr << reply["error"].word << std::endl;
    return 1;
  }
  std::unique_ptr<Subject> subject;
  while (std::getline(std::cin, line)) {
    Json message = Reader(line).value();
    if (message.kind == Json::object) {
      bool failed = false;
      subject.reset();  // the last one ends before the next begins
      unmade = attempt([&] { subject = fresh(message["config"]); return null; }, failed);
    } else {
      std::cout << answer(subject.get(), unmade, message) << std::endl;
    }
  }
  return 0;
}

// ---- Clock and timer

class Timers;

// A timer that was armed.
class Timeout {
 public:
  Timeout(Timers* timers, std::int64_t deadline) : timers_(timers), deadline(deadline) {}
  void cancel();  // disarms it; a firing that is on its way already may still arrive: see cancelled
  bool cancelled() const { return cancelled_; }

 private:
  friend class Timers;
  Timers* timers_;
  bool cancelled_ = false;
  std::function<void()> fire_;

 public:
  std::int64_t deadline;
};

// A clock that moves when it is told to, and the timeouts that wait by it. The unit is the contract's.
class Timers {
 public:
  explicit Timers(std::int64_t now) : now(now) {}

  std::int64_t now;

  std::shared_ptr<Timeout> arm(std::int64_t deadline, std::function<void(Timeout&)> fired) {
    auto timeout = std::make_shared<Timeout>(this, deadline);
    timeout->fire_ = [fired = std::move(fired), bare = timeout.get()] { fired(*bare); };
    live_.push_back(timeout);
    return timeout;
  }

  // Moves the clock. Timeouts fire on the way, each at its deadline; of several, the one that was armed first.
  void advance(std::int64_t by) {
    std::int64_t until = now + by;
    int at_once = 0;
    while (!live_.empty()) {
      auto first = std::min_element(live_.begin(), live_.end(), [](auto& a, auto& b) { return a->deadline < b->deadline; });
      std::shared_ptr<Timeout> timeout = *first;
      if (timeout->deadline > until) break;
      at_once = timeout->deadline > now ? 0 : at_once + 1;
      if (at_once > most_firings) throw Failure("RuntimeError", "the timer fires and fires, and time does not move");
      now = std::max(now, timeout->deadline);
      live_.erase(first);
      timeout->fire_();
    }
    now = until;
  }

  // Has the timeout fire all the same that was cancelled last.
  void stale() {
    if (std::shared_ptr<Timeout> last = last_cancelled_) last->fire_();
  }

  // Moves the deadlines along with a clock that is set.
  void jump(std::int64_t by) {
    now += by;
    for (auto& timeout : live_) timeout->deadline += by;
  }

  std::vector<std::int64_t> armed() const {
    std::vector<std::int64_t> deadlines;
    for (auto& timeout : live_) deadlines.push_back(timeout->deadline);
    std::sort(deadlines.begin(), deadlines.end());
    return deadlines;
  }

 private:
  friend class Timeout;
  static constexpr int most_firings = 10'000;
  std::vector<std::shared_ptr<Timeout>> live_;  // in the order in which they were armed
  std::shared_ptr<Timeout> last_cancelled_;
};

inline void Timeout::cancel() {
  auto& live = timers_->live_;
  auto found = std::find_if(live.begin(), live.end(), [this](auto& each) { return each.get() == this; });
  cancelled_ = true;
  if (found != live.end()) {
    timers_->last_cancelled_ = *found;
    live.erase(found);
  }
}

// ---- Contract delayed-delivery

struct DelayedDeliveryConfig {
  std::int64_t tick;       // milliseconds, at least 1; reset_tick_time may change it later
  bool strict;             // whether a message must never be handed out before its time
  std::int64_t lookahead;  // how many messages of one fixed delay are held before reading pauses; 0: never
};

// The time now, in milliseconds since the epoch. A tracker has no other source of time.
using Clock = std::function<std::int64_t()>;

// Arms a timeout for an absolute time in milliseconds, and calls fired then, never inside of a call to the tracker.
// fired answers whether the dispatcher must read now. A time that has passed fires when the clock moves.
using Timer =
    std::function<std::shared_ptr<Timeout>(std::int64_t deadline, std::function<bool(Timeout&)> fired)>;

// Tracks the delayed messages of one subscription. Times are absolute, in milliseconds. Calls come one at a time.
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
  virtual void reset_tick_time(std::int64_t tick) = 0;
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

class DelayedDelivery final : public Subject {
 public:
  DelayedDelivery(const Json& config, const DelayedDeliveryFactory& fresh) : timers_(config["clock"].integer) {
    DelayedDeliveryConfig own{config["tick"].integer, config["strict"].kind == Json::yes, config["lookahead"].integer};
    tracker_ = fresh(own, [this] { return timers_.now; }, [this](std::int64_t deadline, std::function<bool(Timeout&)> fired) {
      return timers_.arm(deadline, [this, fired = std::move(fired)](Timeout& timeout) {
        if (fired(timeout)) asked_.push_back(timers_.now);
      });
    });
  }

  std::string perform(const std::string& name, const std::vector<Json>& f) override {
    asked_.clear();
    if (name == "add") return json(tracker_->add_message(f[0].integer, f[1].integer, f[2].integer));
    if (name == "fill") return fill(f);
    if (name == "has") return json(tracker_->has_message_available());
    if (name == "get") return json(tracker_->get_scheduled_messages(f[0].integer));
    if (name == "pause") return json(tracker_->should_pause_all_deliveries());
    if (name == "memory") return json(tracker_->buffer_memory_usage());
    if (name == "adv") return timers_.advance(f[0].integer), json(asked_);
    if (name == "stale") return timers_.stale(), json(!asked_.empty());
    if (name == "tick") {
      tracker_->reset_tick_time(f[0].integer);
    } else if (name == "jump") {
      timers_.jump(f[0].integer);
    } else if (name == "clear") {
      tracker_->clear();
    } else if (name == "close") {
      tracker_->close();
    } else {
      throw Failure("UnknownOperation", name);
    }
    return null;
  }

  std::string seen() override { return json(tracker_->number_of_delayed_messages()) + "," + json(timers_.armed()); }

 private:
  Timers timers_;
  std::vector<std::int64_t> asked_;  // the times at which a firing asked for a read
  std::unique_ptr<DelayedDeliveryTracker> tracker_;

  std::string fill(const std::vector<Json>& f) {
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < f[3].integer; ++i) {
      taken += tracker_->add_message(f[0].integer, f[1].integer + i * f[2].integer, f[4].integer + i * f[5].integer);
    }
    return json(taken);
  }
};

// Has broker-tck check trackers that fresh makes. The exit status of the program.
inline int serve_delayed_delivery(const Declaration& declared, const DelayedDeliveryFactory& fresh) {
  return serve("delayed-delivery", declared,
               [&](const Json& config) { return std::make_unique<DelayedDelivery>(config, fresh); });
}

// ---- Contract negative-acks

struct NegativeAcksConfig {
  std::int64_t delay_us;                                 // the delay of every nack without a backoff, in microseconds
  std::int64_t precision_bits;                           // how many low bits of an instant in milliseconds do not matter
  std::optional<std::vector<std::int64_t>> backoff_ms;   // a backoff: the delay by redelivery count, the last for all above
  std::optional<std::vector<double>> multiplier;         // another: the first and the longest delay in ms, and the factor

  bool backs_off() const { return backoff_ms || multiplier; }

  // The delay of the backoff in milliseconds.
  std::int64_t backoff(std::int64_t redelivery_count) const {
    if (backoff_ms) return (*backoff_ms)[std::min<std::size_t>(redelivery_count, backoff_ms->size() - 1)];
    double first = (*multiplier)[0], longest = (*multiplier)[1], factor = (*multiplier)[2];
    if (first == 0) return 0;
    return static_cast<std::int64_t>(std::min(first * std::pow(factor, static_cast<double>(redelivery_count)), longest));
  }
};

// The two clocks of a client. It has no other source of time.
struct Clocks {
  virtual ~Clocks() = default;
  virtual std::int64_t wall() const = 0;       // milliseconds since the epoch; they may jump, both ways
  virtual std::int64_t monotonic() const = 0;  // nanoseconds since some moment; they only go forward
};

// Arms a timeout for a time of the monotonic clock, and calls fired then, never inside of a call to the tracker.
using NackTimer =
    std::function<std::shared_ptr<Timeout>(std::int64_t deadline, std::function<void(Timeout&)> fired)>;

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
  Positions chunks;               // the places of all its chunks, in ascending order; none: it is not in chunks
};

// Tracks messages that were nacked. While it calls its consumer back, other calls may come.
struct NegativeAcksTracker {
  virtual ~NegativeAcksTracker() = default;
  virtual void add(const MessageId& id) = 0;
  virtual void add_message(const MessageId& id, std::int64_t redelivery_count) = 0;
  virtual std::int64_t nacked_messages_count() = 0;
  virtual void close() = 0;
};

using NegativeAcksFactory = std::function<std::unique_ptr<NegativeAcksTracker>(
    const NegativeAcksConfig&, const Clocks&, NackTimer, Consumer&)>;

class NegativeAcks final : public Subject, Consumer, Clocks {
 public:
  NegativeAcks(const Json& config, bool threads, const NegativeAcksFactory& fresh)
      : timers_(config["clock"].integer * millisecond), elsewhere_(threads) {
    NegativeAcksConfig own{config["delay_us"].integer, config["precision_bits"].integer, {}, {}};
    if (config.has("backoff_ms")) {
      own.backoff_ms.emplace();
      for (const Json& each : config["backoff_ms"].items) own.backoff_ms->push_back(each.integer);
    }
    if (config.has("multiplier")) {
      own.multiplier.emplace();
      for (const Json& each : config["multiplier"].items) own.multiplier->push_back(each.number());
    }
    tracker_ = fresh(own, *this,
                     [this](std::int64_t at, std::function<void(Timeout&)> fired) { return arm(at, std::move(fired)); }, *this);
  }

  std::string perform(const std::string& name, const std::vector<Json>& f) override {
    if (name == "adv") return timers_.advance(f[0].integer * millisecond), told();
    if (name == "stale") return timers_.stale(), told();
    if (name == "nack") {
      nack(f[0].integer, f[1].integer, f[2].integer);
    } else if (name == "id") {
      tracker_->add({{f[0].integer, f[1].integer}, -1, {}});
    } else if (name == "batch") {
      tracker_->add_message({{f[0].integer, f[1].integer}, f[2].integer, {}}, f[3].integer);
    } else if (name == "chunked" || name == "spread") {
      chunked(f[0].integer, f[1].integer, f[2].integer, f[3].integer, f[4].integer, name == "spread" ? f[5].integer : 0);
    } else if (name == "fill") {
      fill(f);
    } else if (name == "jump") {
      ahead_ += f[0].integer;
    } else if (name == "fail") {
      failing_ = true;
    } else if (name == "inside") {
      inside(f);
    } else if (name == "close") {
      tracker_->close();
    } else {
      throw Failure("UnknownOperation", name);
    }
    return null;
  }

  std::string seen() override {
    std::vector<std::int64_t> armed = timers_.armed();
    for (std::int64_t& deadline : armed) deadline = in_ms(deadline);
    return json(tracker_->nacked_messages_count()) + "," + json(armed);
  }

  std::int64_t wall() const override { return timers_.now / millisecond + ahead_; }
  std::int64_t monotonic() const override { return timers_.now; }

  void on_negative_acks_send(const Positions& ids) override {
    emissions_.push_back({in_ms(timers_.now), sorted(ids), {}, false});
    std::vector<std::function<void()>> inner;
    inner.swap(inner_);
    for (auto& call : inner) {
      if (elsewhere_) {
        elsewhere_ = false;
        std::thread(call).join();
      } else {
        call();
      }
    }
  }

  void redeliver_unacknowledged_messages(const Positions& ids) override {
    Emission& last = emissions_.at(emissions_.size() - 1);
    if (failing_) {
      failing_ = false;
      last.failed = true;
      throw RequestFailed();
    }
    last.requests.push_back(sorted(ids));
  }

 private:
  struct RequestFailed : Failure {
    RequestFailed() : Failure("RequestFailed", "the broker did not take it") {}
  };

  static constexpr std::int64_t millisecond = 1'000'000, most_redelivered = 2147483647;
  static constexpr std::size_t ids_of_a_request = 1'000;

  struct Emission {  // what one call of the callback came to
    std::int64_t at;
    Positions ids;
    std::vector<Positions> requests;
    bool failed;
  };

  Timers timers_;
  std::int64_t ahead_ = 0;  // of the wall clock, in milliseconds
  bool failing_ = false;    // whether the next request throws
  bool elsewhere_;          // whether the next call inside a callback comes from another thread
  std::vector<std::function<void()>> inner_;
  std::vector<Emission> emissions_;
  std::unique_ptr<NegativeAcksTracker> tracker_;

  // Arms a timeout. What a request throws ends where the timer fires.
  std::shared_ptr<Timeout> arm(std::int64_t at, std::function<void(Timeout&)> fired) {
    return timers_.arm(at, [fired = std::move(fired)](Timeout& timeout) {
      try {
        fired(timeout);
      } catch (const RequestFailed&) {
      }
    });
  }

  static std::int64_t in_ms(std::int64_t ns) { return (ns + millisecond - 1) / millisecond; }

  static Positions sorted(Positions ids) {
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  void nack(std::int64_t ledger, std::int64_t entry, std::int64_t count) {
    tracker_->add_message({{ledger, entry}, -1, {}}, count);
  }

  // A message in chunks, the last of which is the entry. The ledgers of the earlier ones are lower by below, two by two.
  void chunked(std::int64_t ledger, std::int64_t entry, std::int64_t chunks, std::int64_t count, std::int64_t apart,
               std::int64_t below) {
    Positions places;
    for (std::int64_t back = chunks - 1; back >= 0; --back) {
      places.emplace_back(ledger - (back + 1) / 2 * below, entry - back * apart);
    }
    tracker_->add_message({{ledger, entry}, -1, places}, count);
  }

  // Many messages, of several ledgers in turn, with redelivery counts that rise and begin anew.
  void fill(const std::vector<Json>& f) {
    std::int64_t n = f[3].integer, ledgers = f[5].integer, rising = f[6].integer;
    std::int64_t turns = f[7].integer ? f[7].integer : n, chunks = f[8].integer;
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t ledger = f[0].integer + i % ledgers, entry = f[1].integer + i / ledgers * f[2].integer;
      std::int64_t count = f[4].integer;
      if (rising) count = std::min(count + i % turns * rising, most_redelivered);
      chunks > 1 ? chunked(ledger, entry, chunks, count, 1, 0) : nack(ledger, entry, count);
    }
  }

  void inside(const std::vector<Json>& f) {
    if (f[0].word == "close") {
      inner_.push_back([this] { tracker_->close(); });
    } else {
      inner_.push_back([this, f] { nack(f[1].integer, f[2].integer, f[3].integer); });
    }
  }

  // What was emitted since it was last asked.
  std::string told() {
    std::vector<std::string> written;
    for (const Emission& each : emissions_) {
      written.push_back(json_list({json(each.at), json(each.ids), requests(each)}));
    }
    emissions_.clear();
    return json_list(written);
  }

  // The requests of one callback, as the protocol has them.
  static std::string requests(const Emission& e) {
    Positions requested;
    std::vector<std::int64_t> sizes;
    std::size_t largest = 0;
    for (const Positions& request : e.requests) {
      requested.insert(requested.end(), request.begin(), request.end());
      sizes.push_back(static_cast<std::int64_t>(request.size()));
      largest = std::max(largest, request.size());
    }
    bool of_others = std::any_of(requested.begin(), requested.end(), [&](const Position& p) {
      return !std::binary_search(e.ids.begin(), e.ids.end(), p);
    });
    bool fit = largest <= ids_of_a_request;
    if (e.requests.empty() || (e.failed && !of_others && fit)) return "0";
    if (sorted(requested) != e.ids) return json(e.requests);
    if (sizes.size() == 1) return "1";
    if (sizes.size() == (e.ids.size() - 1) / ids_of_a_request + 1 && fit) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {  // it does not matter where the ids are cut: the full ones first
        sizes[i] = static_cast<std::int64_t>(std::min(ids_of_a_request, e.ids.size() - i * ids_of_a_request));
      }
    }
    return json(sizes);
  }
};

// Has broker-tck check trackers that fresh makes. The exit status of the program.
inline int serve_negative_acks(const Declaration& declared, const NegativeAcksFactory& fresh) {
  bool threads = declared.capabilities.count("threads") && declared.capabilities.at("threads");
  return serve("negative-acks", declared, [&, threads](const Json& config) {
    return std::make_unique<NegativeAcks>(config, threads, fresh);
  });
}

}  // namespace broker_tck
