"""What containers of active cursors have in common: cursors by name, versions, and how long entries are cached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Slot:
    """A cursor with the position that it was given last."""

    __slots__ = ("cursor", "position")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.position: Position | None = None


S = TypeVar("S", bound=Slot)


class Container(ABC, Generic[S]):
    """Cursors by name. The order is left to others."""

    contract: ClassVar[str] = "active-cursors"
    profiles: ClassVar[tuple[str, ...]] = ("ideal",)
    slot: type[S]
    """What a cursor is kept in."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self._grace = config.grace
        self._clock = clock
        self._left_at = clock()
        self._by_name: dict[str, S] = {}
        self._version = 0
        self._durable = 0

    @abstractmethod
    def _place(self, slot: S, position: Position | None) -> None:
        """Put a cursor into its place in the order; without a position, out of the order."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, or update the one that has its name."""
        self._version += 1
        slot = self._by_name.get(cursor.name)
        if slot is None:
            slot = self._by_name[cursor.name] = self.slot(cursor)
            self._durable += cursor.durable
        self._place(slot, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        slot = self._by_name.get(cursor.name)
        if slot is not None and (slot.position is not None or position is not None):
            self._version += 1
            self._place(slot, position)

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        slot = self._by_name.pop(name, None)
        if slot is None:
            return False
        self._place(slot, None)
        self._version += 1
        self._durable -= slot.cursor.durable
        self._left_at = self._clock()
        return True

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""
        slot = self._by_name.get(name)
        return slot.cursor if slot else None

    def __iter__(self) -> Iterator[Cursor]:
        """All cursors."""
        return (slot.cursor for slot in self._by_name.values())

    def size(self) -> int:
        """How many cursors there are."""
        return len(self._by_name)

    def has_durable_cursors(self) -> bool:
        """Whether a cursor is durable."""
        return self._durable > 0

    def should_cache_added_entry(self) -> bool:
        """Whether there is a cursor, or the last one left less than the grace time ago."""
        return bool(self._by_name) or self._clock() - self._left_at < self._grace
