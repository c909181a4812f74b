"""What the broker's bucket tracker holds, and how a bucket is made, placed and stored, or is not."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import chain

from broker_tck.implementations.bucket_delivery.pulsar_bucket import INVALID_ID, ImmutableBucket, MutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_cutting import Cutter, HeapOfIndexes, Indexes
from broker_tck.implementations.bucket_delivery.pulsar_members import BitsOfBuckets, Members
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Persistence
from broker_tck.implementations.bucket_delivery.pulsar_ranges import RangeMap
from broker_tck.implementations.bucket_delivery.pulsar_timer import WakeUp
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    IllegalArgumentException,
    Position,
    Timer,
)


class Sealing:
    """The growing bucket, the shared queue, the placed buckets, and the tails: where the loaded part of each ends."""

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        self._min_index_count = config.min_index_count
        self._max_buckets = config.max_buckets
        self._strict = config.strict
        self._tick = config.tick
        self._clock = clock
        self._persistence = self._asking(storage, cursor)
        self._cutter = self._cutting(config)
        self._growing = MutableBucket()
        self._shared: list[DelayedIndex] = []
        self._placed: RangeMap[ImmutableBucket] = RangeMap()
        self._tails: dict[Position, ImmutableBucket] = {}
        self._members = self._no_members()
        self._timer = self._no_timer(clock, timer)
        self._closed = False

    # ---- Its parts

    def _asking(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> Persistence:
        return Persistence(storage, cursor)

    def _cutting(self, config: BucketDeliveryConfig) -> Cutter:
        return Cutter(config.time_step, config.max_indexes)

    def _no_members(self) -> Members:
        return BitsOfBuckets(self._growing, self._placed)

    def _no_timer(self, clock: Clock, timer: Timer) -> WakeUp:
        return WakeUp(clock, timer, self._move_scheduled)

    # ---- Times

    def _cutoff(self) -> int:
        return self._clock() if self._strict else self._clock() + self._tick

    def _move_scheduled(self) -> None:
        queue, cutoff = self._growing.queue, self._cutoff()
        while queue and queue[0][0] <= cutoff:
            heappush(self._shared, heappop(queue))

    # ---- Seal

    def _seal(self) -> None:
        growing = self._growing
        self._place(*self._build(HeapOfIndexes(growing.queue), growing.first, growing.last))
        growing.reset_range()

    def _build(self, indexes: Indexes, first: int, last: int) -> tuple[ImmutableBucket, Position]:
        """Make a bucket, and begin to store it; answers with where its first segment ends, too."""

        def taken(index: DelayedIndex, of_first_segment: bool) -> None:
            _, ledger, entry = index
            self._members.sealed(ledger, entry)
            if not first <= ledger <= last:
                raise IllegalArgumentException(f"ledger {ledger} is not of a bucket from {first} to {last}")
            if of_first_segment:
                heappush(self._shared, index)

        pieces = self._cutter.cut(indexes, taken)
        bucket = ImmutableBucket(self._persistence, first, last)
        bucket.loaded = 1
        bucket.segments = len(pieces.segments)
        bucket.messages = sum(map(len, pieces.segments))
        bucket.first_times = [metadata.min_schedule_timestamp for metadata in pieces.metadata]
        bucket.bits = pieces.bits
        bucket.unstored = pieces.segments[1:]
        bucket.created = bucket.save(pieces.metadata, pieces.segments)
        return bucket, pieces.segments[0][-1][1:]

    def _place(self, bucket: ImmutableBucket, tail: Position) -> None:
        self._placed.put(bucket.span, bucket)
        self._tails[tail] = bucket

        def created(number: int | None, error: Exception | None) -> int:
            if error is None and number is not None:
                bucket.unstored = ()
                return number
            self._give_up(bucket, tail)
            return INVALID_ID

        bucket.created = bucket.created.handle(created)

    def _give_up(self, bucket: ImmutableBucket, tail: Position) -> None:
        """A bucket was not stored: what it has goes to the shared queue, and it is a bucket no more.

        Raises for a bucket that has more than is in the queue, once that is closed.
        """
        if self._closed and bucket.unstored:
            raise RuntimeError("the shared queue is closed")
        for index in chain.from_iterable(bucket.unstored):
            heappush(self._shared, index)
        bucket.unstored = ()
        bucket.loaded = bucket.segments
        self._placed.remove(bucket.span)
        self._tails.pop(tail, None)
