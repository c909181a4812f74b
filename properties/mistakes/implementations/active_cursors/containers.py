"""Mutants of the containers of active cursors: each breaks something that a model does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar
from zlib import crc32

from broker_tck.implementations.active_cursors.lazy_list import LazyList
from broker_tck.implementations.active_cursors.parts import Slot
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position
from broker_tck.properties.mistakes.implementations.mutant import mutant

SLOTS = 64
PAGE = 1_000


@mutant("CC-02", shows="A position of zeros, used as a mark.")
class OriginIsNoPosition(SortedCursors):
    """A cursor at 0:0 is taken for one that has no position yet."""

    def _place(self, slot: Slot, position: Position | None) -> None:
        super()._place(slot, position if position and any(position) else None)


@mutant("CC-02", shows="Ranks that are kept, which a move must mend.")
class PassedPositionsNotCounted(LazyList):
    """Moves a cursor ahead, and leaves the ranks of those that it passes as they were."""

    def _count(self, first: Position, end: Position | None, by: int) -> None:
        if end is not None and by < 0:
            self._ranks[first] += by
        else:
            super()._count(first, end, by)


@mutant("CC-09", shows="A hash table with open addressing: names of one slot.")
class RemovalEndsTheProbe(SortedCursors):
    """Names are in a table of 64 slots: one that had to go on to the next is not found when the first has left."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._slots: dict[int, str] = {}
        self._has_grown = False

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, in the first slot that is free."""
        if cursor.name not in self._by_name:
            slot = crc32(cursor.name.encode()) % SLOTS
            while slot in self._slots:
                slot += 1
            self._slots[slot] = cursor.name
            self._has_grown = self._has_grown or len(self._slots) > SLOTS * 3 // 4
        super().add(cursor, position)

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor, and free its slot."""
        self._slots = {slot: each for slot, each in self._slots.items() if each != name}
        return super().remove_cursor(name)

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name, as far as probing finds it. A table that has grown is sparse enough."""
        slot = crc32(name.encode()) % SLOTS
        while self._slots.get(slot, name) != name:
            slot += 1
        return super().get(name) if slot in self._slots or self._has_grown else None


@mutant("CC-11", shows="More removals at a time than a ring has places.")
class RemovalsAreInARing(SortedCursors):
    """Removals wait in a ring of 64 until somebody asks: one more is lost, and the cursor stays in order."""

    capabilities: ClassVar[dict[str, bool]] = {"versions": False}

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._waiting = 0

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        slot = self._by_name.get(name)
        self._waiting += slot is not None
        if slot is not None and self._waiting > SLOTS:
            slot.position = None
        return super().remove_cursor(name)

    def get_slowest_cursor_position(self) -> Position | None:
        """The first position."""
        self._waiting = 0
        return super().get_slowest_cursor_position()

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The place behind the last cursor at the position."""
        self._waiting = 0
        return super().get_number_of_cursors_at_same_position_or_before(cursor)


@mutant("CC-15", shows="Two passes over the cursors at the same time.")
class OnePassAtATime(SortedCursors):
    """While a pass over the cursors is under way, another one meets none."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._passing = False

    def __iter__(self) -> Iterator[Cursor]:
        if not self._passing:
            self._passing = True
            yield from super().__iter__()
            self._passing = False


@mutant("CC-02", shows="Pages of an order statistic, more than one of them.")
class PagesAreTakenForFull(SortedCursors):
    """Positions are in pages of 1,000 that are halved when they are full; a rank takes all pages before it for full."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor, by page."""
        rank = super().get_number_of_cursors_at_same_position_or_before(cursor)
        if len(self._order) <= PAGE:
            return rank
        page, place = divmod(rank - 1, PAGE // 2)
        return page * PAGE + place + 1 if rank else 0


@mutant(
    "CC-11",
    shows="A removal that waits while its name is given anew.",
    source="apache/pulsar, ActiveManagedCursorContainerImpl: removals wait by name",
)
class RemovalByNameWaits(LazyList):
    """A removal waits by its name until somebody asks: it takes the order of a new cursor that has the name by then."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._removals: set[str] = set()

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        removed = super().remove_cursor(name)
        if removed:
            self._removals.add(name)
        return removed

    def _bring_up_to_date(self) -> None:
        for name in sorted(self._removals & {*self._by_name}):
            self._place(self._by_name[name], None)
        self._removals.clear()
        super()._bring_up_to_date()
