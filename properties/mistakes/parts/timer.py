"""Known mistakes: the timer of a tracker: its clock, and a timeout that is armed for the first bucket, moved, and fired."""

from __future__ import annotations

from broker_tck.model.parts.timer import Timer
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Timer.settled, look="a target that outlives its timeout; a first bucket that is this very moment")(
    instead(
        "absent", "Your tracker arms its timer again though it is armed for that moment already.", lambda t, wake: False
    ),
    instead(
        "only if sooner",
        "Your tracker never arms its timer for a later moment; it has to follow the first bucket.",
        lambda t, wake: t.timeout is not None and t.target is not None and t.target <= wake,
    ),
    instead(
        "only if none is armed",
        "Your tracker leaves an armed timer alone; it has to move it to the first bucket.",
        lambda t, wake: t.timeout is not None,
    ),
    instead(
        "only if later",
        "Your tracker never arms its timer for a sooner moment; it has to follow the first bucket.",
        lambda t, wake: t.timeout is not None and t.target is not None and t.target >= wake,
    ),
)
of(Timer.passed)(
    instead("absent", "Your tracker arms its timer for a moment that has passed.", lambda t, wake: False),
    instead(
        "not at this moment",
        "Your tracker arms its timer for this very moment; a bucket whose moment has come needs none.",
        lambda t, wake: wake < t.now,
    ),
)
of(Timer.forgets_cancelled)(
    instead("absent", "Your tracker cancels a timeout and still takes it for armed.", lambda t, wake: False),
    instead(
        "unless idle",
        (
            "Your tracker takes a cancelled timeout for armed where the moment of the first bucket has passed; it has "
            "to forget it."
        ),
        lambda t, wake: wake is None or wake > t.now,
    ),
)
of(
    Timer.earliest,
    look="the time of the last run, and the tick as it is when the timeout is armed; 0 for a run that never was",
)(
    instead(
        "absent",
        "Your tracker's timer may fire again at once; after a run the next firing is at least a tick away.",
        lambda t, last_run, tick: 0,
    ),
    instead(
        "without the tick",
        "Your tracker's timer may fire again within a tick of its last run.",
        lambda t, last_run, tick: last_run,
    ),
    instead(
        "two ticks",
        "Your tracker's timer waits for two ticks after a run; one is right.",
        lambda t, last_run, tick: last_run + 2 * tick,
    ),
    instead(
        "width for tick",
        "After a run your tracker's timer waits for the width of a bucket; it has to wait for a tick.",
        lambda t, last_run, tick: last_run + (1 << tick.bit_length() >> 1),
    ),
    instead(
        "from now",
        "Your tracker's timer waits for a tick from now on; it has to wait for a tick from its last run on.",
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
of(Timer.run_noted)(
    instead(
        "absent",
        "Your tracker forgets when its timer ran last; the next firing has to be a tick later at least.",
        lambda t: t.last_run,
    ),
    instead(
        "only the first",
        "Your tracker remembers only the first run of its timer; the last one counts.",
        lambda t: t.now if t.last_run is None else t.last_run,
    ),
)
look_at("DD-23", "a timeout that is replaced without being cancelled")
look_at("DD-24", "a firing that was on its way when its timeout was cancelled")
