"""Storage and cursor, played by the kit: what is durable, and calls that wait until an operation ends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyroaring import BitMap

from broker_tck.implementations.interface.bucket_delivery import (
    BUCKET_PROPERTY_PREFIX,
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    DelayedIndex,
    Done,
    InvalidSnapshotException,
    SegmentMetadata,
)
from broker_tck.implementations.interface.common import Position
from broker_tck.properties.engine.calls import CallsUnderWay

Stored = tuple[list[SegmentMetadata], list[list[DelayedIndex]]]
"""A snapshot, copied from what a subject handed over: what it says of its segments, and these."""


class SnapshotChanged(Exception):
    """A subject has changed a snapshot that it had handed to the storage, which has not answered."""


class Call(NamedTuple):
    """A call that waits for its end."""

    label: str
    effect: Callable[[], Any]
    """What it does to what is durable; answers with the result, or with an error."""
    done: Done[Any]
    owner: Door

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.label.startswith("load")


class Durable:
    """Snapshots and properties, which outlive the tracker, and calls under way."""

    def __init__(self) -> None:
        self.stored: dict[int, Stored] = {}
        self.spoiled: set[int] = set()
        self.made = 0
        self.properties: dict[str, str] = {}
        """The cursor's; changed by :meth:`put`, :meth:`remove` and :meth:`lose` alone."""
        self.by_range: dict[str, str] = {}
        """The properties of buckets, by range: made anew with each change."""
        self.mark: Position | None = None
        self.calls: CallsUnderWay[Call] = CallsUnderWay()
        self.at_once = False

    # ---- The storage

    def numbers(self) -> list[int]:
        """The numbers of the snapshots that are stored."""
        return sorted(self.stored)

    def create(self, stored: Stored, key: str) -> Any:
        """Store a snapshot; answers with its number."""
        self.made += 1
        self.stored[self.made] = stored
        return self.made

    def metadata(self, number: int) -> Any:
        """A copy of what a snapshot says of its segments, or the error with which the call fails."""
        found = self.part(number, 0, slice(None))
        return found if isinstance(found, Exception) else [*map(described, found)]

    def segments(self, number: int, first: int, last: int) -> Any:
        """Some segments of a snapshot, copied, or why there are none."""
        found = self.part(number, 1, slice(first - 1, last))
        return found if isinstance(found, Exception) else [[*each] for each in found]

    def part(self, number: int, part: int, which: slice) -> Any:
        """Some of the metadata, or of the segments."""
        if number not in self.stored:
            return BucketNotExistException(number)
        if number in self.spoiled:
            return InvalidSnapshotException(number)
        return self.stored[number][part][which]

    def delete(self, number: int) -> Any:
        """Delete a snapshot, which one that is not there is already."""
        self.stored.pop(number, None)

    def spoil(self, number: int) -> None:
        """Have a snapshot no longer be readable."""
        self.spoiled.add(number)

    def shown(self, number: int) -> list[Any] | None:
        """What is stored under a number, in plain lists."""
        return shown(*self.stored[number]) if number in self.stored else None

    # ---- The cursor

    def keys(self) -> dict[str, str]:
        """The properties of buckets, by range."""
        return self.by_range

    def put(self, key: str, value: str) -> Any:
        """Set a property."""
        self.properties[key] = value
        self.by_range = self.by_range | {range_text(key): value}

    def remove(self, key: str) -> Any:
        """Take a property out, if it is there."""
        if key in self.properties:
            del self.properties[key]
            gone = range_text(key)
            self.by_range = {ledgers: value for ledgers, value in self.by_range.items() if ledgers != gone}

    def lose(self) -> None:
        """Take all properties out."""
        self.properties.clear()
        self.by_range = {}


class Door:
    """What one tracker is given of both: it can be shut behind it."""

    def __init__(self, durable: Durable, keys: Sequence[str], failing: int) -> None:
        self.durable = durable
        self.order = keys
        self.failing = failing
        self.recovering = True
        self.shut = False

    # ---- The storage

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Store a copy. It is made now; a storage may make it as late as when the call takes effect."""
        label = f"create:{range_text(bucket_key)}:{len(segments)}"
        copy = copied(metadata, segments)

        def effect() -> Any:
            if copied(metadata, segments) != copy:
                raise SnapshotChanged("what the storage was given to store is something else now")
            return self.durable.create(copy, bucket_key)

        self.call(label, effect, done)

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        """Hand a copy out."""
        self.call(f"load:{bucket_id}", lambda: self.durable.metadata(bucket_id), done)

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        """Hand a copy out."""
        self.call(f"load:{bucket_id}:{first}-{last}", lambda: self.durable.segments(bucket_id, first, last), done)

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        """Delete a snapshot."""
        self.call(f"delete:{bucket_id}", lambda: self.durable.delete(bucket_id), done)

    # ---- The cursor

    def get_cursor_properties(self) -> Mapping[str, str]:
        """The properties, in the order of this recovery."""
        known = self.durable.properties
        return {key: known[key] for key in self.order if key in known} | known

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""
        self.call(f"put:{range_text(key)}={value}", lambda: self.durable.put(key, value), done)

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Take a property out."""
        self.call(f"remove:{range_text(key)}", lambda: self.durable.remove(key), done)

    def get_mark_deleted_position(self) -> Position | None:
        """Where the cursor stands."""
        return self.durable.mark

    # ---- Calls

    def call(self, label: str, effect: Callable[[], Any], done: Done[Any]) -> None:
        """Hold a call; end it at once while its tracker recovers, or where all calls end at once."""
        call = Call(label, effect, done, self)
        if call.reads and self.shut:
            return
        if self.recovering and call.reads and self.failing > 0:
            self.failing -= 1
            done(BucketSnapshotPersistenceException(label))
        elif self.recovering or self.durable.at_once:
            done(effect())
        else:
            self.durable.calls.hold(call)

    def close(self) -> None:
        """Its tracker is closed: what it reads comes to nothing."""
        self.shut = True
        calls = self.durable.calls
        calls.held = [call for call in calls.held if not (call.reads and call.owner is self)]


def range_of(key: str) -> tuple[int, int]:
    """The range in the key of a bucket's property. ValueError where that is no such key."""
    prefix, first, last = key.split("_")
    if prefix != BUCKET_PROPERTY_PREFIX:
        raise ValueError(f"no key of a bucket: {key!r}")
    return int(first), int(last)


def range_text(key: str) -> str:
    """The range in a key, as labels of calls have it."""
    return "{}-{}".format(*range_of(key))


def copied(metadata: Sequence[SegmentMetadata], segments: Sequence[Sequence[DelayedIndex]]) -> Stored:
    """A snapshot as it is now."""
    return [*map(described, metadata)], [[(at, ledger, entry) for at, ledger, entry in s] for s in segments]


def described(segment: SegmentMetadata) -> SegmentMetadata:
    """What is said of a segment now."""
    first, last, bitmaps = segment
    return SegmentMetadata(first, last, {**bitmaps})


def shown(metadata: Sequence[SegmentMetadata], segments: Sequence[Sequence[DelayedIndex]]) -> list[Any]:
    """A snapshot in plain lists: of each segment first and last time, positions as it says itself, and indexes."""
    return [
        [m.min_schedule_timestamp, m.max_schedule_timestamp, positions_of(m.delayed_index_bit_map), [*segment]]
        for m, segment in zip(metadata, segments, strict=True)
    ]


def positions_of(bitmaps: Mapping[int, bytes]) -> list[Position]:
    """The positions in serialized bitmaps."""
    return [(ledger, entry) for ledger in sorted(bitmaps) for entry in BitMap.deserialize(bitmaps[ledger])]
