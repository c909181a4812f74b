"""Active cursors: which cursors read a topic, which of them is slowest, and how many are behind (profile ``ideal``).

Read it from top to bottom. A method under ``@rule`` is a clause: its docstring is the rule, its body says the same in
code. The methods named as operations are flows: they say which clauses apply, and in which order. Each container of the
broker replaces the clauses in which it differs: see ``releases``.

Another model can use it as it is: :meth:`ActiveCursors.size` is the number of active cursors, :meth:`count` is what the
expected reads of an entry start at, and :meth:`caches` says whether an added entry is cached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar, Protocol

from broker_tck.model.reference import Allowed, Reference
from broker_tck.model.rules import Part, Rule, informative, invariant, rule

INTERFACE = "ActiveManagedCursorContainer"
LIST = "ActiveManagedCursorContainerImpl"
HEAP = "ManagedCursorContainerImpl"
PROPERTIES = "properties of the containers"
MOST_LISTED = 8
"""Maximum number of objects that a message lists; of more it lists the first two and the last."""

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""
Oldest = tuple[int, Position | None, int]
"""A cursor's object, its position, and the version."""


class Config(Protocol):
    """How a container starts: its clock and its grace time, in milliseconds."""

    @property
    def clock(self) -> int: ...
    @property
    def grace(self) -> int: ...


class Cursor:
    """A cursor object. Objects are numbered as they are added, from 1; an object of the same name is another one."""

    __slots__ = ("durable", "name", "number")

    def __init__(self, name: str, number: int, durable: bool = False) -> None:
        self.name = name
        self.number = number
        self.durable = durable

    def become(self, other: Cursor) -> None:
        """Be another object of the same name from now on."""
        self.number, self.durable = other.number, other.durable


class Order(Part):
    """The order of the cursors: a plain map to their positions. Every answer looks at all of them."""

    def __init__(self) -> None:
        self.positions: dict[Cursor, Position] = {}

    def holds(self, cursor: Cursor) -> bool:
        """Whether a cursor has a position."""
        return cursor in self.positions

    def number(self) -> int:
        """The number of cursors that have a position."""
        return len(self.positions)

    # ---- Changes

    def add(self, cursor: Cursor, at: Position | None) -> None:
        """Add a cursor that is not there."""
        if at is not None:
            self.positions[cursor] = at

    def add_again(self, cursor: Cursor, at: Position | None) -> None:
        """Add a cursor that is there."""
        if at is None:
            self.lose(cursor)
        else:
            self.put(cursor, at)

    def put(self, cursor: Cursor, at: Position) -> None:
        """Give a cursor another position."""
        if self.recounts(cursor, at):
            self.positions[cursor] = at

    @rule("CC-10", source=LIST, needs="ranks", when=lambda o, cursor, at: o.stays_last(cursor, at))
    def recounts(self, cursor: Cursor, at: Position) -> bool:
        """A move counts a cursor anew, even if the cursor was the last one and stays the last one."""
        return True

    def stays_last(self, cursor: Cursor, at: Position) -> bool:
        """Whether a cursor is the last one, and still is at another position."""
        others = [position for other, position in self.positions.items() if other is not cursor]
        return bool(others) and cursor in self.positions and max(others) <= min(at, self.positions[cursor])

    def lose(self, cursor: Cursor) -> None:
        """Take a cursor's position away."""
        if self.forgets(cursor):
            self.positions.pop(cursor, None)

    @rule("CC-14", source="PR 26629", needs="null_updates", when=lambda o, cursor: o.holds(cursor))
    def forgets(self, cursor: Cursor) -> bool:
        """A cursor that loses its position is no longer ordered and ranked, but is still there."""
        return True

    @rule("CC-11", source=HEAP, when=lambda o, cursor: o.holds(cursor) and o.number() > 1)
    def take_out(self, cursor: Cursor) -> None:
        """A removal leaves the others in order: the cursor that takes the free place moves up or down as it must."""
        self.drop(cursor)

    def drop(self, cursor: Cursor) -> None:
        """Let go of a cursor, with a position or without."""
        self.positions.pop(cursor, None)

    def kept(self) -> Iterable[Cursor]:
        """The cursors that the order has not let go of."""
        return self.positions

    # ---- Questions

    def slowest(self) -> Position | None:
        """The slowest position; None if no cursor has one."""
        return self.first(self.positions.values())

    @rule("CC-02", source=INTERFACE)
    def first(self, positions: Collection[Position]) -> Position | None:
        """The slowest position is the least, by ledger, then by entry, both signed; ranks count from it on."""
        return min(positions) if positions else None

    def count(self, cursor: Cursor | None) -> int:
        """The rank of a cursor; 0 if it has no position, or is not there."""
        at = self.positions.get(cursor) if cursor else None
        return 0 if cursor is None or at is None else self.rank(cursor, at)

    def rank(self, cursor: Cursor, at: Position) -> int:
        """The number of cursors at a position, or before it."""
        before = [position for position in self.positions.values() if position < at]
        return len(before) + self.beside(cursor, at)

    @rule("CC-03", source="ActiveManagedCursorContainerTest", needs="ranks")
    def beside(self, cursor: Cursor, at: Position) -> int:
        """Cursors at one position share their rank: each counts all of them."""
        return [*self.positions.values()].count(at)

    def tied(self, at: Position) -> list[Cursor]:
        """The cursors at a position."""
        return [cursor for cursor, position in self.positions.items() if position == at]


class Grace(Part):
    """A clock, and the time from which the grace time counts: the start, or the last removal."""

    def __init__(self, now: int, length: int) -> None:
        self.now = now
        self.length = length
        self.since = now

    @rule("EC-58", source="PR 24656", needs="grace reads")
    def lasts(self) -> bool:
        """The grace time runs from the start or a removal, and ends after its length; it needs counted reads."""
        return self.now - self.since < self.length

    def restart(self) -> None:
        """Begin the grace time anew."""
        self.since = self.now


class ActiveCursors(Reference):
    """The cursors of a ledger as specified: a map from names to objects, and their order."""

    PROFILE = "ideal"
    Order = Order
    Grace = Grace

    def __init__(self, config: Config) -> None:
        self.config = config
        self.order = self.Order()
        self.grace = self.Grace(config.clock, config.grace)
        self.objects: dict[str, Cursor] = {}
        self.added = 0
        self.version = 0

    @property
    def now(self) -> int:
        """The time."""
        return self.grace.now

    @property
    def tracked(self) -> dict[str, Position]:
        """The positions of the cursors that have one, by name."""
        return {c.name: at for c, at in self.order.positions.items() if self.objects.get(c.name) is c}

    @rule("CC-12", source=HEAP, needs="versions")
    def changed(self) -> None:
        """The version is 0 at first. Every add raises it by one, even of a name that is there, or without a position.

        So does every removal, and every update of a cursor that has or gets a position.
        """
        self.version += 1

    # ---- Adding

    def add(self, name: str, at: Position | None) -> None:
        """Add a new cursor object."""
        self.add_object(name, at, False)

    def durable(self, name: str, at: Position | None) -> None:
        """Add a new object of a durable cursor."""
        self.add_object(name, at, True)

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object."""
        self.added += 1
        if self.is_update(name):
            self.changed()
            self.order.add_again(self.objects[name], at)
        else:
            cursor = self.objects[name] = Cursor(name, self.added, durable)
            self.order.add(cursor, at)
            self.changed()

    @rule("CC-04", source=LIST)
    def is_update(self, name: str) -> bool:
        """An add of a name that is there is an update: the one cursor keeps its object and gets the new position."""
        return name in self.objects

    # ---- Updating

    @rule("CC-05", source=LIST, when=lambda m, name, at: name not in m.objects)
    def update(self, name: str, at: Position | None) -> None:
        """An update of a name that is not there changes nothing."""
        cursor = self.objects.get(name)
        if cursor is None or not (self.order.holds(cursor) or self.tracks_late(at)):
            return
        self.changed()
        if at is None:
            self.order.lose(cursor)
        else:
            self.order.put(cursor, at)

    @rule("CC-05", when=lambda m, at: at is not None)
    def tracks_late(self, at: Position | None) -> bool:
        """An update with a position tracks a cursor that had no position."""
        return at is not None

    # ---- Removing

    @rule("CC-09", source=f"{LIST}, PR 26511", when=lambda m, name: name in m.objects)
    def remove(self, name: str) -> bool:
        """A removal answers whether the name was there; from then on, no answer has the cursor."""
        cursor = self.objects.pop(name, None)
        if cursor is None:
            return False
        self.order.take_out(cursor)
        self.changed()
        self.grace.restart()
        return True

    # ---- Questions

    @rule("CC-07", source=f"{LIST}, which queues changes until it is asked", when=lambda m: m.version > 1)
    def slowest(self) -> Position | None:
        """An answer does not depend on when other questions were asked."""
        return self.order.slowest()

    @rule("CC-02")
    def size(self) -> int:
        """The size is the number of cursors, with a position or without."""
        return len(self.objects)

    @rule("RC-04", source="PIP-430", needs="ranks reads")
    def count(self, name: str) -> int:
        """The expected reads of an entry start at its reader's rank, the reader included; if it is untracked, at 0."""
        return self.order.count(self.objects.get(name))

    def get(self, name: str) -> int | None:
        """The object of a cursor, by its number."""
        cursor = self.objects.get(name)
        return None if cursor is None else cursor.number

    @rule("CC-15", source=LIST)
    def listed(self) -> list[int]:
        """A pass over the cursors meets each remaining cursor once, with a position or without."""
        return sorted([cursor.number for cursor in self.objects.values()])

    # ---- Caching of added entries

    @rule("EC-58", needs="grace reads")
    def caches(self) -> bool:
        """Added entries are cached while there is a cursor, or the grace time lasts."""
        return bool(self.objects) or self.grace.lasts()

    def advance(self, ms: int) -> None:
        """Time passes."""
        self.grace.now += ms

    # ---- What only the container of all cursors has

    def oldest(self) -> Oldest | Allowed | None:
        """A cursor at the slowest position: its object, the position and the version; None if no cursor has one."""
        at = self.slowest()
        if at is None:
            return None
        return self.any_of([c.number for c in self.order.tied(at) if self.objects.get(c.name) is c], at)

    def any_of(self, tied: list[int], at: Position) -> Oldest | Allowed:
        """Any one of the cursors at the slowest position."""
        if len(tied) < 2:
            return (tied or [0])[0], at, self.version
        answers = [[number, [*at], self.version] for number in tied]
        return Allowed(
            permits=lambda got: got in answers,
            follow=lambda got: None,
            example=answers[0],
            says=f"one of the cursors {listed(sorted(tied))}, {list(at)}, {self.version}",
        )

    @rule("CC-13", source=HEAP, needs="durables")
    def has_durable(self) -> bool:
        """The container has durable cursors while a cursor that was added and not removed is durable."""
        return any(cursor.durable for cursor in self.objects.values())

    def still_there(self, cursors: Sequence[tuple[int, str]]) -> list[str]:
        """Of some cursor objects, each a number and a name, the names of those that it has not let go of."""
        there = {cursor.number for cursor in (*self.objects.values(), *self.order.kept())}
        return [name for number, name in cursors if number in there]

    def seen(self) -> tuple[()]:
        """Nothing: a question may change a container, so each is an operation."""
        return ()

    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = (
        informative(
            "CC-01",
            "A container adds, updates and removes cursors, and answers with the slowest position and ranks.",
            source=INTERFACE,
            why="it describes the interface",
        ),
        informative(
            "CC-06",
            "Only updateCursor updates the list, and it answers nothing.",
            source=LIST,
            why="the kit calls nothing else, and expects no answer",
        ),
        informative(
            "CC-08",
            "The list keeps one counter for each position, and a move changes those that it passes.",
            source=LIST,
            why="it says how ranks are stored; CC-02 and CC-03 say their values",
        ),
        invariant("CC-P14", "Slowest position and ranks are those of a sorted list of positions.", source=PROPERTIES),
        invariant(
            "CC-P15",
            "The slowest position never decreases while cursors only move forward and no cursor is added.",
            source=PROPERTIES,
            needs="null_updates",
        ),
        invariant(
            "CC-P16",
            "A tracked cursor's rank is at least 1; the last one's rank is the number of tracked cursors.",
            source=PROPERTIES,
            needs="ranks",
        ),
        invariant("CC-P17", "A container keeps no cursor that was removed.", source=PROPERTIES),
        informative(
            "CC-16",
            "Costs grow no faster than the table says: by the logarithm, the distance, or the number of cursors.",
            source="the classes",
            why="costs are measured by the benchmark `cursors`",
        ),
    )


def listed(numbers: list[int]) -> str:
    """Numbers one after the other; of many, the first two and the last."""
    shown = [str(number) for number in numbers]
    return ", ".join(shown if len(shown) <= MOST_LISTED else [*shown[:2], "…", shown[-1]])
