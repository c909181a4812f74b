"""Time buckets: under which one a time is filed, and when that one is due."""

from __future__ import annotations

from broker_tck.model.parts.tick import Tick
from broker_tck.model.rules import rule
from broker_tck.model.said import said

LAST = 2**63 - 1
"""The last time that there is."""


class Buckets(Tick):
    """How wide buckets are, which is by the first tick, and when each is due.

    A bucket is named by its key, a multiple of the width. What is in it is the index's affair.
    """

    def __init__(self, tick: int, strict: bool) -> None:
        super().__init__(tick, strict)
        self.width = self.width_of(tick)

    @said(
        rounded_up=(
            "Your tracker makes buckets wider than the tick; their width is the largest power of two that is no larger."
        ),
        shifted_as_an_int="Your tracker shifts the width in an int; with a tick from 2^32 on it is too narrow.",
        half="Your tracker makes buckets half as wide as they have to be.",
        always_ten_bits="Your tracker makes all buckets 1024 ms wide; their width has to go by the tick.",
        next_power_at_a_power=(
            "Your tracker makes buckets twice as wide where the tick is a power of two; then they are as wide as the "
            "tick."
        ),
        absent=(
            "Your tracker gives every millisecond a bucket of its own; buckets have to be as wide as the tick allows."
        ),
    )
    @rule(
        "DD-02",
        "A bucket is P ms wide, the largest power of two that is no larger than the tick at construction.",
        source="InMemoryDelayedDeliveryTracker, PR 23611",
        look="how many low bits are cleared: 9 at a tick of 1000, 10 at 1024",
        absent=lambda b, tick: 1,
        rounded_up=lambda b, tick: 1 << (max(tick, 1) - 1).bit_length(),
        always_ten_bits=lambda b, tick: 1024,
        shifted_as_an_int=lambda b, tick: 1 << (max(tick, 1).bit_length() - 1) % 32,
        half=lambda b, tick: max(1, 1 << max(tick, 1).bit_length() >> 2),
        next_power_at_a_power=lambda b, tick: (
            1 << max(tick, 1).bit_length() if tick & (tick - 1) == 0 else b.floor(tick)
        ),
    )
    def width_of(self, tick: int) -> int:
        return self.floor(tick)

    @staticmethod
    def floor(tick: int) -> int:
        """The largest power of two that is no larger than the tick, 1 for a tick below 1."""
        return 1 << (max(tick, 1).bit_length() - 1)

    # ---- Which bucket, and when it is due

    @said(
        rounded_down="In strict mode, your tracker rounds a delivery time down; it has to round up.",
        rounded_up="Your tracker rounds a delivery time up; where delivery is not strict, it has to round down.",
        absent="Your tracker files a message under its own time; it has to round the time to a bucket.",
        nearest=(
            "Your tracker rounds a delivery time to the nearest bucket; it has to round down, and in strict mode up."
        ),
        overflow_wraps=(
            "Your tracker lets a very late time overflow while it is rounded up; it has to stay in the last bucket."
        ),
        in_doubles="Your tracker reckons buckets in floating point; beyond 2^53 they are those of their neighbours.",
        by_the_tick=(
            "Your tracker rounds a delivery time to a multiple of the tick; buckets are as wide as a power of two."
        ),
        to_the_next=(
            "In strict mode, your tracker files a time that is the edge of a bucket under the next one; it has to "
            "stay at that edge."
        ),
    )
    @rule(
        "DD-05",
        "A time is filed under its bucket: rounded down to a multiple of P, in strict mode up; where that overflows, "
        "under the last multiple.",
        source="InMemoryDelayedDeliveryTracker, PR 26012, issue 25996",
        look="rounding in strict mode; times within P of the largest",
        absent=lambda b, at: at,
        rounded_down=lambda b, at: at & -b.width,
        rounded_up=lambda b, at: b.up(at),
        to_the_next=lambda b, at: min(at + b.width, LAST) & -b.width if b.strict else at & -b.width,
        nearest=lambda b, at: min(at + b.width // 2, LAST) & -b.width,
        in_doubles=lambda b, at: min(int(float(b.up(at) if b.strict else at & -b.width)), LAST),
        by_the_tick=lambda b, at: at - at % max(b.tick, 1),
        overflow_wraps=lambda b, at: (
            (at + b.width - 1 - (2**64 if at + b.width > 2**63 else 0) if b.strict else at) & -b.width
        ),
    )
    def key(self, at: int) -> int:
        return self.up(at) if self.strict else at & -self.width

    def up(self, at: int) -> int:
        """A time rounded up to a multiple of the width, as far as times go."""
        return min(at + self.width - 1, LAST) & -self.width

    @said(
        at_its_start=(
            "Your tracker hands a bucket out when its first time is due; it has to wait for the last time in it."
        ),
        absent=(
            "Your tracker takes every bucket for due; it has to wait until the last time in it is within the cut-off."
        ),
        strictly_before=(
            "Your tracker hands a bucket out one millisecond too late; a last time that equals the cut-off is due."
        ),
        at_its_key_at_the_latest=(
            "Your tracker hands a bucket out at its key at the latest; it has to wait for the last time in it."
        ),
        at_the_next=(
            "Where delivery is not strict, your tracker hands a bucket out one millisecond too late: when the next "
            "one begins."
        ),
        a_bucket_late_in_strict=(
            "In strict mode, your tracker waits for the end of a bucket before it hands that out; it is due at its key."
        ),
    )
    @rule(
        "DD-06",
        "A bucket is due when the last time that it may hold is within the cut-off.",
        source="InMemoryDelayedDeliveryTracker, PR 26188",
        look="the bucket's end, not its start, where times are rounded down; equality counts as due",
        absent=lambda b, key, now: True,
        at_its_start=lambda b, key, now: key <= b.cutoff(now),
        strictly_before=lambda b, key, now: key + (0 if b.strict else b.width - 1) < b.cutoff(now),
        at_the_next=lambda b, key, now: key + (0 if b.strict else b.width) <= b.cutoff(now),
        at_its_key_at_the_latest=lambda b, key, now: key <= now or key + b.width - 1 <= b.cutoff(now),
        a_bucket_late_in_strict=lambda b, key, now: key + b.width - 1 <= b.cutoff(now),
    )
    def due(self, key: int, now: int) -> bool:
        return key + (0 if self.strict else self.width - 1) <= self.cutoff(now)

    @said(
        absent=(
            "Your tracker's timer aims at the key of the first bucket; it has to aim at the moment when that is due."
        ),
        the_end_of_the_bucket=(
            "Your tracker's timer aims at the end of the first bucket; it has to aim at the moment when that is due."
        ),
        never_mind_the_key=(
            "Your tracker's timer aims at a moment before the key of the first bucket; the key is the earliest."
        ),
        in_strict_as_well=(
            "In strict mode, your tracker's timer aims at the moment that is right where delivery is not strict; it "
            "has to aim at the key."
        ),
    )
    @rule(
        "DD-33",
        "The timer aims at the moment when the first bucket becomes due, at its key at the earliest.",
        source="follows from DD-06; no report upstream is known",
        look="a tick lowered below the width of a bucket: at the key the bucket is not due yet",
        absent=lambda b, key: key,
        never_mind_the_key=lambda b, key: key if b.strict else key + b.width - 1 - b.tick,
        the_end_of_the_bucket=lambda b, key: key if b.strict else key + b.width - 1,
        in_strict_as_well=lambda b, key: max(key, key + b.width - 1 - b.tick),
    )
    def wake(self, key: int) -> int:
        return key if self.strict else max(key, key + self.width - 1 - self.tick)

    # ---- A new tick

    @said(
        absent="A new tick changes the width of your tracker's buckets; it has to stay as it was.",
        smaller_only="A lower tick makes your tracker's buckets narrower; their width has to stay as it was.",
        larger_only="A higher tick makes your tracker's buckets wider; their width has to stay as it was.",
    )
    @rule(
        "DD-03",
        "The width of a bucket never changes.",
        source="InMemoryDelayedDeliveryTracker",
        look="what a change of the tick recomputes",
        absent=lambda b, tick: b.width_of(tick),
        smaller_only=lambda b, tick: min(b.width, b.width_of(tick)),
        larger_only=lambda b, tick: max(b.width, b.width_of(tick)),
    )
    def width_after(self, tick: int) -> int:
        return self.width

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        super().reset_tick(tick)
        self.width = self.width_after(tick)
