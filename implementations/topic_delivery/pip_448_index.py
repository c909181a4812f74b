"""The index of PIP-448's branch: bucket, ledger, entries, with the sum of the sets' sizes kept beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyroaring import BitMap
from sortedcontainers import SortedDict

from broker_tck.implementations.interface import Position


class Index448:
    """Positions by bucket. Entry ids stay below 65,536, so that the sizes are those of sets of one container."""

    def __init__(self) -> None:
        self.buckets: Any = SortedDict()
        self.count = 0
        self.memory = 0

    def add(self, key: int, ledger: int, entry: int) -> None:
        """Add a position to a bucket, if it is not there."""
        entries = self.buckets.setdefault(key, SortedDict()).setdefault(ledger, BitMap())
        if entry not in entries:
            before = size(entries)
            entries.add(entry)
            self.count += 1
            self.memory += size(entries) - before

    def up_to(self, key: int) -> Iterator[Position]:
        """The positions of the buckets up to a key, by bucket, ledger and entry."""
        for each in self.buckets.irange(None, key):
            for ledger, entries in self.buckets[each].items():
                for entry in entries:
                    yield ledger, entry

    def prune(self, bound: Position) -> None:
        """Remove every position up to a bound, from all buckets.

        A set of an earlier ledger goes as a whole, and takes the size of an empty one off as well.
        """
        ledger, entry = bound
        for key in [*self.buckets]:
            ledgers = self.buckets[key]
            for each in [*ledgers.irange(None, ledger - 1)]:
                gone = ledgers.pop(each)
                self.count -= len(gone)
                self.memory -= size(gone)
            if ledger in ledgers:
                self._prune_ledger(ledgers, ledger, entry)
            if not ledgers:
                del self.buckets[key]

    def _prune_ledger(self, ledgers: Any, ledger: int, entry: int) -> None:
        entries = ledgers[ledger]
        before, held = size(entries), len(entries)
        entries.remove_range(0, max(entry + 1, 0))
        self.count -= held - len(entries)
        self.memory -= before - size(entries)
        if not entries:
            del ledgers[ledger]

    def clear(self) -> None:
        """Remove everything."""
        self.buckets.clear()
        self.count = self.memory = 0

    def sizes(self) -> tuple[int, int]:
        """How many buckets there are, and how many sets of entries."""
        return len(self.buckets), sum(map(len, self.buckets.values()))


def size(entries: BitMap) -> int:
    """What the branch's library says that a set of entries in one container takes, as recorded."""
    return 58 + 2 * len(entries) if entries else 1
