"""Many ascending runs of indexes as one: a merge of all, one index at a time."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace
from itertools import chain

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.interface import DelayedIndex

NEVER = 2**63 - 1
"""The time, in milliseconds, of the first index where there is none."""


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

    def __len__(self) -> int:
        return self.size

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
