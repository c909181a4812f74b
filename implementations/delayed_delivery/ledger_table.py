"""Ledgers in an open-addressing table with linear probing: what gives the broker's buckets of 4.0.1 their order."""

from __future__ import annotations

from collections.abc import Iterator

from sortedcontainers import SortedSet

FEWEST = 32
GOLDEN = 0x9E3779B97F4A7C15
LONG = (1 << 64) - 1


def home(ledger_id: int, mask: int) -> int:
    """The slot in which a ledger would like to be."""
    product = ledger_id * GOLDEN & LONG
    product ^= product >> 32
    return (product ^ product >> 16) & mask


class LedgerTable:
    """Sets of entry ids by ledger id, as fastutil's open hash map keeps them.

    Ledger 0 has no slot, and a removal leaves no mark.
    """

    def __init__(self) -> None:
        self._slots: list[int | None] = [None] * FEWEST
        self._entries: dict[int, SortedSet[int]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[int]:
        if 0 in self._entries:
            yield 0
        yield from (ledger_id for ledger_id in reversed(self._slots) if ledger_id is not None)

    def entries(self, ledger_id: int) -> SortedSet[int]:
        """The entries of a ledger, which gets a slot if it has none."""
        found = self._entries.get(ledger_id)
        if found is None:
            found = self._entries[ledger_id] = SortedSet()
            self._place(ledger_id)
            if 4 * len(self) > 3 * len(self._slots):
                self._rehash(2 * len(self._slots))
        return found

    def remove(self, ledger_id: int) -> None:
        """Remove a ledger that is there, and move up those behind it that it was in the way of."""
        del self._entries[ledger_id]
        if ledger_id:
            self._close(self._slots.index(ledger_id))
        if len(self._slots) > FEWEST and 16 * len(self) < 3 * len(self._slots):
            self._rehash(len(self._slots) // 2)

    def _place(self, ledger_id: int) -> None:
        if ledger_id:
            mask = len(self._slots) - 1
            at = home(ledger_id, mask)
            while self._slots[at] is not None:
                at = at + 1 & mask
            self._slots[at] = ledger_id

    def _close(self, hole: int) -> None:
        slots, mask = self._slots, len(self._slots) - 1
        at = hole
        while (behind := slots[at := at + 1 & mask]) is not None:
            if at - home(behind, mask) & mask >= at - hole & mask:
                slots[hole], hole = behind, at
        slots[hole] = None

    def _rehash(self, size: int) -> None:
        listed = list(self)
        self._slots = [None] * size
        for ledger_id in listed:
            self._place(ledger_id)
