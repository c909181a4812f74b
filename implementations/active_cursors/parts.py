"""What containers of active cursors have in common: cursors by name, and how long added entries are cached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Generic, Protocol, TypeVar

from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Holder(Protocol):
    """Something that holds a cursor."""

    cursor: Cursor


H = TypeVar("H", bound=Holder)


class Container(Generic[H]):
    """Cursors by name. The order is left to others."""

    contract: ClassVar[str] = "active-cursors"

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self._grace = config.grace
        self._clock = clock
        self._left_at = clock()
        self._by_name: dict[str, H] = {}

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""
        holder = self._by_name.get(name)
        return holder.cursor if holder else None

    def __iter__(self) -> Iterator[Cursor]:
        """All cursors."""
        return (holder.cursor for holder in self._by_name.values())

    def size(self) -> int:
        """How many cursors there are."""
        return len(self._by_name)

    def should_cache_added_entry(self) -> bool:
        """Whether there is a cursor, or the last one left less than the grace time ago."""
        return bool(self._by_name) or self._clock() - self._left_at < self._grace


class Slot:
    """A cursor with its position."""

    __slots__ = ("cursor", "position")

    def __init__(self, cursor: Cursor, position: Position | None) -> None:
        self.cursor = cursor
        self.position = position
