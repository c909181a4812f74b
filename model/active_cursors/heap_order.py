"""The order of the broker's container of all cursors: a heap, in which a cursor without position cannot be compared."""

from __future__ import annotations

from broker_tck.model.active_cursors.heap import NOWHERE, CursorHeap, HeapItem
from broker_tck.model.active_cursors.order import Cursor, Order, Position
from broker_tck.model.rules import rule


class HeapOrder(Order):
    """The heap, and an item for each object. One that another object of its name replaced stays in the heap."""

    def __init__(self) -> None:
        super().__init__()
        self.heap = CursorHeap()
        self.items: dict[Cursor, HeapItem] = {}
        self.durables = 0
        """The durable cursors that came, less those that left."""

    def holds(self, cursor: Cursor) -> bool:
        return self.items[cursor].at != NOWHERE

    def number(self) -> int:
        return len(self.heap.items)

    @rule("CC-11", when=lambda o: len(o.heap.items) > 1)
    def mends(self) -> bool:
        """The cursor that takes the place of a removed one moves up as well as down."""
        return True

    def add(self, cursor: Cursor, at: Position | None) -> None:
        item = self.items[cursor] = HeapItem(cursor, at)
        if at is not None:
            self.heap.add(item)
        self.durables += cursor.durable

    def put(self, cursor: Cursor, at: Position) -> None:
        item = self.items[cursor]
        item.position = at
        if item.at == NOWHERE:
            self.heap.add(item)
        else:
            self.heap.moved(item)

    def lose(self, cursor: Cursor) -> None:
        item = self.items[cursor]
        if item.at != NOWHERE and self.forgets(cursor):
            self.heap.remove(item, self.mends())
        item.position = None
        if item.at != NOWHERE:
            self.heap.moved(item)

    def drop(self, cursor: Cursor) -> None:
        item = self.items.pop(cursor)
        if item.at != NOWHERE:
            self.heap.remove(item, self.mends())
        self.durables -= cursor.durable

    def slowest(self) -> Position | None:
        first = self.heap.items[0].position if self.heap.items else None
        return self.first([first] if first else [])
