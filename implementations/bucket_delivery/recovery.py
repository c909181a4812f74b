"""How a tracker takes over what the cursor's properties lead to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TypeVar

from broker_tck.implementations.bucket_delivery.buckets import SealedBucket
from broker_tck.implementations.bucket_delivery.inventory import PackedMetadata, packed_metadata, stock_behind
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.promises import Promise
from broker_tck.implementations.bucket_delivery.snapshots import Snapshots, is_gone, one_of
from broker_tck.implementations.interface import (
    BUCKET_PROPERTY_PREFIX,
    BucketSnapshotPersistenceException,
    IllegalArgumentException,
    InvalidSnapshotException,
)

T = TypeVar("T")


class Recovery:
    """Recovers buckets. While it does, storage and cursor tell before their calls return."""

    def __init__(self, memory: Memory, snapshots: Snapshots, cutoff: int) -> None:
        """Skip segments all of which are due by ``cutoff``, in milliseconds: they are read again (BD-39)."""
        self._memory = memory
        self._snapshots = snapshots
        self._cutoff = cutoff

    def recover(self, properties: Mapping[str, str]) -> None:
        """Take over the buckets that are of use, and delete the others.

        Raises the error of a read that may go well yet, and has deleted nothing then (BD-35); an
        ``IllegalArgumentException`` where a bucket's property has no key or value of one.
        """
        useless = self._place(properties)
        remains = [(bucket, self._read(bucket)) for bucket in self._memory.placed]
        for bucket, left in remains:
            if left is None:
                self._memory.take_away(bucket)
                useless.append(bucket)
            else:
                segment, last_time = left
                self._memory.load(bucket, segment)
                self._memory.held.recover(bucket.inventory.all, last_time)
        for bucket in useless:
            self._snapshots.dispose(bucket)

    def _place(self, properties: Mapping[str, str]) -> list[SealedBucket]:
        """Place buckets; gives those whose range meets one that begins sooner, or is longer (BD-34)."""
        met: list[SealedBucket] = []
        for bucket in sorted(_stored(properties), key=lambda bucket: (bucket.first_ledger, -bucket.last_ledger)):
            if self._memory.placed.meets(bucket.first_ledger, bucket.last_ledger):
                met.append(bucket)
            else:
                self._memory.place(bucket)
        return met

    def _read(self, bucket: SealedBucket) -> tuple[Packed, int] | None:
        """The first segment that a bucket has left, and its last time; None: there is none, or no snapshot (BD-36)."""
        said = _answer(self._snapshots.read_metadata(bucket))
        if said is None or not self._describe(bucket, metadata := packed_metadata(said)):
            return None
        answer = _answer(self._snapshots.read(bucket, bucket.current, bucket.current))
        return None if answer is None else (one_of(answer), metadata.last_times[-1])

    def _describe(self, bucket: SealedBucket, metadata: PackedMetadata) -> bool:
        """Say what a bucket has from the first segment on that is not due as a whole; whether there is one.

        What cannot be read says of none.
        """
        skipped = bisect_right(metadata.last_times, self._cutoff)
        try:
            inventory = stock_behind(metadata, skipped)
        except InvalidSnapshotException:
            return False
        bucket.describe(metadata.first_times, skipped + 1, len(inventory.all), inventory)
        return skipped < len(metadata)


def _stored(properties: Mapping[str, str]) -> Iterator[SealedBucket]:
    """The buckets that properties lead to."""
    for key, value in properties.items():
        if not key.startswith(BUCKET_PROPERTY_PREFIX):
            continue
        try:
            _, first, last = key.split("_")
            bucket = SealedBucket(int(first), int(last))
            bucket.number = int(value)
        except ValueError:
            raise IllegalArgumentException(f"no property of a bucket: {key!r} = {value!r}") from None
        bucket.keyed = True
        bucket.created.keep(True)
        yield bucket


def _answer(promise: Promise[T | Exception]) -> T | None:
    """What a read has come to; None where its snapshot is gone. Any other error is raised."""
    if not promise.kept:
        raise BucketSnapshotPersistenceException("a call of the recovery has not ended")
    result = promise.result
    if not isinstance(result, Exception):
        return result
    if is_gone(result):
        return None
    raise result
