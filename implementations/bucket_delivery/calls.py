"""Calls to storage and cursor: repeats of failed calls, and the changes that are under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from broker_tck.implementations.bucket_delivery.promises import Promise
from broker_tck.implementations.interface import (
    BucketSnapshotPersistenceException,
    BucketSnapshotStorage,
    CursorProperties,
    Done,
)

T = TypeVar("T")

ATTEMPTS = 4
"""Maximum number of attempts at a call."""


def attempt(call: Callable[[Done[T]], None], failure: type[Exception], done: Done[T], most: int = ATTEMPTS) -> None:
    """Make a call, and repeat it while it fails with one kind of error (BD-15, BD-17)."""

    def ended(result: T | Exception) -> None:
        if most > 1 and isinstance(result, failure):
            attempt(call, failure, done, most - 1)
        else:
            done(result)

    call(ended)


class Calls:
    """Makes the calls of one tracker, from its recovery on until nothing that it has begun is left.

    Each ends with a result, or with the error of its last attempt.
    """

    def __init__(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> None:
        self.storage = storage
        self.cursor = cursor
        self._changes = 0
        self._closed: Callable[[], None] | None = None

    def property_of(self, key: str) -> str | None:
        """The value of a property as it is now."""
        return self.cursor.get_cursor_properties().get(key)

    def first_live(self) -> int:
        """The first ledger whose messages are no orphans: that of the mark-delete position (BD-22)."""
        mark = self.cursor.get_mark_deleted_position()
        return 0 if mark is None else mark[0]

    def read(self, call: Callable[[Done[T]], None]) -> Promise[T | Exception]:
        """Make a call that reads; none is made any more once all is closed."""
        promise: Promise[T | Exception] = Promise()
        attempt(lambda done: None if self._closed else call(done), BucketSnapshotPersistenceException, promise.keep)
        return promise

    def change(
        self, call: Callable[[Done[T]], None], failure: type[Exception] = BucketSnapshotPersistenceException
    ) -> Promise[T | Exception]:
        """Make a call that changes something."""
        promise: Promise[T | Exception] = Promise()

        def ended(result: T | Exception) -> None:
            promise.keep(result)
            # Not before: what follows from this call is begun by then.
            self._changes -= 1
            self._tell_if_idle()

        self._changes += 1
        attempt(call, failure, ended)
        return promise

    def close(self, done: Callable[[], None]) -> None:
        """Read nothing any more; call ``done`` when no change is under way, and none follows from one."""
        self._closed = done
        self._tell_if_idle()

    def _tell_if_idle(self) -> None:
        if self._closed is not None and not self._changes:
            told, self._closed = self._closed, _nothing
            told()


def _nothing() -> None:
    """The end was told already."""
