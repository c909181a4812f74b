"""The reference model of contract ``active-cursors``: which cursors read a topic, who is behind, and how many.

The class :class:`ActiveCursors` is the specification (profile ``ideal``): a map from names to cursors, and one from
names to positions. What it answers, it derives by looking at all of them. A short method with a rule above it is a
clause: it decides one thing. The methods named as operations are flows: the order of things. Each container of the
broker is a subclass that replaces the clauses in which it differs; two of them have a structure for their defects.

Another model can use it as it is: :meth:`size` tells how many cursors are active, :meth:`count` what the expected reads
of an entry start at, and :meth:`caches` whether an added entry is to be cached.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Protocol

from broker_tck.model.reference import Allowed, Reference
from broker_tck.model.rules import Rule, also, informative, law, rule

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""
Oldest = tuple[int, Position | None, int]
"""A cursor's object, its position, and the version."""
UNSIGNED = 2**64 - 1


class Config(Protocol):
    """What a trace configures."""

    @property
    def clock(self) -> int: ...
    @property
    def grace(self) -> int: ...


class Residue:
    """What wrong ways leave behind; where every rule is kept there is nothing in it."""

    def __init__(self) -> None:
        self.positions: list[Position] = []
        """Those that count though no cursor has them any more."""
        self.unseen: set[str] = set()
        """Cursors that do not count as slowest."""
        self.objects: dict[str, int] = {}
        """Those of removed cursors, which an add brings back."""
        self.slowest: Position | None = None
        """What was told first."""

    def up_to(self, at: Position) -> int:
        """How many positions there are up to one."""
        return sum(position <= at for position in self.positions)

    def seen(self, tracked: dict[str, Position]) -> Collection[Position]:
        """The positions that may be the slowest."""
        if not (self.positions or self.unseen):
            return tracked.values()
        return [at for name, at in tracked.items() if name not in self.unseen] + self.positions


class ActiveCursors(Reference):
    """The cursors of a ledger as specified: every answer is that of a plain map of positions."""

    PROFILE = "ideal"

    UNEMBODIED: ClassVar[tuple[Rule, ...]] = (
        informative(
            "CC-01",
            "A container adds, updates and removes cursors, and tells the slowest position and ranks.",
            source="ActiveManagedCursorContainer",
            why="it describes the interface",
        ),
        informative(
            "CC-06",
            "The list is updated by updateCursor alone, which answers nothing.",
            source="ActiveManagedCursorContainerImpl",
            why="the kit calls nothing else, and expects no answer",
        ),
        informative(
            "CC-08",
            "The list keeps one counter for each position, and a move changes those that it passes.",
            source="ActiveManagedCursorContainerImpl",
            why="it says how ranks are kept; what they are is CC-02 and CC-03",
        ),
        law(
            "CC-P14",
            "Slowest position and ranks are those of a sorted list of positions.",
            source="properties of the containers",
            look="whatever orders the cursors",
        ),
        law(
            "CC-P15",
            "The slowest position never decreases while cursors only move forward and none is added.",
            source="properties of the containers",
            look="a cursor that was lost sight of, and comes up again",
        ),
        law(
            "CC-P16",
            "A tracked cursor's rank is at least 1, that of the last one the number of tracked cursors.",
            source="properties of the containers",
            look="counters that are not brought up to date",
        ),
        informative(
            "CC-16",
            "Costs grow no faster than the table says: by the logarithm, the distance, or the number of cursors.",
            source="the classes",
            why="costs are measured by `bench cursors`",
        ),
    )

    def __init__(self, config: Config) -> None:
        self.config = config
        self.now = config.clock
        self.objects: dict[str, int] = {}
        self.tracked: dict[str, Position] = {}
        self.durables: set[int] = set()
        self.added = 0
        self.removed = 0
        self.version = 0
        self.since = self.counted_from()
        self.residue = Residue()

    # ---- Adding

    @rule(
        "CC-04",
        "An add under a name that is there is an update: one cursor, its object as it was, at the new position.",
        source="ActiveManagedCursorContainerImpl",
        look="a second node, of which the first one can never be removed",
        absent=lambda m, name: False,
    )
    def is_update(self, name: str) -> bool:
        return name in self.objects

    @also(is_update, absent=lambda m, name: True, where_it_is_tracked=lambda m, name: name in m.tracked)
    def replaces_object(self, name: str) -> bool:
        return False

    def add(self, name: str, at: Position | None) -> None:
        """Add a new cursor object."""
        self.add_object(name, at, durable=False)

    def durable(self, name: str, at: Position | None) -> None:
        """Add a new object of a durable cursor."""
        self.add_object(name, at, durable=True)

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object; the objects are numbered as they come."""
        self.added += 1
        if durable:
            self.durables.add(self.added)
        self.version += self.version_step()
        if name in self.objects and self.is_update(name):
            if self.replaces_object(name):
                self.objects[name] = self.added
            self.place(name, at)
            return
        if name in self.tracked:
            self.residue.positions.append(self.tracked.pop(name))
        self.objects[name] = self.residue.objects.pop(name, self.added)
        if at is not None:
            self.tracked[name] = at
            self.residue.unseen.discard(name)

    def crowd(self, name: str, n: int, at: Position, step: int) -> None:
        """Add n cursors, each so many entries after the one before."""
        for i in range(n):
            self.add(f"{name}{i}", (at[0], at[1] + i * step))

    # ---- Updating

    @rule(
        "CC-05",
        "An update of a name that is not there changes nothing.",
        source="ActiveManagedCursorContainerImpl and the other containers",
        look="an update that adds",
        absent=lambda m, name: True,
    )
    def adds_unknown(self, name: str) -> bool:
        return False

    @also(adds_unknown, absent=lambda m: False)
    def tracks_late(self) -> bool:
        return True

    @rule(
        "CC-10",
        "A cursor is counted anew wherever it moves, also where it was the last one and stays it.",
        source="ActiveManagedCursorContainerImpl",
        look="the shortcut for a node that stays in its place at the end of the list",
        absent=lambda m: False,
    )
    def recounts_last(self) -> bool:
        return True

    @rule(
        "CC-14",
        "A cursor whose position was taken away is not ordered and not ranked, and is still there.",
        source="PR 26629",
        look="a position, a counter or links that a null leaves behind",
        absent=lambda m: False,
    )
    def forgets_position(self) -> bool:
        return True

    @also(forgets_position, absent=lambda m, name: True, while_it_was_tracked=lambda m, name: name in m.tracked)
    def removes_untracked(self, name: str) -> bool:
        return False

    def update(self, name: str, at: Position | None) -> None:
        """The position of a cursor changes; none: it is not known."""
        if name not in self.objects:
            self.version += self.unknown_step()
            if not self.adds_unknown(name):
                return
            self.objects[name] = 0
        if name not in self.tracked and not self.tracks_late():
            return
        if at is not None or name in self.tracked:
            self.version += self.update_step()
        self.place(name, at)

    def march(self, name: str, n: int, at: Position, step: int) -> None:
        """Update n cursors, each to so many entries after the one before."""
        for i in range(n):
            self.update(f"{name}{i}", (at[0], at[1] + i * step))

    def place(self, name: str, at: Position | None) -> None:
        """Give a cursor a position, or none."""
        if at is None:
            if self.removes_untracked(name):
                del self.objects[name]
            if self.forgets_position():
                self.tracked.pop(name, None)
        elif self.recounts_last() or not self.stays_last(name, at):
            self.tracked[name] = at
            self.residue.unseen.discard(name)

    def stays_last(self, name: str, at: Position) -> bool:
        """Whether a cursor is not before any of the others, neither now nor at another position."""
        others = [p for other, p in self.tracked.items() if other != name]
        return bool(others) and name in self.tracked and max(others) <= min(at, self.tracked[name])

    # ---- Removing

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

    @also(answers, absent=lambda m: False)
    def leaves_order(self) -> bool:
        return True

    @also(answers, absent=lambda m: False)
    def releases(self) -> bool:
        return True

    @rule(
        "CC-11",
        "A removal leaves the others in order: whatever takes the place of the cursor moves up as well as down.",
        source="ManagedCursorContainerImpl",
        look="the last item of a heap, swapped into the gap and sifted down only",
        absent=lambda m: False,
    )
    def mends(self) -> bool:
        return True

    def remove(self, name: str) -> bool:
        """Remove a cursor."""
        answer = self.answers(name)
        if name not in self.objects:
            return answer
        number = self.objects.pop(name)
        if not self.releases():
            self.residue.objects[name] = number
        self.take_out(name)
        self.removed += 1
        self.version += self.removal_step()
        if self.restarts():
            self.since = self.now
        return answer

    def take_out(self, name: str) -> None:
        """Take a cursor out of the order."""
        if self.leaves_order():
            self.tracked.pop(name, None)
        elif name in self.tracked:
            self.residue.positions.append(self.tracked.pop(name))
        self.residue.unseen.discard(name)
        if not self.mends():
            self.residue.unseen.update([*self.tracked][-1:])

    # ---- Questions

    @rule(
        "CC-02",
        "The slowest position is the least of all that are tracked, by ledger, then by entry, both signed.",
        source="ActiveManagedCursorContainer",
        look="the order of positions; a cursor that the order misses",
        absent=lambda m, positions: next(iter(positions), None),
        the_greatest=lambda m, positions: max(positions, default=None),
        unsigned=lambda m, positions: min(positions, default=None, key=lambda at: (at[0] & UNSIGNED, at[1] & UNSIGNED)),
        by_entry=lambda m, positions: min(positions, default=None, key=lambda at: (at[1], at[0])),
        by_ledger=lambda m, positions: min(positions, default=None, key=lambda at: at[0]),
        not_of_one_alone=lambda m, positions: min(positions) if len(positions) > 1 else None,
    )
    def first(self, positions: Collection[Position]) -> Position | None:
        return min(positions) if positions else None

    @also(
        first,
        absent=lambda m, name, at: len(m.tracked),
        strictly_before=lambda m, name, at: sum(other < at for other in m.tracked.values()),
        at_or_after=lambda m, name, at: sum(other >= at for other in m.tracked.values()),
        of_those_with_names=lambda m, name, at: sum(m.tracked[other] <= at for other in m.tracked if other <= name),
    )
    def rank(self, name: str, at: Position) -> int:
        rank = 0
        for other, position in self.tracked.items():
            if position < at or (position == at and self.shares(name, other)):
                rank += 1
        return rank + self.residue.up_to(at)

    @also(first, absent=lambda m: len(m.tracked))
    def size(self) -> int:
        """How many cursors there are, without position or with one."""
        return len(self.objects) + self.left_in_size()

    @also(answers, absent=lambda m: m.removed)
    def left_in_size(self) -> int:
        return 0

    @rule(
        "CC-03",
        "Cursors at one position share their rank: each counts all of them.",
        source="ActiveManagedCursorContainerTest",
        look="ties: those at the same position count, whatever their order",
        absent=lambda m, name, other: other <= name,
        in_order_of_adds=lambda m, name, other: [*m.tracked].index(other) <= [*m.tracked].index(name),
        none_of_the_others=lambda m, name, other: other == name,
    )
    def shares(self, name: str, other: str) -> bool:
        """Whether a cursor counts another one that is where it is."""
        return True

    @rule(
        "RC-04",
        "The expected reads of an entry that was read start at the reader's rank when the storage answers, itself "
        "included; 0 where it is not tracked.",
        source="PIP-430",
        look="the reader itself; readers that are not active, or have no position; positions of an earlier time",
        absent=lambda m, rank: rank - 1,
        one_more=lambda m, rank: rank + 1,
    )
    def start(self, rank: int) -> int:
        return rank

    @also(start, absent=lambda m, name: 1, of_untracked_as_of_the_last=lambda m, name: len(m.tracked))
    def start_untracked(self, name: str) -> int:
        return 0

    def count(self, name: str) -> int:
        """How many cursors are at the position of one, or before it: what the expected reads start at."""
        at = self.tracked.get(name)
        if at is None:
            return self.start_untracked(name)
        return self.start(self.rank(name, at))

    @rule(
        "CC-07",
        "What is answered does not depend on when anything else was asked.",
        source="ActiveManagedCursorContainerImpl, which queues changes until it is asked",
        look="changes that wait in a queue, and the order in which they are applied; answers that are kept",
        absent=lambda m: False,
    )
    def looks_anew(self) -> bool:
        return True

    def slowest(self) -> Position | None:
        """The slowest position; none if no cursor has one."""
        if not self.looks_anew():
            self.residue.slowest = self.residue.slowest or self.first(self.tracked.values())
            return self.residue.slowest
        return self.first(self.residue.seen(self.tracked))

    def get(self, name: str) -> int | None:
        """The object of a cursor, by its number."""
        return self.objects.get(name)

    @rule(
        "CC-15",
        "Going through the cursors meets each that was not removed once, without a position or with one.",
        source="ActiveManagedCursorContainerImpl",
        look="cursors without position; removed ones whose nodes are still there",
        absent=lambda m: sorted(m.objects[name] for name in m.tracked if name in m.objects),
        replaced_ones_too=lambda m: [*range(1, m.added + 1)],
    )
    def listed(self) -> list[int]:
        return sorted(self.objects.values())

    # ---- Caching of added entries

    @rule(
        "EC-58",
        "Added entries are cached while there is a cursor, and for less than the grace time after the start or a "
        "removal; there is no such time where reads are not counted.",
        source="PR 24656",
        look="equality: exactly the grace time later it is over; the time before the first cursor",
        absent=lambda m: bool(m.objects),
        at_the_grace_time_as_well=lambda m: (
            bool(m.objects) or (m.since is not None and m.now - m.since <= m.config.grace)
        ),
        in_grace_alone=lambda m: m.since is not None and m.now - m.since < m.config.grace,
        while_one_is_tracked=lambda m: bool(m.tracked) or (m.since is not None and m.now - m.since < m.config.grace),
        always=lambda m: True,
    )
    def caches(self) -> bool:
        """Whether an added entry is to be cached."""
        return bool(self.objects) or (self.since is not None and self.now - self.since < self.config.grace)

    @also(caches, absent=lambda m: None)
    def counted_from(self) -> int | None:
        return self.config.clock

    @also(caches, absent=lambda m: False)
    def restarts(self) -> bool:
        return True

    def advance(self, ms: int) -> None:
        """Time passes."""
        self.now += ms

    # ---- What only the container of all cursors has

    @rule(
        "CC-12",
        "The version grows by one with every add, removal, and update of a cursor that has or gets a position.",
        source="ManagedCursorContainerImpl",
        look="updates of names that are not there; updates to the same position, which count",
        absent=lambda m: 0,
    )
    def version_step(self) -> int:
        return 1

    @also(version_step, absent=lambda m: 0)
    def update_step(self) -> int:
        return 1

    @also(version_step, absent=lambda m: 1)
    def unknown_step(self) -> int:
        return 0

    @also(version_step, absent=lambda m: 0)
    def removal_step(self) -> int:
        return 1

    def oldest(self) -> Oldest | Allowed | None:
        """A cursor at the slowest position, by its object, with the position and the version; none if there is none."""
        at = self.slowest()
        if at is None:
            return None
        return self.any_of(
            [self.objects[name] for name, other in self.tracked.items() if other == at and name in self.objects], at
        )

    def any_of(self, tied: list[int], at: Position) -> Oldest | Allowed:
        """One of the cursors at the slowest position, whichever it is."""
        if len(tied) < 2:
            return (tied or [0])[0], at, self.version
        answers = [[number, [*at], self.version] for number in tied]
        return Allowed(
            permits=lambda got: got in answers,
            follow=lambda got: None,
            example=answers[0],
            says=f"one of the cursors {', '.join(map(str, sorted(tied)))}, {list(at)}, {self.version}",
        )

    @rule(
        "CC-13",
        "There are durable cursors while one of those that were added and not removed is durable.",
        source="ManagedCursorContainerImpl",
        look="a counter that a repeated add, or the removal of another kind, takes out of step",
        absent=lambda m: bool(m.objects),
        without_removals=lambda m: bool(m.durables),
        tracked_ones=lambda m: any(m.objects.get(name) in m.durables for name in m.tracked),
    )
    def has_durable(self) -> bool:
        """Whether there is a durable cursor."""
        return any(number in self.durables for number in self.objects.values())

    def seen(self) -> tuple[()]:
        """Nothing: a question may change a container, so each is an operation."""
        return ()
