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
from broker_tck.model.rules import Rule, also, rule
from broker_tck.model.said import said

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

    @said(
        absent=(
            "An add under a name that is there makes a second cursor in your container; it has to update the first."
        ),
    )
    @rule(
        "CC-04",
        "An add under a name that is there is an update: one cursor, its object as it was, at the new position.",
        source="ActiveManagedCursorContainerImpl",
        look="a second node, of which the first one can never be removed",
        absent=lambda m, name: False,
    )
    def is_update(self, name: str) -> bool:
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
        "An update of a name that is not there changes nothing.",
        source="ActiveManagedCursorContainerImpl and the other containers",
        look="an update that adds",
        when=lambda m, name, at: name not in m.objects,
    )
    def update(self, name: str, at: Position | None) -> None:
        """The position of a cursor changes; none: it is not known."""
        cursor = self.objects.get(name)
        if cursor is None or not (self.order.holds(cursor) or self.tracks_late(at)):
            return
        self.version.updated()
        if at is None:
            self.order.lose(cursor)
        else:
            self.order.put(cursor, at)

    @said(
        absent="Your container does not track a cursor that gets its position later; it has to from then on.",
    )
    @also(update, absent=lambda m, at: False)
    def tracks_late(self, at: Position | None) -> bool:
        """Whether a cursor that has no position gets one."""
        return at is not None

    def march(self, name: str, n: int, at: Position, step: int, within: int) -> None:
        """Update n cursors, each to so many entries after the one before."""
        for i in range(n):
            self.update(f"{name}{i}", one_of_many(i, at, step, within))

    # ---- Removing

    @said(
        absent="Your container answers a removal with yes though the name was not there.",
        answers_no="Your container answers a removal with no though the name was there.",
    )
    @rule(
        "CC-09",
        "A removal answers whether the name was there; from then on the cursor is nowhere.",
        source="ActiveManagedCursorContainerImpl, PR 26511",
        look="what of a removed cursor waits in a queue: its node, its object, its place in the count",
        absent=lambda m, name: True,
        answers_no=lambda m, name: False,
    )
    def answers(self, name: str) -> bool:
        return name in self.objects

    def remove(self, name: str) -> bool:
        """Remove a cursor."""
        answer = self.answers(name)
        if name in self.objects:
            self.leave(self.objects.pop(name))
        return answer

    @also(answers, when=lambda m, cursor: m.order.holds(cursor))
    def leave(self, cursor: Cursor) -> None:
        """What follows where a cursor was removed."""
        self.order.take_out(cursor)
        self.version.removed()
        self.grace.restart()

    # ---- Questions

    @rule(
        "CC-07",
        "What is answered does not depend on when anything else was asked.",
        source="ActiveManagedCursorContainerImpl, which queues changes until it is asked",
        look="changes that wait in a queue, and the order in which they are applied; answers that are kept",
        when=lambda m: m.version.number > 1,
    )
    def slowest(self) -> Position | None:
        """The slowest position; none if no cursor has one."""
        return self.order.slowest()

    @said(
        absent="Your container leaves cursors without a position out of its size; they count.",
    )
    @also(Order.first, absent=lambda m: len(m.tracked))
    def size(self) -> int:
        """How many cursors there are, without position or with one."""
        return len(self.objects)

    @said(
        one_more=(
            "Your container expects one read more than the reader's rank; the reader itself is counted in that already."
        ),
        one_at_least="Your container expects a read for a reader that is not tracked; there it has to be 0.",
        of_untracked_as_of_the_last=(
            "Your container expects the reads of all cursors for a reader that is not tracked; there it has to be 0."
        ),
        absent="Your container leaves out the reader itself when it counts who is yet to read; it is counted as well.",
    )
    @rule(
        "RC-04",
        "The expected reads of an entry that was read start at the reader's rank when the storage answers, itself "
        "included; 0 where it is not tracked.",
        source="PIP-430",
        look="the reader itself; readers that are not active, or have no position; positions of an earlier time",
        needs="ranks reads",
        absent=lambda m, rank: rank and rank - 1,
        one_more=lambda m, rank: rank and rank + 1,
        one_at_least=lambda m, rank: rank or 1,
        of_untracked_as_of_the_last=lambda m, rank: rank or len(m.tracked),
    )
    def start(self, rank: int) -> int:
        return rank

    def count(self, name: str) -> int:
        """How many cursors are at the position of one, or before it: what the expected reads start at."""
        return self.start(self.order.count(self.objects.get(name)))

    def get(self, name: str) -> int | None:
        """The object of a cursor, by its number."""
        cursor = self.objects.get(name)
        return None if cursor is None else cursor.number

    @said(
        absent="Your container leaves cursors without a position out when it is gone through.",
        replaced_ones_too=(
            "Who goes through your container also meets cursors that are gone; only those that were not removed may "
            "be met."
        ),
    )
    @rule(
        "CC-15",
        "Going through the cursors meets each that was not removed once, without a position or with one.",
        source="ActiveManagedCursorContainerImpl",
        look="cursors without position; removed ones whose nodes are still there",
        absent=lambda m: sorted(m.objects[name].number for name in m.tracked),
        replaced_ones_too=lambda m: [*range(1, m.added + 1)],
    )
    def listed(self) -> list[int]:
        return sorted([cursor.number for cursor in self.objects.values()])

    # ---- Caching of added entries

    @said(
        in_grace_alone=(
            "Your container caches added entries in the grace time alone; it has to while there is a cursor as well."
        ),
        while_one_is_tracked=(
            "Your container caches added entries only while a cursor has a position; a cursor without one is enough."
        ),
        absent="Your container caches every added entry; it needs a cursor, or the grace time.",
    )
    @also(
        Grace.lasts,
        absent=lambda m: True,
        in_grace_alone=lambda m: m.grace.lasts(),
        while_one_is_tracked=lambda m: bool(m.tracked) or m.grace.lasts(),
    )
    def caches(self) -> bool:
        """Whether an added entry is to be cached."""
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

    @said(
        tracked_ones=(
            "Your container leaves out durable cursors without a position when it is asked for durable ones; they "
            "count."
        ),
        absent="Your container says that there are durable cursors as soon as there is any cursor.",
    )
    @rule(
        "CC-13",
        "There are durable cursors while one of those that were added and not removed is durable.",
        source="ManagedCursorContainerImpl",
        look="a counter that a repeated add, or the removal of another kind, takes out of step",
        needs="durables",
        absent=lambda m: bool(m.objects),
        tracked_ones=lambda m: any(m.objects[name].durable for name in m.tracked),
    )
    def has_durable(self) -> bool:
        """Whether there is a durable cursor."""
        return any(cursor.durable for cursor in self.objects.values())

    def seen(self) -> tuple[()]:
        """Nothing: a question may change a container, so each is an operation."""
        return ()


def listed(numbers: list[int]) -> str:
    """Numbers one after the other; of many, the first and the last."""
    told = [str(number) for number in numbers]
    return ", ".join(told if len(told) <= MOST_LISTED else [*told[:2], "…", told[-1]])
