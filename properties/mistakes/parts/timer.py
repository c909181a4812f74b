"""Known mistakes in the timer of a tracker."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.model.parts.timer import Timer, WallTimer
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

# ---- DD-21: what the timer is armed for

look_at("DD-21", "a target that outlives its timeout; a first bucket that is this very moment")
of(Timer.disarm, breaks="DD-21")(
    instead(
        "stays armed when nothing is held",
        "Your tracker's timer stays armed when nothing is held; it must be disarmed.",
        lambda t: None,
        was="StaysArmed: stays armed when nothing is held",
    ),
)
of(Timer.settled)(
    instead(
        "absent",
        "Your tracker arms its timer again for the moment for which it is armed already; it must leave it alone.",
        lambda t, wake: False,
    ),
    instead(
        "only if sooner",
        "Your tracker never arms its timer for a later moment; the timer must follow the first bucket.",
        lambda t, wake: t.timeout is not None and t.target is not None and t.target <= wake,
    ),
    instead(
        "only if none is armed",
        "Your tracker leaves an armed timer alone; the timer must follow the first bucket.",
        lambda t, wake: t.timeout is not None,
    ),
    instead(
        "only if later",
        "Your tracker never arms its timer for a sooner moment; the timer must follow the first bucket.",
        lambda t, wake: t.timeout is not None and t.target is not None and t.target >= wake,
    ),
)
of(Timer.forget)(
    instead(
        "absent",
        "Your tracker cancels a timeout and still takes it for armed; it must forget it.",
        lambda t, wake: None,
        was="forgets_cancelled: absent",
    ),
)


@around(Timer.forget, "DD-21", "unless idle", was="forgets_cancelled: unless idle")
def unless_idle(forget: Method, t: Timer, wake: int | None) -> None:
    """If the first bucket's moment has passed, your tracker takes a cancelled timeout for armed; it must forget it."""
    if wake is None or wake > t.now:
        forget(t, wake)


of(Timer.passed)(
    instead("absent", "Your tracker arms its timer for a moment that has passed; it must not.", lambda t, wake: False),
    instead(
        "not at this moment",
        "Your tracker arms its timer for this very moment; a bucket that is due now needs no timer.",
        lambda t, wake: wake < t.now,
    ),
)


@around(
    Timer.moment,
    "DD-21",
    "reaches as far as an int",
    was="ReachesAnInt: reaches as far ahead as an int of milliseconds",
)
def reaches_an_int(moment: Method, t: Timer, wake: int, tick: int) -> int:
    """Your tracker's timer reaches 2^31 - 1 ms ahead; it must be armed for the first bucket, however far that is."""
    at: int = moment(t, wake, tick)
    return min(at, t.now + 2**31 - 1)


# ---- DD-22: a tick between two firings

of(
    Timer.earliest,
    look="the time of the last run, and the tick as it is when the timeout is armed; 0 for a run that never was",
)(
    instead(
        "absent",
        "Your tracker's timer may fire again at once; it must wait until a tick after its last run.",
        lambda t, last_run, tick: 0,
        seen="PR 5498",
    ),
    instead(
        "without the tick",
        "Your tracker's timer may fire again within a tick of its last run.",
        lambda t, last_run, tick: last_run,
    ),
    instead(
        "two ticks",
        "Your tracker's timer waits for two ticks after a run; it must wait for one.",
        lambda t, last_run, tick: last_run + 2 * tick,
    ),
    instead(
        "width for tick",
        "After a run your tracker's timer waits for the width of a bucket; it must wait for a tick.",
        lambda t, last_run, tick: last_run + (1 << tick.bit_length() >> 1),
    ),
    instead(
        "from now",
        "Your tracker's timer waits for a tick from now on; it must count the tick from its last run.",
        lambda t, last_run, tick: t.now + tick,
    ),
)
of(Timer.earliest_at_first)(
    instead(
        "absent",
        "Your tracker takes 0 for the last run of a timer that has not run yet; the first firing need not wait.",
        lambda t, tick: tick,
    ),
)


@around(Timer.fire, "DD-22", "forgets the run", was="run_noted: absent")
def forgets_the_run(fire: Method, t: Timer, deadline: int) -> None:
    """Your tracker forgets when its timer ran last; the next firing must be at least a tick later."""
    before = t.last_run
    fire(t, deadline)
    t.last_run = before


@around(Timer.fire, "DD-22", "only the first", was="run_noted: only the first")
def only_the_first(fire: Method, t: Timer, deadline: int) -> None:
    """Your tracker remembers only the first run of its timer; the last one counts."""
    before = t.last_run
    fire(t, deadline)
    t.last_run = t.last_run if before is None else before


# ---- DD-23: one timeout

look_at("DD-23", "a timeout that is replaced without being cancelled")


@around(
    Timer.replace,
    "DD-23",
    "arms another without cancelling",
    was="KeepsReplaced: arms another without cancelling",
)
def keeps_replaced(replace: Method, t: Timer, wake: int, tick: int) -> None:
    """Your tracker arms another timeout without cancelling the one before; at most one may be armed."""
    t.timeout = None
    replace(t, wake, tick)


@around(Timer.replace, "DD-23", "cancels only a later one", was="KeepsSooner: cancels only a later one")
def keeps_sooner(replace: Method, t: Timer, wake: int, tick: int) -> None:
    """Your tracker cancels a timeout only for a sooner one; at most one may be armed."""
    if t.timeout is not None and t.timeout < wake:
        t.timeout = None
    replace(t, wake, tick)


# ---- DD-24: what a firing does

look_at("DD-24", "a firing that was on its way when its timeout was cancelled")


@around(Timer.stale, "DD-24", "a cancelled timeout is heeded", was="HeedsCancelled: a cancelled timeout is heeded")
def honours_stale_timeout(_: Method, t: Timer) -> bool:
    """Your tracker asks for a read when a cancelled timeout fires; it must ignore that."""
    if t.cancelled is not None:
        t.fire(t.cancelled)
    return t.cancelled is not None


@around(
    Timer.stale,
    "DD-24",
    "forgets the newer one",
    seen="PR 26012",
    was="ForgetsNewer: a cancelled timeout has the newer one forgotten",
)
def forgets_newer(_: Method, t: Timer) -> bool:
    """A cancelled timeout that fires makes your tracker forget the newer one; it must be ignored."""
    if t.cancelled is not None:
        t.timeout = t.target = None
    return False


# ---- DD-37, DD-38: a clock that is set

of(WallTimer.reading, look="which clock is read, and whether a reading is kept")(
    instead(
        "a clock that is never set",
        "Your tracker goes by a clock that is never set; it must go by the wall clock as it is.",
        lambda t: t.now - t.jumped,
    ),
)


@mistake(
    "DD-37",
    "after a step back the clock is read as it was",
    "After a step back of the clock your tracker goes on from the old time; it must read the clock as it is.",
)
class NeverGoesBack(WallTimer):
    """The latest reading counts."""

    def __init__(self, now: int, fired: Callable[[], None] | None = None) -> None:
        super().__init__(now, fired)
        self.latest = now

    def reading(self) -> int:
        """The latest time that was read."""
        self.latest = max(self.latest, self.now)
        return self.latest


of(WallTimer.remembered, look="what becomes of the time of the last run if the clock is set back")(
    instead(
        "absent",
        "After a step back of the clock your tracker's timer waits for the time of its last run; it must forget that.",
        lambda t, last_run: last_run,
        seen="3.0.7, 4.0.1, 4.0.8, 4.2.4, 5.0.1",
    ),
)
