"""A container of active cursors on its adapter: a clock, and the cursor objects that it is given."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any
from weakref import ref

from msgspec import Struct

from broker_tck.implementations.interface import ActiveCursorsFactory, Position
from broker_tck.properties.contracts.active_cursors.operations import Capabilities, Config
from broker_tck.properties.engine.answers import described, items_of


class Cursor(Struct, frozen=True, weakref=True):
    """A cursor object."""

    name: str
    number: int
    """Counted by adds, from 1; 0 for one that was never added."""
    durable: bool


class Adapter:
    """A subject under test. Its methods are the operations."""

    def __init__(self, factory: ActiveCursorsFactory, config: Config, capabilities: Capabilities) -> None:
        self.now = config.clock
        self.added = 0
        self.made: dict[str, Cursor] = {}
        """The newest object of each name."""
        self.handed: list[ref[Cursor]] = []
        """Every object that was added."""
        container = self.container = factory(config, self.clock)
        self.remove = container.remove_cursor
        self.slowest = container.get_slowest_cursor_position
        self.size = container.size
        self.caches = container.should_cache_added_entry
        if capabilities.ranks:
            self.rank = container.get_number_of_cursors_at_same_position_or_before

    def clock(self) -> int:
        """The time now, in milliseconds."""
        return self.now

    def add(self, name: str, at: Position | None) -> None:
        """Add a new object."""
        self.add_object(name, at, False)

    def durable(self, name: str, at: Position | None) -> None:
        """Add a new object that is durable."""
        self.add_object(name, at, True)

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Make a cursor object and add it."""
        self.added += 1
        cursor = self.made[name] = Cursor(name, self.added, durable)
        self.handed.append(ref(cursor))
        self.container.add(cursor, at)

    def update(self, name: str, at: Position | None) -> None:
        """Update a cursor, also one that was never added."""
        self.container.update_cursor(self.made.get(name) or Cursor(name, 0, False), at)

    def count(self, name: str) -> Any:
        """Ask for a rank."""
        return self.rank(self.made.get(name) or Cursor(name, 0, False))

    def get(self, name: str) -> Any:
        """Ask for a cursor; answers with its number."""
        return number(self.container.get(name))

    def listed(self) -> Any:
        """Go through all cursors while another pass is under way; answers with their numbers, both if they differ."""
        other = iter(self.container)
        begun = [*islice(other, 1)]
        told = self.numbers(self.container)
        others = self.numbers(chain(begun, other))
        return told if told == others else [told, others]

    def numbers(self, told: Iterable[Any]) -> list[Any]:
        """The numbers of cursors that were told, and of one more than there can be."""
        cursors = [*islice(told, self.added + 1)]
        known = [cursor.number for cursor in cursors if type(cursor) is Cursor]
        return sorted(known) if len(known) == len(cursors) else [number(cursor) for cursor in cursors]

    def oldest(self) -> Any:
        """Ask for the cursor with the oldest position."""
        found = self.container.get_cursor_with_oldest_position()
        items = found if type(found) is tuple else items_of(found)
        return (number(items[0]), *items[1:]) if items else found

    def has_durable(self) -> Any:
        """Ask whether there are durable cursors."""
        return self.container.has_durable_cursors()

    def still_there(self, cursors: Sequence[tuple[int, str]]) -> list[str]:
        """Of some objects that were removed, the names of those that are there after the adapter has let go of them.

        If there are any, garbage is collected first; a container outside of Python has a method of its own for that.
        """
        for number, name in cursors:
            if name in self.made and self.made[name].number == number:
                del self.made[name]
        if self.alive(cursors):
            getattr(self.container, "collect_garbage", gc.collect)()
        return self.alive(cursors)

    def alive(self, cursors: Sequence[tuple[int, str]]) -> list[str]:
        """Of some objects, the names of those that something refers to."""
        return [name for number, name in cursors if self.handed[number - 1]() is not None]

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self.now += ms

    def seen(self) -> tuple[()]:
        """Nothing: every question is an operation."""
        return ()


def number(cursor: Any) -> Any:
    """The number of a cursor object; None for none; what an object is that is no cursor of this adapter."""
    if cursor is None or type(cursor) is Cursor:
        return cursor and cursor.number
    return described(cursor)
