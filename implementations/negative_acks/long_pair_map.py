"""A map from a pair of longs to a long in one flat array, as the broker's ConcurrentLongLongPairHashMap lays it out."""

from __future__ import annotations

from array import array

from broker_tck.implementations.interface import Position

WIDTH = 4
"""Words of a slot: the pair, the value, and whether it is taken (where the original has the pair's second value)."""
SMALLEST = 512
"""Slots at least."""
FULL, IDLE = 0.66, 0.15
"""The map grows beyond the first part of its slots, and shrinks below the other."""
MIX = 0x9E3779B97F4A7C15
WORD = 2**64 - 1
LARGEST = 2**63 - 1


class LongPairMap:
    """Open addressing with linear probing; what is deleted is closed up, so that no marks stay behind."""

    def __init__(self) -> None:
        self.size = 0
        self.slots = SMALLEST
        self.words = array("q", bytes(8 * WIDTH * SMALLEST))
        self.least = LARGEST
        """No value is below it."""

    def __len__(self) -> int:
        return self.size

    def home(self, first: int, second: int) -> int:
        """The slot where a pair belongs."""
        mixed = ((first & WORD) * MIX + (second & WORD)) * MIX & WORD
        return mixed >> 32 & self.slots - 1

    def place(self, first: int, second: int) -> int:
        """The word at which the pair's slot, or the free one for it, begins."""
        words, slot = self.words, self.home(first, second)
        while words[at := WIDTH * slot + 3] and (words[at - 3] != first or words[at - 2] != second):
            slot = slot + 1 & self.slots - 1
        return WIDTH * slot

    def put(self, first: int, second: int, value: int) -> None:
        """Set the value of a pair."""
        if self.size >= FULL * self.slots:
            self.resize(2 * self.slots)
        at = self.place(first, second)
        self.size += not self.words[at + 3]
        self.words[at : at + WIDTH] = array("q", (first, second, value, 1))
        self.least = min(self.least, value)

    def take_before(self, limit: int) -> list[Position]:
        """Remove every pair with a value below the limit; the whole array is looked at, if there can be one."""
        if limit <= self.least:
            return []
        words = self.words
        slots = zip(words[::WIDTH], words[1::WIDTH], words[2::WIDTH], words[3::WIDTH], strict=True)
        taken, self.least = [], LARGEST
        for first, second, value, used in slots:
            if used and value < limit:
                taken.append((first, second))
            elif used and value < self.least:
                self.least = value
        for pair in taken:
            self.remove(*pair)
        return taken

    def remove(self, first: int, second: int) -> None:
        """Remove a pair, and move those that were probed past its slot closer to where they belong."""
        words, last = self.words, self.slots - 1
        hole = slot = self.place(first, second) // WIDTH
        while words[WIDTH * (slot := slot + 1 & last) + 3]:
            at = WIDTH * slot
            home = self.home(words[at], words[at + 1])
            if (slot - home & last) >= (slot - hole & last):
                words[WIDTH * hole : WIDTH * hole + WIDTH] = words[at : at + WIDTH]
                hole = slot
        words[WIDTH * hole + 3] = 0
        self.size -= 1
        if self.slots > SMALLEST and self.size < IDLE * self.slots:
            self.resize(self.slots // 2)

    def resize(self, slots: int) -> None:
        """Move everything into another number of slots."""
        words = self.words
        self.slots = slots
        self.words = array("q", bytes(8 * WIDTH * slots))
        for at in range(0, len(words), WIDTH):
            if words[at + 3]:
                to = self.place(words[at], words[at + 1])
                self.words[to : to + WIDTH] = words[at : at + WIDTH]
