"""How the broker's bucket tracker finds its buckets again, and in which ranges it places those that overlap."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush

from broker_tck.implementations.bucket_delivery.pulsar_bucket import ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, all_of
from broker_tck.implementations.bucket_delivery.pulsar_merging import Merging
from broker_tck.implementations.bucket_delivery.pulsar_ranges import Range, hash_order
from broker_tck.implementations.interface import (
    BUCKET_PROPERTY_PREFIX,
    DelayedIndex,
    IllegalArgumentException,
)

Doomed = dict[Range, ImmutableBucket]
"""Buckets that are to be deleted, each with the range that is to be taken out with it."""


class Recovering(Merging):
    """Recovers up to 4.2: what a range meets is deleted under the part that lies inside, and the range placed over."""

    def _recover(self) -> None:
        """Raises the error of the first bucket in hash order that cannot be recovered."""
        doomed: Doomed = {}
        for key in self._persistence.cursor.get_cursor_properties():
            if key.startswith(BUCKET_PROPERTY_PREFIX):
                self._place_recovered(key, doomed)
        reads = {span: self._read_recovered(bucket) for span, bucket in self._placed.entries()}
        in_order = hash_order(reads, bins=len(reads))
        all_of([reads[span] for span in in_order]).join()
        placed = dict(self._placed.entries())
        for span in in_order:
            indexes = reads[span].join()
            if indexes:
                self._queue_recovered(placed[span], indexes)
            else:
                doomed[span] = placed[span]
        for span in hash_order(doomed):
            self._placed.remove(span)
            self._delete(doomed[span])
        self._members.recovered(self._placed.values())

    def _place_recovered(self, key: str, doomed: Doomed) -> None:
        parts = key.split("_")
        if len(parts) != 3:
            raise IllegalArgumentException(key)
        bucket = ImmutableBucket(self._persistence, int(parts[1]), int(parts[2]))
        if self._makes_room(bucket.span, doomed):
            self._placed.put(bucket.span, bucket)

    def _makes_room(self, span: Range, doomed: Doomed) -> bool:
        """Mark what is to be deleted for a range; answers whether it is placed."""
        doomed.update(self._placed.inside(span))
        return True

    def _read_recovered(self, bucket: ImmutableBucket) -> Future[Sequence[DelayedIndex] | None]:
        return bucket.recover(self._cutoff)

    def _queue_recovered(self, bucket: ImmutableBucket, indexes: Sequence[DelayedIndex]) -> None:
        for at, ledger, entry in indexes:
            heappush(self._shared, (at, ledger, entry))
        self._tails[indexes[-1][1], indexes[-1][2]] = bucket

    def _delete(self, bucket: ImmutableBucket) -> Future[None]:
        """Delete a bucket; nobody waits for it."""
        return bucket.delete()
