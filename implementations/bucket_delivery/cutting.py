"""How the indexes of a bucket are cut into segments, and what a snapshot says of each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import overload

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, positions_of
from broker_tck.implementations.interface import SegmentMetadata

NO_LIMIT = -1
"""In place of the number of indexes that a segment has at most."""


class Segments(Sequence[Packed]):
    """Segments of one packed sequence. Each is copied out when it is asked for, so that it can outlive the others."""

    __slots__ = ("_cuts", "indexes")

    def __init__(self, indexes: Packed, cuts: Sequence[int]) -> None:
        """Cut before each of ``cuts``, of which the first is 0 and the last the number of indexes."""
        self.indexes = indexes
        self._cuts = array("q", cuts)

    def __len__(self) -> int:
        return len(self._cuts) - 1

    @overload
    def __getitem__(self, at: int) -> Packed: ...
    @overload
    def __getitem__(self, at: slice) -> list[Packed]: ...
    def __getitem__(self, at: int | slice) -> Packed | list[Packed]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        return self.indexes[self._cuts[at] : self._cuts[at + 1]]

    def __iter__(self) -> Iterator[Packed]:
        return (self.indexes[start:end] for start, end in pairwise(self._cuts))

    def behind(self, n: int) -> Packed:
        """All indexes behind the first ``n`` segments."""
        return self.indexes[self._cuts[n] :]

    def positions(self) -> list[PositionSet]:
        """The positions of each segment."""
        ledgers, entries = self.indexes.ledgers, self.indexes.entries
        return [positions_of(ledgers[start:end], entries[start:end]) for start, end in pairwise(self._cuts)]

    def first_times(self) -> array[int]:
        """The first time of each segment, in milliseconds."""
        return array("q", [self.indexes.times[start] for start in self._cuts[:-1]])

    def metadata(self, positions: Sequence[PositionSet]) -> list[SegmentMetadata]:
        """What a snapshot says of each segment, given the positions of each (BD-13)."""
        times = self.indexes.times
        return [
            SegmentMetadata(times[start], times[end - 1], mine.serialized())
            for (start, end), mine in zip(pairwise(self._cuts), positions, strict=True)
        ]


class Cutting:
    """Cuts segments that span less than ``time_step`` milliseconds and have ``max_indexes`` at most (BD-12)."""

    def __init__(self, time_step: int, max_indexes: int) -> None:
        self._time_step = time_step
        self._max_indexes = max_indexes

    def cut(self, indexes: Packed) -> Segments:
        """Cut ascending indexes no sooner than they must be. Each segment has one at least."""
        times, n = indexes.times, len(indexes)
        most = n if self._max_indexes == NO_LIMIT else max(self._max_indexes, 1)
        cuts = [0]
        while (start := cuts[-1]) < n:
            end = bisect_left(times, times[start] + self._time_step, start, n)
            cuts.append(max(start + 1, min(end, start + most)))
        return Segments(indexes, cuts)
