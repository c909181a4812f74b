"""The order of the broker's container of all cursors: a binary heap by position.

A removal swaps the last cursor into the gap. A cursor without position cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.active_cursors.specification import Cursor, Order, Position
from broker_tck.model.reference import Fault
from broker_tck.model.rules import rule

NOWHERE = -1


class HeapItem:
    """A cursor object, its position, and its index in the heap, or :data:`NOWHERE`."""

    __slots__ = ("at", "cursor", "position")

    def __init__(self, cursor: Cursor, position: Position | None) -> None:
        self.cursor = cursor
        self.position = position
        self.at = NOWHERE


class HeapOrder(Order):
    """No item is before the one above it. An object that another of its name replaced stays in the heap."""

    def __init__(self) -> None:
        super().__init__()
        self.heap: list[HeapItem] = []
        self.items: dict[Cursor, HeapItem] = {}
        self.durables = 0
        """The durable cursors that came, less those that left; a failed comparison leaves one uncounted."""
        self.spoiled = False
        """Whether a comparison has failed; after that the heap has no order to mend."""

    def holds(self, cursor: Cursor) -> bool:
        return self.items[cursor].at != NOWHERE

    def number(self) -> int:
        return len(self.heap)

    @rule("CC-11", when=lambda o: True)
    def mends(self) -> bool:
        """In a heap, the last item takes the place, and moves up if it is before the one above it."""
        return True

    def add(self, cursor: Cursor, at: Position | None) -> None:
        item = self.items[cursor] = HeapItem(cursor, at)
        if at is not None:
            self.push(item)
        self.durables += cursor.durable

    def put(self, cursor: Cursor, at: Position) -> None:
        item = self.items[cursor]
        item.position = at
        if item.at == NOWHERE:
            self.push(item)
        else:
            self.moved(item)

    def lose(self, cursor: Cursor) -> None:
        item = self.items[cursor]
        if item.at != NOWHERE and self.forgets(cursor):
            self.pull(item)
        item.position = None
        if item.at != NOWHERE:
            self.moved(item)

    def drop(self, cursor: Cursor) -> None:
        item = self.items.pop(cursor)
        if item.at != NOWHERE:
            self.pull(item)
        self.durables -= cursor.durable

    def kept(self) -> Iterable[Cursor]:
        return self.items

    def slowest(self) -> Position | None:
        first = self.heap[0].position if self.heap else None
        return self.first([first] if first else [])

    # ---- The heap

    def before(self, one: HeapItem, other: HeapItem) -> bool:
        """Whether one is strictly before another; Fault if either has no position."""
        if one.position is None or other.position is None:
            self.spoiled = True
            raise Fault("NullPointerException")
        return one.position < other.position

    def push(self, item: HeapItem) -> None:
        """Put an item into the heap."""
        item.at = len(self.heap)
        self.heap.append(item)
        self.up(item)

    def pull(self, item: HeapItem) -> None:
        """Take an item out of the heap; the last one goes to its place, and from there down or up."""
        last, gap = self.heap[-1], item.at
        self.swap(item, last)
        self.heap.pop()
        if last is not item:
            self.down(last)
            if self.mends() and last.at == gap and not self.spoiled:
                self.up(last)
        item.at = NOWHERE

    def moved(self, item: HeapItem) -> None:
        """Put an item in its place after its position has changed."""
        at = item.at
        self.up(item)
        if item.at == at:
            self.down(item)

    def up(self, item: HeapItem) -> None:
        """Move an item up while it is before the one above it."""
        while item.at > 0 and self.before(item, self.heap[(item.at - 1) // 2]):
            self.swap(item, self.heap[(item.at - 1) // 2])

    def down(self, item: HeapItem) -> None:
        """Move an item down while one below is before it; of two, the one that is before the other changes places."""
        while True:
            below = self.heap[2 * item.at + 1 : 2 * item.at + 3]
            if len(below) > 1 and self.before(below[1], item):
                self.swap(item, below[0] if self.before(*below) else below[1])
            elif below and self.before(below[0], item):
                self.swap(item, below[0])
            else:
                return

    def swap(self, one: HeapItem, other: HeapItem) -> None:
        """Let two items change places."""
        one.at, other.at = other.at, one.at
        self.heap[one.at], self.heap[other.at] = one, other
