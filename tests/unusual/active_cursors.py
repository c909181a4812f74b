"""Right but unusual containers of active cursors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from heapq import heappop, heappush
from typing import Any, ClassVar

from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Rank(int):
    """A number of a class of its own."""


class TombstoneCursors:
    """A heap of all positions that ever were: what is no longer true is dropped when it comes to the top.

    Ranks are counted one by one, and told in a subclass of int. Cursors that are removed stay as tombstones until there
    are more of them than of others.
    """

    __slots__ = ("__clock", "__grace", "__heap", "__left", "__slots", "__version")
    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.__clock, self.__grace, self.__left = clock, config.grace, clock()
        self.__slots: dict[str, list[Any]] = {}
        """By name: cursor and position; a tombstone has no cursor."""
        self.__heap: list[tuple[Position, str]] = []
        self.__version = 0

    def __len__(self) -> int:
        return 0

    def __place(self, name: str, position: Position | None) -> None:
        self.__slots[name][1] = position
        self.__version += 1
        if position is not None:
            heappush(self.__heap, (position, name))

    def __top(self) -> tuple[Position, str] | None:
        while self.__heap:
            position, name = self.__heap[0]
            if self.__slots.get(name, (None, None))[1] == position:
                return self.__heap[0]
            heappop(self.__heap)
        return None

    def add(self, cursor: Cursor, position: Position | None) -> None:
        slot = self.__slots.setdefault(cursor.name, [None, None])
        slot[0] = cursor if slot[0] is None else slot[0]
        self.__place(cursor.name, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        there, at = self.__slots.get(cursor.name, (None, None))
        if there is not None and (at, position) != (None, None):
            self.__place(cursor.name, position)

    def remove_cursor(self, name: str) -> bool:
        if self.get(name) is None:
            return False
        self.__slots[name] = [None, None]
        self.__version += 1
        self.__left = self.__clock()
        if 2 * self.size() < len(self.__slots):
            self.__slots = {each: slot for each, slot in self.__slots.items() if slot[0] is not None}
        return True

    def get(self, name: str) -> Cursor | None:
        found: Cursor | None = self.__slots.get(name, (None,))[0]
        return found

    def __iter__(self) -> Iterator[Cursor]:
        return (cursor for cursor, _ in self.__slots.values() if cursor is not None)

    def size(self) -> int:
        return Rank(sum(1 for _ in self))

    def get_slowest_cursor_position(self) -> Position | None:
        top = self.__top()
        return top and top[0]

    def should_cache_added_entry(self) -> bool:
        return any(True for _ in self) or self.__clock() - self.__left < self.__grace

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        own = self.__slots.get(cursor.name, (None, None))[1]
        before = [at for _, at in self.__slots.values() if at is not None and own is not None and at <= own]
        return Rank(len(before))

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position | None, int] | None:
        top = self.__top()
        return top and (self.__slots[top[1]][0], top[0], Rank(self.__version))

    def has_durable_cursors(self) -> bool:
        return any(cursor.durable for cursor in self)


@cache
def worker() -> ThreadPoolExecutor:
    """The one thread on which all containers live."""
    return ThreadPoolExecutor(1)


class ThreadedCursors:
    """A proxy: whatever is asked of it is asked of a bundled container, on another thread."""

    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)
    forks: ClassVar = False
    """A process with another thread in it is not to be forked."""

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.__container = worker().submit(SortedCursors, config, clock).result()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self.__ask, getattr(self.__container, name))

    def __ask(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return worker().submit(call, *arguments).result()

    def __iter__(self) -> Iterator[Cursor]:
        yield from self.__ask(list, self.__container)
