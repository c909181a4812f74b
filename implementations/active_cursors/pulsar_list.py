"""The broker's linked list of cursors as of 2025-09-20, defects included."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.implementations.active_cursors.java_order import Moves, Names
from broker_tck.implementations.active_cursors.parts import Container
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position

NONE = -1
"""No cell."""


class Cell:
    """A cursor's place in the list: the indices of its neighbours, and of its counter."""

    __slots__ = ("counter", "cursor", "leaving", "left", "linked", "pending", "position", "right")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.position: Position | None = None
        self.pending: Position | None = None
        self.leaving = False
        self.linked = False
        self.left = NONE
        self.right = NONE
        self.counter = 0


class PulsarList2025(Container[Cell]):
    """A linked list that is brought up to date when somebody asks, with a counter for each position.

    Cells and counters are in lists and know each other by index. A move that waits outlives its cursor, and is passed
    over once it has nowhere to go.
    """

    profiles: ClassVar[tuple[str, ...]] = ("pulsar-list-2025",)
    capabilities: ClassVar[dict[str, bool]] = {"versions": False, "durables": False}

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._cells: list[Cell] = []
        self._numbers: dict[Cell, int] = {}
        self._counts: list[int] = [0]
        self._names = Names(concurrent=True)
        self._waiting: dict[str, Cell] = {}
        """Cells to be unlinked, by name."""
        self._waiting_names = Names(concurrent=False)
        self._moving: Moves[Cell] = Moves()
        self._head = self._tail = NONE
        self._length = 0

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, change the position of one that is there, or take back one that has not left the list yet."""
        cell = self._by_name.get(cursor.name)
        if cell is not None:
            if position is not None:
                self._queue(cell, position)
                return
            self._leave(cursor.name, cell)
            return
        if position is not None and cursor.name in self._waiting:
            cell = self._waiting[cursor.name]
            self._stay(cursor.name, cell)
        else:
            cell = Cell(cursor)
            self._numbers[cell] = len(self._cells)
            self._cells.append(cell)
        self._by_name[cursor.name] = cell
        self._names.put(cursor.name)
        if position is not None:
            self._queue(cell, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Queue a move; without a position, have the cell unlinked, which keeps its position."""
        cell = self._by_name.get(cursor.name)
        if cell is None:
            return
        if position is None:
            self._leave(cursor.name, cell)
            return
        if cell.leaving:
            self._stay(cursor.name, cell)
        self._queue(cell, position)

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor; its cell leaves the list later."""
        cell = self._by_name.pop(name, None)
        if cell is None:
            return False
        self._names.drop(name)
        self._leave(name, cell)
        self._left_at = self._clock()
        return True

    def get_slowest_cursor_position(self) -> Position | None:
        """The head's position."""
        self._flush()
        return self._cells[self._head].position if self._head != NONE else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The counter of the cursor's cell."""
        self._flush()
        cell = self._by_name.get(cursor.name)
        return self._counts[cell.counter] if cell and cell.position is not None else 0

    def _leave(self, name: str, cell: Cell) -> None:
        cell.pending = None
        if cell.position is not None:
            self._waiting[name] = cell
            self._waiting_names.put(name)
            cell.leaving = True

    def _stay(self, name: str, cell: Cell) -> None:
        cell.leaving = False
        if self._waiting.pop(name, None):
            self._waiting_names.drop(name)

    def _queue(self, cell: Cell, position: Position) -> None:
        if cell.pending is None:
            self._moving.push(cell)
        cell.pending = position

    # ---- Flush

    def _flush(self) -> None:
        if not self._waiting and not self._moving:
            return
        if len(self._moving) >= self._length // 2:
            self._rebuild()
            return
        for name in self._waiting_names:
            cell = self._waiting[name]
            self._unlink_for_good(cell)
            cell.leaving = False
        self._nobody_waits()
        while self._moving:
            cell = self._moving.pop()
            if cell.pending is None:
                continue
            if cell.position is None:
                cell.position = cell.pending
                self._insert(cell)
            else:
                self._move(cell, cell.position, cell.pending)
            cell.pending = None

    def _nobody_waits(self) -> None:
        self._waiting.clear()
        self._waiting_names.empty()

    def _rebuild(self) -> None:
        linked = []
        for name in self._names:
            cell = self._by_name[name]
            if cell.pending is not None:
                cell.position, cell.pending = cell.pending, None
            cell.left = cell.right = NONE
            cell.linked = cell.position is not None and not cell.leaving
            cell.leaving = False
            if cell.linked:
                linked.append(cell)
        self._nobody_waits()
        self._moving.clear()
        linked.sort(key=_position)
        self._length = len(linked)
        self._head = self._tail = NONE
        for count, cell in enumerate(linked, 1):
            number = self._numbers[cell]
            cell.left, cell.right = self._tail, NONE
            if self._tail == NONE:
                self._head = number
                cell.counter = self._new_count(count)
            else:
                before = self._cells[self._tail]
                before.right = number
                same = before.position == cell.position
                cell.counter = before.counter if same else self._new_count(count)
                self._counts[cell.counter] = count
            self._tail = number

    # ---- Links and counters

    def _new_count(self, count: int) -> int:
        self._counts.append(count)
        return len(self._counts) - 1

    def _at(self, number: int) -> Cell | None:
        return self._cells[number] if number != NONE else None

    def _insert(self, cell: Cell) -> None:
        self._length += 1
        cell.linked = True
        number = self._numbers[cell]
        if self._head == NONE:
            self._head = self._tail = number
            cell.counter = self._new_count(1)
            return
        position, here, same, before = _position(cell), self._at(self._head), None, 0
        while here and _position(here) <= position:
            if here.position == position:
                same = same or here
            else:
                before += 1
            here = self._at(here.right)
        cell.counter = same.counter if same else self._new_count(before + 1)
        self._link(cell, here.left if here else self._tail, here)
        self._count(same or self._at(cell.right), 1)

    def _unlink_for_good(self, cell: Cell) -> None:
        if not cell.linked:
            return
        first, here = None, self._at(cell.left)
        while here and here.position == cell.position:
            first, here = here, self._at(here.left)
        self._unlink(cell)
        self._count(first or self._at(cell.right), -1)
        cell.left = cell.right = NONE
        cell.linked = False
        self._length -= 1

    def _count(self, here: Cell | None, by: int) -> None:
        cells, counts = self._cells, self._counts
        last: Position | None = None
        while here:
            if here.position != last:
                counts[here.counter] += by
            last = here.position
            here = cells[here.right] if here.right != NONE else None

    def _move(self, cell: Cell, old: Position, new: Position) -> None:
        if old == new:
            return
        left, right = self._at(cell.left), self._at(cell.right)
        if (left is None or _position(left) <= new) and (right is None or new <= _position(right)):
            cell.position = new
            if self._numbers[cell] != self._tail:
                self._recount_in_place(cell, left, right, old)
            return
        self._unlink(cell)
        if old < new:
            self._counts[cell.counter] -= 1
            self._move_right(cell, right, old, new)
        else:
            self._move_left(cell, left, old, new)
        cell.position = new

    def _recount_in_place(self, cell: Cell, left: Cell | None, right: Cell | None, old: Position) -> None:
        if old < _position(cell):
            self._counts[cell.counter] -= 1
        if left and left.position == cell.position:
            cell.counter = left.counter
            self._counts[cell.counter] += 1
        elif right and right.position == cell.position:
            cell.counter = right.counter
        else:
            cell.counter = self._new_count((self._counts[left.counter] if left else 0) + 1)

    def _move_right(self, cell: Cell, here: Cell | None, last: Position, new: Position) -> None:
        while here and _position(here) < new:
            if here.position != last:
                self._counts[here.counter] -= 1
            last = _position(here)
            here = self._at(here.right)
        left = here.left if here else self._tail
        self._link(cell, left, here)
        before = self._at(left)
        if here and here.position == new:
            cell.counter = here.counter
        else:
            cell.counter = self._new_count((self._counts[before.counter] if before else 0) + 1)

    def _move_left(self, cell: Cell, here: Cell | None, last: Position, new: Position) -> None:
        while here and _position(here) > new:
            if here.position != last:
                self._counts[here.counter] += 1
            last = _position(here)
            here = self._at(here.left)
        if here is None:
            self._link(cell, NONE, self._at(self._head))
            cell.counter = self._new_count(1)
            return
        self._link(cell, self._numbers[here], self._at(here.right))
        if here.position == new:
            cell.counter = here.counter
            self._counts[cell.counter] += 1
        else:
            cell.counter = self._new_count(self._counts[here.counter] + 1)

    def _link(self, cell: Cell, left: int, right: Cell | None) -> None:
        number = self._numbers[cell]
        cell.left, cell.right = left, self._numbers[right] if right else NONE
        if left == NONE:
            self._head = number
        else:
            self._cells[left].right = number
        if right is None:
            self._tail = number
        else:
            right.left = number

    def _unlink(self, cell: Cell) -> None:
        left, right = self._at(cell.left), self._at(cell.right)
        if left:
            left.right = cell.right
        else:
            self._head = cell.right
        if right:
            right.left = cell.left
        else:
            self._tail = cell.left


def _position(cell: Cell) -> Position:
    assert cell.position is not None
    return cell.position
