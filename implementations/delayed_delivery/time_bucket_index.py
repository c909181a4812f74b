"""Positions by time bucket, in as little memory as they allow: no object a message, and one object a bucket.

A position becomes one number: the low 31 bits of its ledger id, then the 32 bits of its entry id. What is left of the
ledger id names the *page*, and a *shelf* holds the numbers of one bucket and one page. Ledger ids of one topic nearly
always share a page, so a bucket has one shelf. Shelves, and the numbers in them, sort as keys and positions do.
"""

from __future__ import annotations

from heapq import heappop, heappush

from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.runs import Runs
from broker_tck.implementations.interface import Position

ENTRY_BITS = 32
MAX_ENTRY_ID = (1 << ENTRY_BITS) - 1
LEDGER_BITS = 31
PAGE_BITS = 64 - LEDGER_BITS

LEDGER_MASK = (1 << LEDGER_BITS) - 1
PAGE_MASK = (1 << PAGE_BITS) - 1
FIRST_PAGE = -1 << PAGE_BITS - 1

SHELF_BYTES = 96
"""What a shelf takes beside its numbers: its name, a place in the heap and one in the dictionary."""


class TimeBucketIndex:
    """A set of (key, position). Keys are between 0 and 2**63 - 1, ledger ids any of signed 64 bits."""

    __slots__ = ("_heap", "_shelves", "first")

    def __init__(self) -> None:
        self._shelves: dict[int, Runs] = {}
        # Only the first shelf is ever removed, so a binary heap keeps them in order, at less cost than a sorted map.
        self._heap: list[int] = []
        self.first = NEVER

    @property
    def memory(self) -> int:
        """An estimate in bytes."""
        return sum(SHELF_BYTES + numbers.__sizeof__() for numbers in self._shelves.values())

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position. False: it was there under this key.

        Raises ``ValueError`` if the entry id does not fit 32 bits.
        """
        if entry_id >> ENTRY_BITS:
            raise ValueError(f"entry id {entry_id} is not between 0 and {MAX_ENTRY_ID}")
        number = (ledger_id & LEDGER_MASK) << ENTRY_BITS | entry_id
        shelf = (key << PAGE_BITS) + (ledger_id >> LEDGER_BITS) - FIRST_PAGE
        numbers = self._shelves.get(shelf)
        if numbers is not None:
            return numbers.add(number)
        self._shelves[shelf] = Runs.of(number)
        heappush(self._heap, shelf)
        self.first = self._heap[0] >> PAGE_BITS
        return True

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add the positions from one entry to another, which fit 32 bits; answers how many were not there."""
        count = int(self.add(key, ledger_id, first_entry))
        if first_entry == last_entry:
            return count
        number = (ledger_id & LEDGER_MASK) << ENTRY_BITS
        shelf = (key << PAGE_BITS) + (ledger_id >> LEDGER_BITS) - FIRST_PAGE
        return count + self._shelves[shelf].add_run(number | first_entry + 1, number | last_entry)

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions by key, ledger and entry: at most so many, with keys up to ``last_key``."""
        taken: list[Position] = []
        while self.first <= last_key and len(taken) < max_copies:
            page = (self._heap[0] & PAGE_MASK) + FIRST_PAGE
            base = page << LEDGER_BITS
            numbers = self._take_first(max_copies - len(taken))
            taken.extend([(base + (number >> ENTRY_BITS), number & MAX_ENTRY_ID) for number in numbers])
        return taken

    def clear(self) -> None:
        """Remove everything."""
        self._shelves = {}
        self._heap = []
        self.first = NEVER

    def _take_first(self, count: int) -> list[int]:
        shelf = self._heap[0]
        taken, rest = self._shelves[shelf].take(count)
        if rest:
            self._shelves[shelf] = rest
        else:
            del self._shelves[shelf]
            heappop(self._heap)
            self.first = self._heap[0] >> PAGE_BITS if self._heap else NEVER
        return taken
