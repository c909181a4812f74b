"""Where a message goes, when the growing bucket is sealed, and how a bucket is made."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence

from broker_tck.implementations.bucket_delivery.buckets import SealedBucket
from broker_tck.implementations.bucket_delivery.inventory import stock_of
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import positions_of
from broker_tck.implementations.bucket_delivery.queues import NO_LEDGER
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.snapshots import Snapshots
from broker_tck.implementations.interface import BucketDeliveryConfig, SegmentMetadata

NO_LIMIT = -1
"""In place of the number of indexes that a segment has at most."""


def cut(indexes: Packed, time_step: int, max_indexes: int) -> list[Packed]:
    """Cut ascending indexes into segments, no sooner than they must be. Each has one index at least.

    They span less than ``time_step`` milliseconds, and have ``max_indexes`` at most (BD-12).
    """
    times, n = indexes.times, len(indexes)
    most = n if max_indexes == NO_LIMIT else max(max_indexes, 1)
    segments: list[Packed] = []
    start = 0
    while start < n:
        end = bisect_left(times, times[start] + time_step, start, n)
        end = max(start + 1, min(end, start + most))
        segments.append(indexes[start:end])
        start = end
    return segments


class Placing:
    """Makes buckets. Once the first segment is in memory, the others are kept until they are stored."""

    def __init__(self, config: BucketDeliveryConfig, memory: Memory, schedule: Schedule, snapshots: Snapshots) -> None:
        self._config = config
        self._memory = memory
        self._schedule = schedule
        self._snapshots = snapshots

    def place(self, first_ledger: int, last_ledger: int, indexes: Packed) -> SealedBucket:
        """Make a bucket of ascending indexes, one at least. Nothing else may lie over its range."""
        segments = cut(indexes, self._config.time_step, self._config.max_indexes)
        positions = [positions_of(segment.ledgers, segment.entries) for segment in segments]
        metadata = [
            SegmentMetadata(segment.times[0], segment.times[-1], mine.serialized())
            for segment, mine in zip(segments, positions, strict=True)
        ]
        bucket = SealedBucket(first_ledger, last_ledger)
        first_times = array("q", [segment.times[0] for segment in segments])
        bucket.describe(first_times, 1, len(indexes), stock_of(positions))
        self._memory.place(bucket)
        self._memory.load(bucket, segments[0])
        self._snapshots.store(bucket, metadata, segments)

        def created(stored: bool) -> None:
            if not stored:
                self._keep_in_memory(bucket, segments[1:])
            self._schedule.wake()

        bucket.created.then(created)
        return bucket

    def _keep_in_memory(self, bucket: SealedBucket, segments: Sequence[Packed]) -> None:
        """Share what could not be stored of a bucket, unless that was taken away meanwhile (BD-16)."""
        bucket.current = bucket.last
        if bucket.placed:
            for segment in segments:
                self._memory.shared.share(segment)
            self._memory.lose(bucket)


class Sealing:
    """Takes messages into the growing bucket, which is sealed before one of a ledger above it."""

    def __init__(self, memory: Memory, placing: Placing, min_index_count: int, sealed: Callable[[], None]) -> None:
        """Tell ``sealed`` of each bucket that was placed. With ``min_index_count`` indexes it is sealed."""
        self._memory = memory
        self._placing = placing
        self._least = max(min_index_count, 1)
        self._sealed = sealed

    def take(self, at: int, ledger: int, entry: int) -> bool:
        """Keep an index that is not due, in memory alone if it does not join; whether a sealed bucket lies over it."""
        memory, growing = self._memory, self._memory.growing
        covered = memory.placed.over(ledger)
        if not covered and self._is_sealed_before(ledger):
            self._seal()
            # A merge that ended meanwhile may have placed a bucket over a gap between its sources.
            covered = memory.placed.over(ledger)
        if covered or ledger < growing.last_ledger:
            memory.shared.push(at, ledger, entry)
        else:
            growing.join(ledger)
            growing.push(at, ledger, entry)
        return covered

    def _is_sealed_before(self, ledger: int) -> bool:
        """Whether the growing bucket has enough, or must not grow across a sealed one (BD-08, BD-41)."""
        last = self._memory.growing.last_ledger
        if last == NO_LEDGER or last >= ledger:
            return False
        return len(self._memory.growing) >= self._least or self._memory.placed.meets(last, ledger)

    def _seal(self) -> None:
        memory, first, last = self._memory, self._memory.growing.first_ledger, self._memory.growing.last_ledger
        indexes = memory.held.worth_storing(memory.growing.drain())
        if not indexes:
            return
        if memory.placed.meets(first, last):
            # A merge has placed a bucket over it: two cannot lie there (BD-47).
            memory.shared.share(indexes)
            return
        self._placing.place(first, last, indexes)
        self._sealed()
