"""The container ``sorted-cursors``: one sorted list of positions, so that rank and slowest both cost little."""

from __future__ import annotations

from sortedcontainers import SortedList

from broker_tck.implementations.active_cursors.parts import Container, Slot
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class SortedCursors(Container[Slot]):
    """Every change is made at once, in the logarithm of the number of cursors."""

    slot = Slot

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._order: SortedList[tuple[Position, str]] = SortedList()

    def _place(self, slot: Slot, position: Position | None) -> None:
        name, old = slot.cursor.name, slot.position
        if old == position:
            return
        if old is not None:
            self._order.remove((old, name))
        slot.position = position
        if position is not None:
            self._order.add((position, name))

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
