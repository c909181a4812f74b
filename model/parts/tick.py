"""The tick of a tracker: how far ahead of its time a message may come."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said


class Tick(Part):
    """A tick in milliseconds, which may change, and whether delivery is strict: then it allows nothing."""

    def __init__(self, tick: int, strict: bool) -> None:
        self.tick = tick
        self.strict = strict

    @said(
        never_strict=(
            "In strict mode, your tracker still lets a message come up to a tick too early; the cut-off has to be now."
        ),
        absent=(
            "Your tracker lets no message come early; where delivery is not strict, the cut-off is a tick ahead of now."
        ),
        the_other_way=(
            "Your tracker has strict mode the wrong way round: strict delivery comes early, and the other does not."
        ),
        half_a_tick=(
            "Your tracker puts the cut-off half a tick ahead of now; where delivery is not strict, it is a whole "
            "tick ahead."
        ),
    )
    @rule(
        "DD-04",
        "The cut-off is now in strict mode, else now + tick.",
        source="AbstractDelayedDeliveryTracker, PR 16068",
        look="the strict switch where the cut-off is computed",
        absent=lambda t, now: now,
        never_strict=lambda t, now: now + t.tick,
        the_other_way=lambda t, now: now + t.tick if t.strict else now,
        half_a_tick=lambda t, now: now if t.strict else now + t.tick // 2,
    )
    def cutoff(self, now: int) -> int:
        return now if self.strict else now + self.tick

    @said(
        absent="Your tracker ignores a new tick; it counts from the next use on.",
        only_lowered="Your tracker takes over a new tick only if it is lower; a higher one counts as well.",
        only_raised="Your tracker takes over a new tick only if it is higher; a lower one counts as well.",
    )
    @rule(
        "DD-27",
        "A new tick counts from the next use on; nothing is filed anew and the timer is left alone.",
        source="AbstractDelayedDeliveryTracker",
        look="what a change of the tick touches besides the tick",
        absent=lambda t, tick: t.tick,
        only_lowered=lambda t, tick: min(tick, t.tick),
        only_raised=lambda t, tick: max(tick, t.tick),
    )
    def tick_after(self, tick: int) -> int:
        return tick

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        self.tick = self.tick_after(tick)
