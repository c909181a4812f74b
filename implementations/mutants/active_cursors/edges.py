"""Mutants that go wrong at the edges of numbers and names: widths of integers, clocks, origins, extreme settings."""

from __future__ import annotations

from broker_tck.implementations.active_cursors.parts import Slot
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position
from broker_tck.implementations.mutants.mutant import mutant


class Compares(SortedCursors):
    """The base of mutants that compare positions in a way of their own."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        slot = self._by_name.get(cursor.name)
        if slot is None or slot.position is None:
            return 0
        return sum(self._is_not_after(position, slot.position) for position, _ in self._order)

    def _is_not_after(self, one: Position, other: Position) -> bool:
        raise NotImplementedError


# ---- Widths


@mutant("CC-02", shows="Two numbers in one word, with ids that need more bits.", conditions=3, deep=True)
class PositionsArePacked(Compares):
    """Positions are compared as one number, ledgers shifted by 32 bits: larger entries reach into the next ledger."""

    def _is_not_after(self, one: Position, other: Position) -> bool:
        return (one[0] << 32) + one[1] <= (other[0] << 32) + other[1]


@mutant("CC-02", shows="A comparison by a difference that overflows.", conditions=3, deep=True)
class DifferenceIsAnInt(Compares):
    """Positions are compared by the difference of their entries, as an int: 2^31 apart, the later one is earlier."""

    def _is_not_after(self, one: Position, other: Position) -> bool:
        if one[0] != other[0]:
            return one[0] < other[0]
        return (one[1] - other[1] + 2**31) % 2**32 - 2**31 <= 0


@mutant("CC-02", shows="Neighbours that floating point cannot tell apart.", conditions=3, deep=True)
class EntriesAreDoubles(Compares):
    """Entries are compared in floating point: beyond 2^53 a cursor is taken for being where its neighbour is."""

    def _is_not_after(self, one: Position, other: Position) -> bool:
        return (float(one[0]), float(one[1])) <= (float(other[0]), float(other[1]))


@mutant("CC-02", shows="A rank beyond a byte.", conditions=2, deep=True)
class RankIsAByte(SortedCursors):
    """A rank is told in eight bits: that of the 256th cursor is 0."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        return super().get_number_of_cursors_at_same_position_or_before(cursor) % 256


@mutant("CC-12", shows="A version beyond 15 bits.", conditions=2, deep=True)
class VersionIsAShort(SortedCursors):
    """The version is kept in 16 bits, signed: after 32,767 it is below 0."""

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        """The cursor with the first position."""
        found = super().get_cursor_with_oldest_position()
        return found and (*found[:2], (found[2] + 2**15) % 2**16 - 2**15)


# ---- Clocks


@mutant("EC-58", shows="A clock that goes on by 2^32 ms.", conditions=3, deep=True)
class ElapsedWrapsAround(SortedCursors):
    """The time since the last removal is kept in 32 bits: after 2^32 ms, 50 days, entries are cached once more."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is to be cached."""
        return bool(self._by_name) or (self._clock() - self._left_at) % 2**32 < self._grace


@mutant("EC-58", shows="A time of 0, used as a mark.", conditions=2)
class TimeZeroIsNever(SortedCursors):
    """Where the clock shows 0 at the start or at a removal, that is taken for never."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is to be cached."""
        return (bool(self._by_name) or self._left_at != 0) and super().should_cache_added_entry()


# ---- Origins


@mutant("CC-02", shows="A position of zeros, used as a mark.")
class OriginIsNoPosition(SortedCursors):
    """A cursor at 0:0 is taken for one that has no position yet."""

    def _place(self, slot: Slot, position: Position | None) -> None:
        super()._place(slot, position if position and any(position) else None)


@mutant("CC-02", shows="An entry of -1, used as a mark.", conditions=2)
class MinusOneIsNoPosition(SortedCursors):
    """A cursor before the first entry of a ledger, at entry -1, is taken for one that has no position yet."""

    def _place(self, slot: Slot, position: Position | None) -> None:
        super()._place(slot, position if position and position[1] != -1 else None)


# ---- Settings


@mutant("EC-58", shows="A grace time of -1, used as a mark.")
class NegativeGraceIsForEver(SortedCursors):
    """A grace time of -1 is taken for one without end."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._grace = 2**63 if config.grace == -1 else config.grace


@mutant("EC-58", shows="A grace time beyond 31 bits.", conditions=2, deep=True)
class GraceIsAnInt(SortedCursors):
    """The grace time is kept in 32 bits, signed: one of 2^31 ms is none."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._grace = (config.grace + 2**31) % 2**32 - 2**31
