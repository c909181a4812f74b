"""What a snapshot says of its segments, in columns: a recovery reads them by the hundred thousand."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import overload

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.positions import SegmentPositions
from broker_tck.implementations.interface import SegmentMetadata


class PackedMetadata(Sequence[SegmentMetadata]):
    """A sequence of what is said of each segment. The row of a segment is made when it is asked for."""

    __slots__ = ("bitmaps", "counts", "first_times", "last_times", "ledgers")

    def __init__(
        self,
        first_times: array[int],
        last_times: array[int],
        counts: array[int],
        ledgers: array[int],
        bitmaps: Sequence[bytes],
    ) -> None:
        """Take over first and last time of each segment, in milliseconds, and its count of ledgers.

        Of all segments, one behind another, ``ledgers`` has these, and ``bitmaps`` the serialized entries in each.
        """
        self.first_times = first_times
        self.last_times = last_times
        self.counts = counts
        self.ledgers = ledgers
        self.bitmaps = bitmaps

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
        start = sum(self.counts[:at])
        mine = islice(zip(self.ledgers, self.bitmaps, strict=True), start, start + self.counts[at])
        return SegmentMetadata(self.first_times[at], self.last_times[at], dict(mine))

    def positions(self, skipped: int) -> SegmentPositions:
        """The positions of each segment behind those that are skipped. ``ValueError`` where a bitmap is none."""
        start = sum(self.counts[:skipped])
        bitmaps = [*map(BitMap.deserialize, self.bitmaps[start:])]
        return SegmentPositions(self.counts[skipped:], self.ledgers[start:], bitmaps)


def packed_metadata(metadata: Sequence[SegmentMetadata]) -> PackedMetadata:
    """Pack what is said of each segment. What is packed already is not copied."""
    if isinstance(metadata, PackedMetadata):
        return metadata
    maps = [segment.delayed_index_bit_map for segment in metadata]
    return PackedMetadata(
        array("q", [segment.min_schedule_timestamp for segment in metadata]),
        array("q", [segment.max_schedule_timestamp for segment in metadata]),
        array("I", map(len, maps)),
        array("q", [ledger for bitmaps in maps for ledger in bitmaps]),
        [bitmap for bitmaps in maps for bitmap in bitmaps.values()],
    )
