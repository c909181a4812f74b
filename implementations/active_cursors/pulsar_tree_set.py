"""The broker's sorted set of cursors, defects included."""

from __future__ import annotations

from typing import ClassVar

from sortedcontainers import SortedList

from broker_tck.implementations.active_cursors.parts import Container, Slot
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Entry(Slot):
    """A cursor with its position, numbered as it was added."""

    __slots__ = ("order",)

    def __init__(self, cursor: Cursor, position: Position | None, order: int) -> None:
        super().__init__(cursor, position)
        self.order = order


class PulsarTreeSet(Container[Entry]):
    """A sorted set. An add under a name that is there leaves the old entry in it for ever."""

    profiles: ClassVar[tuple[str, ...]] = ("pulsar-tree-set",)
    capabilities: ClassVar[dict[str, bool]] = {"grace": False, "versions": False, "durables": False}

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._set: SortedList[tuple[Position, int]] = SortedList()
        self._added = 0

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Put a new entry in the map, and in the set if there is a position."""
        entry = self._by_name[cursor.name] = Entry(cursor, None, self._added)
        self._added += 1
        self._place(entry, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move an entry."""
        entry = self._by_name.get(cursor.name)
        if entry is not None:
            self._place(entry, position)

    def remove_cursor(self, name: str) -> bool:
        """Remove the entry of a name."""
        entry = self._by_name.pop(name, None)
        if entry is not None:
            self._place(entry, None)
        return entry is not None

    def _place(self, entry: Entry, position: Position | None) -> None:
        if entry.position is not None:
            self._set.remove((entry.position, entry.order))
        entry.position = position
        if position is not None:
            self._set.add((position, entry.order))

    def get_slowest_cursor_position(self) -> Position | None:
        """The first position in the set."""
        return self._set[0][0] if self._set else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """Go through the set up to what is beyond the cursor."""
        entry = self._by_name.get(cursor.name)
        if entry is None or entry.position is None:
            return 0
        count = 0
        for position, _ in self._set:
            if entry.position < position:
                break
            count += 1
        return count
