"""Storage and cursor of the broker's bucket tracker, with the retries and the order of key updates that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, Sequencer, called, with_retries
from broker_tck.implementations.interface import (
    BadVersionException,
    BucketSnapshotPersistenceException,
    BucketSnapshotStorage,
    CursorProperties,
    DelayedIndex,
    Done,
    SegmentMetadata,
)

T = TypeVar("T")
RETRIES = 3
"""So often a call is made again at most."""
Metadata = Sequence[SegmentMetadata]
Segments = Sequence[Sequence[DelayedIndex]]
Call = Callable[[Done[T]], None]


class Persistence:
    """Calls as futures. Storage is asked again where it did not persist, the cursor where a bad version was met."""

    again: ClassVar[type[Exception]] = BucketSnapshotPersistenceException
    retries: ClassVar[int] = RETRIES

    def __init__(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> None:
        self._storage = storage
        self.cursor = cursor
        self._key_updates = Sequencer()

    # ---- The storage

    def create(self, metadata: Metadata, segments: Segments, key: str) -> Future[int]:
        """Store a snapshot."""
        return self._asked(lambda done: self._storage.create_bucket_snapshot(metadata, segments, key, done))

    def read_metadata(self, number: int) -> Future[Metadata]:
        """Read what a snapshot says of its segments."""
        return self._asked(lambda done: self._storage.get_bucket_snapshot_metadata(number, done))

    def read_segments(self, number: int, first: int, last: int) -> Future[Segments]:
        """Read segments of a snapshot, counted from 1."""
        return self._asked(lambda done: self._storage.get_bucket_snapshot_segment(number, first, last, done))

    def delete(self, number: int) -> Future[None]:
        """Delete a snapshot."""
        return self._asked(lambda done: self._storage.delete_bucket_snapshot(number, done))

    def _asked(self, call: Call[T]) -> Future[T]:
        return with_retries(lambda: called(call), self.again, self.retries)

    # ---- The cursor

    def put_key(self, key: str, number: int) -> Future[None]:
        """Set the property of a bucket, after the key updates that were asked for before."""
        return self._in_turn(lambda done: self.cursor.put_cursor_property(key, str(number), done))

    def remove_key(self, key: str) -> Future[None]:
        """Take the property of a bucket out, after the key updates that were asked for before."""
        return self._in_turn(lambda done: self.cursor.remove_cursor_property(key, done))

    def _in_turn(self, call: Call[None]) -> Future[None]:
        return self._key_updates.sequential(lambda: self._updated(call))

    def _updated(self, call: Call[None]) -> Future[None]:
        return with_retries(lambda: called(call), BadVersionException, RETRIES)
