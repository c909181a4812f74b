"""A binary heap of cursors by position, as the broker's container of all cursors keeps it.

A removal swaps the last cursor into the gap and moves it down only, unless it is told to mend the heap upwards as well.
A position that is none cannot be compared.
"""

from __future__ import annotations

from broker_tck.model.active_cursors.order import Cursor, Position
from broker_tck.model.reference import Fault

NOWHERE = -1


class HeapItem:
    """A cursor, its position, and where in the heap it is."""

    __slots__ = ("at", "cursor", "position")

    def __init__(self, cursor: Cursor, position: Position | None) -> None:
        self.cursor = cursor
        self.position = position
        self.at = NOWHERE


class CursorHeap:
    """The heap: no cursor is before the one above it, unless a removal has left it so."""

    def __init__(self) -> None:
        self.items: list[HeapItem] = []
        self.spoiled = False
        """Whether something was left undone, as a position was none: then there is no order any more to mend."""

    def before(self, one: HeapItem, other: HeapItem) -> bool:
        """Whether one is strictly before another; Fault where either has no position."""
        if one.position is None or other.position is None:
            self.spoiled = True
            raise Fault("NullPointerException")
        return one.position < other.position

    def add(self, item: HeapItem) -> None:
        """Put an item in its place."""
        item.at = len(self.items)
        self.items.append(item)
        self.up(item)

    def remove(self, item: HeapItem, mending: bool) -> None:
        """Take an item out; the last one goes to its place, and from there down, or up where ``mending``."""
        last = self.items[-1]
        gap = item.at
        self.swap(item, last)
        self.items.pop()
        if last is not item:
            self.down(last)
            if mending and last.at == gap and not self.spoiled:
                self.up(last)
        item.at = NOWHERE

    def moved(self, item: HeapItem) -> None:
        """Put an item in its place whose position has changed."""
        if len(self.items) == 1:
            return
        if item.at == 0 or not self.before(item, self.items[(item.at - 1) // 2]):
            self.down(item)
        else:
            self.up(item)

    def up(self, item: HeapItem) -> None:
        """Move an item up while it is before the one above it."""
        while item.at > 0 and self.before(item, self.items[(item.at - 1) // 2]):
            self.swap(item, self.items[(item.at - 1) // 2])

    def down(self, item: HeapItem) -> None:
        """Move an item down while one below it is before it; of two such the left one, if it is before the right."""
        while True:
            left, right = self.below(item, 1), self.below(item, 2)
            if right and self.before(right, item):
                self.swap(item, left if left and self.before(left, right) else right)
            elif left and self.before(left, item):
                self.swap(item, left)
            else:
                return

    def below(self, item: HeapItem, side: int) -> HeapItem | None:
        """The item below on one side: 1 is left, 2 is right."""
        at = 2 * item.at + side
        return self.items[at] if at < len(self.items) else None

    def swap(self, one: HeapItem, other: HeapItem) -> None:
        """Let two items change places."""
        one.at, other.at = other.at, one.at
        self.items[one.at], self.items[other.at] = one, other
