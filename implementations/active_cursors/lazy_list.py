"""The container ``lazy-list``: positions in order with their ranks, brought up to date when somebody asks.

The rank of a position is the number of cursors at it and before it, so a cursor that moves changes the ranks of the
positions that it passes. If an eighth of the cursors or more are to be moved, all ranks are counted anew. So a cursor
that only moves along with the others costs nothing until somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import count
from typing import ClassVar

from broker_tck.implementations.active_cursors.parts import Container, Slot
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Member(Slot):
    """A cursor, with the position at which it is counted."""

    __slots__ = ("counted",)

    def __init__(self, cursor: Cursor) -> None:
        super().__init__(cursor)
        self.counted: Position | None = None


class LazyList(Container[Member]):
    """Changes wait."""

    capabilities: ClassVar[dict[str, bool]] = {"versions": False, "durables": False}
    slot = Member

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._order: list[Position] = []
        self._ranks: dict[Position, int] = {}
        self._waiting: dict[Member, None] = {}

    def _place(self, slot: Member, position: Position | None) -> None:
        slot.position = position
        self._waiting[slot] = None

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor. What waits is the position at which it is counted, if it is."""
        member = self._by_name.get(name)
        removed = super().remove_cursor(name)
        if member:
            if member.counted is None:
                del self._waiting[member]
            del member.cursor
        return removed

    def get_slowest_cursor_position(self) -> Position | None:
        """The first position."""
        if self._waiting:
            self._bring_up_to_date()
        return self._order[0] if self._order else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of the cursor's position."""
        if self._waiting:
            self._bring_up_to_date()
        member = self._by_name.get(cursor.name)
        return self._ranks[member.counted] if member and member.counted else 0

    # ---- Bringing the ranks up to date

    def _bring_up_to_date(self) -> None:
        tracked = self._ranks[self._order[-1]] if self._order else 0
        if 8 * len(self._waiting) >= tracked:
            self._build_anew()
        else:
            for member in self._waiting:
                self._move(member.counted, member.position)
        for member in self._waiting:
            member.counted = member.position
        self._waiting.clear()

    def _build_anew(self) -> None:
        tracked = sorted([member.position for member in self._by_name.values() if member.position is not None])
        self._ranks = dict(zip(tracked, count(1), strict=False))  # the last one of a position counts
        self._order = [*self._ranks]

    def _move(self, old: Position | None, new: Position | None) -> None:
        """Count a cursor at its new position, and count anew what is between."""
        if new is not None:
            self._join(new)
        if old is not None and (new is None or old < new):
            self._count(old, new, -1)
        elif new is not None and new != old:
            self._count(new, old, 1)
        if old is not None:
            self._leave(old)

    def _join(self, position: Position) -> None:
        """Insert a position if no cursor was there; it has the rank of the one before it."""
        if position not in self._ranks:
            at = bisect_left(self._order, position)
            self._ranks[position] = self._ranks[self._order[at - 1]] if at else 0
            self._order.insert(at, position)

    def _leave(self, position: Position) -> None:
        """Take out a position if no cursor is left there: it has the rank of the one before it."""
        at = bisect_left(self._order, position)
        if self._ranks[position] == (self._ranks[self._order[at - 1]] if at else 0):
            del self._order[at], self._ranks[position]

    def _count(self, first: Position, end: Position | None, by: int) -> None:
        """Change the ranks from a position on, up to another one or to the last."""
        upto = len(self._order) if end is None else bisect_left(self._order, end)
        for position in self._order[bisect_left(self._order, first) : upto]:
            self._ranks[position] += by
