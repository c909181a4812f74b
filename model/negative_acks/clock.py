"""The clocks of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule

MS = 1_000_000
"""Nanoseconds in a millisecond."""


class TwoClocks(Part):
    """A wall clock in milliseconds, which may jump, and one in nanoseconds, which only goes forward.

    Instants are read in units, of which so many, the ``scale``, make a millisecond.
    """

    def __init__(self, ms: int, scale: int) -> None:
        self.wall = ms
        self.now = ms * MS
        self.scale = scale

    @rule("NA-26", source="NegativeAcksTracker, PR 23600")
    def reading(self) -> int:
        """Instants are read from the wall clock, waits from one that never jumps: a jump makes items early or late."""
        return self.wall * self.scale

    def until(self, instant: int) -> int:
        """When an instant is reached, as the clock is now: in nanoseconds, and a unit from now at the earliest."""
        return self.now + max(instant - self.reading(), 1) * MS // self.scale

    def move(self, to: int) -> None:
        """Move both clocks on."""
        self.wall += to // MS - self.now // MS
        self.now = to

    def jump(self, ms: int) -> None:
        """The wall clock jumps."""
        self.wall += ms


def whole_ms(at: int) -> int:
    """The first whole millisecond that is not before a time in nanoseconds."""
    return -(-at // MS)
