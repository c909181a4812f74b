"""Storage and cursor as Java sees them: calls that answer with a future, which the kit completes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from broker_tck.implementations.bucket_delivery.wire import (
    read_metadata,
    read_segment,
    written_metadata,
    written_segment,
)
from broker_tck.implementations.interface import (
    BadVersionException,
    BucketNotExistException,
    BucketSnapshotStorage,
    CursorProperties,
    Done,
    InvalidSnapshotException,
)
from broker_tck.implementations.jvm.loader import Loader
from broker_tck.implementations.jvm.positions import position_maker
from broker_tck.implementations.jvm.standins import of_interface, weakly

PACKAGE = "org.apache.pulsar.broker.delayed."
STORAGE = PACKAGE + "bucket.BucketSnapshotStorage"
LEDGER = "org.apache.bookkeeper.mledger."
NAME = "subscription"
"""Of the cursor; the name of its dispatcher ends with it."""


class JavaDurables:
    """What Java needs of storage and cursor: messages, futures and exceptions of a release."""

    def __init__(self, loader: Loader) -> None:
        """Load them."""
        jpype = self.jpype = loader.jpype
        self.loader = loader
        self.bytes = jpype.JArray(jpype.JByte)
        self.long: Callable[[int], Any] = jpype.java.lang.Long.valueOf
        self.list: Callable[[Any], Any] = jpype.java.util.ArrayList
        self.map: Callable[[], Any] = jpype.java.util.LinkedHashMap
        self.future: Callable[[], Any] = jpype.java.util.concurrent.CompletableFuture
        self.wrapped: Callable[[Any], Any] = jpype.java.util.concurrent.CompletionException
        self.metadata = loader.named(PACKAGE + "proto.SnapshotMetadata")
        self.segment = loader.named(PACKAGE + "proto.SnapshotSegment")
        self.not_persisted = loader.named(PACKAGE + "bucket.BucketSnapshotPersistenceException")
        self.not_there = loader.named(PACKAGE + "bucket.BucketNotExistException")
        self.unreadable = loader.named(PACKAGE + "bucket.BucketSnapshotSerializationException")
        self.bad_version = loader.named(LEDGER + "ManagedLedgerException$BadVersionException")
        self.not_updated = loader.named(LEDGER + "ManagedLedgerException$MetaStoreException")
        self.position = position_maker(loader)
        self.ledger = of_interface(loader, LEDGER + "ManagedLedger", {"getName": lambda: NAME})

    def message(self, kind: Any, written: bytes) -> Any:
        """A message of a kind. It is parsed by a static method, or by one of its own."""
        if hasattr(kind, "getDefaultInstance"):
            return kind.parseFrom(self.bytes(written))
        message = kind()
        message.parseFrom(self.bytes(written))
        return message

    def of_storage(self, error: Exception) -> Any:
        """An error as the broker's storage tells it, whose futures come out of others."""
        kind = {BucketNotExistException: self.not_there, InvalidSnapshotException: self.unreadable}
        return self.wrapped(kind.get(type(error), self.not_persisted)(str(error)))

    def of_cursor(self, error: Exception) -> Any:
        """An error as a cursor tells it."""
        return (self.bad_version if isinstance(error, BadVersionException) else self.not_updated)(str(error))


class JavaDurable:
    """Storage and cursor of one tracker. ``ready`` is called before Java goes on."""

    def __init__(
        self, kind: JavaDurables, storage: BucketSnapshotStorage, cursor: CursorProperties, ready: Callable[[], Any]
    ) -> None:
        self._kind, self._storage, self._cursor, self._ready = kind, storage, cursor, ready
        self.java_storage = of_interface(
            kind.loader,
            STORAGE,
            {
                "createBucketSnapshot": weakly(self._create),
                "getBucketSnapshotMetadata": weakly(self._metadata),
                "getBucketSnapshotSegment": weakly(self._segments),
                "getBucketSnapshotLength": weakly(self._length),
                "deleteBucketSnapshot": weakly(self._delete),
            },
        )
        self.java_cursor = of_interface(
            kind.loader,
            LEDGER + "ManagedCursor",
            {
                "getName": lambda: NAME,
                "getManagedLedger": lambda: kind.ledger,
                "getCursorProperties": weakly(self._properties),
                "putCursorProperty": weakly(self._put),
                "removeCursorProperty": weakly(self._remove),
                "getMarkDeletedPosition": weakly(self._mark),
            },
        )

    def _future(
        self,
        begin: Callable[[Done[Any]], None],
        given: Callable[[Any], Any] = lambda _: None,
        failed: Callable[[Exception], Any] | None = None,
    ) -> Any:
        """The future of a call. Whoever holds the call holds this object, so that Java may go on with it."""
        future, asking = self._kind.future(), True

        def done(outcome: Any) -> None:
            if not asking:
                self._ready()
            if isinstance(outcome, Exception):
                future.completeExceptionally((failed or self._kind.of_storage)(outcome))
            else:
                future.complete(given(outcome))

        begin(done)
        asking = False
        return future

    # ---- The storage

    def _create(self, metadata: Any, segments: Any, key: Any, _topic: Any, _cursor: Any) -> Any:
        about = read_metadata(bytes(metadata.toByteArray()))
        stored = [read_segment(bytes(segment.toByteArray())) for segment in segments]
        return self._future(partial(self._storage.create_bucket_snapshot, about, stored, str(key)), self._kind.long)

    def _metadata(self, number: Any) -> Any:
        kind = self._kind
        return self._future(
            partial(self._storage.get_bucket_snapshot_metadata, int(number)),
            lambda found: kind.message(kind.metadata, written_metadata(found)),
        )

    def _segments(self, number: Any, first: Any, last: Any) -> Any:
        kind = self._kind
        return self._future(
            partial(self._storage.get_bucket_snapshot_segment, int(number), int(first), int(last)),
            lambda found: kind.list([kind.message(kind.segment, written_segment(segment)) for segment in found]),
        )

    def _length(self, _number: Any) -> Any:
        """The kit has no such call: it ends at once."""
        return self._future(lambda done: done(0), self._kind.long)

    def _delete(self, number: Any) -> Any:
        return self._future(partial(self._storage.delete_bucket_snapshot, int(number)))

    # ---- The cursor

    def _properties(self) -> Any:
        java = self._kind.map()
        for key, value in self._cursor.get_cursor_properties().items():
            java.put(key, value)  # one by one: a dictionary that is converted loses its order
        return java

    def _put(self, key: Any, value: Any) -> Any:
        put = partial(self._cursor.put_cursor_property, str(key), str(value))
        return self._future(put, failed=self._kind.of_cursor)

    def _remove(self, key: Any) -> Any:
        return self._future(partial(self._cursor.remove_cursor_property, str(key)), failed=self._kind.of_cursor)

    def _mark(self) -> Any:
        mark = self._cursor.get_mark_deleted_position()
        return None if mark is None else self._kind.position(mark)
