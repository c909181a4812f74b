"""What a container of active cursors is given and must offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

from broker_tck.implementations.interface.common import Clock, Position


class Cursor(Protocol):
    """A cursor that reads a topic. Two objects of one name may follow each other."""

    @property
    def name(self) -> str:
        """What it is known by: an object of the same name stands for the same cursor."""

    @property
    def durable(self) -> bool:
        """Whether it outlives its consumers."""


class ActiveCursorsConfig(Protocol):
    """What a container of active cursors is configured with."""

    @property
    def grace(self) -> int:
        """Milliseconds for which added entries are cached after the last cursor has left; 0 or less: none."""


@runtime_checkable
class ActiveCursors(Protocol):
    """The cursors that read a topic, ordered by position (contract ``active-cursors``). Calls come one at a time."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor; without a position it is not ordered."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """A cursor has moved; without a position it is not ordered any more."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor. False: no cursor has that name."""

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""

    def __iter__(self) -> Iterator[Cursor]:
        """All cursors, in any order."""

    def size(self) -> int:
        """How many cursors there are."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The least position of all that have one."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is likely to be read soon."""


@runtime_checkable
class Ranks(Protocol):
    """Capability ``ranks``."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """How many cursors are at the position of one, or before it, itself included; 0 if it has none."""


@runtime_checkable
class Versions(Protocol):
    """Capability ``versions``."""

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position | None, int] | None:
        """A cursor at the slowest position, with the position and the version; None if no cursor has a position."""


@runtime_checkable
class Durables(Protocol):
    """Capability ``durables``."""

    def has_durable_cursors(self) -> bool:
        """Whether one of the cursors is durable."""


ActiveCursorsFactory = Callable[[ActiveCursorsConfig, Clock], Any]
"""Makes an ``ActiveCursors``, which may be ``Ranks``, ``Versions`` and ``Durables`` as well."""
