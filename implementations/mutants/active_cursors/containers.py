"""Mutants of the containers of active cursors."""

from __future__ import annotations

from broker_tck.implementations.active_cursors.indexed_heap import OUTSIDE, CursorHeap, Leaf
from broker_tck.implementations.active_cursors.lazy_list import Group, LazyList, Member
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position
from broker_tck.implementations.mutants.mutant import mutant

# ---- Slowest position, rank and size


@mutant("CC-02", shows="A rank kept in groups of a list, which a move has to mend.")
class PassedGroupsNotCounted(LazyList):
    """Moves a cursor ahead, and leaves the ranks of those that it passes as they were."""

    def _move_on(self, member: Member, old: Group, wanted: Position) -> None:
        passed, group = [], old.following
        while group is not self._ring and group.position < wanted:
            passed.append(group)
            group = group.following
        super()._move_on(member, old, wanted)
        for group in passed:
            group.rank += 1


# ---- Removing


@mutant(
    "CC-09",
    shows="A real bug: a map that keeps the object of a removed cursor.",
    source="apache/pulsar PR 26511",
    conditions=2,
)
class OldObjectComesBack(SortedCursors):
    """Answers with the old object where a cursor was removed and added again."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._kept: dict[str, Cursor] = {}

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        if name in self._by_name:
            self._kept[name] = self._by_name[name].cursor
        return super().remove_cursor(name)

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        there = cursor.name in self._by_name
        super().add(cursor if there else self._kept.pop(cursor.name, cursor), position)


@mutant(
    "CC-11",
    shows="A real bug of a heap: the gap of a removal is mended in one direction.",
    source="apache/pulsar, ManagedCursorContainerImpl",
    conditions=3,
    deep=True,
)
class SiftsDownOnly(CursorHeap):
    """Moves the last leaf into the gap that a removal leaves, and from there down only."""

    def _take_out(self, leaf: Leaf) -> None:
        last = self._heap.pop()
        if last is not leaf:
            self._sift_down(last, leaf.index)
        leaf.index = OUTSIDE

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        own = self._by_name.get(cursor.name)
        if own is None or own.index == OUTSIDE:
            return 0
        return sum(leaf.position <= own.position for leaf in self._heap)


# ---- What else is told


@mutant("CC-12", shows="An update that changes nothing, and has to count.")
class VersionOfMovesAlone(SortedCursors):
    """Leaves the version as it is when a cursor is updated to where it is."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        slot = self._by_name.get(cursor.name)
        if slot is None or slot.position != position:
            super().update_cursor(cursor, position)


@mutant(
    "CC-13",
    shows="A real bug: a count that an add under a known name raises.",
    source="apache/pulsar, ManagedCursorContainerImpl",
    conditions=2,
)
class DurableTwice(SortedCursors):
    """Counts a durable cursor again when it is added again."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        self._durable += cursor.durable and cursor.name in self._by_name
        super().add(cursor, position)


@mutant("EC-58", shows="A removal of the last cursor that had no position.", conditions=2, deep=True)
class GraceAfterTheTrackedAlone(SortedCursors):
    """Where the last cursor goes and had no position, the grace time does not begin anew."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        before, slot = self._left_at, self._by_name.get(name)
        removed = super().remove_cursor(name)
        if slot is not None and slot.position is None:
            self._left_at = before
        return removed
