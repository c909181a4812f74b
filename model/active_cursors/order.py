"""Where cursors are, and who is behind: the part of a container that orders its cursors."""

from __future__ import annotations

from collections.abc import Collection

from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""
UNSIGNED = 2**64 - 1


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

    @said(
        absent="Your container does not count a cursor anew that was the last and stays it.",
    )
    @rule(
        "CC-10",
        "A cursor is counted anew wherever it moves, also where it was the last one and stays it.",
        source="ActiveManagedCursorContainerImpl",
        look="the shortcut for a node that stays in its place at the end of the list",
        needs="ranks",
        absent=lambda o, cursor, at: not o.stays_last(cursor, at),
    )
    def recounts(self, cursor: Cursor, at: Position) -> bool:
        return True

    def stays_last(self, cursor: Cursor, at: Position) -> bool:
        """Whether a cursor is not before any of the others, neither now nor at another position."""
        others = [position for other, position in self.positions.items() if other is not cursor]
        return bool(others) and cursor in self.positions and max(others) <= min(at, self.positions[cursor])

    def put(self, cursor: Cursor, at: Position) -> None:
        """Give a cursor another position."""
        if self.recounts(cursor, at):
            self.positions[cursor] = at

    @said(
        absent="Your container goes on ranking a cursor whose position was taken away.",
    )
    @rule(
        "CC-14",
        "A cursor whose position was taken away is not ordered and not ranked, and is still there.",
        source="PR 26629",
        look="a position, a counter or links that a null leaves behind",
        needs="null_updates",
        when=lambda o, cursor: o.holds(cursor),
        absent=lambda o, cursor: False,
    )
    def forgets(self, cursor: Cursor) -> bool:
        return True

    def lose(self, cursor: Cursor) -> None:
        """Take a cursor's position away."""
        if self.forgets(cursor):
            self.positions.pop(cursor, None)

    @rule(
        "CC-11",
        "A removal leaves the others in order: whatever takes the place of the cursor moves up as well as down.",
        source="ManagedCursorContainerImpl",
        look="the last item of a heap, swapped into the gap and sifted down only",
        when=lambda o, cursor: o.holds(cursor) and len(o.positions) > 1,
    )
    def take_out(self, cursor: Cursor) -> None:
        """Take a removed cursor out of the order."""
        self.drop(cursor)

    def drop(self, cursor: Cursor) -> None:
        """Let go of a cursor, whether it has a position or not."""
        self.positions.pop(cursor, None)

    # ---- Questions

    @said(
        by_entry=(
            "Your container compares entries before ledgers; the slowest position is the least by ledger, then by"
            " entry."
        ),
        by_ledger="Your container compares ledgers alone; of one ledger, the lower entry is the slower.",
        unsigned="Your container takes negative ids for large ones; positions are compared as signed numbers.",
        the_greatest="Your container answers with the fastest position; it is asked for the slowest.",
        not_of_one_alone="Your container does not tell the position of a cursor that is alone.",
        absent="Your container tells the position that came first; it has to tell the least.",
    )
    @rule(
        "CC-02",
        "The slowest position is the least of all that are tracked, by ledger, then by entry, both signed.",
        source="ActiveManagedCursorContainer",
        look="the order of positions; a cursor that the order misses",
        absent=lambda o, positions: next(iter(positions), None),
        the_greatest=lambda o, positions: max(positions, default=None),
        unsigned=lambda o, positions: min(positions, default=None, key=lambda at: (at[0] & UNSIGNED, at[1] & UNSIGNED)),
        by_entry=lambda o, positions: min(positions, default=None, key=lambda at: (at[1], at[0])),
        by_ledger=lambda o, positions: min(positions, default=None, key=lambda at: at[0]),
        not_of_one_alone=lambda o, positions: min(positions) if len(positions) > 1 else None,
    )
    def first(self, positions: Collection[Position]) -> Position | None:
        return min(positions) if positions else None

    def slowest(self) -> Position | None:
        """The slowest position; none if no cursor has one."""
        return self.first(self.positions.values())

    @said(
        strictly_before="Your container counts only the cursors before a position; those at it count as well.",
        absent="Your container counts all cursors, wherever they are; those at a position or before it count.",
        at_or_after=(
            "Your container counts the cursors at a position or after it; it has to count those at it or before."
        ),
        of_those_with_names=(
            "Your container leaves out cursors whose names come later when it counts; names do not matter."
        ),
    )
    @also(
        first,
        absent=lambda o, cursor, at: len(o.positions),
        strictly_before=lambda o, cursor, at: sum(position < at for position in o.positions.values()),
        at_or_after=lambda o, cursor, at: sum(position >= at for position in o.positions.values()),
        of_those_with_names=lambda o, cursor, at: sum(
            position <= at for other, position in o.positions.items() if other.name <= cursor.name
        ),
    )
    def rank(self, cursor: Cursor, at: Position) -> int:
        before = [position for position in self.positions.values() if position < at]
        return len(before) + self.beside(cursor, at)

    @said(
        absent="Your container ranks cursors at one position in the order of their names; they share a rank.",
        in_order_of_adds=(
            "Your container ranks cursors at one position in the order of their adds; they share a rank."
        ),
        none_of_the_others=(
            "Your container does not count other cursors at the same position; each counts all of them."
        ),
    )
    @rule(
        "CC-03",
        "Cursors at one position share their rank: each counts all of them.",
        source="ActiveManagedCursorContainerTest",
        look="ties: those at the same position count, whatever their order",
        needs="ranks",
        absent=lambda o, cursor, at: sum(other.name <= cursor.name for other in o.tied(at)),
        in_order_of_adds=lambda o, cursor, at: o.tied(at).index(cursor) + 1,
        none_of_the_others=lambda o, cursor, at: 1,
    )
    def beside(self, cursor: Cursor, at: Position) -> int:
        return [*self.positions.values()].count(at)

    def tied(self, at: Position) -> list[Cursor]:
        """The cursors at a position."""
        return [cursor for cursor, position in self.positions.items() if position == at]

    def count(self, cursor: Cursor | None) -> int:
        """The rank of a cursor: how many are where it is, or before; 0 where it has no position, or is not there."""
        at = self.positions.get(cursor) if cursor else None
        return 0 if cursor is None or at is None else self.rank(cursor, at)
