"""Known mistakes in the tick of a tracker."""

from __future__ import annotations

from broker_tck.model.parts.tick import Tick
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, of

of(Tick.cutoff, look="the strict switch in the computation of the cut-off")(
    instead(
        "absent",
        "Your tracker lets no message come early; unless delivery is strict, the cut-off must be a tick after now.",
        lambda t, now: now,
    ),
    instead(
        "never strict",
        "In strict mode, your tracker lets a message come up to a tick too early; the cut-off must be now.",
        lambda t, now: now + t.tick,
        seen="PR 16068, issue 10169",
    ),
    instead(
        "the other way",
        "Your tracker has strict mode the wrong way round: strict delivery comes early, and the other does not.",
        lambda t, now: now + t.tick if t.strict else now,
    ),
    instead(
        "half a tick",
        "Your tracker puts the cut-off half a tick after now; it must be a whole tick.",
        lambda t, now: now if t.strict else now + t.tick // 2,
    ),
)

look_at("DD-27", "what a change of the tick touches besides the tick")
of(Tick.reset)(
    instead(
        "absent",
        "Your tracker ignores a new tick; it must use it from then on.",
        lambda t, tick: None,
        was="tick_after: absent",
    ),
)


@around(Tick.reset, "DD-27", "only lowered", was="tick_after: only lowered")
def only_lowered(reset: Method, t: Tick, tick: int) -> None:
    """Your tracker takes over a new tick only if it is lower; it must take over a higher one as well."""
    reset(t, min(tick, t.tick))


@around(Tick.reset, "DD-27", "only raised", was="tick_after: only raised")
def only_raised(reset: Method, t: Tick, tick: int) -> None:
    """Your tracker takes over a new tick only if it is higher; it must take over a lower one as well."""
    reset(t, max(tick, t.tick))
