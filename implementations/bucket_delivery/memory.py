"""What a tracker has in memory, and where the next segment is needed."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.buckets import PlacedBuckets, SealedBucket
from broker_tck.implementations.bucket_delivery.held import HeldIndex
from broker_tck.implementations.bucket_delivery.packed import Packed, in_order, merged
from broker_tck.implementations.bucket_delivery.queues import SharedQueue, Strays
from broker_tck.implementations.interface import DelayedIndex

NO_LEDGER = -1
"""In place of a ledger id, none of which is negative."""


class GrowingBucket(Strays):
    """What is not sealed yet, and the range of ledgers over which it has grown: what is due leaves, the range stays."""

    __slots__ = ("first_ledger", "joined", "last_ledger")

    def clear(self) -> None:
        """Remove everything, and begin anew: the next message decides where the range begins."""
        super().clear()
        self.first_ledger = self.last_ledger = NO_LEDGER
        self.joined = NO_LEDGER
        """The ledger whose messages join without a look at the sealed buckets: none lies over it."""

    def join(self, ledger: int) -> None:
        """Let the messages of a ledger join, which is not below the last one."""
        if self.first_ledger == NO_LEDGER:
            self.first_ledger = ledger
        self.last_ledger = self.joined = ledger

    def take_until(self, last: int) -> Packed:
        """Take out what is not after a time, in ascending order."""
        taken = Packed()
        while self.first <= last:
            taken.append(*self.pop())
        return taken

    def drain(self) -> Packed:
        """Take out everything, in ascending order."""
        drained = merged([in_order(self._fresh), *self._runs.take_short(len(self))])
        self.clear()
        return drained


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
