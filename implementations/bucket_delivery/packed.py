"""Indexes in columns: 20 bytes each, whatever their numbers are."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import overload

from broker_tck.implementations.interface import DelayedIndex

MAX_ENTRY_ID = 2**32 - 1
"""The last entry id that fits a column, as it fits a roaring bitmap."""


class Packed(Sequence[DelayedIndex]):
    """A sequence of indexes: time, ledger and entry of each. It is a column of each, so that it can be searched.

    Times are in milliseconds. ``OverflowError`` where a number does not fit: 64 bits, signed; 32 bits for an entry.
    """

    __slots__ = ("entries", "ledgers", "times")

    def __init__(
        self, times: array[int] | None = None, ledgers: array[int] | None = None, entries: array[int] | None = None
    ) -> None:
        """Take over three columns of one length; without them, begin empty."""
        self.times = array("q") if times is None else times
        self.ledgers = array("q") if ledgers is None else ledgers
        self.entries = array("I") if entries is None else entries

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, at: int) -> DelayedIndex: ...
    @overload
    def __getitem__(self, at: slice) -> Packed: ...
    def __getitem__(self, at: int | slice) -> DelayedIndex | Packed:
        if isinstance(at, slice):
            return Packed(self.times[at], self.ledgers[at], self.entries[at])
        return self.times[at], self.ledgers[at], self.entries[at]

    def __iter__(self) -> Iterator[DelayedIndex]:
        return zip(self.times, self.ledgers, self.entries, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Packed):
            return NotImplemented
        return (self.times, self.ledgers, self.entries) == (other.times, other.ledgers, other.entries)

    __hash__ = None  # type: ignore[assignment]  # its columns can change

    def append(self, at: int, ledger: int, entry: int) -> None:
        """Add one index at the end."""
        self.times.append(at)
        self.ledgers.append(ledger)
        self.entries.append(entry)

    def extend(self, other: Packed) -> None:
        """Add all indexes of another one at the end."""
        self.entries.extend(other.entries)
        self.ledgers.extend(other.ledgers)
        self.times.extend(other.times)


def packed(indexes: Iterable[DelayedIndex]) -> Packed:
    """Pack indexes, in the order in which they come. What is packed already is not copied."""
    if isinstance(indexes, Packed):
        return indexes
    return _from_rows([*indexes])


def in_order(indexes: Packed) -> Packed:
    """Sort indexes."""
    return _from_rows(sorted(indexes))


def merged(parts: Sequence[Iterable[DelayedIndex]]) -> Packed:
    """Pack the indexes of parts, each of which ascends, in ascending order. Of each one index at a time is unpacked."""
    if len(parts) == 1:
        return packed(parts[0])
    whole = Packed()
    for at, ledger, entry in merge(*parts):
        whole.append(at, ledger, entry)
    return whole


def _from_rows(rows: list[DelayedIndex]) -> Packed:
    # From a list, unlike from an iterator, an array is made with no room to spare.
    return Packed(
        array("q", [row[0] for row in rows]), array("q", [row[1] for row in rows]), array("I", [row[2] for row in rows])
    )
