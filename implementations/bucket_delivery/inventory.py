"""The positions of a sealed bucket by its snapshot, and those in segments that were not loaded yet."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, positions_of, read_entries, union_of
from broker_tck.implementations.interface import Position, SegmentMetadata


class PackedMetadata(Sequence[SegmentMetadata]):
    """A sequence of what is said of each segment. The row of a segment is made when it is asked for."""

    __slots__ = ("bitmaps", "first_times", "last_times", "ledgers", "starts", "whole")

    def __init__(
        self,
        first_times: array[int],
        last_times: array[int],
        starts: array[int],
        ledgers: array[int],
        bitmaps: Sequence[bytes],
        whole: PositionSet | None = None,
    ) -> None:
        """Take over first and last time of each segment, in milliseconds.

        Of all segments, one behind another, ``ledgers`` has these, and ``bitmaps`` the serialized entries in each:
        those of a segment begin where ``starts`` says, which also has the end. ``whole`` has all positions, if none is
        in several segments. None: that is not known.
        """
        self.first_times = first_times
        self.last_times = last_times
        self.starts = starts
        self.ledgers = ledgers
        self.bitmaps = bitmaps
        self.whole = whole

    def __len__(self) -> int:
        return len(self.first_times)

    @overload
    def __getitem__(self, at: int) -> SegmentMetadata: ...
    @overload
    def __getitem__(self, at: slice) -> list[SegmentMetadata]: ...
    def __getitem__(self, at: int | slice) -> SegmentMetadata | list[SegmentMetadata]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        mine = slice(self.starts[at], self.starts[at + 1])
        bitmaps = dict(zip(self.ledgers[mine], self.bitmaps[mine], strict=True))
        return SegmentMetadata(self.first_times[at], self.last_times[at], bitmaps)

    def positions(self, start: int, end: int) -> PositionSet:
        """The positions of some segments together. ``InvalidSnapshotException`` where a bitmap is none."""
        return union_of(self._bitmaps(start, end))

    def found_whole(self) -> PositionSet | None:
        """All positions, if none is in several segments. ``InvalidSnapshotException`` where a bitmap is none."""
        bitmaps = [*self._bitmaps(0, len(self))]
        whole = union_of(bitmaps)
        return whole if len(whole) == sum(len(entries) for _, entries in bitmaps) else None

    def _bitmaps(self, start: int, end: int) -> Iterator[tuple[int, BitMap]]:
        last = len(self)
        mine = slice(self.starts[min(start, last)], self.starts[min(end, last)])
        return zip(self.ledgers[mine], map(read_entries, self.bitmaps[mine]), strict=True)


def packed_metadata(metadata: Sequence[SegmentMetadata]) -> PackedMetadata:
    """Pack what is said of each segment. What is packed already is not copied."""
    if isinstance(metadata, PackedMetadata):
        return metadata
    maps = [segment.delayed_index_bit_map for segment in metadata]
    return PackedMetadata(
        array("q", [segment.min_schedule_timestamp for segment in metadata]),
        array("q", [segment.max_schedule_timestamp for segment in metadata]),
        array("I", accumulate(map(len, maps), initial=0)),
        array("q", [ledger for bitmaps in maps for ledger in bitmaps]),
        [bitmap for bitmaps in maps for bitmap in bitmaps.values()],
    )


class Inventory:
    """Two bitmaps a ledger, whatever the number of segments."""

    __slots__ = ("_recurring", "all", "unloaded")

    def __init__(self, whole: PositionSet, first: PositionSet, recurring: dict[Position, int]) -> None:
        """Take over all positions, and know those of the first segment as loaded.

        ``recurring`` are the few that are in several segments, each with the place of the last one, counted from 0:
        such a position was refused, and then accepted for another time.
        """
        self.all = whole
        self.unloaded = PositionSet() if first is whole else whole.copy()
        self._recurring = recurring
        self._leave(0, first)

    def loaded(self, place: int, segment: Packed) -> None:
        """A segment was loaded; places are counted from 0."""
        self._leave(place, positions_of(segment.ledgers, segment.entries))

    def _leave(self, place: int, positions: PositionSet) -> None:
        self.unloaded.discard_all(positions)
        for position, last in self._recurring.items():
            if last > place:
                self.unloaded.add(*position)


def stock_of(segments: Sequence[PositionSet]) -> Inventory:
    """The inventory of segments, given the positions of each, which are taken over."""
    if len(segments) == 1:
        return Inventory(segments[0], segments[0], {})
    whole = union_of(bitmap for positions in segments for bitmap in positions.ledgers.items())
    recurring = {} if len(whole) == sum(map(len, segments)) else _recurring(segments)
    return Inventory(whole, segments[0] if segments else PositionSet(), recurring)


def stock_behind(metadata: PackedMetadata, skipped: int) -> Inventory:
    """The inventory of the segments behind those that are skipped.

    ``InvalidSnapshotException`` where a bitmap is none.
    """
    end = len(metadata)
    if metadata.whole is None:
        return stock_of([metadata.positions(at, at + 1) for at in range(skipped, end)])
    if skipped > end // 2:
        whole = metadata.positions(skipped, end)
    else:
        whole = metadata.whole.copy()
        whole.discard_all(metadata.positions(0, skipped))
    return Inventory(whole, metadata.positions(skipped, skipped + 1), {})


def _recurring(segments: Sequence[PositionSet]) -> dict[Position, int]:
    """The positions that are in several segments, each with the place of the last one."""
    seen, recurring = PositionSet(), {}
    for place, positions in enumerate(segments):
        recurring.update(dict.fromkeys(seen.common(positions), place))
        seen.update(positions)
    return recurring
