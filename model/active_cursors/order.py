"""Where cursors are, and who is behind: the part of a container that orders its cursors."""

from __future__ import annotations

from collections.abc import Collection

from broker_tck.model.rules import Part, rule

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""
UNSIGNED = 2**64 - 1
LIST, HEAP = "ActiveManagedCursorContainerImpl", "ManagedCursorContainerImpl"


class Cursor:
    """A cursor object. Objects are numbered as they are added, from 1; an object of the same name is another one."""

    __slots__ = ("durable", "name", "number")

    def __init__(self, name: str, number: int, durable: bool = False) -> None:
        self.name = name
        self.number = number
        self.durable = durable

    def become(self, other: Cursor) -> None:
        """Be another object of the same name from now on."""
        self.number, self.durable = other.number, other.durable


class Order(Part):
    """A plain map from cursors to positions. Every answer is found by looking at all of them."""

    def __init__(self) -> None:
        self.positions: dict[Cursor, Position] = {}

    def holds(self, cursor: Cursor) -> bool:
        """Whether a cursor has a position."""
        return cursor in self.positions

    def number(self) -> int:
        """The number of cursors that have a position."""
        return len(self.positions)

    # ---- Changes

    def add(self, cursor: Cursor, at: Position | None) -> None:
        """A cursor that was not there."""
        if at is not None:
            self.positions[cursor] = at

    def add_again(self, cursor: Cursor, at: Position | None) -> None:
        """A cursor that is there is added at another position, or at none."""
        if at is None:
            self.lose(cursor)
        else:
            self.put(cursor, at)

    @rule("CC-10", source=LIST, needs="ranks", when=lambda o, cursor, at: o.stays_last(cursor, at))
    def recounts(self, cursor: Cursor, at: Position) -> bool:
        """A move counts a cursor anew, even if the cursor was the last one and stays the last one."""
        return True

    def stays_last(self, cursor: Cursor, at: Position) -> bool:
        """Whether a cursor is not before any of the others, neither now nor at another position."""
        others = [position for other, position in self.positions.items() if other is not cursor]
        return bool(others) and cursor in self.positions and max(others) <= min(at, self.positions[cursor])

    def put(self, cursor: Cursor, at: Position) -> None:
        """Give a cursor another position."""
        if self.recounts(cursor, at):
            self.positions[cursor] = at

    @rule("CC-14", source="PR 26629", needs="null_updates", when=lambda o, cursor: o.holds(cursor))
    def forgets(self, cursor: Cursor) -> bool:
        """A cursor that loses its position is no longer ordered and ranked, but is still there."""
        return True

    def lose(self, cursor: Cursor) -> None:
        """Take a cursor's position away."""
        if self.forgets(cursor):
            self.positions.pop(cursor, None)

    @rule("CC-11", source=HEAP, when=lambda o, cursor: o.holds(cursor) and o.number() > 1)
    def take_out(self, cursor: Cursor) -> None:
        """A removal leaves the other cursors in order."""
        self.drop(cursor)

    def drop(self, cursor: Cursor) -> None:
        """Let go of a cursor, whether it has a position or not."""
        self.positions.pop(cursor, None)

    # ---- Questions

    @rule("CC-02", source="ActiveManagedCursorContainer")
    def first(self, positions: Collection[Position]) -> Position | None:
        """The slowest position is the least, by ledger, then by entry, both signed; ranks count from it on."""
        return min(positions) if positions else None

    def slowest(self) -> Position | None:
        """The slowest position; none if no cursor has one."""
        return self.first(self.positions.values())

    def rank(self, cursor: Cursor, at: Position) -> int:
        """The number of cursors at a position, or before it."""
        before = [position for position in self.positions.values() if position < at]
        return len(before) + self.beside(cursor, at)

    @rule("CC-03", source="ActiveManagedCursorContainerTest", needs="ranks")
    def beside(self, cursor: Cursor, at: Position) -> int:
        """Cursors at one position share a rank: each counts all of them."""
        return [*self.positions.values()].count(at)

    def tied(self, at: Position) -> list[Cursor]:
        """The cursors at a position."""
        return [cursor for cursor, position in self.positions.items() if position == at]

    def count(self, cursor: Cursor | None) -> int:
        """The rank of a cursor: how many are where it is, or before; 0 where it has no position, or is not there."""
        at = self.positions.get(cursor) if cursor else None
        return 0 if cursor is None or at is None else self.rank(cursor, at)
