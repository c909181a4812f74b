"""Known mistakes in buckets: how wide they are, which one a time falls into, and when one is due."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.specification import LAST, Buckets
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

of(Buckets.width_of, look="how many low bits are cleared: 9 at a tick of 1000, 10 at 1024")(
    instead(
        "absent",
        "Your tracker gives every millisecond a bucket of its own; they must be as wide as the tick allows.",
        lambda b, tick: 1,
    ),
    instead(
        "rounded up",
        "Your tracker makes buckets wider than the tick; the width must be the largest power of two up to the tick.",
        lambda b, tick: 1 << (max(tick, 1) - 1).bit_length(),
    ),
    instead(
        "always ten bits",
        "Your tracker makes all buckets 1024 ms wide; the width must depend on the tick.",
        lambda b, tick: 1024,
    ),
    instead(
        "shifted as an int",
        "Your tracker shifts the width in an int; with a tick from 2^32 on, its buckets are too narrow.",
        lambda b, tick: 1 << (max(tick, 1).bit_length() - 1) % 32,
    ),
    instead(
        "half",
        "Your tracker makes buckets half as wide as they must be.",
        lambda b, tick: max(1, 1 << max(tick, 1).bit_length() >> 2),
    ),
    instead(
        "next power at a power",
        "If the tick is a power of two, your tracker makes buckets twice as wide; they must be as wide as the tick.",
        lambda b, tick: 1 << max(tick, 1).bit_length() if tick & (tick - 1) == 0 else 1 << tick.bit_length() - 1,
    ),
)
of(Buckets.key, look="rounding in strict mode; times within P of the largest")(
    instead(
        "absent",
        "Your tracker files a message under its own time; it must round the time to a bucket.",
        lambda b, at: at,
    ),
    instead(
        "rounded down",
        "In strict mode, your tracker rounds a delivery time down; it must round up.",
        lambda b, at: at & -b.width,
    ),
    instead(
        "rounded up",
        "Your tracker rounds a delivery time up; unless delivery is strict, it must round down.",
        lambda b, at: b.up(at),
    ),
    instead(
        "to the next",
        "In strict mode, your tracker files a time at the edge of a bucket under the next one; it must stay there.",
        lambda b, at: min(at + b.width, LAST) & -b.width if b.strict else at & -b.width,
    ),
    instead(
        "nearest",
        "Your tracker rounds a delivery time to the nearest bucket; it must round down, and in strict mode up.",
        lambda b, at: min(at + b.width // 2, LAST) & -b.width,
    ),
    instead(
        "in doubles",
        "Your tracker computes buckets in floating point; beyond 2^53 a time gets into a neighbouring bucket.",
        lambda b, at: min(int(float(b.up(at) if b.strict else at & -b.width)), LAST),
    ),
    instead(
        "by the tick",
        "Your tracker rounds a delivery time to a multiple of the tick; it must round it to a multiple of the width.",
        lambda b, at: at - at % max(b.tick, 1),
    ),
    instead(
        "overflow wraps",
        "Your tracker lets a very late time overflow when it rounds up; the time must stay in the last bucket.",
        lambda b, at: (at + b.width - 1 - (2**64 if at + b.width > 2**63 else 0) if b.strict else at) & -b.width,
    ),
)
of(Buckets.due, look="the bucket's end, not its start, unless delivery is strict; equality counts as due")(
    instead(
        "absent",
        "Your tracker takes every bucket for due; it must wait until the cut-off reaches its last time.",
        lambda b, key, now: True,
    ),
    instead(
        "at its start",
        "Your tracker hands a bucket out when its first time is due; it must wait for its last time.",
        lambda b, key, now: key <= b.cutoff(now),
    ),
    instead(
        "strictly before",
        "Your tracker hands a bucket out one millisecond too late; a last time that equals the cut-off is due.",
        lambda b, key, now: key + (0 if b.strict else b.width - 1) < b.cutoff(now),
    ),
    instead(
        "at the next",
        "Your tracker hands a bucket out one millisecond too late: when the next one begins.",
        lambda b, key, now: key + (0 if b.strict else b.width) <= b.cutoff(now),
    ),
    instead(
        "at its key at the latest",
        "Your tracker hands a bucket out at its key at the latest; it must wait for its last time.",
        lambda b, key, now: key <= now or key + b.width - 1 <= b.cutoff(now),
    ),
    instead(
        "a bucket late in strict",
        "In strict mode, your tracker hands a bucket out when it ends; it must hand it out at its key.",
        lambda b, key, now: key + b.width - 1 <= b.cutoff(now),
    ),
)
of(Buckets.wake, look="a tick lowered below the width of a bucket: at the key the bucket is not due yet")(
    instead(
        "absent",
        "Your tracker's timer aims at the key of the first bucket; it must aim at the moment when that bucket is due.",
        lambda b, key: key,
    ),
    instead(
        "never mind the key",
        "Your tracker's timer aims at a moment before the key of the first bucket; the key is the earliest.",
        lambda b, key: key if b.strict else key + b.width - 1 - b.tick,
    ),
    instead(
        "the end of the bucket",
        "Your tracker's timer aims at the end of the first bucket; it must aim at the moment when that bucket is due.",
        lambda b, key: key if b.strict else key + b.width - 1,
    ),
    instead(
        "in strict as well",
        "In strict mode, your tracker's timer waits for the end of the first bucket; it must aim at the key.",
        lambda b, key: max(key, key + b.width - 1 - b.tick),
    ),
)
look_at("DD-03", "what a change of the tick recomputes")


@around(Buckets.reset_tick, "DD-03", "width follows the tick", was="buckets.width_after: absent")
def width_follows_the_tick(reset_tick: Method, b: Buckets, tick: int) -> None:
    """A new tick changes the width of your tracker's buckets; the width must stay as it was."""
    reset_tick(b, tick)
    b.width = b.width_of(tick)


@around(Buckets.reset_tick, "DD-03", "smaller only", was="buckets.width_after: smaller only")
def narrower_only(reset_tick: Method, b: Buckets, tick: int) -> None:
    """A lower tick makes your tracker's buckets narrower; their width must stay as it was."""
    reset_tick(b, tick)
    b.width = min(b.width, b.width_of(tick))


@around(Buckets.reset_tick, "DD-03", "larger only", was="buckets.width_after: larger only")
def wider_only(reset_tick: Method, b: Buckets, tick: int) -> None:
    """A higher tick makes your tracker's buckets wider; their width must stay as it was."""
    reset_tick(b, tick)
    b.width = max(b.width, b.width_of(tick))


# ---- The tick, which only trackers with buckets can take for a width


@mistake(
    "DD-04",
    "a bucket's width for the tick",
    "Your tracker takes the width of a bucket for the tick when it computes the cut-off.",
)
class WidthForTick(Buckets):
    """What is due is reckoned by the width."""

    def cutoff(self, now: int) -> int:
        """A width ahead."""
        return now if self.strict else now + self.width


@mistake(
    "DD-27",
    "no less than a bucket's width",
    "Your tracker accepts no tick that is smaller than the width of a bucket; it must accept any.",
)
class NoLessThanWidth(Buckets):
    """The tick cannot be below the width of a bucket."""

    def reset(self, tick: int) -> None:
        """The larger of the two."""
        super().reset(max(tick, self.width))
