"""How the broker's bucket tracker chooses buckets to merge, and merges them, up to 4.2."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.bucket_delivery.pulsar_bucket import INVALID_ID, ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_cutting import CombinedSegments
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, all_of, completed
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Segments
from broker_tck.implementations.bucket_delivery.pulsar_sealing import Sealing
from broker_tck.implementations.interface import IllegalArgumentException

MOST_MERGED = 4


class IndexOutOfBoundsException(IndexError):
    """A list has no such element."""


class ArrayIndexOutOfBoundsException(IndexOutOfBoundsException):
    """A list that is made of an array has no such element."""


Buckets = Sequence[ImmutableBucket]


class Merging(Sealing):
    """Merges adjacent buckets: those with the fewest messages, if their next segment comes first, too."""

    # ---- Choose

    def _choose(self, buckets: Buckets, width: int) -> Buckets:
        if width >= len(buckets):
            raise IllegalArgumentException(f"{width} buckets of {len(buckets)} are to be merged")
        return self._chosen(buckets, width)

    def _chosen(self, buckets: Buckets, width: int) -> Buckets:
        chosen: Buckets = ()
        fewest = earliest = 2**63 - 1
        for i in range(len(buckets) - width + 1):
            window = buckets[i : i + width]
            if not all(bucket.segments > bucket.loaded and not bucket.merging for bucket in window):
                continue
            messages = sum(map(self._size, window))
            if messages <= fewest:
                fewest = messages
                at = min(map(self._next_time_of, window))
                if at < earliest:
                    earliest, chosen = at, window
        return chosen if chosen or width == 2 else self._chosen(buckets, width - 1)

    def _size(self, bucket: ImmutableBucket) -> int:
        return bucket.messages

    def _next_time_of(self, bucket: ImmutableBucket) -> int:
        """The first time of the segment after the next one. Raises where there is none: PR 26242."""
        place = bucket.loaded + 1
        if place < len(bucket.first_times):
            return bucket.first_times[place]
        raise (ArrayIndexOutOfBoundsException if bucket.recovered else IndexOutOfBoundsException)(place)

    # ---- Merge

    def _merge(self) -> Future[None]:
        buckets = self._choose(self._placed.values(), MOST_MERGED)
        if not buckets:
            return completed(None)
        for bucket in buckets:
            bucket.merging = True

        def ended(_: Exception | None) -> None:
            for bucket in buckets:
                bucket.merging = False

        return self._read_and_merge(buckets).when_complete(ended)

    def _read_and_merge(self, buckets: Buckets) -> Future[None]:
        created = [bucket.created for bucket in buckets]

        def read(_: None) -> Future[None]:
            if any(each.join() == INVALID_ID for each in created):
                raise RuntimeError("a bucket to be merged was not stored")
            parts = [self._read(bucket) for bucket in buckets]
            return all_of(parts).then_compose(lambda _: self._commit(buckets, [part.join() for part in parts]))

        return all_of(created).then_compose(read)

    def _read(self, bucket: ImmutableBucket) -> Future[Segments]:
        """Read what is left of a bucket. What is loaded will not be in the merged one: PR 26251."""
        return bucket.read_from(bucket.loaded + 1)

    def _commit(self, buckets: Buckets, parts: Sequence[Segments]) -> Future[None]:
        merged = self._put_in_place(buckets, parts)
        merged.created.then_compose(lambda _: all_of([bucket.delete() for bucket in buckets]))
        return completed(None)

    def _put_in_place(self, buckets: Buckets, parts: Sequence[Segments]) -> ImmutableBucket:
        merged, tail = self._build(CombinedSegments(parts), buckets[0].first, buckets[-1].last)
        merged.bits.clear()
        for bucket in buckets:
            merged.bits.add_all(bucket.bits.by_ledger)
        self._place(merged, tail)
        return merged
