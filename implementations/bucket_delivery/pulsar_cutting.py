"""How the broker's tracker cuts indexes into segments, from a growing bucket or from buckets that are merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.pulsar_bucket import BitsByRange
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Segments
from broker_tck.implementations.interface import DelayedIndex, SegmentMetadata

NOT_STARTED = 0
NO_LIMIT = -1


class Indexes(Protocol):
    """Indexes in ascending order."""

    def peek(self) -> DelayedIndex | None:
        """The next one."""

    def pop(self) -> DelayedIndex:
        """Take the next one."""


class HeapOfIndexes:
    """Those in a heap."""

    def __init__(self, heap: list[DelayedIndex]) -> None:
        self._heap = heap

    def peek(self) -> DelayedIndex | None:
        """The next one."""
        return self._heap[0] if self._heap else None

    def pop(self) -> DelayedIndex:
        """Take the next one."""
        return heappop(self._heap)


class CombinedSegments:
    """Those in the segments of several buckets. Raises ``IndexError`` where a bucket has none."""

    def __init__(self, buckets: Sequence[Segments]) -> None:
        self._rest = [(index for segment in segments for index in segment) for segments in buckets]
        self._heads: list[tuple[DelayedIndex, int]] = []
        for place, segments in enumerate(buckets):
            if not segments:
                raise IndexError(f"bucket {place} of a merge has no segments")
            self._advance(place)

    def peek(self) -> DelayedIndex | None:
        """The next one."""
        return self._heads[0][0] if self._heads else None

    def pop(self) -> DelayedIndex:
        """Take the next one."""
        index, place = heappop(self._heads)
        self._advance(place)
        return index

    def _advance(self, place: int) -> None:
        index = next(self._rest[place], None)
        if index is not None:
            at, ledger, entry = index
            heappush(self._heads, ((at, ledger, entry), place))


class Pieces(NamedTuple):
    """What indexes were cut into."""

    segments: list[list[DelayedIndex]]
    metadata: list[SegmentMetadata]
    bits: BitsByRange


class Cutter:
    """Cuts segments of so many milliseconds, and of so many indexes."""

    def __init__(self, time_step: int, max_indexes: int) -> None:
        self.time_step = time_step
        self.max_indexes = max_indexes

    def cut(self, indexes: Indexes, taken: Callable[[DelayedIndex, bool], None]) -> Pieces:
        """Cut all; each index is told as it is taken, and whether it is of the first segment."""
        pieces = Pieces([], [], BitsByRange())
        segment: list[DelayedIndex] = []
        limit = NOT_STARTED
        while (head := indexes.peek()) is not None:
            if limit == NOT_STARTED:
                limit = head[0] + self.time_step - 1
            segment.append(indexes.pop())
            taken(head, not pieces.segments)
            if self._ends(segment, indexes.peek(), limit):
                self._close(segment, pieces)
                segment, limit = [], NOT_STARTED
        return pieces

    def _ends(self, segment: list[DelayedIndex], following: DelayedIndex | None, limit: int) -> bool:
        full = self.max_indexes != NO_LIMIT and len(segment) >= self.max_indexes
        return full or following is None or following[0] > limit

    def _close(self, segment: list[DelayedIndex], pieces: Pieces) -> None:
        bits: dict[int, BitMap] = {}
        for _, ledger, entry in segment:
            bits.setdefault(ledger, BitMap()).add(entry)
        stored = {ledger: each.serialize() for ledger, each in bits.items()}
        pieces.segments.append(segment)
        pieces.metadata.append(SegmentMetadata(segment[0][0], segment[-1][0], stored))
        pieces.bits.add_all(bits)
