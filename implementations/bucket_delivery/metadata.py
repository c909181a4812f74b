"""What a snapshot says of its segments, in columns: a recovery reads them by the hundred thousand."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import overload

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.positions import PositionSet, read_entries, union_of
from broker_tck.implementations.interface import SegmentMetadata


class PackedMetadata(Sequence[SegmentMetadata]):
    """A sequence of what is said of each segment. The row of a segment is made when it is asked for."""

    __slots__ = ("_starts", "bitmaps", "first_times", "last_times", "ledgers", "whole")

    def __init__(
        self,
        first_times: array[int],
        last_times: array[int],
        counts: Sequence[int],
        ledgers: array[int],
        bitmaps: Sequence[bytes],
        whole: PositionSet | None = None,
    ) -> None:
        """Take over first and last time of each segment, in milliseconds, and the count of its ledgers.

        Of all segments, one behind another, ``ledgers`` has these, and ``bitmaps`` the serialized entries in each;
        ``whole`` has all positions, if none is in several segments. None: that is not known.
        """
        self.first_times = first_times
        self.last_times = last_times
        self._starts = array("I", accumulate(counts, initial=0))
        self.ledgers = ledgers
        self.bitmaps = bitmaps
        self.whole = whole

    @property
    def counts(self) -> array[int]:
        """How many ledgers each segment has."""
        return array("I", [end - start for start, end in pairwise(self._starts)])

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
        mine = slice(self._starts[at], self._starts[at + 1])
        bitmaps = dict(zip(self.ledgers[mine], self.bitmaps[mine], strict=True))
        return SegmentMetadata(self.first_times[at], self.last_times[at], bitmaps)

    def positions(self, start: int, end: int) -> PositionSet:
        """The positions of some segments together. ``InvalidSnapshotException`` where a bitmap is none."""
        return union_of(self._bitmaps(start, end))

    def found_whole(self) -> PositionSet | None:
        """All positions, if none is in several segments. ``InvalidSnapshotException`` where a bitmap is none."""
        if self.whole is not None:
            return self.whole
        bitmaps = [*self._bitmaps(0, len(self))]
        whole = union_of(bitmaps)
        return whole if len(whole) == sum(len(entries) for _, entries in bitmaps) else None

    def _bitmaps(self, start: int, end: int) -> Iterator[tuple[int, BitMap]]:
        last = len(self)
        mine = slice(self._starts[min(start, last)], self._starts[min(end, last)])
        return zip(self.ledgers[mine], map(read_entries, self.bitmaps[mine]), strict=True)


def packed_metadata(metadata: Sequence[SegmentMetadata]) -> PackedMetadata:
    """Pack what is said of each segment. What is packed already is not copied."""
    if isinstance(metadata, PackedMetadata):
        return metadata
    maps = [segment.delayed_index_bit_map for segment in metadata]
    return PackedMetadata(
        array("q", [segment.min_schedule_timestamp for segment in metadata]),
        array("q", [segment.max_schedule_timestamp for segment in metadata]),
        [*map(len, maps)],
        array("q", [ledger for bitmaps in maps for ledger in bitmaps]),
        [bitmap for bitmaps in maps for bitmap in bitmaps.values()],
    )
