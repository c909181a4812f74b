"""Mutants that go wrong by how much there is: batches and runs, crowds, many buckets, further lives."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME, NEVER
from broker_tck.implementations.delayed_delivery.number_sets import Bitmap, NumberSet, Runs
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import (
    FIRST_PAGE,
    LEDGER_BITS,
    PAGE_BITS,
    TimeBucketIndex,
)
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer
from broker_tck.implementations.mutants.delayed_delivery.parts import OneByOne, around_detector, around_index
from broker_tck.implementations.mutants.mutant import mutant

# ---- Batches


@mutant("DD-11", shows="A run that is partly there already, between its ends.", conditions=3, inside=around_index)
class RunIsNewIfItsEndsAre(TimeBucketIndex):
    """Of a run of messages only the first and the last are looked up: where these are new, all are counted as new."""

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add the positions from one entry to another."""
        ends = self.add(key, ledger_id, first_entry) + self.add(key, ledger_id, last_entry)
        added = super().add_run(key, ledger_id, first_entry, last_entry)
        return last_entry - first_entry + 1 if ends == 2 else added + ends


@mutant("DD-14", shows="A copy of a setting that one of two ways in goes on with.", conditions=4, deep=True)
class BatchStepsBackByTheFirstTick(TimeBucketTracker):
    """How far times in a batch may step back is told by the tick at the start, whatever it is by then."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._delays = _OfTheFirstTick(config.tick)


class _OfTheFirstTick(FixedDelayDetector):
    def __init__(self, tick: int) -> None:
        super().__init__()
        self._tick = tick

    def accepted_all(self, deliver_at: Iterable[int], tick: int) -> None:
        super().accepted_all(deliver_at, self._tick)


# ---- Many buckets


@mutant("DD-30", shows="More buckets than a loop has turns.", conditions=2, deep=True)
class ClearsAThousandBuckets(TimeBucketTracker):
    """A clear forgets the first thousand buckets, and leaves the others."""

    def clear(self) -> None:
        """Forget the messages of the first buckets."""
        for _ in range(1_000):
            self._count -= len(self._index.take(min(self._index.first, LAST_TIME), self._count))


# ---- Crowds


def around_bitmap(broken: type[Bitmap]) -> type[TimeBucketTracker]:
    """The time-bucket tracker with these bitmaps."""

    class Index(TimeBucketIndex):
        """An index that keeps crowds in broken bitmaps."""

        def _grown(self, shelf: int, numbers: NumberSet, growth: int) -> None:
            super()._grown(shelf, numbers, growth)
            if isinstance(numbers, Runs) and isinstance(self._shelves[shelf], Bitmap):
                self._shelves[shelf] = broken(numbers)

    return around_index(Index)


@mutant("DD-28", shows="An entry before all others of a large bitmap.", conditions=3, deep=True, inside=around_bitmap)
class FirstOfThousandsIsLost(Bitmap):
    """A message whose entry comes before all others of its bucket is lost where these are more than 2,048."""

    def add(self, number: int) -> bool:
        """Add a number, unless it is the first of thousands."""
        return (len(self) <= 2_048 or number > self._numbers.min()) and super().add(number)


@mutant(
    "DD-28", shows="A run across the end of a container of a bitmap.", conditions=3, deep=True, inside=around_bitmap
)
class RunEndsWithItsContainer(Bitmap):
    """A run of messages that is added to a bitmap ends where its first container of 65,536 does; the rest is lost."""

    def add_run(self, first: int, last: int) -> int:
        """Add all numbers from ``first`` on, as far as its container goes."""
        return super().add_run(first, min(last, first | 0xFFFF))


@mutant("DD-28", shows="Many large buckets at a time.", conditions=3, deep=True, inside=around_index)
class EightCrowdsAtMost(TimeBucketIndex):
    """While more than eight buckets are bitmaps, none of these takes a message."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, unless there are too many bitmaps."""
        numbers = self._shelves.get((key << PAGE_BITS) + (ledger_id >> LEDGER_BITS) - FIRST_PAGE)
        crowded = isinstance(numbers, Bitmap) and sum(isinstance(n, Bitmap) for n in self._shelves.values()) > 8
        return not crowded and super().add(key, ledger_id, entry_id)


# ---- Second and third lives


@mutant(
    "DD-16",
    shows="What is right the first time, and wrong the second.",
    conditions=4,
    deep=True,
    inside=around_detector,
)
class DetectionStartsAnewOnce(FixedDelayDetector):
    """The detection of a fixed delay starts anew when the index is empty for the first time, and never after."""

    _drained = 0

    def reset(self) -> None:
        """Start anew, if that has not been done before."""
        if self._drained <= 1:
            super().reset()
        self._drained = self._drained + 1


@mutant("DD-30", shows="A pooled object that is not emptied.", conditions=3, inside=around_index)
class ClearedSetIsUsedAgain(OneByOne):
    """A clear keeps the set of the last bucket, which has one from its second message on, for the next: unemptied."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[Position] = []

    def clear(self) -> None:
        """Remove everything, but keep the last bucket's set at hand."""
        positions: list[Position] = []
        while self.first < NEVER:
            positions = self.take(self.first, self.memory)
        super().clear()
        self._kept = positions if len(positions) > 1 else []

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, to the set that is at hand."""
        kept, self._kept = self._kept, []
        for position in kept:
            super().add(key, *position)
        return super().add(key, ledger_id, entry_id)
