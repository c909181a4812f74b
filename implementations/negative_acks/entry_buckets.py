"""Entries by bucket: cheap where buckets hold few of them, cheaper still where they hold many.

A bucket of few entries lies with its neighbours in a block, three numbers of 64 bits for each entry and no object. When
it comes to hold more, a bitmap for each of its ledgers takes over.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from pyroaring import BitMap64
from sortedcontainers import SortedDict

from broker_tck.implementations.interface import Position

MOST_SPARSE = 24
"""A bucket of more entries is kept in bitmaps."""
MOST_IN_BLOCK = 2_048
UNSIGNED = 2**64 - 1


class Block:
    """Entries of some buckets, in the order of the buckets; a bucket is in one block only."""

    __slots__ = ("buckets", "entries", "ledgers")

    def __init__(self, buckets: array[int], ledgers: array[int], entries: array[int]) -> None:
        self.buckets = buckets
        self.ledgers = ledgers
        self.entries = entries

    def span(self, bucket: int) -> tuple[int, int]:
        """Where a bucket's entries begin and end."""
        start = bisect_left(self.buckets, bucket)
        return start, bisect_right(self.buckets, bucket, start)

    def insert(self, at: int, bucket: int, ledger: int, entry: int) -> None:
        """Insert an entry."""
        self.buckets.insert(at, bucket)
        self.ledgers.insert(at, ledger)
        self.entries.insert(at, entry)

    def cut(self, start: int, end: int) -> Block:
        """Take a part out."""
        part = Block(self.buckets[start:end], self.ledgers[start:end], self.entries[start:end])
        del self.buckets[start:end], self.ledgers[start:end], self.entries[start:end]
        return part

    def positions(self) -> Iterator[Position]:
        """Every entry."""
        return zip(self.ledgers, self.entries, strict=True)


class NackBuckets:
    """All buckets of a tracker."""

    def __init__(self) -> None:
        self.count = 0
        self.blocks: list[Block] = []
        self.starts: list[int] = []
        """The first bucket of each block."""
        self.dense: SortedDict[int, dict[int, BitMap64]] = SortedDict()

    def first(self) -> int | None:
        """The first bucket."""
        firsts = [*self.starts[:1], *self.dense.keys()[:1]]
        return min(firsts, default=None)

    def add(self, bucket: int, ledger: int, entry: int) -> None:
        """Add an entry to a bucket, unless it is there."""
        if bucket in self.dense:
            self.add_dense(self.dense[bucket], ledger, entry)
            return
        number = max(bisect_right(self.starts, bucket) - 1, 0)
        if not self.blocks:
            self.blocks.append(Block(array("q"), array("q"), array("q")))
            self.starts.append(bucket)
        block = self.blocks[number]
        start, end = block.span(bucket)
        for at in range(start, end):
            if block.entries[at] == entry and block.ledgers[at] == ledger:
                return
        block.insert(end, bucket, ledger, entry)
        self.count += 1
        self.starts[number] = block.buckets[0]
        if end - start >= MOST_SPARSE:
            self.thicken(number, start, end + 1)
        elif len(block.buckets) > MOST_IN_BLOCK:
            self.split(number)

    def add_dense(self, ledgers: dict[int, BitMap64], ledger: int, entry: int) -> None:
        """Add an entry to a bucket of bitmaps."""
        entries = ledgers.get(ledger)
        if entries is None:
            entries = ledgers[ledger] = BitMap64()
        before = len(entries)
        entries.add(entry & UNSIGNED)
        self.count += len(entries) - before

    def thicken(self, number: int, start: int, end: int) -> None:
        """Move a bucket from its block to bitmaps."""
        block = self.blocks[number]
        bucket = block.buckets[start]
        ledgers: dict[int, BitMap64] = {}
        self.dense[bucket] = ledgers
        part = block.cut(start, end)
        self.count -= end - start
        for ledger, entry in part.positions():
            self.add_dense(ledgers, ledger, entry)
        self.tidy(number)

    def split(self, number: int) -> None:
        """Make two blocks of one, between two buckets."""
        block = self.blocks[number]
        middle = bisect_left(block.buckets, block.buckets[len(block.buckets) // 2])
        middle = middle or bisect_right(block.buckets, block.buckets[0])
        new = block.cut(middle, len(block.buckets))
        self.blocks.insert(number + 1, new)
        self.starts.insert(number + 1, new.buckets[0])

    def tidy(self, number: int) -> None:
        """Drop a block that is empty, or note where it begins."""
        if self.blocks[number].buckets:
            self.starts[number] = self.blocks[number].buckets[0]
        else:
            del self.blocks[number], self.starts[number]

    def take(self, last: int) -> list[Position]:
        """Remove the buckets up to the last one, that one included; their entries, in no order, some perhaps twice."""
        taken: list[Position] = []
        whole = max(bisect_right(self.starts, last) - 1, 0)
        for block in self.blocks[:whole]:
            taken += block.positions()
        del self.blocks[:whole], self.starts[:whole]
        if self.blocks:
            taken += self.blocks[0].cut(0, bisect_right(self.blocks[0].buckets, last)).positions()
            self.tidy(0)
        while self.dense and self.dense.keys()[0] <= last:
            for ledger, entries in self.dense.popitem(0)[1].items():
                taken += [(ledger, signed(entry)) for entry in entries]
        self.count = self.count - len(taken)
        return taken


def signed(entry: int) -> int:
    """An entry id as it was before it was made unsigned."""
    return entry - 2**64 if entry >> 63 else entry
