"""Time buckets: under which one a time is filed, and when that one is due."""

from __future__ import annotations

from broker_tck.model.parts.tick import Tick
from broker_tck.model.rules import rule

LAST = 2**63 - 1
"""The last time that there is."""


class Buckets(Tick):
    """How wide buckets are, which is by the first tick, and when each is due.

    A bucket is named by its key, a multiple of the width. What is in it is the index's affair.
    """

    def __init__(self, tick: int, strict: bool) -> None:
        super().__init__(tick, strict)
        self.width = self.width_of(tick)

    @rule("DD-02", source="InMemoryDelayedDeliveryTracker, PR 23611")
    def width_of(self, tick: int) -> int:
        """A bucket is P ms wide, the largest power of two that is no larger than the tick at construction."""
        return self.floor(tick)

    @staticmethod
    def floor(tick: int) -> int:
        """The largest power of two that is no larger than the tick, 1 for a tick below 1."""
        return 1 << (max(tick, 1).bit_length() - 1)

    # ---- Which bucket, and when it is due

    @rule("DD-05", source="InMemoryDelayedDeliveryTracker, PR 26012, issue 25996")
    def key(self, at: int) -> int:
        """A time is filed under its bucket: rounded down to a multiple of P, in strict mode up; where that overflows,
        under the last multiple.
        """
        return self.up(at) if self.strict else at & -self.width

    def up(self, at: int) -> int:
        """A time rounded up to a multiple of the width, as far as times go."""
        return min(at + self.width - 1, LAST) & -self.width

    @rule("DD-06", source="InMemoryDelayedDeliveryTracker, PR 26188")
    def due(self, key: int, now: int) -> bool:
        """A bucket is due when the last time that it may hold is within the cut-off."""
        return key + (0 if self.strict else self.width - 1) <= self.cutoff(now)

    @rule("DD-33", source="follows from DD-06; no report upstream is known")
    def wake(self, key: int) -> int:
        """The timer aims at the moment when the first bucket becomes due, at its key at the earliest."""
        return key if self.strict else max(key, key + self.width - 1 - self.tick)

    # ---- A new tick

    @rule("DD-03", source="InMemoryDelayedDeliveryTracker", when=lambda b, tick: b.width_of(tick) != b.width)
    def reset_tick(self, tick: int) -> None:
        """A new tick leaves the width of the buckets as it is."""
        self.reset(tick)
