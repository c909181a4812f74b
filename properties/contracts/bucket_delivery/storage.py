"""Storage and cursor, played by the kit: what is durable, and calls that wait until an operation ends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyroaring import BitMap

from broker_tck.implementations.interface.bucket_delivery import (
    BUCKET_PROPERTY_PREFIX,
    BadVersionException,
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    DelayedIndex,
    Done,
    InvalidSnapshotException,
    SegmentMetadata,
)
from broker_tck.implementations.interface.common import Position
from broker_tck.properties.engine.calls import CallsUnderWay

Range = tuple[int, int]


class Stored(NamedTuple):
    """A snapshot, copied from what a subject handed over."""

    metadata: list[SegmentMetadata]
    segments: list[list[DelayedIndex]]


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

    @property
    def updates_key(self) -> bool:
        """Whether it changes a property of the cursor."""
        return self.label.startswith(("put", "remove"))


class Durable:
    """Snapshots and properties, which outlive the tracker, and calls under way."""

    def __init__(self) -> None:
        self.snapshots: dict[int, Stored] = {}
        self.spoiled: set[int] = set()
        self.made = 0
        self.properties: dict[str, str] = {}
        """The cursor's; changed by :meth:`put`, :meth:`remove` and :meth:`lose` alone."""
        self.by_range: dict[str, str] = {}
        """The properties of buckets, by range: made anew with each change."""
        self.mark: Position | None = None
        self.calls: CallsUnderWay[Call] = CallsUnderWay()
        self.at_once = False

    def shown(self, number: int) -> list[Any] | None:
        """What is stored under a number, in plain lists."""
        stored = self.snapshots.get(number)
        if stored is None:
            return None
        return [
            [m.min_schedule_timestamp, m.max_schedule_timestamp, positions_of(m.delayed_index_bit_map), segment]
            for m, segment in zip(stored.metadata, stored.segments, strict=True)
        ]

    def keys(self) -> dict[str, str]:
        """The properties of buckets, by range."""
        return self.by_range

    def put(self, key: str, value: str) -> None:
        """Set a property."""
        self.properties[key] = value
        self.by_range = self.by_range | {"{}-{}".format(*range_of(key)): value}

    def remove(self, key: str) -> None:
        """Take a property out, if it is there."""
        if key in self.properties:
            del self.properties[key]
            gone = "{}-{}".format(*range_of(key))
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
        """Store a copy."""
        first, last = range_of(bucket_key)
        stored = Stored([*metadata], [[(at, ledger, entry) for at, ledger, entry in s] for s in segments])

        def create() -> int:
            self.durable.made += 1
            self.durable.snapshots[self.durable.made] = stored
            return self.durable.made

        self.call(f"create:{first}-{last}:{len(stored.segments)}", create, done)

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        """Hand a copy out."""
        self.call(f"load:{bucket_id}", lambda: self.part(bucket_id, lambda s: [*s.metadata]), done)

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        """Hand a copy out."""
        label = f"load:{bucket_id}:{first}-{last}"
        self.call(
            label, lambda: self.part(bucket_id, lambda s: [[*each] for each in s.segments[first - 1 : last]]), done
        )

    def part(self, number: int, of: Callable[[Stored], Any]) -> Any:
        """A part of what is stored, or why there is none."""
        if number not in self.durable.snapshots:
            return BucketNotExistException(number)
        if number in self.durable.spoiled:
            return InvalidSnapshotException(number)
        return of(self.durable.snapshots[number])

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        """Delete, which one that is not there is already."""

        def delete() -> None:
            self.durable.snapshots.pop(bucket_id, None)

        self.call(f"delete:{bucket_id}", delete, done)

    # ---- The cursor

    def get_cursor_properties(self) -> Mapping[str, str]:
        """The properties, in the order of this recovery."""
        known = self.durable.properties
        return {key: known[key] for key in self.order if key in known} | known

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""
        self.call("put:{}-{}={}".format(*range_of(key), value), lambda: self.durable.put(key, value), done)

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Take a property out."""
        self.call("remove:{}-{}".format(*range_of(key)), lambda: self.durable.remove(key), done)

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


def failure_of(call: Call, conflict: bool) -> Exception:
    """What a call that fails ends with."""
    if conflict and call.updates_key:
        return BadVersionException(call.label)
    return BucketSnapshotPersistenceException(call.label)


def range_of(key: str) -> Range:
    """The range in the key of a bucket's property. ValueError where that is no such key."""
    prefix, first, last = key.split("_")
    if prefix != BUCKET_PROPERTY_PREFIX:
        raise ValueError(f"no key of a bucket: {key!r}")
    return int(first), int(last)


def positions_of(bitmaps: Mapping[int, bytes]) -> list[Position]:
    """The positions in serialized bitmaps."""
    return [(ledger, entry) for ledger in sorted(bitmaps) for entry in BitMap.deserialize(bitmaps[ledger])]
