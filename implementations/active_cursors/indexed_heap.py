"""The container ``cursor-heap``: a binary heap in which every cursor knows its place, mended both ways."""

from __future__ import annotations

from broker_tck.implementations.active_cursors.parts import Container, Slot
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position

OUTSIDE = -1


class Leaf(Slot):
    """A cursor in the heap, by its position as the key, or outside of it."""

    __slots__ = ("index", "key")

    def __init__(self, cursor: Cursor) -> None:
        super().__init__(cursor)
        self.index = OUTSIDE
        self.key: Position = (0, 0)


class CursorHeap(Container[Leaf]):
    """The slowest cursor is at the root. For a rank, those parts of the heap are visited that are not beyond it."""

    slot = Leaf

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._heap: list[Leaf] = []

    def get_slowest_cursor_position(self) -> Position | None:
        """The root's position."""
        return self._heap[0].key if self._heap else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """Visit the heap from its root, but nothing below what is beyond the position."""
        leaf = self._by_name.get(cursor.name)
        if leaf is None or leaf.index == OUTSIDE:
            return 0
        heap, position, size = self._heap, leaf.key, len(self._heap)
        visiting = [0]
        for index in visiting:
            children = range(2 * index + 1, min(2 * index + 3, size))
            visiting += [child for child in children if not position < heap[child].key]
        return len(visiting)

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        """The cursor at the root."""
        return (self._heap[0].cursor, self._heap[0].key, self._version) if self._heap else None

    # ---- The heap

    def _place(self, slot: Leaf, position: Position | None) -> None:
        slot.position = position
        if position is not None:
            slot.key = position
            if slot.index == OUTSIDE:
                slot.index = len(self._heap)
                self._heap.append(slot)
            self._mend(slot)
        elif slot.index != OUTSIDE:
            self._take_out(slot)

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
        while index and leaf.key < heap[(index - 1) // 2].key:
            self._put(heap[(index - 1) // 2], index)
            index = (index - 1) // 2
        self._put(leaf, index)
        return index

    def _sift_down(self, leaf: Leaf, index: int) -> None:
        heap, size = self._heap, len(self._heap)
        while (child := 2 * index + 1) < size:
            if child + 1 < size and heap[child + 1].key < heap[child].key:
                child += 1
            if not heap[child].key < leaf.key:
                break
            self._put(heap[child], index)
            index = child
        self._put(leaf, index)

    def _put(self, leaf: Leaf, index: int) -> None:
        self._heap[index] = leaf
        leaf.index = index
