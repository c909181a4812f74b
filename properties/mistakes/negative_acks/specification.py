"""Known mistakes of a tracker of negative acks: adding, arming, firing and closing; its clocks, timer and calls."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, REQUEST, Calls, Clock, Emission, NegativeAcks, Timer, sizes
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

of(NegativeAcks.ignores_after_close, look="a flag that says that the tracker is closed")(
    instead("absent", "Your tracker takes nacks after it was closed; it must ignore them.", lambda m: False),
)
of(NegativeAcks.deadline_at_start)(
    instead(
        "absent",
        "Your tracker's timer runs before anything is nacked; it must be idle until then.",
        lambda m: m.clock.now + m.delays.interval(),
    ),
)
of(NegativeAcks.first_wait)(
    instead(
        "absent",
        "Your tracker arms its idle timer for the bucket; it must wait for the whole delay.",
        lambda m, delay: max(m.buckets.key(m.clock.reading() + delay) - m.clock.reading(), 0) * MS // m.SCALE,
    ),
    instead(
        "polled",
        "Your tracker polls; an idle timer must be armed for the whole delay.",
        lambda m, delay: m.delays.interval(),
    ),
)
of(NegativeAcks.deadline_after_firing)(
    instead(
        "absent",
        "Your tracker does not arm its timer for the first bucket that is left after a firing.",
        lambda m, before: None,
    ),
    instead(
        "of the last bucket",
        "After a firing your tracker arms its timer for the last bucket that is left; it must be the first.",
        lambda m, before: m.clock.until(max(m.buckets.held)) if m.buckets.held else None,
    ),
    instead(
        "a poll later",
        (
            "After a firing your tracker arms its timer for its next poll; it must arm it for the first bucket that "
            "is left."
        ),
        lambda m, before: m.clock.now + m.delays.interval() if before else None,
    ),
    instead(
        "only after an emission",
        "Your tracker arms its timer again only after a firing that emitted something; it must if anything is left.",
        lambda m, before: (
            m.clock.until(min(m.buckets.held)) if m.buckets.held and len(m.buckets.held) < before else None
        ),
    ),
)


def unsettled_by_failure(m: NegativeAcks) -> list[Emission]:
    """Settle the timer unless a request will fail."""
    before = len(m.buckets.held)
    ids = m.buckets.take(m.clock.reading())
    if not ids or not m.calls.failing:
        m.timer.settle(m.deadline_after_firing(before))
    return m.emit(ids)


def settled_at_last(m: NegativeAcks) -> list[Emission]:
    """Settle the timer after the calls."""
    before = len(m.buckets.held)
    emissions = m.emit(m.buckets.take(m.clock.reading()))
    m.timer.settle(m.deadline_after_firing(before))
    return emissions


of(
    NegativeAcks.fire,
    look="the order of re-arming and calling; a lock held meanwhile; what throws and leaves a timer pending for ever",
)(
    instead(
        "absent",
        "If a request fails, your tracker leaves its timer unsettled; it must settle it before anything is called.",
        unsettled_by_failure,
        seen="PRs 15312, 23651",
        was="calls.settles: absent",
    ),
    instead(
        "calls first",
        "Your tracker calls back before it has settled its timer; a callback may nack or close.",
        settled_at_last,
        was="calls.calls_first: absent",
    ),
)
of(NegativeAcks.stale, look="a firing that was on its way when the tracker was closed, or its timer re-armed")(
    instead(
        "absent",
        "Your tracker emits when a cancelled timeout fires; it must do nothing.",
        lambda m: m.fire() if m.timer.cancelled else [],
        was="timer.heeds_cancelled: absent",
    ),
)
look_at("NA-40", "a timer that outlives its tracker; items that are emitted by it")


# ---- Arming


@around(NegativeAcks.arm, "NA-23", "within a bucket", was="what is sooner by no more than a bucket waits")
def waits_within_a_bucket(arm: Method, m: NegativeAcks, deadline: int) -> None:
    """Your tracker arms its timer again only for an item due a bucket sooner; it must for any item due sooner."""
    pending = m.timer.deadline
    if pending is None:
        arm(m, deadline)
    elif deadline + (MS << m.buckets.bits) < pending:
        m.timer.move(deadline)


@around(NegativeAcks.arm, "NA-24", "from the second on", was="a nack restarts the countdown while another is held")
def restarts_for_the_second(arm: Method, m: NegativeAcks, deadline: int) -> None:
    """A nack postpones your tracker's timer if another item is held; a pending deadline must stay."""
    if m.timer.deadline is not None and m.buckets.count() > 1:
        m.timer.move(deadline)
    elif m.timer.deadline is None or m.timer.is_sooner(deadline):
        arm(m, deadline)


# ---- Closing


@around(NegativeAcks.close, "NA-40", "timer stays armed", seen="PR 12469", was="the timer outlives its tracker")
def close_leaves_the_timer(close: Method, m: NegativeAcks) -> None:
    """Your tracker's timer stays armed after a close; it must be cancelled."""
    armed = m.timer.deadline, m.timer.cancelled
    close(m)
    m.timer.deadline, m.timer.cancelled = armed


@around(NegativeAcks.close, "NA-40", "items stay", was="items outlive their tracker")
def close_keeps_items(close: Method, m: NegativeAcks) -> None:
    """Your tracker keeps its items when it is closed; it must drop them."""
    held = m.buckets.held
    close(m)
    m.buckets.held = held


# ---- The clocks

of(Clock.reading, look="which clock is read where an item is added, and where a firing selects")(
    instead(
        "absent",
        "Your tracker reads instants from a clock that never jumps; it must read the wall clock.",
        lambda c: c.now // MS * c.scale,
    ),
)


@mistake(
    "NA-26",
    "after a jump back the wall clock is read as it was",
    "After a jump back your tracker waits for its wall clock to catch up; it must read the clock as it is.",
)
class NeverGoesBack(Clock):
    """The latest reading counts."""

    def __init__(self, ms: int, scale: int) -> None:
        super().__init__(ms, scale)
        self.latest = ms * scale

    def reading(self) -> int:
        """The latest instant that was read."""
        self.latest = max(self.latest, super().reading())
        return self.latest


# ---- The timer


def only_if_pending(t: Timer, deadline: int) -> None:
    """Leave an idle timer idle."""
    if t.deadline is not None:
        Timer.arm_for(t, deadline)


of(Timer.arm_for, look="a timer that polls; one that stays armed, or unarmed, after a firing")(
    instead(
        "absent",
        "A nack does not arm your tracker's idle timer; it must.",
        only_if_pending,
        was="timer.arms_from_idle: absent",
    ),
)
of(Timer.is_sooner, look="the check whether a timer is pending, without a look at its deadline")(
    instead(
        "absent",
        "A nack that is due sooner leaves your tracker's timer as it is; it must arm it again.",
        lambda t, deadline: False,
    ),
)
of(Timer.restarts, look="a countdown that every nack restarts")(
    instead(
        "absent", "Every nack postpones your tracker's timer; a pending deadline must stay.", lambda t, deadline: True
    ),
)


# ---- What a firing calls: the application, then the broker

of(Calls.emits, look="the callback, or a request, with no ids")(
    instead("absent", "Your tracker calls back though nothing is due; it must call nothing.", lambda c, ids: True),
)
of(Calls.requests, look="how the ids are cut; exact multiples of 1,000")(
    instead(
        "absent", "Your tracker requests all ids at once; a request must have 1,000 at most.", lambda c, ids: [len(ids)]
    ),
    instead(
        "one more",
        "Your tracker puts 1,001 ids into a request; a request must have 1,000 at most.",
        lambda c, ids: sizes(ids, REQUEST + 1),
    ),
    instead(
        "an empty request",
        "After a last request of exactly 1,000 ids, your tracker sends an empty request; it must send no more.",
        lambda c, ids: [*sizes(ids, REQUEST), *[0] * (len(ids) % REQUEST == 0)],
        was="calls.requests: an empty one",
    ),
)

# ---- What to look at if an invariant is broken

look_at("NA-14", "a second rounding, of the clock as well")
look_at("P1", "ids that are rebuilt from what a container keeps of them")
look_at("P2", "a timer that is not armed again")
look_at("P5", "buckets that outlive the firing that emits them")
look_at("P6", "deleting from what is walked through")
look_at("P7", "a firing that finds nothing due")
look_at("P8", "timers that poll, or outlive what they were armed for")
look_at("P9", "a countdown that every nack restarts")
look_at("P10", "a timer that stays as the first item armed it")
look_at("P14", "a counter kept beside the buckets")
look_at("P16", "what is noted of an id besides its item: chunks, a log, the set that a firing emits")
look_at("P15", "widths that are no powers of two")
look_at("NA-16", "a deadline that is later than the first bucket; buckets that a firing passes by")
