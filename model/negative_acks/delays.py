"""How long a nacked message stays away."""

from __future__ import annotations

from math import floor, log
from typing import Protocol

from broker_tck.model.negative_acks.clock import MS
from broker_tck.model.rules import Part, rule

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

    @rule("NA-10", source="NegativeAcksTracker, PRs 12566, 15312", when=lambda d, count: count > 0 or d.backs_off())
    def delay(self, count: int) -> int:
        """The delay is the backoff's for the redelivery count, or without backoff the fixed one."""
        return self.backed_off(count) if self.backs_off() else self.fixed()

    @rule("NA-10", needs="backoff", when=lambda d: d.backs_off() and d.backoff(0) != d.backoff(1))
    def count_of_id(self) -> int:
        """An id alone has a redelivery count of 0."""
        return 0

    def backs_off(self) -> bool:
        """Whether there is a backoff."""
        return bool(self.table or self.multiplier)

    @rule("NA-11", source="NegativeAcksTracker, PR 12566", needs="backoff")
    def backed_off(self, count: int) -> int:
        """What a backoff answers is not clamped: a delay of 0 is due at once."""
        return self.backoff(count) * self.scale

    def backoff(self, count: int) -> int:
        """What the backoff answers for a redelivery count, in milliseconds."""
        return self.table[min(count, len(self.table) - 1)] if self.table else self.multiplied(count)

    @rule("NA-10", needs="backoff")
    def multiplied(self, count: int) -> int:
        """A multiplier makes the least delay longer with each redelivery, up to the most."""
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

    @rule("NA-12", source="NegativeAcksTracker, since PR 3703")
    def fixed(self) -> int:
        """A fixed delay is at least 100 ms."""
        return max(self.in_units(self.delay_us), SHORTEST * self.scale)

    @rule("NA-51", source="NegativeAcksTracker, PR 23600")
    def in_units(self, us: int) -> int:
        """Microseconds are cut to whole milliseconds."""
        return us * self.scale // 1_000

    def interval(self) -> int:
        """A third of the delay, at which some clients poll, in nanoseconds."""
        first = self.backed_off(0) if self.backs_off() else self.fixed()
        return max(first, SHORTEST * self.scale) * MS // self.scale // 3
