"""Indexes that come in any order and leave by time, ledger and entry; packed all the while."""

from __future__ import annotations

from array import array

from broker_tck.implementations.bucket_delivery.packed import Packed, in_order, merged
from broker_tck.implementations.bucket_delivery.runs import NEVER, Runs
from broker_tck.implementations.interface import DelayedIndex


class Strays:
    """What has come is sorted no sooner than somebody asks for the first index, and then together with short runs.

    So each index is sorted a logarithmic number of times at most, and only once where all come before the first asks.
    """

    __slots__ = ("_entries", "_ledgers", "_runs", "_times", "first")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove everything."""
        self._times: array[int] = array("q")
        self._ledgers: array[int] = array("q")
        self._entries: array[int] = array("I")
        self._runs = Runs()
        self.first = NEVER
        """The time of the first index, or :data:`NEVER`; milliseconds."""

    def __len__(self) -> int:
        return len(self._times) + self._runs.size

    @property
    def head(self) -> DelayedIndex | None:
        """The first index."""
        if self._times:
            self._sort()
        return self._runs.head

    def push(self, at: int, ledger: int, entry: int) -> None:
        """Add an index."""
        self._times.append(at)
        self._ledgers.append(ledger)
        self._entries.append(entry)
        if at < self.first:
            self.first = at

    def push_all(self, indexes: Packed) -> None:
        """Add indexes in ascending order."""
        if indexes:
            self._entries.extend(indexes.entries)
            self._ledgers.extend(indexes.ledgers)
            self._times.extend(indexes.times)
            self.first = min(self.first, indexes.times[0])

    def pop(self) -> DelayedIndex:
        """Take the first index out. ``IndexError`` where there is none."""
        if self._times:
            self._sort()
        index = self._runs.pop()
        self.first = self._runs.first
        return index

    def take_until(self, last: int) -> Packed:
        """Take out what is not after a time, in ascending order."""
        taken = Packed()
        if self.first <= last and self._times:
            self._sort()
        while self.first <= last:
            taken.append(*self.pop())
        return taken

    def drain(self) -> Packed:
        """Take out everything, in ascending order."""
        rest = self._runs.take_short(len(self))
        drained = merged([in_order(self._fresh()), *rest])
        self.clear()
        return drained

    def _fresh(self) -> Packed:
        return Packed(self._times, self._ledgers, self._entries)

    def _sort(self) -> None:
        """Make a run of what has come, and of the runs that are not much longer than that."""
        fresh = self._fresh()
        self._runs.add(merged([in_order(fresh), *self._runs.take_short(len(fresh))]))
        self._times, self._ledgers, self._entries = array("q"), array("q"), array("I")
