"""Right but unusual bucket trackers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import UserList
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.cutting import Cutting
from broker_tck.implementations.bucket_delivery.maintenance import Maintenance
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import Packed, packed
from broker_tck.implementations.bucket_delivery.placing import Placing
from broker_tck.implementations.bucket_delivery.reading import Reading
from broker_tck.implementations.bucket_delivery.recovery import Recovery
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.sealing import Sealing
from broker_tck.implementations.bucket_delivery.snapshots import Snapshots
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

NEVER = 2**63 - 1


class Sorted:
    """A plain sorted list of indexes. Those that were taken out stay at its head until they are the half of it.

    What comes in is buffered, and merged when somebody asks.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove everything."""
        self.rows: list[DelayedIndex] = []
        self.fresh: list[DelayedIndex] = []
        self.gone = 0

    def __len__(self) -> int:
        return len(self.rows) - self.gone + len(self.fresh)

    def merged(self) -> list[DelayedIndex]:
        """All rows, those that were taken out included."""
        if len(self.fresh) > 8:
            self.rows[self.gone :] = sorted(self.rows[self.gone :] + self.fresh)
        else:
            for row in self.fresh:
                insort(self.rows, row, self.gone)
        self.fresh = []
        return self.rows

    @property
    def head(self) -> DelayedIndex | None:
        """The first index."""
        rows = self.merged()
        return rows[self.gone] if len(rows) > self.gone else None

    @property
    def first(self) -> int:
        """Its time."""
        return self.head[0] if self.head else NEVER

    def push(self, at: int, ledger: int, entry: int) -> None:
        """Add an index."""
        self.fresh.append((at, ledger, entry))

    def push_all(self, indexes: Packed) -> None:
        """Add some."""
        self.fresh.extend(indexes)

    share = push_all

    def pop(self) -> DelayedIndex:
        """Take the first index out."""
        taken = self.take(1)
        return taken[0]

    def take(self, n: int) -> list[DelayedIndex]:
        """Take the first indexes out."""
        taken = self.merged()[self.gone : self.gone + n]
        self.gone += len(taken)
        if self.gone * 2 > len(self.rows):
            del self.rows[: self.gone]
            self.gone = 0
        return taken

    def take_until(self, last: int) -> Packed:
        """Take out what is not after a time."""
        end = bisect_right(self.merged(), last, self.gone, key=lambda row: row[0])
        return packed(self.take(end - self.gone))

    def drain(self) -> Packed:
        """Take everything out."""
        return packed(self.take(len(self)))


class Ranges:
    """Placed buckets as a tuple that is replaced as a whole."""

    def __init__(self) -> None:
        self.buckets: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.buckets)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.buckets)

    def within(self, first: int, last: int) -> Sequence[Any]:
        """The buckets that meet a range."""
        return [each for each in self.buckets if each.first_ledger <= last and first <= each.last_ledger]

    def over(self, ledger: int) -> Any:
        """The bucket over a ledger."""
        return next(iter(self.within(ledger, ledger)), None)

    def meets(self, first: int, last: int) -> bool:
        """Whether a bucket meets a range."""
        return len(self.within(first, last)) > 0

    def below(self, ledger: int) -> Sequence[Any]:
        """The buckets that end before a ledger."""
        return [each for each in self.buckets if each.last_ledger < ledger]

    def put(self, bucket: Any) -> None:
        """Place a bucket."""
        at = bisect_left(self.buckets, bucket.first_ledger, key=lambda each: each.first_ledger)
        self.buckets = (*self.buckets[:at], bucket, *self.buckets[at:])
        bucket.placed = True

    def remove(self, bucket: Any) -> None:
        """Take a bucket away."""
        self.buckets = tuple(each for each in self.buckets if each is not bucket)
        bucket.placed = False

    def clear(self) -> list[Any]:
        """Take all away."""
        taken, self.buckets = [*self.buckets], ()
        for bucket in taken:
            bucket.placed = False
        return taken


class PlainMemory(Memory):
    """Queues that are sorted lists, and ranges that are tuples."""

    def __init__(self) -> None:
        super().__init__()
        plain: Any = Sorted(), Sorted(), Ranges()
        self.shared, self.growing.indexes, self.placed = plain


class PlainBuckets(BucketTracker):
    """Nothing is packed: the queues are sorted lists with tombstones and a buffer each. Buckets are in a tuple."""

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        self._clock = clock
        self._memory = memory = PlainMemory()
        self._held, self._growing = memory.held, memory.growing
        self._schedule = schedule = Schedule(config, clock, timer, memory)
        self._calls = Calls(storage, cursor)
        self._snapshots = snapshots = Snapshots(self._calls)
        placing = Placing(Cutting(config.time_step, config.max_indexes), memory, schedule, snapshots)
        maintenance = Maintenance(config.max_buckets, memory, schedule, snapshots, placing, cursor)
        self._sealing = Sealing(memory, placing, config.min_index_count, maintenance.sealed)
        self._reading = Reading(memory, schedule, snapshots, cursor)
        Recovery(memory, snapshots, schedule.cutoff()).recover(cursor.get_cursor_properties())


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
