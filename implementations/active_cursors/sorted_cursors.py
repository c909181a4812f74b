"""The container ``sorted-cursors``: one sorted list of positions, so that rank and slowest both cost little."""

from __future__ import annotations

from typing import ClassVar

from sortedcontainers import SortedList

from broker_tck.implementations.active_cursors.parts import Container, Slot
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class SortedCursors(Container[Slot]):
    """Every change is made at once, in the logarithm of the number of cursors."""

    profiles: ClassVar[tuple[str, ...]] = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._order: SortedList[tuple[Position, str]] = SortedList()
        self._version = 0
        self._durable = 0

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, or update the one that has its name."""
        self._version += 1
        slot = self._by_name.get(cursor.name)
        if slot is None:
            slot = self._by_name[cursor.name] = Slot(cursor, None)
            self._durable += cursor.durable
        self._place(slot, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        slot = self._by_name.get(cursor.name)
        if slot is not None and (slot.position is not None or position is not None):
            self._version += 1
            self._place(slot, position)

    def _place(self, slot: Slot, position: Position | None) -> None:
        name, old = slot.cursor.name, slot.position
        if old == position:
            return
        if old is not None:
            self._order.remove((old, name))
        slot.position = position
        if position is not None:
            self._order.add((position, name))

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        slot = self._by_name.pop(name, None)
        if slot is None:
            return False
        if slot.position is not None:
            self._order.remove((slot.position, name))
        self._version += 1
        self._durable -= slot.cursor.durable
        self._left_at = self._clock()
        return True

    def get_slowest_cursor_position(self) -> Position | None:
        """The first position."""
        return self._order[0][0] if self._order else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The place behind the last cursor at the position."""
        slot = self._by_name.get(cursor.name)
        if slot is None or slot.position is None:
            return 0
        ledger, entry = slot.position
        behind: int = self._order.bisect_left(((ledger, entry + 1), ""))
        return behind

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        """The cursor with the first position."""
        if not self._order:
            return None
        position, name = self._order[0]
        return self._by_name[name].cursor, position, self._version

    def has_durable_cursors(self) -> bool:
        """Whether a cursor is durable."""
        return self._durable > 0
