"""Queues of packed indexes: in order of time, ledger and entry, and no index unpacked sooner than it must be."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace
from itertools import chain

from broker_tck.implementations.bucket_delivery.packed import Packed, in_order, merged
from broker_tck.implementations.interface import DelayedIndex

NEVER = 2**63 - 1
"""The time, in milliseconds, of the first index where there is none."""

NO_LEDGER = -1
"""In place of a ledger id, none of which is negative."""


class _Cursor:
    """Where a run is read, and how many indexes are left behind that."""

    __slots__ = ("left", "rows")

    def __init__(self, run: Packed) -> None:
        self.rows: Iterator[DelayedIndex] = iter(run)
        self.left = len(run)


class Runs:
    """Ascending runs, each with a cursor. A small heap has their heads: nothing else is unpacked."""

    __slots__ = ("_added", "_heads", "size")

    def __init__(self) -> None:
        self._heads: list[tuple[DelayedIndex, int, _Cursor]] = []
        self._added = 0
        self.size = 0
        """How many indexes there are."""

    @property
    def head(self) -> DelayedIndex | None:
        """The first index of all."""
        return self._heads[0][0] if self._heads else None

    @property
    def first(self) -> int:
        """The time of the first index, or :data:`NEVER`; milliseconds."""
        return self._heads[0][0][0] if self._heads else NEVER

    def add(self, run: Packed) -> None:
        """Add an ascending run; from now on it must not change."""
        if not run:
            return
        cursor = _Cursor(run)
        # The number decides between equal heads: cursors cannot be compared.
        self._added += 1
        heappush(self._heads, (next(cursor.rows), self._added, cursor))
        self.size += cursor.left

    def pop(self) -> DelayedIndex:
        """Take the first index out. ``IndexError`` where there is none."""
        head, number, cursor = self._heads[0]
        self.size -= 1
        if cursor.left > 1:
            cursor.left -= 1
            heapreplace(self._heads, (next(cursor.rows), number, cursor))
        else:
            heappop(self._heads)
        return head

    def take_short(self, n: int) -> list[Iterator[DelayedIndex]]:
        """Take out the shortest runs, as long as one is at most twice as long as ``n`` and those before it."""
        taken: list[Iterator[DelayedIndex]] = []
        self._heads.sort(key=lambda head: -head[2].left)
        while self._heads and (left := self._heads[-1][2].left) <= 2 * n:
            head, _, cursor = self._heads.pop()
            taken.append(chain([head], cursor.rows))
            self.size -= left
            n += left
        heapify(self._heads)
        return taken


class Strays:
    """What has come is sorted no sooner than somebody asks for the first index, and then together with short runs.

    So each index is sorted a logarithmic number of times at most, and only once where all come before the first asks.
    """

    __slots__ = ("_fresh", "_runs", "first")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove everything."""
        self._fresh = Packed()
        self._runs = Runs()
        self.first = NEVER
        """The time of the first index, or :data:`NEVER`; milliseconds."""

    def __len__(self) -> int:
        return len(self._fresh.times) + self._runs.size

    def push(self, at: int, ledger: int, entry: int) -> None:
        """Add an index."""
        fresh = self._fresh
        fresh.times.append(at)
        fresh.ledgers.append(ledger)
        fresh.entries.append(entry)
        if at < self.first:
            self.first = at

    def push_all(self, indexes: Packed) -> None:
        """Add indexes in ascending order."""
        if indexes:
            self._fresh.extend(indexes)
            self.first = min(self.first, indexes.times[0])

    def pop(self) -> DelayedIndex:
        """Take the first index out. ``IndexError`` where there is none."""
        index = self._sorted().pop()
        self.first = self._runs.first
        return index

    def _sorted(self) -> Runs:
        """All indexes, those that have come in a run, together with runs that are not much longer than that."""
        if self._fresh.times:
            fresh, self._fresh = self._fresh, Packed()
            self._runs.add(merged([in_order(fresh), *self._runs.take_short(len(fresh))]))
        return self._runs


class GrowingBucket(Strays):
    """What is not sealed yet, and the range of ledgers over which it has grown: what is due leaves, the range stays."""

    __slots__ = ("first_ledger", "joined", "last_ledger")

    def clear(self) -> None:
        """Remove everything, and begin anew: the next message decides where the range begins."""
        super().clear()
        self.first_ledger = self.last_ledger = NO_LEDGER
        self.joined = NO_LEDGER
        """The ledger whose messages join without a look at the sealed buckets: none lies over it."""

    def join(self, ledger: int) -> None:
        """Let the messages of a ledger join, which is not below the last one."""
        if self.first_ledger == NO_LEDGER:
            self.first_ledger = ledger
        self.last_ledger = self.joined = ledger

    def take_until(self, last: int) -> Packed:
        """Take out what is not after a time, in ascending order."""
        taken = Packed()
        while self.first <= last:
            taken.append(*self.pop())
        return taken

    def drain(self) -> Packed:
        """Take out everything, in ascending order."""
        drained = merged([in_order(self._fresh), *self._runs.take_short(len(self))])
        self.clear()
        return drained


class SharedQueue(Strays):
    """What may be handed out next. A loaded segment stays packed as it is."""

    __slots__ = ("_segments",)

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self._segments = Runs()

    def __len__(self) -> int:
        return self._segments.size + super().__len__()

    def share(self, segment: Packed) -> None:
        """Add indexes that ascend and do not change any more, such as a segment's."""
        self._segments.add(segment)
        self.first = min(self.first, self._segments.first)

    @property
    def head(self) -> DelayedIndex | None:
        """The first index."""
        segment, stray = self._segments.head, self._sorted().head
        return stray if segment is None or (stray is not None and stray < segment) else segment

    def pop(self) -> DelayedIndex:
        """Take the first index out. ``IndexError`` where there is none."""
        segment, stray = self._segments.head, self._sorted().head
        index = (self._runs if segment is None or (stray is not None and stray < segment) else self._segments).pop()
        self.first = min(self._segments.first, self._runs.first)
        return index
