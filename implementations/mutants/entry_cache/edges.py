"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing and one, extreme settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from broker_tck.implementations.entry_cache.reads import CacheReads, ReadLimiter, Running
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot, TopicCache
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    Position,
)
from broker_tck.implementations.mutants.entry_cache.around import around_limiter, around_reads
from broker_tck.implementations.mutants.entry_cache.caches import of_topic
from broker_tck.implementations.mutants.mutant import mutant

# ---- Widths


@mutant("EC-47", shows="A number of listeners beyond a byte.", inside=around_reads, conditions=3, deep=True)
class StartIsAByte(CacheReads):
    """What the expected reads of a storage read's entries start at is kept in a byte."""

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        start = running.expected
        running.expected = lambda: start() % 256
        super().completed(running, values)


# ---- Clocks


@mutant("EC-20", shows="An unsigned difference of times, early in the life of a clock.", conditions=2)
class ThresholdIsNotNegative(RemovalQueue):
    """As long as the clock shows less than the TTL, a scheduled run takes what is older than the very start for old."""

    def do_cache_eviction(self) -> None:
        """The scheduled run."""
        self.evict_entries_before_timestamp((self.clock() - self._ttl) % 2**64)
        self._relieve()


@mutant("EC-22", shows="Two events in one millisecond.", conditions=3)
class RequeuedInTheSameMomentIsFree(RemovalQueue):
    """An entry that is requeued in the millisecond in which it was queued last is not counted as requeued."""

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        again = super().requeues(slot)
        if again and slot.stamp == self.clock() and slot.accessed:
            slot.requeued -= 1
        return again


# ---- Nothing and one


@mutant("EC-04", shows="A size of 0, taken for nothing.", inside=of_topic)
class EmptyEntriesAreRefused(TopicCache):
    """An entry of no bytes is not inserted."""

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value that has any bytes."""
        return (value.position != position or value.length > 0) and super().put(position, value)


# ---- Settings


@mutant("EC-31", shows="A watermark above the trigger, which no usual configuration has.", conditions=2)
class AtLeastAByteIsEvicted(RemovalQueue):
    """With a watermark above the trigger, where nothing is to be removed, a pass is asked for one byte."""

    def _relieve(self) -> None:
        if self._trigger < self.size <= self._goal < inf:
            self._counters[2] += 1
            self.evict_least_accessed_entries(1)
        else:
            super()._relieve()


@mutant(
    "EC-55",
    shows="A request that can never be granted.",
    source="apache/pulsar PR 23524",
    inside=around_limiter,
    conditions=2,
)
class LargerThanTheLimitGoes(ReadLimiter):
    """A read for more than the whole limit goes as soon as nobody else reads."""

    def __init__(self, limit: int, most_waiting: int, timeout: int, clock: Clock) -> None:
        super().__init__(limit, most_waiting, timeout, clock)
        self._limit = limit

    def acquire(self, permits: int, go: Callable[[bool], None]) -> None:
        """Take permits, as many as there can be at most."""
        if self.remaining == self._limit < permits:
            self.remaining -= permits
            go(True)
        else:
            super().acquire(permits, go)


@mutant("EC-30", shows="An integer division that comes to 0 for small sizes.", conditions=2, deep=True)
class SmallSizesHaveNoTrigger(RemovalQueue):
    """The trigger is 98 hundredths of the largest size, each rounded down: below 100 bytes it is 0."""

    def _set_max_size(self, size: int | None) -> None:
        super()._set_max_size(size)
        if size is not None:
            self._trigger = size // 100 * 98
