"""Mutants of the containers of active cursors."""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.implementations.active_cursors.indexed_heap import OUTSIDE, CursorHeap, Leaf
from broker_tck.implementations.active_cursors.lazy_list import Group, LazyList, Member
from broker_tck.implementations.active_cursors.parts import Slot
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position
from broker_tck.implementations.mutants.mutant import mutant

# ---- Slowest position, rank and size


@mutant("CC-02")
class OrderedByEntry(SortedCursors):
    """Takes the least entry for the slowest position, whatever its ledger."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The slowest position."""
        return min((p for p, _ in self._order), key=lambda p: (p[1], p[0]), default=None)


@mutant("CC-02")
class OrderedUnsigned(SortedCursors):
    """Takes ids below 0 for the greatest ones."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The slowest position."""
        return min((p for p, _ in self._order), key=lambda p: (p[0] % 2**64, p[1] % 2**64), default=None)


@mutant("CC-02")
class OrderedByLedgerAlone(SortedCursors):
    """Takes the first cursor of the least ledger for the slowest."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The slowest position."""
        places = [slot.position for slot in self._by_name.values() if slot.position is not None]
        return min(places, key=lambda p: p[0], default=None)


@mutant("CC-02")
class CountsStrictlyBefore(SortedCursors):
    """Counts the cursors that are strictly before one."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        slot = self._by_name.get(cursor.name)
        return 0 if slot is None or slot.position is None else int(self._order.bisect_left((slot.position, "")))


@mutant("CC-02")
class SizeOfTheTracked(SortedCursors):
    """Leaves cursors without position out of the size."""

    def size(self) -> int:
        """How many cursors there are."""
        return len(self._order)


@mutant("CC-02")
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


@mutant("CC-02")
class SlowestOfTheDayBefore(LazyList):
    """Tells the slowest position without what waits."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The slowest position."""
        first = self._ring.following
        return None if first is self._ring else first.position


@mutant("CC-03")
class TiesInOrderOfNames(SortedCursors):
    """Counts, of the cursors at one position, those whose names come before."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        slot = self._by_name.get(cursor.name)
        if slot is None or slot.position is None:
            return 0
        return int(self._order.bisect_right((slot.position, cursor.name)))


@mutant("CC-03")
class TiesNotCounted(SortedCursors):
    """Counts those before a cursor and itself, not those beside it."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        slot = self._by_name.get(cursor.name)
        return 0 if slot is None or slot.position is None else int(self._order.bisect_left((slot.position, ""))) + 1


@mutant("CC-03")
class TiesInOrderOfAdds(SortedCursors):
    """Does not count those at the same position that were added later."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        rank = super().get_number_of_cursors_at_same_position_or_before(cursor)
        names = [*self._by_name]
        if not rank:
            return 0
        own = self._by_name[cursor.name].position
        later = names[names.index(cursor.name) + 1 :]
        return rank - sum(self._by_name[name].position == own for name in later)


@mutant("RC-04")
class WithoutItself(SortedCursors):
    """Does not count the reader itself."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        return max(0, super().get_number_of_cursors_at_same_position_or_before(cursor) - 1)


@mutant("RC-04")
class UntrackedCountsItself(SortedCursors):
    """Answers 1 for a cursor without position, and for one that is not there."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        return max(1, super().get_number_of_cursors_at_same_position_or_before(cursor))


@mutant("CC-07")
class SlowestKept(LazyList):
    """Looks the slowest position up once, and tells it from then on."""

    _told: Position | None = None

    def get_slowest_cursor_position(self) -> Position | None:
        """The slowest position."""
        self._told = self._told or super().get_slowest_cursor_position()
        return self._told


# ---- Adding, updating


@mutant("CC-04", source="apache/pulsar, ActiveManagedCursorContainerNavigableSetImpl")
class SecondNode(SortedCursors):
    """Makes a second entry for a name that is there; the first one stays for ever."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        self._by_name.pop(cursor.name, None)
        super().add(cursor, position)


@mutant("CC-04", source="apache/pulsar, ManagedCursorContainerImpl")
class SecondLeaf(CursorHeap):
    """Makes a second leaf for a name that is there; the first one stays for ever."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        self._by_name.pop(cursor.name, None)
        super().add(cursor, position)


@mutant("CC-04")
class NewObjectTakesOver(SortedCursors):
    """Answers with the object that was added last, though the cursor was there."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        there = self._by_name.get(cursor.name)
        super().add(cursor, position)
        if there is not None:
            self._durable += cursor.durable - there.cursor.durable
            there.cursor = cursor


@mutant("CC-05")
class UpdateAdds(SortedCursors):
    """Adds a cursor that is not there when it is updated."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        if cursor.name not in self._by_name:
            self._by_name[cursor.name] = Slot(cursor, None)
        super().update_cursor(cursor, position)


@mutant("CC-05", source="apache/pulsar, ManagedCursorContainerImpl")
class NeverTracked(CursorHeap):
    """Does not track a cursor that was added without position when it comes to have one."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        leaf = self._by_name.get(cursor.name)
        if leaf is not None and leaf.index != OUTSIDE:
            super().update_cursor(cursor, position)


@mutant("CC-10", source="apache/pulsar, ActiveManagedCursorContainerImpl", conditions=3)
class TailShortcut(SortedCursors):
    """Goes on counting a cursor where it was that was the last one and stays it."""

    def _place(self, slot: Slot, position: Position | None) -> None:
        others = [p for p, name in self._order if name != slot.cursor.name]
        old = slot.position
        if old is None or position is None or not others or max(others) > min(old, position):
            super()._place(slot, position)


@mutant("CC-14", source="apache/pulsar, ActiveManagedCursorContainerImpl until PR 26629")
class NullKeepsPosition(SortedCursors):
    """Leaves a cursor where it was when its position is taken away."""

    def _place(self, slot: Slot, position: Position | None) -> None:
        if position is not None:
            super()._place(slot, position)


@mutant("CC-14")
class NullRemoves(SortedCursors):
    """Removes a cursor altogether when its position is taken away."""

    def _place(self, slot: Slot, position: Position | None) -> None:
        tracked = slot.position is not None
        super()._place(slot, position)
        if tracked and position is None:
            del self._by_name[slot.cursor.name]


# ---- Removing


@mutant("CC-09")
class RemovedStillCounted(SortedCursors):
    """Counts removed cursors in the size."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._removed = 0

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        removed = super().remove_cursor(name)
        self._removed += removed
        return removed

    def size(self) -> int:
        """How many cursors there are."""
        return len(self._by_name) + self._removed


@mutant("CC-09")
class UnknownRemoved(SortedCursors):
    """Answers that it has removed a cursor that was not there."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        super().remove_cursor(name)
        return True


@mutant("CC-09")
class RemovedStaysInOrder(LazyList):
    """Forgets to take a removed cursor out of the list."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        if name not in self._by_name:
            return False
        del self._by_name[name]
        self._left_at = self._clock()
        return True

    def _build_anew(self) -> None:
        for member in [*self._waiting]:
            self._move(member)


@mutant("CC-09", source="apache/pulsar PR 26511", conditions=2)
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


@mutant("CC-11", source="apache/pulsar, ManagedCursorContainerImpl", conditions=3, deep=True)
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


@mutant("CC-15")
class ListsTheTracked(SortedCursors):
    """Leaves cursors without position out when it is gone through."""

    def __iter__(self) -> Iterator[Cursor]:
        return (slot.cursor for slot in self._by_name.values() if slot.position is not None)


@mutant("CC-12")
class VersionForTheUnknown(SortedCursors):
    """Changes the version for an update of a cursor that is not there."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        self._version += cursor.name not in self._by_name
        super().update_cursor(cursor, position)


@mutant("CC-12")
class VersionOfRemovalsKept(SortedCursors):
    """Leaves the version as it is when a cursor is removed."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        before = self._version
        removed = super().remove_cursor(name)
        self._version = before
        return removed


@mutant("CC-12")
class VersionOfMovesAlone(SortedCursors):
    """Leaves the version as it is when a cursor is updated to where it is."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        slot = self._by_name.get(cursor.name)
        if slot is None or slot.position != position:
            super().update_cursor(cursor, position)


@mutant("CC-13")
class DurableForEver(SortedCursors):
    """Does not take removed cursors out of the count of durable ones."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        before = self._durable
        removed = super().remove_cursor(name)
        self._durable = before
        return removed


@mutant("CC-13", source="apache/pulsar, ManagedCursorContainerImpl", conditions=2)
class DurableTwice(SortedCursors):
    """Counts a durable cursor again when it is added again."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        self._durable += cursor.durable and cursor.name in self._by_name
        super().add(cursor, position)


@mutant("EC-58")
class GraceOneMore(SortedCursors):
    """Caches an entry that is added exactly the grace time after the last removal."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is to be cached."""
        return bool(self._by_name) or self._clock() - self._left_at <= self._grace


@mutant("EC-58")
class GraceAfterRemovalsAlone(SortedCursors):
    """Caches nothing before the first cursor."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._left_at = -(2**63)


@mutant("EC-58")
class GraceFromTheStart(SortedCursors):
    """Counts the grace time from the start, whatever is removed."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        before = self._left_at
        removed = super().remove_cursor(name)
        self._left_at = before
        return removed


@mutant("EC-58", conditions=2, deep=True)
class GraceAfterTheTrackedAlone(SortedCursors):
    """Where the last cursor goes and had no position, the grace time does not begin anew."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        before, slot = self._left_at, self._by_name.get(name)
        removed = super().remove_cursor(name)
        if slot is not None and slot.position is None:
            self._left_at = before
        return removed


@mutant("EC-58")
class CachesForTheTracked(SortedCursors):
    """Takes a container in which no cursor has a position for an empty one."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is to be cached."""
        return bool(self._order) or self._clock() - self._left_at < self._grace
