"""The queue of what may be handed out next: loaded segments, and indexes that are in no segment."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.runs import NEVER, Runs
from broker_tck.implementations.bucket_delivery.strays import Strays
from broker_tck.implementations.interface import DelayedIndex


class SharedQueue:
    """Hands out indexes by time, ledger and entry. A loaded segment stays packed as it is."""

    __slots__ = ("_segments", "_strays", "first")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove everything."""
        self._segments = Runs()
        self._strays = Strays()
        self.first = NEVER
        """The time of the first index, or the last time there is; milliseconds."""

    def __len__(self) -> int:
        return self._segments.size + len(self._strays)

    @property
    def head(self) -> DelayedIndex | None:
        """The first index."""
        head, stray = self._segments.head, self._strays.head
        return stray if head is None or (stray is not None and stray < head) else head

    def share(self, segment: Packed) -> None:
        """Add indexes that ascend and do not change any more, such as a segment's."""
        self._segments.add(segment)
        self.first = min(self.first, self._segments.first)

    def push(self, at: int, ledger: int, entry: int) -> None:
        """Add one index."""
        self._strays.push(at, ledger, entry)
        if at < self.first:
            self.first = at

    def push_all(self, indexes: Packed) -> None:
        """Add a few indexes in ascending order."""
        self._strays.push_all(indexes)
        self.first = min(self.first, self._strays.first)

    def pop(self) -> DelayedIndex:
        """Take the first index out. ``IndexError`` where there is none."""
        head, stray = self._segments.head, self._strays.head
        part = self._strays if head is None or (stray is not None and stray < head) else self._segments
        index = part.pop()
        self.first = min(self._segments.first, self._strays.first)
        return index
