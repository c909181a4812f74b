"""The tick of a tracker: how far ahead of its time a message may come."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule


class Tick(Part):
    """A tick in milliseconds, which may change, and whether delivery is strict: then it allows nothing."""

    def __init__(self, tick: int, strict: bool) -> None:
        self.tick = tick
        self.strict = strict

    @rule("DD-04", source="AbstractDelayedDeliveryTracker, PR 16068")
    def cutoff(self, now: int) -> int:
        """The cut-off is a tick after now; in strict mode it is now."""
        return now if self.strict else now + self.tick

    @rule("DD-27", source="AbstractDelayedDeliveryTracker", when=lambda t, tick: tick != t.tick)
    def reset(self, tick: int) -> None:
        """A new tick counts from the next use on, and moves no message."""
        self.tick = tick
