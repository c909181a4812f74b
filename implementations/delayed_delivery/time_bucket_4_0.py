"""The time-bucket trackers of Pulsar 4.0.1 to 4.0.5: that of September 2025, before it kept a counter.

4.0.6 has the heap again, as adding up the messages of all buckets took too long (PR 24429).
"""

from __future__ import annotations

from itertools import islice
from typing import ClassVar

from sortedcontainers import SortedDict

from broker_tck.implementations.delayed_delivery.in_memory import NEVER, Index
from broker_tck.implementations.delayed_delivery.ledger_table import LedgerTable
from broker_tck.implementations.delayed_delivery.time_bucket_2025 import COPY_BYTES, SortedIndex, TimeBucket2025Tracker
from broker_tck.implementations.interface import Position


class CountedIndex(SortedIndex):
    """The same index, which says what it had already."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position. False: it was there under this key."""
        before = len(self._triples)
        super().add(key, ledger_id, entry_id)
        return len(self._triples) > before


class TimeBucket404Tracker(TimeBucket2025Tracker):
    """Counts what it holds, and so never asks an index without messages for its first bucket."""

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-4.0.4",)

    def _empty_index(self) -> Index:
        return CountedIndex()


class HashedIndex:
    """Buckets of ledgers of entries; the ledgers of a bucket have the order of a hash table."""

    def __init__(self) -> None:
        self._buckets: SortedDict[int, LedgerTable] = SortedDict()
        self._size = 0

    @property
    def first(self) -> int:
        """The smallest key."""
        return self._buckets.peekitem(0)[0] if self._buckets else NEVER

    @property
    def memory(self) -> int:
        """Three 64-bit numbers a message."""
        return COPY_BYTES * self._size

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position. False: it was there under this key."""
        if key not in self._buckets:
            self._buckets[key] = LedgerTable()
        entries = self._buckets[key].entries(ledger_id)
        if entry_id in entries:
            return False
        entries.add(entry_id)
        self._size += 1
        return True

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove copies, at most so many, with keys up to ``last_key``: bucket by bucket, ledger by ledger."""
        taken: list[Position] = []
        while self.first <= last_key and len(taken) < max_copies:
            taken += self._take_first(max_copies - len(taken))
        self._size -= len(taken)
        return taken

    def clear(self) -> None:
        """Remove everything."""
        self._buckets.clear()
        self._size = 0

    def _take_first(self, room: int) -> list[Position]:
        key, table = self._buckets.peekitem(0)
        taken: list[Position] = []
        emptied = LedgerTable()
        for ledger_id in table:
            entries = table.entries(ledger_id)
            part = list(islice(entries, room - len(taken)))
            taken += [(ledger_id, entry_id) for entry_id in part]
            if len(part) < len(entries):
                entries.difference_update(part)
                break
            emptied.entries(ledger_id)
        for ledger_id in emptied:
            table.remove(ledger_id)
        if not table:
            del self._buckets[key]
        return taken


class TimeBucket401Tracker(TimeBucket404Tracker):
    """Takes the ledgers of a bucket in the order of a hash table (mended by PR 24035)."""

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-4.0.1",)

    def _empty_index(self) -> Index:
        return HashedIndex()
