// The tests of the rig: a failed one says its line, and ends the program.
#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <thread>
#include <type_traits>

#include "../broker_tck/delayed_delivery.hpp"
#include "../broker_tck/negative_acks.hpp"

using namespace broker_tck;

namespace {

#define EXPECT_EQ(seen, wanted) expect_eq(seen, wanted, __LINE__)

template <class Seen, class Wanted>
void expect_eq(const Seen& seen, const Wanted& wanted, int line) {
  if (seen == wanted) return;
  std::ostringstream told;
  if constexpr (std::is_convertible_v<Seen, std::string>) told << ": " << seen << ", not " << wanted;
  std::cerr << "rig_test.cpp:" << line << told.str() << std::endl;
  std::exit(1);
}

void numbers_keep_their_64_bits() {
  Json read = Reader(R"({"a":[9223372036854775807,-9223372036854775808,2.5],"b":null,"c":"x\"y","d":true})").value();
  const Json::Array& numbers = read["a"].array();
  EXPECT_EQ(numbers[0].integer(), INT64_MAX);
  EXPECT_EQ(numbers[1].integer(), INT64_MIN);
  EXPECT_EQ(numbers[2].number(), 2.5);
  EXPECT_EQ(read.find("b"), nullptr);
  EXPECT_EQ(json(read["c"].text()), std::string(R"("x\"y")"));
  EXPECT_EQ(read["d"].boolean(), true);
}

// Answers with a field; "bad" fails, and "worse" throws.
struct Echo final : Subject {
  std::string perform(const Operation& o) override {
    if (o.name() == "bad") throw Failure("IllegalArgumentException", "it is bad");
    if (o.name() == "worse") throw std::out_of_range("it is worse");
    return json(o.integer(0));
  }
  std::string seen() override { return "7"; }
};

void each_operation_is_answered() {
  std::istringstream asked(R"({"protocol":1,"level":"traces"}
{"config":{"tick":1}}
["add",9223372036854775807,-1]
["bad"]
["worse"]
{"config":{"tick":0}}
["add",1]
)");
  std::ostringstream said;
  Declaration declared{{"timebucket-ideal"}, {{"entry_id_bits", 63}, {"jumps", false}}, "echo 1"};
  int status = converse(asked, said, declared.written("delayed-delivery"), [](const Json& config) {
    if (config["tick"].integer() == 0) throw Failure("IllegalArgumentException", "tick is 0");
    return std::make_unique<Echo>();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(said.str(), std::string(
      R"({"protocol":1,"contract":"delayed-delivery","profiles":["timebucket-ideal"],)"
      R"("capabilities":{"entry_id_bits":63,"jumps":false},"levels":["operations","traces"],"software":"echo 1"})"
      R"(
[9223372036854775807,7]
[{"error":"IllegalArgumentException","message":"it is bad"},7]
[{"error":"exception","message":"it is worse"},7]
[{"error":"IllegalArgumentException","message":"tick is 0"}]
)"));
}

void timeouts_fire_in_order_at_their_deadlines() {
  Timers timers(100);
  std::vector<std::int64_t> fired;
  auto note = [&](Timeout&) { fired.push_back(timers.now()); };
  timers.arm(130, note);
  timers.arm(110, [&](Timeout& timeout) {
    note(timeout);
    timers.arm(90, note);  // it has passed: it fires now, and time does not go back
    timers.arm(120, note);
  });
  timers.advance(25);
  EXPECT_EQ(json(fired), std::string("[110,110,120]"));
  EXPECT_EQ(timers.now(), 125);
  EXPECT_EQ(json(timers.armed()), std::string("[130]"));
}

void cancelled_timeout_fires_only_if_it_is_stale() {
  Timers timers(0);
  int fired = 0;
  auto timeout = timers.arm(10, [&](Timeout& stale) { fired += stale.cancelled() ? 1 : 100; });
  timeout->cancel();
  timeout->cancel();
  timers.advance(20);
  EXPECT_EQ(fired, 0);
  timers.stale();
  EXPECT_EQ(fired, 1);
}

void no_deadline_is_later_than_the_last_time() {
  Timers timers(0);
  timers.arm(INT64_MAX - 1, [](Timeout&) {});
  timers.jump(5);
  EXPECT_EQ(timers.armed()[0], INT64_MAX);
}

void timer_that_fires_for_ever_is_an_error() {
  Timers timers(0);
  std::function<void(Timeout&)> again = [&](Timeout&) { timers.arm(0, again); };
  timers.arm(0, again);
  Outcome ended = attempt([&] { return timers.advance(1), ""; });
  EXPECT_EQ(ended.json.find(R"({"error":"RuntimeError")"), std::size_t{0});
}

void requests_are_told_as_the_protocol_has_it() {
  Position a{0, 1}, b{0, 2};
  Positions many;
  for (std::int64_t entry = 0; entry < 2017; ++entry) many.emplace_back(1, entry);
  auto part = [&](std::ptrdiff_t from, std::ptrdiff_t to) { return Positions(many.begin() + from, many.begin() + to); };
  struct {
    Emission emission;
    std::string wanted;
  } cases[] = {
      {{0, {a}, {}}, "0"},
      {{0, {a}, {{a}}}, "1"},
      {{0, {a, b}, {{a}}, true}, "0"},
      {{0, {a}, {{b}}, true}, "[[[0,2]]]"},
      {{0, {a, b}, {{a}}}, "[[[0,1]]]"},
      {{0, {a, b}, {{b}, {a}}}, "[1,1]"},
      {{0, many, {many}}, "1"},
      {{0, many, {part(0, 17), part(17, 1017), part(1017, 2017)}}, "[1000,1000,17]"},
      {{0, many, {part(0, 1001), part(1001, 2017)}}, "[1001,1016]"},
  };
  for (const auto& each : cases) EXPECT_EQ(each.emission.requests(), each.wanted);
}

void backoff_grows_up_to_the_longest() {
  auto config = [](const std::string& backoff) {
    return NegativeAcksConfig(Reader("{\"delay_us\":0,\"precision_bits\":8," + backoff + "}").value());
  };
  NegativeAcksConfig grows = config(R"("backoff_ms":null,"multiplier":[100,1000,3.0])");
  NegativeAcksConfig table = config(R"("backoff_ms":[5,7],"multiplier":null)");
  using Row = std::array<std::int64_t, 3>;
  for (auto [count, grown, listed] : {Row{0, 100, 5}, Row{1, 300, 7}, Row{2, 900, 7}, Row{5000, 1000, 7}}) {
    EXPECT_EQ(*grows.backoff(count), grown);
    EXPECT_EQ(*table.backoff(count), listed);
  }
  EXPECT_EQ(config(R"("backoff_ms":null,"multiplier":null)").backoff(0).has_value(), false);
}

// Notes how it is called, and from which thread.
struct Caller final : NegativeAcksTracker {
  std::vector<Positions>& chunks;
  std::vector<bool>& elsewhere;
  std::thread::id here = std::this_thread::get_id();

  Caller(std::vector<Positions>& chunks, std::vector<bool>& elsewhere) : chunks(chunks), elsewhere(elsewhere) {}
  void add(const MessageId& id) override { add_message(id, 0); }
  void add_message(const MessageId& id, std::int64_t) override { chunks.push_back(id.chunks), note(); }
  std::int64_t nacked_messages_count() override { return 0; }
  void close() override { note(); }
  void note() { elsewhere.push_back(std::this_thread::get_id() != here); }
};

// A subject whose tracker notes how it is called.
struct Nacks {
  std::vector<Positions> chunks;
  std::vector<bool> elsewhere;
  Consumer* consumer = nullptr;
  std::unique_ptr<NegativeAcks> subject;

  Nacks() {
    Json config = Reader(R"({"delay_us":0,"precision_bits":8,"clock":0})").value();
    subject = std::make_unique<NegativeAcks>(config, true, [this](auto&, auto&, auto, Consumer& given) {
      consumer = &given;
      return std::make_unique<Caller>(chunks, elsewhere);
    });
  }
  std::string perform(const std::string& line) { return subject->perform(Operation(Reader(line).value())); }
};

void what_the_application_does_inside_is_done_once_first_by_another_thread() {
  Nacks nacks;
  nacks.perform(R"(["inside","nack",0,0,0])");
  nacks.perform(R"(["inside","close",0,0,0])");
  for (int i = 0; i < 2; ++i) nacks.consumer->on_negative_acks_send({{0, 1}});
  EXPECT_EQ(nacks.elsewhere == std::vector<bool>({true, false}), true);
}

void chunks_are_at_the_places_that_the_operation_names() {
  Nacks nacks;
  nacks.perform(R"(["chunked",1,9,3,0,2])");
  nacks.perform(R"(["spread",7,9,4,0,2,1])");
  EXPECT_EQ(json(nacks.chunks), std::string("[[[1,5],[1,7],[1,9]],[[5,9],[6,7],[6,9],[7,9]]]"));
}

void request_that_fails_is_told_once() {
  Nacks nacks;
  nacks.perform(R"(["fail"])");
  for (int i = 0; i < 2; ++i) {
    nacks.consumer->on_negative_acks_send({{0, 1}});
    attempt([&] { return nacks.consumer->redeliver_unacknowledged_messages({{0, 1}}), ""; });
  }
  EXPECT_EQ(nacks.perform(R"(["adv",0])"), std::string("[[0,[[0,1]],0],[0,[[0,1]],1]]"));
}

}  // namespace

int main() {
  numbers_keep_their_64_bits();
  each_operation_is_answered();
  timeouts_fire_in_order_at_their_deadlines();
  cancelled_timeout_fires_only_if_it_is_stale();
  no_deadline_is_later_than_the_last_time();
  timer_that_fires_for_ever_is_an_error();
  requests_are_told_as_the_protocol_has_it();
  backoff_grows_up_to_the_longest();
  what_the_application_does_inside_is_done_once_first_by_another_thread();
  chunks_are_at_the_places_that_the_operation_names();
  request_that_fails_is_told_once();
}
