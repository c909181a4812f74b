"""The reference model of contract ``active-cursors``: which cursors read a topic, who is behind, and how many.

The class :class:`ActiveCursors` is the specification (profile ``ideal``): a map from names to cursors, and as its parts
the order of their positions, the version, and the grace time. A short method with a rule above it is a clause: it
decides one thing. The methods named as operations are flows: the order of things. Each container of the broker is a
subclass that replaces the clauses in which it differs; two of them have a part with a structure for their defects.

Another model can use it as it is: :meth:`size` tells how many cursors are active, :meth:`count` what the expected reads
of an entry start at, and :meth:`caches` whether an added entry is to be cached.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from broker_tck.model.active_cursors.grace import Grace
from broker_tck.model.active_cursors.order import Cursor, Order, Position
from broker_tck.model.active_cursors.unembodied import UNEMBODIED
from broker_tck.model.active_cursors.version import Version
from broker_tck.model.reference import Allowed, Reference
from broker_tck.model.rules import Rule, rule

Oldest = tuple[int, Position | None, int]
"""A cursor's object, its position, and the version."""
MOST_LISTED = 8
"""Of more numbers the first and the last are told."""


def one_of_many(i: int, at: Position, step: int, within: int) -> Position:
    """The position of one of many cursors: ``step`` entries each, and from the first again after ``within``."""
    return at[0], at[1] + (i * step % within if within else i * step)


class Config(Protocol):
    """What a trace configures."""

    @property
    def clock(self) -> int: ...
    @property
    def grace(self) -> int: ...


class ActiveCursors(Reference):
    """The cursors of a ledger as specified: every answer is that of a plain map of positions."""

    PROFILE = "ideal"
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = UNEMBODIED
    Order = Order
    Version = Version
    Grace = Grace

    def __init__(self, config: Config) -> None:
        self.config = config
        self.order = self.Order()
        self.version = self.Version()
        self.grace = self.Grace(config.clock, config.grace)
        self.objects: dict[str, Cursor] = {}
        self.added = 0

    @property
    def now(self) -> int:
        """The time."""
        return self.grace.now

    @property
    def tracked(self) -> dict[str, Position]:
        """The positions of the cursors that have one, by name."""
        return {c.name: at for c, at in self.order.positions.items() if self.objects.get(c.name) is c}

    # ---- Adding

    @rule("CC-04", source="ActiveManagedCursorContainerImpl")
    def is_update(self, name: str) -> bool:
        """An add under a name that is there is an update: one cursor, its object as it was, at the new position."""
        return name in self.objects

    def add(self, name: str, at: Position | None) -> None:
        """Add a new cursor object."""
        self.add_object(name, at, durable=False)

    def durable(self, name: str, at: Position | None) -> None:
        """Add a new object of a durable cursor."""
        self.add_object(name, at, durable=True)

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object; the objects are numbered as they come."""
        self.added += 1
        if self.is_update(name):
            self.version.added()
            self.order.add_again(self.objects[name], at)
            return
        cursor = self.objects[name] = Cursor(name, self.added, durable)
        self.order.add(cursor, at)
        self.version.added()

    def crowd(self, name: str, n: int, at: Position, step: int, within: int, durable: bool) -> None:
        """Add n cursors, each so many entries after the one before."""
        for i in range(n):
            self.add_object(f"{name}{i}", one_of_many(i, at, step, within), durable)

    # ---- Updating

    @rule(
        "CC-05",
        source="ActiveManagedCursorContainerImpl",
        when=lambda m, name, at: name not in m.objects,
    )
    def update(self, name: str, at: Position | None) -> None:
        """An update of a name that is not there changes nothing."""
        cursor = self.objects.get(name)
        if cursor is None or not (self.order.holds(cursor) or self.tracks_late(at)):
            return
        self.version.updated()
        if at is None:
            self.order.lose(cursor)
        else:
            self.order.put(cursor, at)

    @rule("CC-05", when=lambda m, at: at is not None)
    def tracks_late(self, at: Position | None) -> bool:
        """An update with a position tracks a cursor that had none."""
        return at is not None

    def march(self, name: str, n: int, at: Position, step: int, within: int) -> None:
        """Update n cursors, each to so many entries after the one before."""
        for i in range(n):
            self.update(f"{name}{i}", one_of_many(i, at, step, within))

    # ---- Removing

    @rule("CC-09", source="ActiveManagedCursorContainerImpl, PR 26511", when=lambda m, name: name in m.objects)
    def answers(self, name: str) -> bool:
        """A removal answers whether the name was there."""
        return name in self.objects

    def remove(self, name: str) -> bool:
        """Remove a cursor."""
        answer = self.answers(name)
        if name in self.objects:
            self.leave(self.objects.pop(name))
        return answer

    @rule("CC-09", when=lambda m, cursor: m.order.holds(cursor))
    def leave(self, cursor: Cursor) -> None:
        """A removed cursor is nowhere from then on."""
        self.order.take_out(cursor)
        self.version.removed()
        self.grace.restart()

    # ---- Questions

    @rule(
        "CC-07",
        source="ActiveManagedCursorContainerImpl, which queues changes until it is asked",
        when=lambda m: m.version.number > 1,
    )
    def slowest(self) -> Position | None:
        """An answer does not depend on when other questions were asked."""
        return self.order.slowest()

    @rule("CC-02")
    def size(self) -> int:
        """The size is the number of cursors, with a position or without."""
        return len(self.objects)

    @rule("RC-04", source="PIP-430", needs="ranks reads")
    def start(self, rank: int) -> int:
        """The expected reads of an entry that was read start at the reader's rank when the storage answers, itself
        included; 0 where it is not tracked.
        """
        return rank

    def count(self, name: str) -> int:
        """How many cursors are at the position of one, or before it: what the expected reads start at."""
        return self.start(self.order.count(self.objects.get(name)))

    def get(self, name: str) -> int | None:
        """The object of a cursor, by its number."""
        cursor = self.objects.get(name)
        return None if cursor is None else cursor.number

    @rule("CC-15", source="ActiveManagedCursorContainerImpl")
    def listed(self) -> list[int]:
        """Going through the cursors meets each that was not removed once, without a position or with one."""
        return sorted([cursor.number for cursor in self.objects.values()])

    # ---- Caching of added entries

    @rule("EC-58")
    def caches(self) -> bool:
        """Added entries are cached while there is a cursor, or the grace time lasts."""
        return bool(self.objects) or self.grace.lasts()

    def advance(self, ms: int) -> None:
        """Time passes."""
        self.grace.advance(ms)

    # ---- What only the container of all cursors has

    def oldest(self) -> Oldest | Allowed | None:
        """A cursor at the slowest position, by its object, with the position and the version; none if there is none."""
        at = self.slowest()
        if at is None:
            return None
        return self.any_of([c.number for c in self.order.tied(at) if self.objects.get(c.name) is c], at)

    def any_of(self, tied: list[int], at: Position) -> Oldest | Allowed:
        """One of the cursors at the slowest position, whichever it is."""
        version = self.version.number
        if len(tied) < 2:
            return (tied or [0])[0], at, version
        answers = [[number, [*at], version] for number in tied]
        return Allowed(
            permits=lambda got: got in answers,
            follow=lambda got: None,
            example=answers[0],
            says=f"one of the cursors {listed(sorted(tied))}, {list(at)}, {version}",
        )

    @rule("CC-13", source="ManagedCursorContainerImpl", needs="durables")
    def has_durable(self) -> bool:
        """There are durable cursors while one of those that were added and not removed is durable."""
        return any(cursor.durable for cursor in self.objects.values())

    def seen(self) -> tuple[()]:
        """Nothing: a question may change a container, so each is an operation."""
        return ()


def listed(numbers: list[int]) -> str:
    """Numbers one after the other; of many, the first and the last."""
    told = [str(number) for number in numbers]
    return ", ".join(told if len(told) <= MOST_LISTED else [*told[:2], "…", told[-1]])
