"""What a tracker has in memory, and where the next segment is needed."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.buckets import PlacedBuckets, SealedBucket
from broker_tck.implementations.bucket_delivery.held import HeldIndex
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.queues import NO_LEDGER, GrowingBucket, SharedQueue
from broker_tck.implementations.interface import DelayedIndex


class Memory:
    """The held index, the growing bucket, the placed buckets, the shared queue, and the boundaries in it."""

    def __init__(self) -> None:
        self.held = HeldIndex()
        self.growing = GrowingBucket()
        self.placed = PlacedBuckets()
        self.shared = SharedQueue()
        self._boundaries: dict[DelayedIndex, SealedBucket] = {}

    @property
    def first(self) -> int:
        """The time of the first index, or the last time there is; milliseconds."""
        return min(self.shared.first, self.growing.first)

    def move_due(self, cutoff: int) -> None:
        """Move what is due by a time from the growing bucket to the shared queue (BD-09)."""
        if self.growing.first <= cutoff:
            self.shared.push_all(self.growing.take_until(cutoff))

    # ---- Buckets

    def place(self, bucket: SealedBucket) -> None:
        """Have a bucket lie over its range; the next message looks at the sealed buckets again."""
        self.placed.put(bucket)
        self.growing.joined = NO_LEDGER

    def load(self, bucket: SealedBucket, segment: Packed) -> None:
        """Share a bucket's segment. Before its last index leaves the queue, the next segment is loaded."""
        self._forget_boundary(bucket)
        self.shared.share(segment)
        bucket.boundary = segment[-1]
        self._boundaries[bucket.boundary] = bucket

    def ending_at(self, index: DelayedIndex) -> SealedBucket | None:
        """The bucket of which an index is the last one that is loaded."""
        return self._boundaries.get(index)

    def take_away(self, bucket: SealedBucket) -> None:
        """Have a bucket lie over its range no longer; nothing of it is loaded any more."""
        self.placed.remove(bucket)
        self._forget_boundary(bucket)

    def lose(self, bucket: SealedBucket) -> None:
        """Take a bucket away of which indexes may be left in memory that have had their day."""
        self.take_away(bucket)
        self.held.suspect(bucket.inventory.all)

    def _forget_boundary(self, bucket: SealedBucket) -> None:
        """Forget where the next segment is needed, unless another bucket needs one there by now."""
        if bucket.boundary is not None and self._boundaries.get(bucket.boundary) is bucket:
            del self._boundaries[bucket.boundary]

    # ---- The end

    def clear(self) -> list[SealedBucket]:
        """Forget everything; gives the buckets that were placed."""
        self.release()
        self._boundaries = {}
        return self.placed.clear()

    def release(self) -> None:
        """Let go of all indexes. The buckets stay, for the calls that have not ended."""
        self.shared.clear()
        self.growing.clear()
        self.held.clear()
