"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing, settings at their ends."""

from __future__ import annotations

from broker_tck.implementations.interface import Clocks, Consumer, NackTimer, NegativeAcksConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.negative_acks.parts import MultiplierBackoff
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker

LONG = 2**64

# ---- Settings


class WrapsAround(MultiplierBackoff):
    """A delay that is multiplied in 64 bits, where its factor is a whole number, before it meets the longest."""

    def __call__(self, count: int) -> int:
        """The delay for a redelivery count."""
        if self.factor % 1 or count <= 0:
            return super().__call__(count)
        return min(self.first * pow(int(self.factor), count, LONG) % LONG, self.longest)


@mutant(
    "NA-10",
    shows="A real bug: a delay that doubles until it overflows.",
    source="client-go, issue 1384, B-12",
    conditions=2,
    deep=True,
)
class GrowthWrapsAround(SortedBucketsTracker):
    """A delay that doubles is doubled in 64 bits: after some 60 redeliveries nothing of it is left, and it is due."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        if config.multiplier and not config.backoff_ms:
            self._backoff = WrapsAround(*config.multiplier)
