"""Known mistakes of a tracker of ack timeouts: its wheel, backoff, timer and calls; adding, removing and closing."""

from __future__ import annotations

from typing import Any, cast

from broker_tck.model.ack_timeout.specification import AckTimeout, Backoff, Calls, Config, Emission, Id, Timer, Wheel
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

# ---- The wheel

of(Wheel.width, look="a tick that is longer than the ack timeout")(
    instead(
        "absent",
        "Your tracker ticks as configured if the ack timeout is shorter; it must tick at the ack timeout.",
        lambda w, timeout, tick: tick,
    ),
)


@mistake(
    "AT-10", "ticks of the clock", "Your tracker ticks at multiples of the tick; it must tick from when it is made."
)
class TicksOfTheClock(AckTimeout):
    """The first tick is the next one of the clock."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.timer.armed.clear()
        self.timer.arm(self.now - self.now % self.wheel.tick + self.wheel.tick)


of(Wheel.whole_ticks, look="an ack timeout that is no multiple of the tick")(
    instead(
        "rounded down",
        "Your tracker rounds the ack timeout down to whole ticks; it must round it up.",
        lambda w, timeout: max(timeout // w.tick, 1),
    ),
    instead(
        "one more",
        "Your tracker waits for a tick too many if the ack timeout is a multiple of the tick.",
        lambda w, timeout: timeout // w.tick + 1,
    ),
)
of(Wheel.times_out, look="how many partitions the wheel has; in which one an add puts a message")(
    instead(
        "a tick too soon",
        "Your tracker counts the ack timeout from the tick before an add; it must count from the next one.",
        lambda w: w.fired + w.ticks,
    ),
    instead(
        "twice the timeout",
        "Your tracker waits for twice the ack timeout; it must wait for it once.",
        lambda w: w.fired + 1 + 2 * w.ticks,
        seen="issue 2584",
    ),
)
of(Wheel.due)(
    instead(
        "everything",
        "Once a message times out, all others do as well; each has an ack timeout of its own.",
        lambda w, message: min(w.held.values()) <= w.fired,
        seen="issue 3059",
    ),
)


def ticks_by_the_wall_clock(w: Wheel, by: int) -> None:
    """Count the ticks by which the wall clock was set."""
    w.fired += by // w.tick


of(Wheel.clock_set, look="which clock says what tick it is")(
    instead(
        "the wall clock",
        "Your tracker counts its ticks by the wall clock; it must use a clock that never jumps.",
        ticks_by_the_wall_clock,
    ),
)


@around(Wheel.take, "AT-12", "a thousand at once")
def at_most_a_thousand(take: Method, w: Wheel) -> list[Id]:
    """Of more than 1,000 messages that time out at once, some come back a tick later; all must come back."""
    taken: list[Id] = take(w)
    w.held.update(dict.fromkeys(taken[1_000:], w.fired))
    return taken[:1_000]


# ---- The backoff

of(Backoff.delay, look="which redelivery count the backoff is asked with; counts beyond its last delay")(
    instead(
        "always the first",
        "Your tracker takes the backoff's first delay for every message; it must go by the redelivery count.",
        lambda b, count: b.table[0],
    ),
    instead(
        "one more",
        "Your tracker asks its backoff with a redelivery count that is one too high.",
        lambda b, count: Backoff.delay(b, count + 1),
    ),
    instead(
        "absent", "Your tracker does not wait for its backoff once a message timed out; it must.", lambda b, count: 0
    ),
    instead(
        "counted in 8 bits",
        "Your tracker keeps a redelivery count in eight bits; it must keep all of it.",
        lambda b, count: Backoff.delay(b, count % 256),
    ),
)
of(Backoff.due, look="whether the end of a delay is part of it")(
    instead(
        "after it",
        "A message whose delay ends with a tick waits for the next one; it must come back with this one.",
        lambda b, message, now: b.waiting[message] < now,
    ),
    instead(
        "an int",
        "Your tracker compares the low 32 bits of times; it must compare all of them.",
        lambda b, message, now: b.waiting[message] % 2**32 <= now % 2**32,
    ),
)


def waits_by_the_wall_clock(b: Backoff, by: int) -> None:
    """Have all delays end by the wall clock."""
    b.waiting = {message: at - by for message, at in b.waiting.items()}


of(Backoff.clock_set, look="which clock says when a delay ends")(
    instead(
        "the wall clock",
        "Your tracker waits for its backoff by the wall clock; it must use a clock that never jumps.",
        waits_by_the_wall_clock,
        seen="Java",
    ),
)

# ---- What is tracked

of(AckTimeout.identity, look="what two ids are compared by")(
    instead(
        "entries",
        "Your tracker takes the messages of a batch for one; it must track them one by one.",
        lambda m, ledger, entry, index: (ledger, entry, -1),
    ),
    instead(
        "an int",
        "Your tracker keeps 32 bits of an entry id; it must keep all of it.",
        lambda m, ledger, entry, index: (ledger, entry % 2**32, index),
    ),
)
of(AckTimeout.is_tracked, look="an add of a message that times out, or waits for its backoff")(
    instead(
        "starts anew",
        "An add of a message that is tracked starts its ack timeout anew; it must change nothing.",
        lambda m, message: message in m.backoff.waiting,
    ),
    instead(
        "on the wheel alone",
        "Your tracker tracks a message twice if it is added again while it waits for its backoff.",
        lambda m, message: message in m.wheel.held,
        seen="Java up to 5.0.1",
    ),
)
of(AckTimeout.stages_of, look="a message that timed out, and waits for its backoff")(
    instead(
        "absent",
        "An ack does not take its message out of your tracker; it must.",
        lambda m, message: [],
    ),
    instead(
        "on the wheel alone",
        "An ack leaves a message that waits for its backoff; it must take it out.",
        lambda m, message: [m.wheel.held] if message in m.wheel.held else [],
    ),
)
of(AckTimeout.size, look="a counter kept beside what is tracked")(
    instead(
        "the wheel alone",
        "Your tracker does not count what waits for its backoff; it must.",
        lambda m: len(m.wheel.held),
    ),
    instead(
        "chunks",
        "Your tracker counts each chunk of a message; a message counts once.",
        lambda m: sum(m.chunks[message] for stage in (m.wheel.held, m.backoff.waiting) for message in stage),
    ),
)

# ---- Removing many

of(AckTimeout.is_till, look="how ids are ordered; whether the last one is taken")(
    instead(
        "without the last",
        "A cumulative ack leaves its own message; it must take it as well.",
        lambda m, message, last: message < last,
    ),
    instead(
        "whole entries",
        "A cumulative ack takes messages of its batch that are behind its own; it must leave them.",
        lambda m, message, last: message[:2] <= last[:2],
    ),
    instead(
        "any ledger",
        "A cumulative ack compares entries alone; it must compare ledgers first.",
        lambda m, message, last: message[1:] <= last[1:],
    ),
)
of(AckTimeout.stages_till)(
    instead(
        "the wheel alone",
        "A cumulative ack leaves what waits for its backoff; it must take it as well.",
        lambda m: [m.wheel.held],
    ),
)
of(AckTimeout.is_of, look="how the names of topics are compared")(
    instead(
        "begins with",
        "A topic that is left takes along others whose names begin with its own; it must leave them.",
        lambda m, topic, name: topic.startswith(name),
        seen="PR 25916",
    ),
    instead(
        "no partitions",
        "A topic that is left leaves the messages of its partitions behind; it must take them along.",
        lambda m, topic, name: topic == name,
    ),
)
of(AckTimeout.stages_of_topics, look="an iterator that is at its end, where another was meant")(
    instead(
        "the wheel alone",
        "A topic that is left leaves behind what waits for its backoff; it must take it along.",
        lambda m: [m.wheel.held],
        seen="PR 25916",
    ),
)
of(AckTimeout.clear, look="what a clear touches besides what is tracked")(
    instead(
        "the wheel alone",
        "A clear leaves what waits for its backoff; it must take out everything.",
        lambda m: m.wheel.held.clear(),
    ),
    instead(
        "the backoff alone",
        "A clear leaves what waits for its ack timeout; it must take out everything.",
        lambda m: m.backoff.waiting.clear(),
    ),
)

# ---- Firing


def calls_first(m: AckTimeout) -> list[Emission]:
    """Call, then arm."""
    emissions = m.emit(m.taken())
    m.timer.arm(m.now + m.wheel.tick)
    return emissions


def unarmed_by_failure(m: AckTimeout) -> list[Emission]:
    """Arm unless a request will fail."""
    ids = m.taken()
    if not ids or not m.calls.failing:
        m.timer.arm(m.now + m.wheel.tick)
    return m.emit(ids)


of(AckTimeout.fire, look="the order of arming and calling; what throws and leaves no timer")(
    instead(
        "calls first",
        "Your tracker arms its timer after it has called; a callback that closes it must leave no timer.",
        calls_first,
        seen="Java up to 5.0.1, with a backoff",
    ),
    instead(
        "lost by a failure",
        "If a request throws, your tracker's timer stops; it must go on.",
        unarmed_by_failure,
        seen="PR 16337",
    ),
)
of(AckTimeout.parts, look="where the chunks of a message are noted, and when they are forgotten")(
    instead(
        "absent",
        "Of a message in chunks only the last one comes back; all of them must.",
        lambda m, message: [message],
        seen="PR 9216",
    ),
)
of(Calls.emits, look="the callback, or a request, with no ids")(
    instead(
        "absent",
        "Your tracker calls back with nothing; it must call only if something comes back.",
        lambda c, ids: True,
        seen="issue 3287",
    ),
)
of(Calls.requests, look="whether each callback is followed by its request")(
    instead("absent", "Your tracker calls back, and requests nothing; it must.", lambda c: 0),
    instead("twice", "Your tracker requests the same ids twice; it must once.", lambda c: 2),
)

# ---- Closing

of(AckTimeout.ignores_after_close, look="a flag that says that the tracker is closed")(
    instead(
        "absent", "Your tracker takes messages after it was closed; it must ignore them.", lambda m: False, seen="Java"
    ),
)
of(AckTimeout.stale, look="a firing that was on its way when the tracker was closed")(
    instead(
        "absent",
        "Your tracker goes on if a timeout that was cancelled fires; the firing must do nothing.",
        lambda m: m.fire() if m.timer.cancelled else [],
        seen="PR 26043",
    ),
)


@around(AckTimeout.close, "AT-40", "timer stays armed")
def close_leaves_the_timer(close: Method, m: AckTimeout) -> None:
    """Your tracker's timer stays armed after a close; it must be cancelled."""
    pending = m.timer.pending
    close(m)
    if pending is not None:
        m.timer.arm(pending)


@around(AckTimeout.close, "AT-40", "messages stay")
def close_keeps_messages(close: Method, m: AckTimeout) -> None:
    """Your tracker keeps its messages when it is closed; it must drop them."""
    held = dict(m.wheel.held)
    close(m)
    m.wheel.held.update(held)


@mistake("AT-33", "callbacks are left for the next tick", "What a callback does comes a tick late in your tracker.")
class Later(Calls):
    """What is done inside a callback is done inside the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.called = False

    def call_back(self, tracker: object) -> None:
        """Do it in the second callback."""
        if self.inner and not self.called:
            self.called = True
            return
        self.called = False
        super().call_back(tracker)


# ---- What is kept


@around(AckTimeout.emit, "AT-64", "ids of the last firing kept")
def emitted_ids_kept(emit: Method, m: Any, ids: list[Id]) -> list[Emission]:
    """Your tracker keeps the ids of the last firing; it must let go of them once they came back."""
    m.last_firing = ids
    return cast(list[Emission], emit(m, ids))


@around(AckTimeout.remove, "AT-64", "acknowledged ids kept")
def acknowledged_ids_kept(remove: Method, m: Any, ledger: int, entry: int, index: int) -> bool:
    """Your tracker keeps the id of a message that was acknowledged; it must let go of it."""
    m.before_ack = m.ids()
    return bool(remove(m, ledger, entry, index))


@around(AckTimeout.clear, "AT-64", "dropped ids kept")
def dropped_ids_kept(clear: Method, m: Any) -> None:
    """Your tracker keeps the ids that it drops at a clear or a close; it must let go of them."""
    m.before_clear = m.ids()
    clear(m)


# ---- What to look at if an invariant is broken

look_at("AT-14", "a timer that is armed twice, or outlives the tracker")
look_at("AT-60", "ids that are rebuilt from what a container keeps of them")
look_at("AT-61", "messages that are put into the wrong partition of the wheel")
look_at("AT-62", "a timer that is not armed again")
look_at("AT-63", "a message in both stages, of which an ack takes one")
look_at("AT-64", "a log, a set that a firing fills, or a wheel from which acknowledged messages are not taken out")
look_at("AT-40", "a timer that outlives its tracker")
look_at("AT-07", "a stage that a clear forgets")
look_at("AT-33", "a lock that is held while the application is called")


@mistake("AT-14", "two timeouts", "Your tracker arms two timeouts for a tick; at most one must be armed.")
class TwoTimeouts(Timer):
    """A second timeout, that does nothing, is armed a little later."""

    def arm(self, at: int) -> None:
        """Arm both."""
        super().arm(at)
        self.armed.append(at + 2**42)
