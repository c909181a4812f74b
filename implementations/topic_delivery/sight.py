"""What a view sees of the shared index: all behind its mark-delete position but what it is done with.

It is told in few numbers: how far the mark-delete position has been, what was handed out behind that and is not
acknowledged yet, and what the view has added again before it.
"""

from __future__ import annotations

from pyroaring import BitMap

from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.index import ENTRY_BITS, Entries

NOTHING = BitMap()
Sets = dict[int, dict[int, BitMap]]
"""Entries by ledger and by the key of a bucket."""


class Sight:
    """What one view sees."""

    __slots__ = ("_again", "_handed", "mark", "passed")

    def __init__(self, mark: Position | None) -> None:
        self.mark = mark
        """Everything up to there is acknowledged."""
        self.passed = mark
        """How far the mark-delete position has been: it may have gone back since (TD-15)."""
        self._handed: Sets = {}
        """What was handed out, behind what was passed."""
        self._again: Sets = {}
        """What the view has added again, up to what was passed."""

    def of(self, held: Entries) -> BitMap:
        """The entries that are seen, of some that are held (TD-08, TD-09)."""
        key, ledger, entries = held
        if self.passed is None or ledger > self.passed[0]:
            seen = entries
        elif ledger == self.passed[0]:
            seen = above(entries, self.passed[1])
        else:
            seen = NOTHING
        if self._handed and (handed := within(self._handed, key, ledger)):
            seen = seen - handed
        if self._again and (again := within(self._again, key, ledger)):
            seen = seen | (again & entries)
        return seen

    def sees(self, key: int, ledger: int, entry: int) -> bool:
        """Whether a copy that is held is seen."""
        if self.passed is not None and (ledger, entry) <= self.passed:
            return entry in within(self._again, key, ledger)
        return entry not in within(self._handed, key, ledger)

    def adds(self, key: int, ledger: int, entry: int) -> bool:
        """The view adds a copy; answers whether it sees that again from now on, and did not before."""
        if self.passed is None or (ledger, entry) > self.passed:
            return discard(self._handed, key, ledger, entry)
        if self.mark is not None and (ledger, entry) <= self.mark:
            return False
        again = self._again.setdefault(ledger, {}).setdefault(key, BitMap())
        new = entry not in again
        again.add(entry)
        return new

    def lets_go(self, done: Entries) -> None:
        """The view is done with copies that it saw."""
        key, ledger, entries = done
        if again := within(self._again, key, ledger):
            again -= entries
        if self.passed is not None and ledger <= self.passed[0]:
            entries = above(entries, self.passed[1]) if ledger == self.passed[0] else NOTHING
        if entries:
            self._handed.setdefault(ledger, {}).setdefault(key, BitMap()).update(entries)

    def again_up_to(self, position: Position) -> list[Entries]:
        """What the view has added again, up to a position."""
        ledger, entry = position
        lower = [
            Entries(key, each, entries.copy())
            for each, by_key in self._again.items()
            if each < ledger
            for key, entries in by_key.items()
        ]
        same = [Entries(key, ledger, up_to(entries, entry)) for key, entries in self._again.get(ledger, {}).items()]
        return [each for each in (*lower, *same) if each.entries]

    def move(self, position: Position) -> None:
        """The mark-delete position moves; what is acknowledged by that need not be kept in mind."""
        self.mark = position
        forget(self._again, position)
        if self.passed is None or position > self.passed:
            self.passed = position
            forget(self._handed, position)


def within(sets: Sets, key: int, ledger: int) -> BitMap:
    """The set of a bucket and a ledger, which is not to be changed where it is empty."""
    by_key = sets.get(ledger)
    return by_key.get(key, NOTHING) if by_key else NOTHING


def discard(sets: Sets, key: int, ledger: int, entry: int) -> bool:
    """Take an entry out; answers whether it was there."""
    entries = within(sets, key, ledger)
    if entry not in entries:
        return False
    entries.remove(entry)
    return True


def forget(sets: Sets, position: Position) -> None:
    """Take out everything up to a position, and the sets that are left empty."""
    ledger, entry = position
    for each in [each for each in sets if each < ledger]:
        del sets[each]
    for key, entries in [*sets.get(ledger, {}).items()]:
        left = above(entries, entry)
        if left:
            sets[ledger][key] = left
        else:
            del sets[ledger][key]


def above(entries: BitMap, entry: int) -> BitMap:
    """The entries above one, which may be -1."""
    if not entries or entries.min() > entry:
        return entries
    left = entries.copy()
    left.remove_range(0, min(entry + 1, 1 << ENTRY_BITS))
    return left


def up_to(entries: BitMap, entry: int) -> BitMap:
    """The entries up to one, which may be -1."""
    return entries - above(entries, entry)
