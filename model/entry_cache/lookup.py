"""Which entries a call is about: one by its position, those of a range, of a ledger, or below a position."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.model.entry_cache.entries import Cache, Cached, Position
from broker_tck.model.rules import Part, rule


class Lookup(Part):
    """What is found, by what it is asked for."""

    FIRST: ClassVar[Position] = (-(2**63), -(2**63))
    """The first position that is invalidated: the first that there is."""

    @rule("EC-09", source="RangeCache.get, PR 23903")
    def find(self, cache: Cache, position: Position) -> Cached | None:
        """A position that is cached is found, whatever instance names it, and the value is retained for the reader."""
        return cache.entries.get(position)

    @rule("EC-09")
    def hands_out(self, entry: Cached) -> bool:
        """Whether a value can be retained: one whose last reference is gone is a miss."""
        return entry.count > 0

    @rule("EC-10", source="RangeCache.getRange")
    def within(self, position: Position, first: Position, last: Position) -> bool:
        """A range has both its ends, over ledgers too, and answers in ascending order with what is cached of it."""
        return first <= position <= last

    @rule("EC-10")
    def in_order(self, entries: list[Cached]) -> list[Cached]:
        """The entries of a range are answered in ascending order."""
        return sorted(entries, key=lambda entry: entry.position)

    @rule("EC-14", source="RangeEntryCacheImpl.invalidateEntries")
    def invalid(self, position: Position, last: Position, lowest: Position) -> bool:
        """What is invalidated up to a position goes without that position itself, of all ledgers before it."""
        return self.FIRST <= position < last

    @rule("EC-14")
    def in_removal(self, position: Position, first: Position, last: Position, inclusive: bool) -> bool:
        """A removal of a range takes its last position along only if it is said to."""
        return first <= position <= last if inclusive else first <= position < last

    @rule("EC-15", source="RangeEntryCacheImpl.invalidateAllEntries")
    def of_ledger(self, position: Position, ledger: int) -> bool:
        """A ledger that is dropped takes all of its entries along, and no others."""
        return (ledger, 0) <= position < (ledger + 1, 0)


def low_bits(position: Position) -> Position:
    """A position with the low 32 bits of its ledger id, as one who has no room for more keeps it."""
    return position[0] & 0xFFFFFFFF, position[1]
