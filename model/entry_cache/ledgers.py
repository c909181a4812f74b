"""The ledgers of the topics: how many entries each has, and how large these are."""

from __future__ import annotations

ENTRY_SIZES = (10, 30, 20, 40)
"""Of the stored entries, by entry id, over and over."""


class Ledgers:
    """The ledgers of all topics. Every entry is stored there, cached or not."""

    def __init__(self) -> None:
        self.written: dict[tuple[int, int], int] = {}

    def length(self, topic: int, ledger: int) -> int:
        """How many entries a ledger has."""
        return self.written.get((topic, ledger), 0)

    def write(self, topic: int, ledger: int, n: int) -> int:
        """A ledger has n entries more; answers with the first of them."""
        first = self.length(topic, ledger)
        self.written[topic, ledger] = first + n
        return first

    def average(self, topic: int, ledger: int) -> int | None:
        """The average size of a ledger's entries; None where nothing is known of them."""
        n = self.length(topic, ledger)
        return size_of_all(n) // n if n else None


def size_of(entry: int) -> int:
    """The bytes of a stored entry."""
    return ENTRY_SIZES[entry % len(ENTRY_SIZES)]


def size_of_all(n: int) -> int:
    """The bytes of the first n entries of a ledger."""
    rounds, rest = divmod(n, len(ENTRY_SIZES))
    return rounds * sum(ENTRY_SIZES) + sum(ENTRY_SIZES[:rest])
