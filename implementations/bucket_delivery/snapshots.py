"""Snapshots of buckets together with their keys: stored, read and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from broker_tck.implementations.bucket_delivery.buckets import SealedBucket
from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.keys import KeyUpdates
from broker_tck.implementations.bucket_delivery.packed import Packed, packed
from broker_tck.implementations.bucket_delivery.promises import Promise, Steps, run
from broker_tck.implementations.interface import (
    BucketNotExistException,
    DelayedIndex,
    InvalidSnapshotException,
    SegmentMetadata,
)

Answer = Sequence[Sequence[DelayedIndex]] | Exception
"""Segments, or the error in their place."""


class Snapshots:
    """What a tracker has stored, in step with the cursor's properties."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._keys = KeyUpdates(calls)
        self.retired: list[SealedBucket] = []
        """Buckets that are not placed any more, of which something may be stored still."""

    def store(
        self, bucket: SealedBucket, metadata: Sequence[SegmentMetadata], segments: Sequence[Sequence[DelayedIndex]]
    ) -> None:
        """Store a bucket, then put its key."""
        run(self._store(bucket, metadata, segments))

    def _store(
        self, bucket: SealedBucket, metadata: Sequence[SegmentMetadata], segments: Sequence[Sequence[DelayedIndex]]
    ) -> Steps[None]:
        create = self._calls.storage.create_bucket_snapshot
        result = yield self._calls.change(partial(create, metadata, segments, bucket.key))
        stored = not isinstance(result, Exception)
        if stored:
            bucket.number = result
        if stored and not bucket.given_up:
            bucket.keyed = yield self._keys.put(bucket.key, result)
        bucket.created.keep(stored)

    def read(self, bucket: SealedBucket, first: int, last: int) -> Promise[Answer]:
        """Some segments of a bucket that has a snapshot."""
        assert bucket.number is not None
        read = self._calls.storage.get_bucket_snapshot_segment
        return self._calls.read(partial(read, bucket.number, first, last))

    def read_metadata(self, bucket: SealedBucket) -> Promise[Sequence[SegmentMetadata] | Exception]:
        """What a snapshot says of its segments."""
        assert bucket.number is not None
        return self._calls.read(partial(self._calls.storage.get_bucket_snapshot_metadata, bucket.number))

    # ---- Deletion

    def delete(self, bucket: SealedBucket) -> Promise[bool]:
        """Delete snapshot and key, unless that is under way. True if both succeed, or if the bucket has no snapshot."""
        if bucket.deletion is None or bucket.deletion.kept:
            bucket.deletion = run(self._delete(bucket))
        return bucket.deletion

    def _delete(self, bucket: SealedBucket) -> Steps[bool]:
        if bucket.number is None:
            return True
        result = yield self._calls.change(partial(self._calls.storage.delete_bucket_snapshot, bucket.number))
        return not isinstance(result, Exception) and (yield self._keys.remove(bucket.key, bucket.number))

    def dispose(self, bucket: SealedBucket) -> Promise[bool]:
        """Delete a bucket that is of no use any more; where that fails, the next clear tries again."""
        deleted = self.delete(bucket)
        deleted.then(lambda well: None if well else self.retired.append(bucket))
        return deleted

    def give_up(self, buckets: Sequence[SealedBucket]) -> None:
        """Delete buckets as soon as they are there, and all that are retired."""
        useless, self.retired = [*buckets, *self.retired], []
        for bucket in useless:
            bucket.given_up = True
            bucket.created.then(partial(self._dispose_of, bucket))

    def _dispose_of(self, bucket: SealedBucket, stored: bool) -> None:
        self.dispose(bucket)


def is_gone(error: object) -> bool:
    """Whether an error says that a snapshot will never be read again."""
    return isinstance(error, BucketNotExistException | InvalidSnapshotException)


def one_of(segments: Sequence[Sequence[DelayedIndex]]) -> Packed:
    """The only segment of an answer, packed."""
    (segment,) = segments
    return packed(segment)
