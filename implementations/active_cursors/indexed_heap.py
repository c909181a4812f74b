"""The container ``cursor-heap``: a binary heap in which every cursor knows its place, mended both ways."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.implementations.active_cursors.parts import Container
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position

OUTSIDE = -1


class Leaf:
    """A cursor in the heap, or outside of it."""

    __slots__ = ("cursor", "index", "position")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.position: Position = (0, 0)
        self.index = OUTSIDE


class CursorHeap(Container[Leaf]):
    """The slowest cursor is at the root. For a rank, those parts of the heap are visited that are not beyond it."""

    profiles: ClassVar[tuple[str, ...]] = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._heap: list[Leaf] = []
        self._version = 0
        self._durable = 0

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, or update the one that has its name."""
        self._version += 1
        leaf = self._by_name.get(cursor.name)
        if leaf is None:
            leaf = self._by_name[cursor.name] = Leaf(cursor)
            self._durable += cursor.durable
        self._place(leaf, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        leaf = self._by_name.get(cursor.name)
        if leaf is not None and (leaf.index != OUTSIDE or position is not None):
            self._version += 1
            self._place(leaf, position)

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        leaf = self._by_name.pop(name, None)
        if leaf is None:
            return False
        if leaf.index != OUTSIDE:
            self._take_out(leaf)
        self._version += 1
        self._durable -= leaf.cursor.durable
        self._left_at = self._clock()
        return True

    def get_slowest_cursor_position(self) -> Position | None:
        """The root's position."""
        return self._heap[0].position if self._heap else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """Visit the heap from its root, but nothing below what is beyond the position."""
        leaf = self._by_name.get(cursor.name)
        if leaf is None or leaf.index == OUTSIDE:
            return 0
        heap, position, size = self._heap, leaf.position, len(self._heap)
        visiting = [0]
        for index in visiting:
            children = range(2 * index + 1, min(2 * index + 3, size))
            visiting += [child for child in children if not position < heap[child].position]
        return len(visiting)

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        """The cursor at the root."""
        return (self._heap[0].cursor, self._heap[0].position, self._version) if self._heap else None

    def has_durable_cursors(self) -> bool:
        """Whether a cursor is durable."""
        return self._durable > 0

    # ---- The heap

    def _place(self, leaf: Leaf, position: Position | None) -> None:
        if position is None:
            if leaf.index != OUTSIDE:
                self._take_out(leaf)
            return
        leaf.position = position
        if leaf.index == OUTSIDE:
            leaf.index = len(self._heap)
            self._heap.append(leaf)
        self._mend(leaf)

    def _take_out(self, leaf: Leaf) -> None:
        last = self._heap.pop()
        if last is not leaf:
            last.index = leaf.index
            self._heap[last.index] = last
            self._mend(last)
        leaf.index = OUTSIDE

    def _mend(self, leaf: Leaf) -> None:
        self._sift_down(leaf, self._sift_up(leaf, leaf.index))

    def _sift_up(self, leaf: Leaf, index: int) -> int:
        heap = self._heap
        while index and leaf.position < heap[(index - 1) // 2].position:
            self._put(heap[(index - 1) // 2], index)
            index = (index - 1) // 2
        self._put(leaf, index)
        return index

    def _sift_down(self, leaf: Leaf, index: int) -> None:
        heap, size = self._heap, len(self._heap)
        while (child := 2 * index + 1) < size:
            if child + 1 < size and heap[child + 1].position < heap[child].position:
                child += 1
            if not heap[child].position < leaf.position:
                break
            self._put(heap[child], index)
            index = child
        self._put(leaf, index)

    def _put(self, leaf: Leaf, index: int) -> None:
        self._heap[index] = leaf
        leaf.index = index
