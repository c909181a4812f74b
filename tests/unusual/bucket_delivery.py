"""Right but unusual bucket trackers."""

from __future__ import annotations

from collections import UserList
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    Done,
    SegmentMetadata,
    Timer,
)


class Index(NamedTuple):
    """An index with names."""

    deliver_at: int
    ledger_id: int
    entry_id: int


class Octets(bytes):
    """Bytes of a class of their own."""


def repacked(bitmap: bytes) -> bytes:
    """The same bitmap in runs, where these take less."""
    entries = BitMap.deserialize(bitmap)
    entries.run_optimize()
    return Octets(entries.serialize())


class Costumed:
    """Storage and cursor, handed everything in other clothes: sequences, mappings, bytes and callables of all kinds."""

    def __init__(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> None:
        self.storage, self.cursor = storage, cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.storage if hasattr(self.storage, name) and "snapshot" in name else self.cursor, name)

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Store a bucket."""
        clad = UserList(
            SegmentMetadata(first, last, MappingProxyType({ledger: repacked(each) for ledger, each in maps.items()}))
            for first, last, maps in metadata
        )
        rows = tuple(UserList(Index(*index) for index in segment) for segment in segments)
        self.storage.create_bucket_snapshot(clad, rows, Key(bucket_key), Told(done))


class Key(str):
    """Text of a class of its own."""

    __slots__ = ()


class Told:
    """A callable that can be called, and no more."""

    __slots__ = ("done",)

    def __init__(self, done: Callable[[Any], None]) -> None:
        self.done = done

    def __call__(self, result: Any) -> None:
        self.done(result)


class CostumedBuckets:
    """A proxy of the bundled tracker that knows none of its methods; messages are keys of a dictionary, and named.

    What it stores are bitmaps of runs in read-only mappings. The tracker is false, and equal to any other.
    """

    contract: ClassVar = "bucket-delivery"
    profiles: ClassVar = ("ideal",)
    __slots__ = ("_inner",)

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        clad: Any = Costumed(storage, cursor)
        self._inner = BucketTracker(config, clock, timer, clad, clad)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return dict.fromkeys(Place(*each) for each in self._inner.get_scheduled_messages(max_messages)).keys()

    def get_buckets(self) -> Iterator[Mapping[int, int]]:
        return iter(self._inner.get_buckets())  # type: ignore[arg-type]  # they are gone through, and no more

    def get_queue_sizes(self) -> Any:
        return map(int, self._inner.get_queue_sizes())


class Place(NamedTuple):
    """A position with names."""

    ledger_id: int
    entry_id: int


class ArmingBuckets(BucketTracker):
    """The bundled tracker, which arms its timer as soon as it has recovered (BD-48 leaves that open)."""

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        super().__init__(config, clock, timer, storage, cursor)
        if self.get_number_of_delayed_messages():
            self.has_message_available()
