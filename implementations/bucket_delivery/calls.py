"""Calls to storage and cursor: which are made again, and which of those that change something have not ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from broker_tck.implementations.bucket_delivery.promise import Promise
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

ATTEMPTS = 4
"""So often a call is made at most."""


class _Attempts:
    """A call that is made again as long as it fails in one way (BD-15, BD-17)."""

    __slots__ = ("_call", "_done", "_left", "_while")

    def __init__(self, call: Callable[[Done[T]], None], failure: type[Exception], done: Done[T]) -> None:
        self._call = call
        self._while = failure
        self._done = done
        self._left = ATTEMPTS

    def make(self) -> None:
        self._left -= 1
        self._call(self._ended)

    def _ended(self, result: object) -> None:
        if self._left and isinstance(result, self._while):
            self.make()
        else:
            self._done(result)  # type: ignore[arg-type]  # it is the call's


class Calls:
    """Makes the calls of one tracker, from its recovery on until nothing that it has begun is left."""

    def __init__(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> None:
        self._storage = storage
        self._cursor = cursor
        self._changes = 0
        self._closed: Callable[[], None] | None = None

    # ---- The storage

    def create(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        key: str,
        done: Done[int],
    ) -> None:
        """Store a snapshot."""
        self._change(
            lambda ended: self._storage.create_bucket_snapshot(metadata, segments, key, ended),
            BucketSnapshotPersistenceException,
            done,
        )

    def delete(self, number: int, done: Done[None]) -> None:
        """Delete a snapshot."""
        self._change(
            lambda ended: self._storage.delete_bucket_snapshot(number, ended), BucketSnapshotPersistenceException, done
        )

    def read_metadata(self, number: int) -> Promise[Sequence[SegmentMetadata] | Exception]:
        """What a snapshot says of its segments, or the error that is left."""
        return self._read(lambda ended: self._storage.get_bucket_snapshot_metadata(number, ended))

    def read_segments(
        self, number: int, first: int, last: int
    ) -> Promise[Sequence[Sequence[DelayedIndex]] | Exception]:
        """Some segments of a snapshot, counted from 1, or the error that is left."""
        return self._read(lambda ended: self._storage.get_bucket_snapshot_segment(number, first, last, ended))

    # ---- The cursor

    def put_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""
        self._change(lambda ended: self._cursor.put_cursor_property(key, value, ended), BadVersionException, done)

    def remove_property(self, key: str, done: Done[None]) -> None:
        """Take a property out."""
        self._change(lambda ended: self._cursor.remove_cursor_property(key, ended), BadVersionException, done)

    def property_of(self, key: str) -> str | None:
        """The value of a property as it is now."""
        return self._cursor.get_cursor_properties().get(key)

    # ---- All

    def close(self, done: Callable[[], None]) -> None:
        """Read nothing any more; tell when no change is under way, nor one that follows from it."""
        self._closed = done
        self._tell_if_idle()

    def _read(self, call: Callable[[Done[T]], None]) -> Promise[T | Exception]:
        promise: Promise[T | Exception] = Promise()
        if self._closed is None:
            _Attempts(self._unless_closed(call), BucketSnapshotPersistenceException, promise.keep).make()
        return promise

    def _unless_closed(self, call: Callable[[Done[T]], None]) -> Callable[[Done[T]], None]:
        return lambda ended: None if self._closed else call(ended)

    def _change(self, call: Callable[[Done[T]], None], failure: type[Exception], done: Done[T]) -> None:
        def ended(result: T | Exception) -> None:
            done(result)
            # Not before: what follows from this call is begun by then.
            self._changes -= 1
            self._tell_if_idle()

        self._changes += 1
        _Attempts(call, failure, ended).make()

    def _tell_if_idle(self) -> None:
        if self._closed is not None and not self._changes:
            told, self._closed = self._closed, _nothing
            told()


def _nothing() -> None:
    """The end was told already."""
