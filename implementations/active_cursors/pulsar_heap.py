"""The broker's heap of cursors, defects included."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.implementations.active_cursors.parts import Container
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class NullPointerException(Exception):
    """What the broker's code throws where something is not there."""


class Item:
    """A cursor, its position, and its index in the heap; below 0, it is not in it."""

    __slots__ = ("cursor", "index", "position")

    def __init__(self, cursor: Cursor, position: Position | None, index: int) -> None:
        self.cursor = cursor
        self.position = position
        self.index = index


class PulsarHeap(Container[Item]):
    """A binary heap. A removal moves the last item into the gap, and from there down only."""

    profiles: ClassVar[tuple[str, ...]] = ("pulsar-heap",)
    capabilities: ClassVar[dict[str, bool]] = {"ranks": False, "grace": False}

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._heap: list[Item] = []
        self._version = 0
        self._durable_count = 0

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Put a new item in the map, and in the heap if there is a position."""
        item = Item(cursor, position, -1)
        self._by_name[cursor.name] = item
        if position is not None:
            item.index = len(self._heap)
            self._heap.append(item)
            self._sift_up(item)
        self._durable_count += cursor.durable
        self._version += 1

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move an item, if it is in the heap."""
        item = self._by_name.get(cursor.name)
        if item is None or item.index < 0:
            return
        item.position = position
        self._version += 1
        if len(self._heap) == 1:
            return
        if item.index == 0 or self._compare(self._heap[(item.index - 1) >> 1], item) <= 0:
            self._sift_down(item)
        else:
            self._sift_up(item)

    def remove_cursor(self, name: str) -> bool:
        """Remove the item of a name."""
        item = self._by_name.pop(name, None)
        if item is None:
            return False
        if item.index >= 0:
            last = self._heap[-1]
            self._swap(item, last)
            self._heap.pop()
            if last is not item:
                self._sift_down(last)
        self._durable_count -= item.cursor.durable
        self._version += 1
        return True

    def get_slowest_cursor_position(self) -> Position | None:
        """The root's position."""
        return self._heap[0].position if self._heap else None

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position | None, int] | None:
        """The root, with the version."""
        return (self._heap[0].cursor, self._heap[0].position, self._version) if self._heap else None

    def has_durable_cursors(self) -> bool:
        """Whether the count of durable cursors is above zero."""
        return self._durable_count > 0

    # ---- The heap

    @staticmethod
    def _compare(one: Item, other: Item) -> int:
        if one.position is None or other.position is None:
            raise NullPointerException
        return (one.position > other.position) - (one.position < other.position)

    def _sift_up(self, item: Item) -> None:
        while item.index > 0:
            parent = self._heap[(item.index - 1) >> 1]
            if self._compare(parent, item) <= 0:
                return
            self._swap(parent, item)

    def _sift_down(self, item: Item) -> None:
        while True:
            children = self._heap[2 * item.index + 1 : 2 * item.index + 3]
            if len(children) == 2 and self._compare(children[1], item) < 0:
                lesser = children[0] if self._compare(children[0], children[1]) < 0 else children[1]
            elif children and self._compare(children[0], item) < 0:
                lesser = children[0]
            else:
                return
            self._swap(item, lesser)

    def _swap(self, one: Item, other: Item) -> None:
        self._heap[one.index], self._heap[other.index] = other, one
        one.index, other.index = other.index, one.index
