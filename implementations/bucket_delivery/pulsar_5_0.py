"""The broker's bucket tracker of 5.0.1: one index of what is tracked, and upkeep that waits for what is under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from broker_tck.implementations.bucket_delivery.pulsar_4_2 import Chained, attempted
from broker_tck.implementations.bucket_delivery.pulsar_bucket import INVALID_ID, ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, all_of, completed
from broker_tck.implementations.bucket_delivery.pulsar_members import Index, Members
from broker_tck.implementations.bucket_delivery.pulsar_merging import Buckets
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Segments
from broker_tck.implementations.bucket_delivery.pulsar_ranges import Range, hash_order
from broker_tck.implementations.bucket_delivery.pulsar_recovery import Doomed
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketNotExistException,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    Timer,
)


class PulsarBuckets50(Chained):
    """Whatever is handed out is in the index. What could not be deleted is deleted again by the next clear."""

    profiles: ClassVar[tuple[str, ...]] = ("bucket-5.0",)

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        """Recover, or raise why that cannot be."""
        self._undeleted: list[ImmutableBucket] = []
        self._deletions: list[Future[None]] = []
        super().__init__(config, clock, timer, storage, cursor)

    def _no_members(self) -> Members:
        return Index()

    # ---- Delete

    def _delete(self, bucket: ImmutableBucket) -> Future[None]:
        return self._noting(bucket, attempted(bucket.delete))

    def _noting(self, bucket: ImmutableBucket, deletion: Future[None]) -> Future[None]:
        """Keep a deletion in mind while it is under way, and the bucket if it fails."""

        def ended(error: Exception | None) -> None:
            if error is not None:
                self._retry_later(bucket)

        noted = deletion.when_complete(ended)
        self._deletions = [each for each in self._deletions if not each.done]
        self._deletions.append(noted)
        return noted

    def _retry_later(self, bucket: ImmutableBucket) -> None:
        if not any(each is bucket for each in self._undeleted):
            self._undeleted.append(bucket)

    # ---- Recover

    def _makes_room(self, span: Range, doomed: Doomed) -> bool:
        """A range is placed if it meets none, or encloses one whole; those that it encloses are deleted."""
        met = [bucket for _, bucket in self._placed.inside(span)]
        enclosed = {bucket.span: bucket for bucket in met if span.encloses(bucket.span)}
        doomed.update(enclosed)
        return bool(enclosed) or not met

    def _read_recovered(self, bucket: ImmutableBucket) -> Future[Sequence[DelayedIndex] | None]:
        """A bucket without a snapshot has nothing left."""
        read = super()._read_recovered(bucket)
        return completed(None) if isinstance(read.error, BucketNotExistException) else read

    # ---- Trim and merge

    def _trim_one(self, span: Range, bucket: ImmutableBucket) -> Future[None]:
        """Delete it once it is stored; pass it over if it is not."""

        def delete(number: int) -> Future[None]:
            if number == INVALID_ID:
                return completed(None)
            return bucket.delete().then(lambda _: self._trimmed(span, bucket))

        return bucket.created.then_compose(delete)

    def _trimmed(self, span: Range, bucket: ImmutableBucket) -> None:
        """Take it out where it is placed as it was; what has come over it stays."""
        self._placed.remove(span)
        self._forget_trimmed(bucket)

    def _choose(self, buckets: Buckets, width: int) -> Buckets:
        return self._chosen(buckets, min(width, len(buckets))) if len(buckets) > 1 else ()

    def _size(self, bucket: ImmutableBucket) -> int:
        """As many as it had when it was made."""
        return bucket.messages

    def _next_time_of(self, bucket: ImmutableBucket) -> int:
        """The first time of the next segment."""
        return bucket.first_times[bucket.loaded]

    def _read(self, bucket: ImmutableBucket) -> Future[Segments]:
        """Read all of it."""
        return bucket.read_from(1)

    def _commit(self, buckets: Buckets, parts: Sequence[Segments]) -> Future[None]:
        """Delete the buckets if the merged one is stored; told when that has ended."""

        def delete(number: int) -> Future[None]:
            if number == INVALID_ID:
                for bucket in buckets:
                    self._retry_later(bucket)
                return completed(None)
            return all_of([self._delete(bucket) for bucket in buckets])

        return self._put_in_place(buckets, parts).created.then_compose(delete)

    # ---- Clear

    def clear(self) -> None:
        """Forget every message once the chain, the load and all deletions that are under way have ended."""
        before = self._chain if self._chain is not None else completed(None)
        self._chain = (
            before.exceptionally(None)
            .then_compose(lambda _: self._all_under_way())
            .exceptionally(None)
            .then_compose(lambda _: self._forget_all())
        )

    def _all_under_way(self) -> Future[None]:
        load = [self._load] if self._load is not None else []
        return all_of([*load, *self._deletions])

    def _forget_all(self) -> Future[None]:
        placed = dict(self._placed.entries())
        self._placed.clear()
        deletions = [
            self._noting(placed[span], placed[span].once_created(ImmutableBucket.delete))
            for span in hash_order(placed, bins=-(-4 * len(placed) // 3))
        ]
        again, self._undeleted = self._undeleted, []
        # One that has neither number nor property raises here: what is in memory is left as it is then.
        deletions += [self._noting(bucket, bucket.delete()) for bucket in again]
        self._empty()
        return all_of(deletions)
