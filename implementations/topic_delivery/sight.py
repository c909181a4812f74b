"""What a view sees of the shared index: all behind its mark-delete position but what it is done with.

It is told in few numbers: how far the mark-delete position has been; up to which bucket the view is done with all that
was there; what it is done with in later buckets; and what it has added again before the position.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyroaring import BitMap

from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.index import NEVER, NOTHING, Entries, SharedIndex, above


class Sight:
    """What one view sees."""

    __slots__ = ("_again", "_below", "_done", "mark", "passed")

    def __init__(self, mark: Position | None) -> None:
        self.mark = mark
        """Everything up to there is acknowledged."""
        self.passed = mark
        """How far the mark-delete position has been: it may have gone back since (TD-15)."""
        self._below = 0
        """In buckets with smaller keys nothing is seen, nor can anything come unless the clock is set back."""
        self._done: SharedIndex | None = None
        """What was handed out or cleared, behind what was passed. None: nothing."""
        self._again: SharedIndex | None = None
        """What the view has added again, up to what was passed. None: nothing."""

    @property
    def bound(self) -> Position | None:
        """Nothing up to there is seen; None: there may be something anywhere."""
        return self.mark if self._again else self.passed

    def of(self, held: Entries) -> BitMap:
        """The entries that are seen, of some that are held (TD-08, TD-09); not to be changed."""
        key, ledger, entries = held
        if key < self._below:
            return NOTHING
        if self.passed is None or ledger > self.passed[0]:
            seen = entries
        elif ledger == self.passed[0]:
            seen = above(entries, self.passed[1])
        else:
            seen = NOTHING
        if self._done and (done := self._done.of(key, ledger)):
            seen = seen - done
        if self._again and (again := self._again.of(key, ledger)):
            seen = seen | (again & entries)
        return seen

    def sees(self, key: int, ledger: int, entry: int) -> bool:
        """Whether a copy is seen if it is held, in a bucket to which something can come."""
        if self.has_passed((ledger, entry)):
            return self._again is not None and entry in self._again.of(key, ledger)
        return self._done is None or entry not in self._done.of(key, ledger)

    def has_passed(self, position: Position) -> bool:
        """Whether the mark-delete position has been at a position, or behind it."""
        return self.passed is not None and position <= self.passed

    def is_done_with(self, key: int, ledger: int, entry: int) -> bool:
        """Whether a copy is behind what was passed, and the view was handed it or has cleared it."""
        return not self.has_passed((ledger, entry)) and self._done is not None and entry in self._done.of(key, ledger)

    def adds(self, key: int, ledger: int, entry: int) -> bool:
        """The view adds a copy; answers whether it sees that again from now on, and did not before."""
        if not self.has_passed((ledger, entry)):
            return self._undone(key, ledger, entry)
        if self.mark is not None and (ledger, entry) <= self.mark:
            return False
        self._again = self._again or SharedIndex()
        return self._again.add(key, ledger, entry)

    def _undone(self, key: int, ledger: int, entry: int) -> bool:
        if self._done is None or entry not in self._done.of(key, ledger):
            return False
        self._done = without(self._done, [Entries(key, ledger, BitMap((entry,)))])
        return True

    def lets_go(self, gone: Entries) -> None:
        """The view is done with copies that it saw."""
        key, ledger, entries = gone
        if self._again:
            self._again = without(self._again, [Entries(key, ledger, self._again.of(key, ledger) & entries)])
        if self.passed is not None and ledger <= self.passed[0]:
            entries = above(entries, self.passed[1]) if ledger == self.passed[0] else NOTHING
        if entries:
            self._done = self._done or SharedIndex()
            self._done.add_all(Entries(key, ledger, entries))

    def settles(self, below: int) -> None:
        """Nothing is seen in buckets with keys below this one any more."""
        self._below = max(self._below, below)

    def opens(self, key: int) -> None:
        """Something may be seen in a bucket again."""
        self._below = min(self._below, key)

    def done_with(self) -> list[Entries]:
        """What the view is done with in buckets that are not below it."""
        return [held for _, sets in self._done.from_bucket(self._below, NEVER) for held in sets] if self._done else []

    def added_again(self, position: Position | None = None) -> list[Entries]:
        """What the view has added again, up to a position if there is one."""
        return [*self._again.between(None, position)] if self._again else []

    def move(self, position: Position) -> None:
        """The mark-delete position moves; what is acknowledged by that need not be kept in mind."""
        self.mark = position
        self._again = without(self._again, self.added_again(position))
        if self.passed is None or position > self.passed:
            self.passed = position
            if self._done:
                self._done = without(self._done, [*self._done.between(None, position)])


def without(copies: SharedIndex | None, gone: Iterable[Entries]) -> SharedIndex | None:
    """Some copies after others have gone; None: none are left."""
    if copies is None:
        return None
    for each in gone:
        if each.entries:
            copies.remove(each)
    return copies if copies.count else None
