"""How a bucket is made of indexes: cut, placed and stored."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.cutting import Cutting, Segments
from broker_tck.implementations.bucket_delivery.inventory import stock_of
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.sealed import SealedBucket
from broker_tck.implementations.bucket_delivery.snapshots import Snapshots


class Placing:
    """Makes buckets. Once the first segment is in memory, the others are kept until they are stored."""

    def __init__(self, cutting: Cutting, memory: Memory, schedule: Schedule, snapshots: Snapshots) -> None:
        self._cutting = cutting
        self._memory = memory
        self._schedule = schedule
        self._snapshots = snapshots

    def place(self, first_ledger: int, last_ledger: int, indexes: Packed) -> SealedBucket:
        """Make a bucket of ascending indexes, one at least. Nothing else may lie over its range."""
        segments = self._cutting.cut(indexes)
        positions = segments.positions()
        bucket = SealedBucket(first_ledger, last_ledger)
        bucket.describe(segments.first_times(), 1, len(indexes), stock_of(positions))
        self._memory.place(bucket)
        self._memory.load(bucket, segments[0])
        self._snapshots.store(
            bucket, segments.metadata(positions), segments, lambda: self._keep_in_memory(bucket, segments)
        )
        bucket.created.then(lambda stored: self._schedule.wake())
        return bucket

    def _keep_in_memory(self, bucket: SealedBucket, segments: Segments) -> None:
        """Share what a bucket has, as it could not be stored, unless it was taken away meanwhile (BD-16)."""
        bucket.current = bucket.last
        if bucket.placed:
            self._memory.shared.share(segments.behind(1))
            self._memory.lose(bucket)
