"""Known mistakes of a tracker: what it accepts, detects, hands out and answers, and what it tells its timer."""

from __future__ import annotations

from typing import Any

from broker_tck.model.delayed_delivery.releases import Heap, TimeBucket50
from broker_tck.model.delayed_delivery.specification import BYTES, DelayedDelivery, FixedDelay, MemoryEstimate
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of
from broker_tck.properties.mistakes.parts.without import without

# ---- Adding

of(DelayedDelivery.refuses, look="equality: the cut-off itself is refused, one millisecond later is accepted")(
    instead(
        "absent",
        "Your tracker accepts messages that are due already or have no time; it must refuse them.",
        lambda m, at: False,
    ),
    instead(
        "equality accepted",
        "Your tracker accepts a message whose time is exactly the cut-off; that message is due, and must be refused.",
        lambda m, at: at < 0 or at < m.buckets.cutoff(m.timer.now),
        seen="releases before 2.9",
    ),
    instead(
        "by the bucket",
        "Your tracker refuses a message by the time of its bucket; the message's own time must decide.",
        lambda m, at: at < 0 or m.buckets.due(m.buckets.key(at), m.timer.now),
    ),
    instead(
        "only the past",
        "Your tracker refuses a message only if its time is not after now; it must compare that with the cut-off.",
        lambda m, at: at <= m.timer.now,
        seen="PR 5498",
    ),
    instead(
        "one more refused",
        "Your tracker refuses a message that is due one millisecond after the cut-off; it must accept it.",
        lambda m, at: at <= m.buckets.cutoff(m.timer.now) + 1,
    ),
)

look_at("DD-10", "what runs after the insertion, and in which order")


@around(DelayedDelivery.add, "DD-10", "the timer is left alone")
def add_leaves_the_timer(add: Method, m: DelayedDelivery, *message: int) -> bool:
    """An accepted add leaves your tracker's timer as it is; it must update the timer."""
    return bool(without("update_timer", m, add, *message))


@around(DelayedDelivery.add, "DD-10", "only what is new updates", was="the timer is told of what is new")
def only_what_is_new_updates(add: Method, m: DelayedDelivery, *message: int) -> bool:
    """A repeated add leaves your tracker's timer as it is; every accepted add must update it."""
    return bool(without("update_timer", m, add, *message) if holds(m, *message) else add(m, *message))


@around(DelayedDelivery.add, "DD-10", "only the first updates", was="the timer is told of the first")
def only_the_first_updates(add: Method, m: DelayedDelivery, *message: int) -> bool:
    """An add updates your tracker's timer only if nothing else is held; every accepted add must update it."""
    first = m.count() == 0 or (m.count() == 1 and holds(m, *message))
    return bool(add(m, *message) if first else without("update_timer", m, add, *message))


@around(DelayedDelivery.add, "DD-10", "a refused one disarms")
def a_refused_one_disarms(add: Method, m: DelayedDelivery, *message: int) -> bool:
    """A refused add disarms your tracker's timer; it must leave it alone, or bring it up to date."""
    accepted = bool(add(m, *message))
    if not accepted:
        m.timer.disarm()
    return accepted


def holds(model: DelayedDelivery, ledger: int, entry: int, at: int) -> bool:
    """Whether a message is in its bucket."""
    return model.index.stored(ledger, entry) in model.index.held.get(model.buckets.key(at), ())


of(DelayedDelivery.detect)(
    instead(
        "of the bucket",
        "Your tracker detects a fixed delay by the time of the bucket; it must use the time as it was given.",
        lambda m, at: m.fixed_delay.accepted(m.buckets.key(at), m.buckets.tick),
        was="compared: absent",
    ),
    instead(
        "cut to the tick",
        "Your tracker detects a fixed delay by the time cut to a whole tick; it must use the time as it was given.",
        lambda m, at: m.fixed_delay.accepted(at - at % max(m.buckets.tick, 1), m.buckets.tick),
        was="compared: cut to the tick",
    ),
)


@around(DelayedDelivery.add, "DD-11", "the answer is no", was="the answer to what is there already is no")
def the_answer_is_no(add: Method, m: DelayedDelivery, *message: int) -> bool:
    """Your tracker answers no to a message that is there already; it must accept it."""
    new = not holds(m, *message)
    return bool(add(m, *message)) and new


@around(
    DelayedDelivery.add,
    "DD-11",
    "counted again while fixed",
    was="a repeated add is counted again while the detection holds",
)
def counted_again_while_fixed(add: Method, m: DelayedDelivery, *message: int) -> bool:
    """While the delay is fixed, your tracker counts a repeated message again; it must stay one copy."""
    again = m.fixed_delay.fixed and holds(m, *message)
    accepted = bool(add(m, *message))
    m.index.number += accepted and again
    return accepted


# ---- The fixed delay

of(FixedDelay.still_fixed, look="a step back by exactly a tick, which is still fixed; the tick is the current one")(
    instead(
        "absent",
        "Nothing ends the fixed delay in your tracker; a time more than a tick below the highest must.",
        lambda d, at, tick: d.fixed,
    ),
    instead(
        "a tick back ends it",
        "A step back of exactly a tick ends the fixed delay in your tracker; only a longer one must.",
        lambda d, at, tick: d.fixed and not at <= d.highest - tick,
    ),
    instead(
        "any step back ends it",
        "Any step back ends the fixed delay in your tracker; only one of more than a tick must.",
        lambda d, at, tick: d.fixed and not at < d.highest,
    ),
    instead(
        "two ticks",
        "Only a step back of more than two ticks ends the fixed delay in your tracker; more than one tick is enough.",
        lambda d, at, tick: d.fixed and not at < d.highest - 2 * tick,
    ),
    instead(
        "comes back",
        "A fixed delay that has ended comes back with the next time in your tracker; it must stay ended.",
        lambda d, at, tick: not at < d.highest - tick,
    ),
)
of(FixedDelay.highest_after)(
    instead(
        "absent",
        "Your tracker compares a time with the one before; it must compare it with the highest so far.",
        lambda d, at: at,
    ),
)
of(DelayedDelivery.detect, breaks="DD-14")(
    instead(
        "width for tick",
        "A step back by the width of a bucket ends the fixed delay in your tracker; only one of more than a tick must.",
        lambda m, at: m.fixed_delay.accepted(at, m.buckets.width),
        was="a time more than the width of a bucket below the highest ends the fixed delay",
    ),
)

look_at("DD-15", "the early return of a refused add")
of(FixedDelay.refused)(
    instead(
        "a refusal leaves the fixed delay",
        "A refused message leaves the fixed delay of your tracker as it is; it must end it.",
        lambda d: None,
        seen="PR 17907",
    ),
)


@around(DelayedDelivery.add, "DD-15", "no time leaves it", was="a refusal for want of a time leaves the fixed delay")
def no_time_leaves_it(add: Method, m: DelayedDelivery, ledger: int, entry: int, at: int) -> bool:
    """A message without a time leaves the fixed delay of your tracker as it is; every refused message must end it."""
    return refusal_ends(at >= 0, add, m, ledger, entry, at)


@around(
    DelayedDelivery.add, "DD-15", "only no time ends it", was="only a refusal for want of a time ends the fixed delay"
)
def only_no_time_ends_it(add: Method, m: DelayedDelivery, ledger: int, entry: int, at: int) -> bool:
    """A message that is due already leaves the fixed delay of your tracker; every refused message must end it."""
    return refusal_ends(at < 0, add, m, ledger, entry, at)


@around(
    DelayedDelivery.add,
    "DD-15",
    "ends it only if something is held",
    was="a refusal ends the fixed delay while something is held",
)
def ends_it_only_if_something_is_held(add: Method, m: DelayedDelivery, ledger: int, entry: int, at: int) -> bool:
    """With nothing held, a refused message leaves the fixed delay of your tracker as it is; it must end it."""
    return refusal_ends(bool(m.index.held), add, m, ledger, entry, at)


def refusal_ends(ends: bool, add: Method, m: DelayedDelivery, *message: int) -> bool:
    """Add a message, which ends the fixed delay when it is refused or not."""
    fixed = m.fixed_delay.fixed
    accepted = bool(add(m, *message))
    if not (accepted or ends):
        m.fixed_delay.fixed = fixed
    return accepted


of(FixedDelay.starts_anew, look="get on an empty index, get of 0; clear and close reset nothing")(
    instead(
        "absent",
        "The detection of a fixed delay never starts anew; a get that leaves the index empty must start it.",
        lambda d, taken, empty: False,
    ),
    instead(
        "only if something was taken",
        "If the index is empty, a get leaves the detection of a fixed delay as it is; it must start it anew.",
        lambda d, taken, empty: taken and empty,
    ),
    instead(
        "always",
        "Every get starts the detection of a fixed delay anew; only one that leaves the index empty may.",
        lambda d, taken, empty: True,
    ),
)
of(DelayedDelivery.restart, breaks="DD-16")(
    instead(
        "with nothing due",
        "A get that leaves nothing due starts the detection of a fixed delay anew; it must only if the index is empty.",
        lambda m, taken: m.fixed_delay.left(taken, not m.available()),
        was="the detection starts anew whenever nothing is due",
    ),
)
of(FixedDelay.begin)(
    instead(
        "the highest time stays",
        "The highest time stays when the detection of a fixed delay starts anew; it must be forgotten.",
        lambda d: setattr(d, "fixed", True),
        was="the highest time outlives the start anew",
    ),
)


of(DelayedDelivery.clear)(
    instead(
        "by a clear",
        "A clear starts the detection of a fixed delay anew; only a get that leaves the index empty may.",
        TimeBucket50.clear,
        seen="5.0.1",
        was="fixed_delay.starts_anew_on_clear: absent",
    ),
)

# ---- Handing out

of(DelayedDelivery.available, look="the timer after a firing that found nothing to hand out")(
    instead(
        "absent",
        "Your tracker says that nothing is available while its first bucket is due; it must say yes.",
        lambda m: False,
    ),
    instead(
        "anything held",
        "Your tracker says that a message is available as soon as one is held; its bucket must be due.",
        lambda m: bool(m.index.held),
    ),
    instead(
        "nothing far ahead",
        "Your tracker says that nothing is available until its last bucket is due; the first one must decide.",
        lambda m: bool(m.index.held) and m.buckets.due(max(m.index.held), m.timer.now),
    ),
)


@around(DelayedDelivery.has, "DD-19", "the timer is left alone", seen="PR 10078", was="has_updates_timer: absent")
def has_leaves_the_timer(has: Method, m: DelayedDelivery) -> bool:
    """If no message is available, the question leaves your tracker's timer as it is; it must update the timer."""
    return bool(without("update_timer", m, has))


@around(DelayedDelivery.get, "DD-20", "the timer is left alone")
def get_leaves_the_timer(get: Method, m: DelayedDelivery, most: int) -> Any:
    """A get leaves your tracker's timer as it is; it must update the timer."""
    return without("update_timer", m, get, most)


@around(
    DelayedDelivery.get,
    "DD-20",
    "only a get of something updates",
    was="the timer is told where something was taken",
)
def only_a_get_of_something_updates(get: Method, m: DelayedDelivery, most: int) -> Any:
    """A get that takes nothing leaves your tracker's timer as it is; it must update the timer."""
    taken = without("update_timer", m, get, most)
    if taken:
        m.update_timer()
    return taken


@around(DelayedDelivery.get, "DD-20", "only a vain get updates", was="the timer is told where nothing was taken")
def only_a_vain_get_updates(get: Method, m: DelayedDelivery, most: int) -> Any:
    """A get that takes something leaves your tracker's timer as it is; it must update the timer."""
    taken = without("update_timer", m, get, most)
    if not taken:
        m.update_timer()
    return taken


of(DelayedDelivery.count, breaks="DD-28")(
    instead(
        "only what is due",
        "Your tracker counts only messages that are due; it must count all that are held.",
        lambda m: sum(m.index.held[key].total() for key in m.due_keys()),
        was="only what is due is counted",
    ),
)

# ---- Pausing

of(
    DelayedDelivery.wants_pause,
    look="equality with the lookahead; the timer update behind the question for availability",
)(
    instead(
        "absent",
        "Your tracker never asks for a pause; it must, if the delay is fixed and enough messages wait.",
        lambda m: False,
    ),
    instead(
        "more than lookahead",
        "Your tracker asks for a pause one message too late; `lookahead` messages are enough.",
        lambda m: m.lookahead > 0 and m.fixed_delay.fixed and m.count() > m.lookahead,
    ),
    instead(
        "fixed or not",
        "Your tracker asks for a pause though the delay is not fixed.",
        lambda m: m.lookahead > 0 and m.count() >= m.lookahead,
    ),
    instead(
        "without lookahead too",
        "Your tracker asks for a pause although `lookahead` is 0, which turns detection off.",
        lambda m: m.fixed_delay.fixed and m.count() >= m.lookahead,
    ),
    instead(
        "half the lookahead",
        "Your tracker asks for a pause at half of `lookahead` messages; it must wait for all of them.",
        lambda m: m.lookahead > 0 and m.fixed_delay.fixed and m.count() >= (m.lookahead + 1) // 2,
    ),
    instead(
        "counts buckets",
        "Your tracker compares the number of buckets with `lookahead`; it must count messages.",
        lambda m: m.lookahead > 0 and m.fixed_delay.fixed and len(m.index.held) >= m.lookahead,
    ),
)


@around(DelayedDelivery.pause, "DD-17", "the timer is left alone")
def pause_leaves_the_timer(pause: Method, m: DelayedDelivery) -> bool:
    """If your tracker looks for a message before a pause, it leaves its timer alone; no message must update it."""
    return bool(without("update_timer", m, pause))


of(DelayedDelivery.pause)(
    instead(
        "availability first",
        "Your tracker looks for an available message even if it wants no pause; it must do that last.",
        lambda m: not m.has() and m.wants_pause(),
        was="asks_availability: absent",
    ),
    instead(
        "never",
        "Your tracker asks for a pause while a message is available; it must not then.",
        lambda m: m.wants_pause(),
        was="asks_availability: never",
    ),
)

# ---- Firings, ticks, clear, close

of(DelayedDelivery.advance, breaks="DD-24")(
    instead(
        "a firing asks for nothing",
        "Your tracker asks for nothing when its timer fires; it must ask for a read.",
        lambda m, ms: [m.timer.advance(ms), []][1],
    ),
)


@mistake(
    "DD-24",
    "a firing asks for a read while something is due",
    "If nothing is due, your tracker asks for nothing when its timer fires; it must ask for a read.",
)
class FiringLooksFirst(DelayedDelivery):
    """A firing for nothing is kept quiet."""

    def advance(self, ms: int) -> list[int]:
        """Move the clock from firing to firing."""
        until, asked = self.timer.now + ms, []
        while self.timer.armed and self.timer.armed[0] <= until:
            times = self.timer.advance(max(self.timer.armed[0] - self.timer.now, 0))
            asked += times if self.available() else []
        return asked + self.timer.advance(until - self.timer.now)


@around(DelayedDelivery.reset_tick, "DD-27", "disarms")
def tick_disarms(reset_tick: Method, m: DelayedDelivery, tick: int) -> None:
    """A new tick disarms your tracker's timer; it must leave it alone, or bring it up to date."""
    reset_tick(m, tick)
    m.timer.disarm()


@around(DelayedDelivery.clear, "DD-30", "takes the timer for armed")
def clear_takes_the_timer_for_armed(clear: Method, m: DelayedDelivery) -> None:
    """A clear cancels your tracker's timeout, and the timer counts as armed afterwards; it must not."""
    clear(m)
    m.timer.cancel()


@around(
    DelayedDelivery.clear, "DD-30", "leaves what is due", seen="issue 6403, PR 14740", was="a clear leaves what is due"
)
def clear_leaves_what_is_due(clear: Method, m: DelayedDelivery) -> None:
    """A clear leaves due messages in your tracker; it must empty the index."""
    due = {key: m.index.held[key] for key in m.due_keys()}
    clear(m)
    m.index.hold(due)


of(DelayedDelivery.close, look="a timeout that outlives its tracker; what a second close lets go of once more")(
    instead(
        "only once",
        "Your tracker cannot be closed twice; a second close must do nothing.",
        Heap.close,
        seen="3.0.7, 4.0.0, 4.0.8",
        was="refuses_close: absent",
    ),
)


@around(DelayedDelivery.close, "DD-32", "the timer outlives its tracker")
def close_leaves_the_timer(close: Method, m: DelayedDelivery) -> None:
    """Your tracker's timer stays armed after a close; it must be disarmed."""
    close_without_the_timer(close, m)


@around(
    DelayedDelivery.close,
    "DD-32",
    "disarms only if something is held",
    was="the timer is disarmed while something is held",
)
def disarms_only_if_something_is_held(close: Method, m: DelayedDelivery) -> None:
    """With nothing held, your tracker's timer stays armed after a close; it must be disarmed."""
    if m.index.held:
        close(m)
    else:
        close_without_the_timer(close, m)


def close_without_the_timer(close: Method, m: DelayedDelivery) -> None:
    """Close, and leave the timer as it is."""
    armed = m.timer.armed.copy(), m.timer.timeout, m.timer.target
    close(m)
    m.timer.armed, m.timer.timeout, m.timer.target = armed


# ---- Memory

of(MemoryEstimate.bytes_for, look="what is added to the running sum and what is taken off, when an entry set empties")(
    instead(
        "absent",
        "Your tracker says that it takes no memory while it holds something; its estimate must be above 0 then.",
        lambda e, count: 0,
    ),
    instead(
        "never falls",
        "The memory estimate of your tracker never falls; it must, if messages leave.",
        lambda e, count: e.last[0] + BYTES * count,
    ),
    instead(
        "one byte too many",
        "Your tracker says that it takes memory while it holds nothing; its estimate must be 0 then.",
        lambda e, count: 1 + BYTES * count,
    ),
    instead(
        "falls with every add",
        "The memory estimate of your tracker falls with every message that is added.",
        lambda e, count: max(1, 2**20 - count) if count else 0,
    ),
)


@around(DelayedDelivery.close, "DD-40", "messages kept after a close")
def kept_after_a_close(close: Method, m: Any) -> None:
    """Your tracker keeps the ids of the messages that it held when it was closed; it must let go of them."""
    m.before_close = m.index.held
    close(m)


# ---- Invariants

look_at("DD-07", "rounding of the key together with the test whether a bucket is due")
look_at("DD-08", "a bucket that is due before the last time that it may hold")
look_at("DD-34", "a timer update that returns without arming, or one that believes a cancelled timeout to be armed")
look_at("DD-39", "a time of the clock that is kept, such as that of the last run, after the clock was set back")
look_at("DD-40", "what is noted beside the index; what the last get handed out; what a clear or a close leaves out")
look_at("DD-41", "who asks next when a firing, a get or a new tick leaves something held")
