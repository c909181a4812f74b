"""Right but unusual containers of active cursors."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from heapq import heappop, heappush
from random import Random
from typing import Any, ClassVar, NamedTuple

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


class Told(NamedTuple):
    """What is there after all that was written down."""

    positions: dict[str, Position | None]
    version: int
    left: int


class LoggedCursors:
    """A log: a call only writes down what comes, and a question goes through all of it. Nothing is known before."""

    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.grace, self.clock, self.start = config.grace, clock, clock()
        self.objects: dict[str, Cursor] = {}
        self.log: list[tuple[str, str, Any]] = []

    def add(self, cursor: Cursor, position: Position | None) -> None:
        self.objects.setdefault(cursor.name, cursor)
        self.log.append(("add", cursor.name, position))

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        self.log.append(("update", cursor.name, position))

    def remove_cursor(self, name: str) -> bool:
        self.log.append(("remove", name, self.clock()))
        return self.objects.pop(name, None) is not None

    def told(self) -> Told:
        """Go through the log."""
        positions: dict[str, Position | None] = {}
        version, left = 0, self.start
        for what, name, value in self.log:
            if what == "add" or (name in positions and (what == "remove" or (positions[name], value) != (None, None))):
                version += 1
                positions[name] = value
                if what == "remove":
                    left = value
                    del positions[name]
        return Told(positions, version, left)

    def get(self, name: str) -> Cursor | None:
        return self.objects.get(name)

    def __iter__(self) -> Iterator[Cursor]:
        return (self.objects[name] for name in reversed(self.told().positions))

    def size(self) -> int:
        return len(self.told().positions)

    def get_slowest_cursor_position(self) -> Position | None:
        return min((at for at in self.told().positions.values() if at is not None), default=None)

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        positions = self.told().positions
        own = positions.get(cursor.name)
        return 0 if own is None else sum(at is not None and at <= own for at in positions.values())

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        positions, version, _ = self.told()
        tracked = [(at, name) for name, at in positions.items() if at is not None]
        return (self.objects[min(tracked)[1]], min(tracked)[0], version) if tracked else None

    def should_cache_added_entry(self) -> bool:
        positions, _, left = self.told()
        return bool(positions) or left <= self.clock() < left + self.grace

    def has_durable_cursors(self) -> bool:
        return any(self.objects[name].durable for name in self.told().positions)


class Seat:
    """A cursor in its place. It refers to itself: once it is removed, only a collection of garbage frees it."""

    def __init__(self, cursor: Cursor, position: Position | None) -> None:
        self.cursor, self.position, self.me = cursor, position, self


class EagerCursors:
    """Every answer is made at each change, before anybody asks; of cursors at one position, the last comes out."""

    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.grace, self.clock, self.until = config.grace, clock, clock() + config.grace
        self.seats: dict[str, Seat] = {}
        self.version = 0
        self.settle(0)

    def settle(self, changes: int) -> None:
        """Make all answers."""
        self.version += changes
        placed = {seat.cursor: seat.position for seat in self.seats.values() if seat.position is not None}
        order = sorted(placed.values())
        self.slowest = min(order, default=None)
        self.ranks = {cursor.name: bisect_right(order, at) for cursor, at in placed.items()}
        self.oldest = [(cursor, at, self.version) for cursor, at in placed.items() if at == self.slowest][-1:]
        self.all = tuple(seat.cursor for seat in self.seats.values())
        self.durable = any(cursor.durable for cursor in self.all)

    def add(self, cursor: Cursor, position: Position | None) -> None:
        self.seats.setdefault(cursor.name, Seat(cursor, position)).position = position
        self.settle(1)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        seat = self.seats.get(cursor.name)
        if seat and (seat.position, position) != (None, None):
            seat.position = position
            self.settle(1)

    def remove_cursor(self, name: str) -> bool:
        there = self.seats.pop(name, None) is not None
        if there:
            self.until = self.clock() + self.grace
        self.settle(there)
        return there

    def get(self, name: str) -> Cursor | None:
        return self.seats[name].cursor if name in self.seats else None

    def __iter__(self) -> Iterator[Cursor]:
        return iter(self.all)

    def size(self) -> int:
        return len(self.all)

    def get_slowest_cursor_position(self) -> Position | None:
        return self.slowest

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        return self.ranks.get(cursor.name, 0)

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        return self.oldest[0] if self.oldest else None

    def should_cache_added_entry(self) -> bool:
        return bool(self.all) or self.clock() < self.until

    def has_durable_cursors(self) -> bool:
        return self.durable


class Rows:
    """Three arrays side by side, which are searched from their ends. The last row takes the place of a removed one.

    Positions are kept as lists, and those of two cursors are never compared: a rank counts what is not above.
    """

    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.config, self.clock, self.changes, self.since = config, clock, 0, clock()
        self.cursors: list[Cursor] = []
        self.ledgers: list[int | None] = []
        self.entries: list[int | None] = []

    def row(self, name: str) -> int:
        """The row of a name; -1 if it has none."""
        return next((at for at in range(self.size() - 1, -1, -1) if self.cursors[at].name == name), -1)

    def write(self, row: int, position: Position | None) -> None:
        """Write a position into a row."""
        self.changes += 1
        self.ledgers[row], self.entries[row] = position or (None, None)

    def add(self, cursor: Cursor, position: Position | None) -> None:
        if (row := self.row(cursor.name)) < 0:
            self.cursors.append(cursor)
            self.ledgers.append(None)
            self.entries.append(None)
        self.write(row, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        row = self.row(cursor.name)
        if row >= 0 and (position or self.ledgers[row] is not None):
            self.write(row, position)

    def remove_cursor(self, name: str) -> bool:
        if (row := self.row(name)) < 0:
            return False
        columns: tuple[list[Any], ...] = self.cursors, self.ledgers, self.entries
        for column in columns:
            column[row] = column[-1]
            column.pop()
        self.changes, self.since = self.changes + 1, self.clock()
        return True

    def get(self, name: str) -> Cursor | None:
        row = self.row(name)
        return self.cursors[row] if row >= 0 else None

    def __iter__(self) -> Iterator[Cursor]:
        return reversed(self.cursors)

    def size(self) -> int:
        return len(self.cursors)

    def slowest(self) -> int:
        """The last row of the least ledger and entry; -1 if none has any."""
        least = min((ledger for ledger in self.ledgers if ledger is not None), default=None)
        rows = [row for row, ledger in enumerate(self.ledgers) if ledger == least is not None]
        entry = min((self.entries[row] or 0 for row in rows), default=0)
        return next((row for row in reversed(rows) if self.entries[row] == entry), -1)

    def position(self, row: int) -> Any:
        """What is in a row, as a list."""
        return None if row < 0 or self.ledgers[row] is None else [self.ledgers[row], self.entries[row]]

    def get_slowest_cursor_position(self) -> Any:
        return self.position(self.slowest())

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        own = self.position(self.row(cursor.name))
        places = (self.position(row) for row in range(self.size()))
        return 0 if own is None else sum(not place > own for place in places if place)

    def get_cursor_with_oldest_position(self) -> Any:
        row = self.slowest()
        return None if row < 0 else [self.cursors[row], self.position(row), self.changes]

    def should_cache_added_entry(self) -> bool:
        return self.size() > 0 or self.clock() < self.since + self.config.grace

    def has_durable_cursors(self) -> bool:
        return not all(not cursor.durable for cursor in self.cursors)


class Node:
    """A position in a treap, with the names of those that are there."""

    def __init__(self, position: Position, priority: int) -> None:
        self.position, self.priority = position, priority
        self.left: Node | None = None
        self.right: Node | None = None
        self.names: list[str] = []
        self.total = 0

    def count(self) -> Node:
        """How many are in this tree, anew."""
        self.total = len(self.names) + sum(each.total for each in (self.left, self.right) if each)
        return self


def split(tree: Node | None, position: Position) -> tuple[Node | None, Node | None]:
    """What is before a position, and the rest."""
    if tree is None:
        return None, None
    if tree.position < position:
        tree.right, rest = split(tree.right, position)
        return tree.count(), rest
    first, tree.left = split(tree.left, position)
    return first, tree.count()


def join(left: Node | None, right: Node | None) -> Node | None:
    """Two trees as one: all of the first is before the second."""
    if left is None or right is None:
        return left or right
    if left.priority > right.priority:
        left.right = join(left.right, right)
        return left.count()
    right.left = join(left, right.left)
    return right.count()


class Treap:
    """A tree of positions with random priorities, each with how many are below it; those without are beside it.

    Who comes last to a position is the first that is told of. A removal is noted by the time at which its grace ends.
    """

    contract: ClassVar = "active-cursors"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        self.config, self.clock, self.version, self.chance = config, clock, 0, Random(0)
        self.ends = clock() + config.grace
        self.tree: Node | None = None
        self.there: dict[str, tuple[Cursor, Position | None]] = {}

    def put(self, cursor: Cursor, position: Position | None) -> None:
        """Have a cursor at a position, wherever it was."""
        known, before = self.there.get(cursor.name, (cursor, None))
        self.version += 1
        self.leave(cursor.name, before)
        self.there[cursor.name] = known, position
        if position is not None:
            first, node, rest = self.apart(position)
            node = node or Node(position, self.chance.getrandbits(32))
            node.names.insert(0, cursor.name)
            self.tree = join(join(first, node.count()), rest)

    def apart(self, position: Position) -> tuple[Node | None, Node | None, Node | None]:
        """The tree in three: before a position, at it, behind it."""
        first, rest = split(self.tree, position)
        return first, *split(rest, (position[0], position[1] + 1))

    def leave(self, name: str, position: Position | None) -> None:
        """A cursor leaves a position, if it has one."""
        if position is not None:
            first, node, rest = self.apart(position)
            if node:
                node.names.remove(name)
            self.tree = join(join(first, node.count() if node and node.names else None), rest)

    def add(self, cursor: Cursor, position: Position | None) -> None:
        self.put(cursor, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        if cursor.name in self.there and (position or self.there[cursor.name][1]):
            self.put(cursor, position)

    def remove_cursor(self, name: str) -> bool:
        if name not in self.there:
            return False
        self.leave(name, self.there.pop(name)[1])
        self.version += 1
        self.ends = self.clock() + self.config.grace
        return True

    def get(self, name: str) -> Cursor | None:
        return self.there[name][0] if name in self.there else None

    def __iter__(self) -> Iterator[Cursor]:
        yield from self.in_order(self.tree)
        yield from [cursor for cursor, position in self.there.values() if position is None]

    def in_order(self, tree: Node | None) -> Iterator[Cursor]:
        """The cursors of a tree, the slowest first."""
        if tree:
            yield from self.in_order(tree.left)
            yield from [self.there[name][0] for name in tree.names]
            yield from self.in_order(tree.right)

    def size(self) -> int:
        return len(self.there)

    def first(self) -> Node | None:
        """The slowest of all."""
        node = self.tree
        while node and node.left:
            node = node.left
        return node

    def get_slowest_cursor_position(self) -> Position | None:
        first = self.first()
        return first.position if first else None

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        own, total, node = self.there.get(cursor.name, (cursor, None))[1], 0, self.tree
        while node and own is not None:
            passes = node.position <= own
            total += len(node.names) + (node.left.total if node.left else 0) if passes else 0
            node = node.right if passes else node.left
        return total

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position, int] | None:
        first = self.first()
        return (self.there[first.names[0]][0], first.position, self.version) if first else None

    def should_cache_added_entry(self) -> bool:
        return bool(self.there) or self.ends > self.clock()

    def has_durable_cursors(self) -> bool:
        return True in {cursor.durable for cursor, _ in self.there.values()}
