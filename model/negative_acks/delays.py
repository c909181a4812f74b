"""How long a nacked message stays away."""

from __future__ import annotations

from math import floor, log
from typing import Protocol

from broker_tck.model.negative_acks.clock import MS
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

SHORTEST = 100
"""Milliseconds that a fixed delay has at least."""


def signed_int(number: int) -> int:
    """The low 32 bits of a number, signed: what is left of it where it is kept so."""
    return (number + 2**31) % 2**32 - 2**31


class DelayConfig(Protocol):
    """What a trace configures of delays."""

    delay_us: int
    backoff_ms: tuple[int, ...] | None
    multiplier: tuple[int, int, float] | None


class Delays(Part):
    """A fixed delay or a backoff, in units of the clock, of which so many, the ``scale``, make a millisecond.

    A backoff is a table, or multiplies its least delay up to its most.
    """

    def __init__(self, config: DelayConfig, scale: int) -> None:
        self.delay_us = config.delay_us
        self.table = config.backoff_ms
        self.multiplier = config.multiplier
        self.least, self.most, self.factor = config.multiplier or (0, 0, 1.0)
        self.scale = scale

    @said(
        absent="Your tracker does not ask its backoff for the delay.",
        counted_in_8_bits="Your tracker keeps a redelivery count in eight bits; it has to keep all of it.",
        an_int="Your tracker keeps 32 bits of a backoff's delay; it has to keep all of it.",
        one_more="Your tracker asks its backoff with a redelivery count that is one too high.",
        one_less=(
            "Your tracker takes the backoff's delay for one redelivery less; it has to take that for the count as it "
            "is."
        ),
        always_the_first=(
            "Your tracker takes the backoff's first delay for every message; it has to go by the redelivery count."
        ),
    )
    @rule(
        "NA-10",
        "The delay is the backoff's for the redelivery count; an id alone has a count of 0. Without backoff the delay "
        "is fixed.",
        source="NegativeAcksTracker, PRs 12566, 15312",
        look="which count a nack by id is taken for; counts beyond the last of the backoff",
        when=lambda d, count: count > 0 or d.backs_off(),
        absent=lambda d, count: d.fixed(),
        one_more=lambda d, count: d.backed_off(count + 1) if d.backs_off() else d.fixed(),
        one_less=lambda d, count: d.backed_off(max(count - 1, 0)) if d.backs_off() else d.fixed(),
        always_the_first=lambda d, count: d.backed_off(0) if d.backs_off() else d.fixed(),
        counted_in_8_bits=lambda d, count: d.backed_off(count % 256) if d.backs_off() else d.fixed(),
        an_int=lambda d, count: max(signed_int(d.backoff(count)), 0) * d.scale if d.backs_off() else d.fixed(),
    )
    def delay(self, count: int) -> int:
        return self.backed_off(count) if self.backs_off() else self.fixed()

    @said(
        absent="Your tracker takes an id alone for a message that was redelivered before; its count is 0.",
    )
    @also(delay, when=lambda d: d.backs_off() and d.backoff(0) != d.backoff(1), absent=lambda d: 1)
    def count_of_id(self) -> int:
        return 0

    def backs_off(self) -> bool:
        """Whether there is a backoff."""
        return bool(self.table or self.multiplier)

    @said(
        absent="Your tracker makes a delay longer that its backoff gives; a delay of 0 is due at once.",
        fixed_for_none="Your tracker takes the fixed delay where its backoff gives 0; that is due at once.",
    )
    @rule(
        "NA-11",
        "What a backoff answers is not clamped: a delay of 0 is due at once.",
        source="NegativeAcksTracker, PR 12566",
        look="the lower limit of the fixed delay, applied to the backoff as well",
        needs="backoff",
        absent=lambda d, count: max(d.backoff(count), SHORTEST) * d.scale,
        fixed_for_none=lambda d, count: d.backoff(count) * d.scale or d.fixed(),
    )
    def backed_off(self, count: int) -> int:
        return self.backoff(count) * self.scale

    def backoff(self, count: int) -> int:
        """What the backoff answers for a redelivery count, in milliseconds."""
        return self.table[min(count, len(self.table) - 1)] if self.table else self.multiplied(count)

    @said(
        never_the_most="The delays of your tracker's multiplier grow beyond the longest; they have to end there.",
        one_step_late="The delays of your tracker's multiplier grow one redelivery too late.",
        wrapping_around=(
            "The delays of your tracker's multiplier overflow at high redelivery counts; they have to end at the "
            "longest."
        ),
        absent="The delay of your tracker's multiplier stays the first one; it has to grow with the redelivery count.",
    )
    @also(
        delay,
        absent=lambda d, count: d.least,
        never_the_most=lambda d, count: min(int(d.least * d.factor ** min(count, 40)), 2**40),
        one_step_late=lambda d, count: d.grown(count - 1),
        wrapping_around=lambda d, count: d.grown(count) if d.factor % 1 else d.wrapped(max(count, 0)),
    )
    def multiplied(self, count: int) -> int:
        return self.grown(count)

    def grown(self, count: int) -> int:
        """The least delay so many times multiplied, up to the most; what is far beyond it is not reckoned."""
        if count <= 0 or self.least == 0:
            return self.least
        steps = floor(log(self.most / self.least) / log(self.factor)) + 1
        return self.most if count > steps else min(int(self.least * self.factor**count), self.most)

    def wrapped(self, count: int) -> int:
        """The least delay so many times multiplied in 64 bits, for a wrong way."""
        return min(self.least * pow(int(self.factor), count, 2**64) % 2**64, self.most)

    @said(
        absent="Your tracker takes a fixed delay below 100 ms; it is 100 ms at least.",
        default_for_none="Your tracker takes no delay for the default one; it is 100 ms then.",
        of_a_second="Your tracker's fixed delay is a second at least; the least is 100 ms.",
    )
    @rule(
        "NA-12",
        "A fixed delay is at least 100 ms.",
        source="NegativeAcksTracker, since PR 3703",
        look="a delay of 0, which neither is immediate nor stands for the default",
        absent=lambda d: d.in_units(d.delay_us),
        default_for_none=lambda d: max(d.in_units(d.delay_us or 60_000_000), SHORTEST * d.scale),
        of_a_second=lambda d: max(d.in_units(d.delay_us), 1_000 * d.scale),
    )
    def fixed(self) -> int:
        return max(self.in_units(self.delay_us), SHORTEST * self.scale)

    @said(
        absent="Your tracker rounds microseconds up to milliseconds; they have to be cut.",
        an_int="Your tracker keeps 32 bits of the microseconds; it has to keep all of them.",
        nearest="Your tracker rounds microseconds to the nearest millisecond; it has to cut them.",
    )
    @rule(
        "NA-51",
        "Microseconds are cut to whole milliseconds.",
        source="NegativeAcksTracker, PR 23600",
        look="how the configured delay is converted",
        absent=lambda d, us: -(-us * d.scale // 1_000),
        nearest=lambda d, us: (us * d.scale + 500) // 1_000,
        an_int=lambda d, us: signed_int(us) * d.scale // 1_000,
    )
    def in_units(self, us: int) -> int:
        return us * self.scale // 1_000

    def interval(self) -> int:
        """A third of the delay, at which some clients poll, in nanoseconds."""
        first = self.backed_off(0) if self.backs_off() else self.fixed()
        return max(first, SHORTEST * self.scale) * MS // self.scale // 3
