"""Known mistakes: the tick of a tracker: how far ahead of its time a message may come."""

from __future__ import annotations

from broker_tck.model.parts.tick import Tick
from broker_tck.properties.mistakes.book import instead, of

of(Tick.cutoff, look="the strict switch where the cut-off is computed")(
    instead(
        "absent",
        "Your tracker lets no message come early; where delivery is not strict, the cut-off is a tick ahead of now.",
        lambda t, now: now,
    ),
    instead(
        "never strict",
        "In strict mode, your tracker still lets a message come up to a tick too early; the cut-off has to be now.",
        lambda t, now: now + t.tick,
    ),
    instead(
        "the other way",
        "Your tracker has strict mode the wrong way round: strict delivery comes early, and the other does not.",
        lambda t, now: now + t.tick if t.strict else now,
    ),
    instead(
        "half a tick",
        "Your tracker puts the cut-off half a tick ahead of now; where delivery is not strict, it is a whole tick ahead.",
        lambda t, now: now if t.strict else now + t.tick // 2,
    ),
)
of(Tick.tick_after, look="what a change of the tick touches besides the tick")(
    instead("absent", "Your tracker ignores a new tick; it counts from the next use on.", lambda t, tick: t.tick),
    instead(
        "only lowered",
        "Your tracker takes over a new tick only if it is lower; a higher one counts as well.",
        lambda t, tick: min(tick, t.tick),
    ),
    instead(
        "only raised",
        "Your tracker takes over a new tick only if it is higher; a lower one counts as well.",
        lambda t, tick: max(tick, t.tick),
    ),
)
