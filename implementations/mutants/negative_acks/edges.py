"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing, settings at their ends."""

from __future__ import annotations

from broker_tck.implementations.interface import Clocks, Consumer, MessageId, NackTimer, NegativeAcksConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.negative_acks.parts import MultiplierBackoff
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker

LONG = 2**64
DEFAULT_BITS = 8

# ---- Widths


@mutant("NA-10", conditions=2, deep=True)
class CountIsAByte(SortedBucketsTracker):
    """A redelivery count is kept in eight bits: after 255 redeliveries a message begins with the first delay again."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        backoff = self._backoff
        self._backoff = (lambda count: backoff(count % 256)) if backoff else None


@mutant("NA-10", conditions=2, deep=True)
class NackDelayIsAnInt(SortedBucketsTracker):
    """A backoff's delay is kept in 32 bits: one of 2^31 ms or more is short, or over already."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        backoff = self._backoff
        self._backoff = (lambda count: max(0, signed_int(backoff(count)))) if backoff else None


def signed_int(number: int) -> int:
    """The low 32 bits of a number, as an int of Java's."""
    return (number + 2**31) % 2**32 - 2**31


@mutant("NA-51", conditions=2, deep=True)
class MicrosecondsAreAnInt(SortedBucketsTracker):
    """A fixed delay is kept in an int of microseconds: one of 2^31, some 36 minutes, or more is another one."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._fixed = max(signed_int(config.delay_us) // 1_000, 100)


@mutant("NA-05", conditions=2, deep=True)
class IdsAreDoubles(SortedBucketsTracker):
    """Entry ids are kept in floating point: beyond 2^53 a neighbour is emitted."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""
        ledger, entry, index, chunks = message_id
        kept = min(int(float(entry)), 2**63 - 1)
        moved = [chunk + kept - entry for chunk in chunks]
        super().add_message(MessageId(ledger, kept, index, moved), redelivery_count)


# ---- Clocks


@mutant("NA-26", conditions=2)
class ClockNeverGoesBack(SortedBucketsTracker):
    """The wall clock is read as never going back: after a jump back, time stands still until it has caught up."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._latest = clocks.wall()
        self._wall = self._latest_wall
        self._read = clocks.wall

    def _latest_wall(self) -> int:
        self._latest = max(self._latest, self._read())
        return self._latest


# ---- Nothing


@mutant("NA-11")
class NoDelayIsNoBackoff(SortedBucketsTracker):
    """Where the backoff answers 0, the fixed delay is taken."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        backoff, fixed = self._backoff, self._fixed
        self._backoff = (lambda count: backoff(count) or fixed) if backoff else None


@mutant("NA-13")
class NoBitsAreTheDefault(SortedBucketsTracker):
    """A precision of 0 bits is taken for none that was set: buckets are 256 ms wide."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._mask = -(1 << (config.precision_bits or DEFAULT_BITS))


# ---- Settings


@mutant("NA-13", conditions=2)
class NackWidthIsShiftedAsAnInt(SortedBucketsTracker):
    """The width of a bucket is shifted in an int, whose shifts go by five bits: from 32 bits on it starts from 1."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._mask = -(1 << config.precision_bits % 32)


class WrapsAround(MultiplierBackoff):
    """A delay that is multiplied in 64 bits, where its factor is a whole number, before it meets the longest."""

    def __call__(self, count: int) -> int:
        """The delay for a redelivery count."""
        if self.factor % 1 or count <= 0:
            return super().__call__(count)
        return min(self.first * pow(int(self.factor), count, LONG) % LONG, self.longest)


@mutant("NA-10", source="client-go, issue 1384, B-12", conditions=2, deep=True)
class GrowthWrapsAround(SortedBucketsTracker):
    """A delay that doubles is doubled in 64 bits: after some 60 redeliveries nothing of it is left, and it is due."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        if config.multiplier and not config.backoff_ms:
            self._backoff = WrapsAround(*config.multiplier)
