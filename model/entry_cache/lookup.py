"""Which entries a call is about: one by its position, those of a range, of a ledger, or below a position."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.model.entry_cache.entries import Cache, Cached, Position
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


class Lookup(Part):
    """What is found, by what it is asked for."""

    FIRST: ClassVar[Position] = (-(2**63), -(2**63))
    """The first position that is invalidated: the first that there is."""

    @said(
        absent="Your cache does not find a position that it has; it has to, whatever instance names it.",
    )
    @rule(
        "EC-09",
        "A position that is cached is found, whatever instance names it, and the value is retained for the reader.",
        source="RangeCache.get, PR 23903",
        look="a search by identity; a value that is handed out without a reference of its own",
        absent=lambda f, cache, position: None,
    )
    def find(self, cache: Cache, position: Position) -> Cached | None:
        return cache.entries.get(position)

    @said(
        absent="Your cache hands out a value whose last reference is gone; that is a miss.",
    )
    @also(find, absent=lambda f, entry: True)
    def hands_out(self, entry: Cached) -> bool:
        """Whether a value can be retained: one whose last reference is gone is a miss."""
        return entry.count > 0

    @said(
        without_the_last="A range of your cache leaves its last position out; both ends belong to it.",
        without_the_first="A range of your cache leaves its first position out; both ends belong to it.",
        ledgers_of_32_bits="Your cache keeps 32 bits of a ledger id; it has 64.",
        of_one_ledger="Your cache answers a range with what is in its first ledger alone; it goes over ledgers.",
        by_entry_alone="Your cache compares entry ids alone when it answers a range; ledgers come first.",
        absent="Your cache answers a range with everything that is cached; it has both its ends.",
    )
    @rule(
        "EC-10",
        "A range has both its ends, over ledgers too, and answers in ascending order with what is cached of it.",
        source="RangeCache.getRange",
        look="the last position; ranges over several ledgers; holes",
        absent=lambda f, position, first, last: True,
        without_the_last=lambda f, position, first, last: first <= position < last,
        without_the_first=lambda f, position, first, last: first < position <= last,
        of_one_ledger=lambda f, position, first, last: first <= position <= last and position[0] == first[0],
        by_entry_alone=lambda f, position, first, last: first[1] <= position[1] <= last[1],
        ledgers_of_32_bits=lambda f, position, first, last: low_bits(first) <= low_bits(position) <= low_bits(last),
    )
    def within(self, position: Position, first: Position, last: Position) -> bool:
        return first <= position <= last

    @said(
        absent="Your cache answers a range in the order of insertion; it has to be in ascending order.",
    )
    @also(within, absent=lambda f, entries: entries)
    def in_order(self, entries: list[Cached]) -> list[Cached]:
        return sorted(entries, key=lambda entry: entry.position)

    @said(
        absent="Your cache removes the position itself up to which it is invalidated; that one has to stay.",
        the_first_unasked="Your cache removes its first entry without asking where it is.",
        of_its_ledger=(
            "What is invalidated up to a position goes from that position's ledger alone in your cache; all ledgers "
            "before it go as well."
        ),
    )
    @rule(
        "EC-14",
        "What is invalidated up to a position goes without that position itself, of all ledgers before it.",
        source="RangeEntryCacheImpl.invalidateEntries",
        look="the last position; the first ledgers; positions below the first",
        absent=lambda f, position, last, lowest: position <= last,
        of_its_ledger=lambda f, position, last, lowest: (last[0], 0) <= position < last,
        the_first_unasked=lambda f, position, last, lowest: position < last or position == lowest,
    )
    def invalid(self, position: Position, last: Position, lowest: Position) -> bool:
        return self.FIRST <= position < last

    @said(
        never_inclusive=(
            "A removal in your cache never takes the last position of its range; it has to where the range includes it."
        ),
        without_the_first="A removal in your cache leaves the first position of its range; it has to take it.",
        absent=(
            "A removal in your cache always takes the last position of its range; it may only where the range "
            "includes it."
        ),
    )
    @also(
        invalid,
        absent=lambda f, position, first, last, inclusive: first <= position <= last,
        never_inclusive=lambda f, position, first, last, inclusive: first <= position < last,
        without_the_first=lambda f, position, first, last, inclusive: (
            first < position <= last if inclusive else first < position < last
        ),
    )
    def in_removal(self, position: Position, first: Position, last: Position, inclusive: bool) -> bool:
        return first <= position <= last if inclusive else first <= position < last

    @said(
        with_the_next_ones_first=(
            "Your cache takes the first entry of the next ledger along with a ledger that is dropped."
        ),
        and_those_before="A ledger that is dropped takes those before it along in your cache; others have to stay.",
        but_its_first="A ledger that is dropped leaves its first entry in your cache; all of its entries have to go.",
        absent="A ledger that is dropped leaves its entries in your cache; they have to go.",
    )
    @rule(
        "EC-15",
        "A ledger that is dropped takes all of its entries along, and no others.",
        source="RangeEntryCacheImpl.invalidateAllEntries",
        look="the first entry of the next ledger",
        absent=lambda f, position, ledger: False,
        with_the_next_ones_first=lambda f, position, ledger: (ledger, 0) <= position <= (ledger + 1, 0),
        and_those_before=lambda f, position, ledger: position[0] <= ledger,
        but_its_first=lambda f, position, ledger: position[0] == ledger and position[1] > 0,
    )
    def of_ledger(self, position: Position, ledger: int) -> bool:
        return (ledger, 0) <= position < (ledger + 1, 0)


def low_bits(position: Position) -> Position:
    """A position with the low 32 bits of its ledger id, as one who has no room for more keeps it."""
    return position[0] & 0xFFFFFFFF, position[1]
