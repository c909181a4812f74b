"""Containers of active cursors on two dictionaries, to copy from: one conforms, and one ranks them wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Container:
    """Keeps each cursor, and the position of each that has one, by name. Every answer is counted anew."""

    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar = {"versions": False}

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.grace = config.grace
        self.clock = clock
        self.cursors: dict[str, Cursor] = {}
        self.positions: dict[str, Position] = {}
        self.last_left = clock()

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, or move the one that has its name."""
        self.cursors.setdefault(cursor.name, cursor)
        self.update_cursor(cursor, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor that is there."""
        if position is None:
            self.positions.pop(cursor.name, None)
        elif cursor.name in self.cursors:
            self.positions[cursor.name] = position

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor, and begin the grace time."""
        self.positions.pop(name, None)
        if self.cursors.pop(name, None) is None:
            return False
        self.last_left = self.clock()
        return True

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""
        return self.cursors.get(name)

    def __iter__(self) -> Iterator[Cursor]:
        return iter(self.cursors.values())

    def size(self) -> int:
        """How many cursors there are."""
        return len(self.cursors)

    def get_slowest_cursor_position(self) -> Position | None:
        """The least position."""
        return min(self.positions.values(), default=None)

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """How many are where this one is, or before."""
        own = self.positions.get(cursor.name)
        return 0 if own is None else sum(position <= own for position in self.positions.values())

    def should_cache_added_entry(self) -> bool:
        """Whether there is a cursor, or one left a short while ago."""
        return bool(self.cursors) or self.clock() - self.last_left < self.grace

    def has_durable_cursors(self) -> bool:
        """Whether one of the cursors is durable."""
        return any(cursor.durable for cursor in self.cursors.values())


class QueueingContainer(Container):
    """The same with one mistake: cursors at one position stand in line, each behind the other."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The place of the cursor in the order of positions."""
        in_order = sorted(self.positions, key=self.positions.__getitem__)
        return in_order.index(cursor.name) + 1 if cursor.name in in_order else 0
