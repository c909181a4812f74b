"""The whole lives of cursors: opened at the earliest or at the latest position, marked forward, and deleted.

That is all that subscriptions do to the container of a topic. There is one ledger, and its entries are not operations:
whatever a cursor is ahead of has been sent. The earliest position is the one before the first entry; the latest is one
that no cursor has been ahead of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from string import ascii_lowercase
from typing import Any

from broker_tck.model.active_cursors.specification import ActiveCursors, Position
from broker_tck.properties.contracts.active_cursors.operations import (
    QUESTIONS,
    Add,
    Advance,
    Caches,
    Capabilities,
    Count,
    Durable,
    Get,
    HasDurable,
    Listed,
    Oldest,
    Remove,
    Size,
    Slowest,
    Update,
)
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.contract import Maker, Workload
from broker_tck.properties.engine.operation import Operation, able

LEDGER = 0
EARLIEST = (LEDGER, -1)
ONLY = (LEDGER, 0)
"""The only entry of the shortest topic."""
OPENING = Add | Durable
FEW = 8
"""Maximum number of cursors of which all ways to open them are tried."""
POOLS = (4, 6, 6, 7, 8, 12)
"""How many names a walk has."""
SENT = (1, 2, 5, 35)
"""How many entries are sent at a time, at most."""
LATE = (2, 2, 4, 1)
"""One cursor in this number is opened at the latest position."""
SLOW = (2, 3, 4)
"""One cursor in this number stands still most of the time."""


class Topic:
    """The cursors that are open, and how far the topic goes, as the operations of a trace tell it."""

    def __init__(self) -> None:
        self.open: dict[str, Position] = {}
        self.latest = EARLIEST

    def take(self, operation: Operation) -> bool:
        """Whether an operation belongs to the life of a cursor; if it does, it is noted."""
        if isinstance(operation, Remove):
            return not operation.n and self.open.pop(operation.name, None) is not None
        if not isinstance(operation, OPENING | Update):
            return isinstance(operation, QUESTIONS | Advance)
        at, own = operation.at, self.open.get(operation.name)
        if at is None or not (self.opens(own, at) if isinstance(operation, OPENING) else self.goes_on(own, at)):
            return False
        self.open[operation.name] = at
        self.latest = max(self.latest, at)
        return True

    def opens(self, own: Position | None, at: Position) -> bool:
        """Whether a cursor may be opened at a position, given its own."""
        return own is None and (at == EARLIEST or at >= self.latest)

    def goes_on(self, own: Position | None, at: Position) -> bool:
        """Whether a cursor may be marked up to a position, given its own."""
        return own is not None and own < at


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Of each operation, whether it belongs to a whole life, and a subject can be asked for it."""
    topic = Topic()
    for operation in operations:
        yield able(operation, capabilities) and topic.take(operation)


class Subscriptions:
    """What a walk does next: cursors are opened, catch up or stand still, and are deleted."""

    def __init__(self, model: ActiveCursors, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        self.names = [*ascii_lowercase[: one_of(choices, POOLS)]]
        self.topic = Topic()
        self.end = choices.below(2) * one_of(choices, SENT) - 1
        """The last entry that was sent."""
        self.sent = one_of(choices, SENT)
        self.late = one_of(choices, LATE)
        self.slow = one_of(choices, SLOW)
        self.standing: set[str] = set()
        grace = model.config.grace
        self.steps = [0, 1, *(max(0, grace + by) for by in (-1, 0, 1))]

    def opened(self, kind: type[Add | Durable]) -> Operation:
        """A cursor opened; if all names are in use, one is marked instead."""
        self.forget()
        names = [name for name in self.names if name not in self.topic.open]
        if not names:
            return self.mark()
        name = names[self.below(len(names))]
        if self.below(self.slow) == 0:
            self.standing.add(name)
        else:
            self.standing.discard(name)
        return self.done(kind(name, self.latest() if self.below(self.late) == 0 else EARLIEST))

    def forget(self) -> None:
        """Forget the open cursors if all were deleted."""
        if self.topic.open and not self.model.objects:
            self.topic.open.clear()

    def mark(self) -> Operation:
        """A cursor marked: up to the end, a little ahead, or up to the position of another one."""
        self.forget()
        there = [*self.topic.open]
        if not there:
            return self.opened(Add)
        name = there[self.below(len(there))]
        if name in self.standing and self.below(8):
            name = there[self.below(len(there))]
        own = self.topic.open[name][1]
        if own >= self.end:
            self.end = own + 1 + self.below(self.sent)
        where = self.below(4)
        to = self.end
        if where == 0:
            to = own + 1 + self.below(min(3, self.end - own))
        elif where == 1:
            to = self.topic.open[there[self.below(len(there))]][1]
        return self.done(Update(name, (LEDGER, to if to > own else self.end)))

    def deleted(self) -> Operation:
        """A cursor deleted."""
        self.forget()
        there = [*self.topic.open]
        return self.done(Remove(there[self.below(len(there))])) if there else self.opened(Add)

    def latest(self) -> Position:
        """The last entry, of which some may have been sent just now."""
        if self.below(4) == 0:
            self.end += self.below(self.sent + 1)
        return LEDGER, self.end

    def done(self, operation: Operation) -> Operation:
        """Note what an operation does."""
        self.topic.take(operation)
        return operation

    def name(self) -> str:
        """Any name."""
        name: str = self.names[self.below(len(self.names))]
        return name


def makers(model: ActiveCursors, choices: Choices, _capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations of a whole life."""
    cursors = Subscriptions(model, choices)
    return [
        Maker("add", (40, 80), lambda: cursors.opened(Add)),
        Maker("update", (40, 80, 160), cursors.mark),
        Maker("remove", (5, 10, 30, 60), cursors.deleted),
        Maker("slowest", (20, 60, 160), Slowest),
        Maker("size", (0, 2, 5), Size),
        Maker("get", (0, 5, 15), lambda: Get(cursors.name())),
        Maker("list", (0, 1, 3), Listed),
        Maker("adv", (0, 2, 10), lambda: Advance(one_of(choices, cursors.steps))),
        Maker("caches", (0, 2, 10), Caches),
        Maker("count", (10, 30, 80), lambda: Count(cursors.name())),
        Maker("oldest", (0, 3, 10), Oldest),
        Maker("durable", (0, 5, 20), lambda: cursors.opened(Durable)),
        Maker("durables", (0, 3, 10), HasDurable),
    ]


def rewrites(operations: Sequence[Any]) -> Iterator[list[Operation]]:
    """Shorter lives: without a cursor, begun where some have come to, and with a topic of one entry."""
    for name in dict.fromkeys(name for o in operations if (name := getattr(o, "name", None))):
        yield [o for o in operations if getattr(o, "name", None) != name]
    for i, operation in enumerate(operations):
        if isinstance(operation, OPENING):
            yield [*operations[:i], *without(operation.name, operations[i + 1 :])]
    for i in range(len(operations) - 1, 1, -1):
        if len(begun := opened_at(operations[:i])) < i:
            yield [*begun, *operations[i:]]
    for i in range(len(operations) - 1, -1, -1):
        begun = opened_at(operations[:i])
        for k in range(max(1, len(begun))):
            yield from at_either_end([*begun[k:], *begun[:k], *once(operations[i:])], len(operations))


def without(name: str, operations: Sequence[Operation]) -> list[Operation]:
    """The operations without those of one name, up to its deletion."""
    deleted = (i for i, o in enumerate(operations, 1) if isinstance(o, Remove) and o.name == name)
    end = next(deleted, len(operations))
    return [o for o in operations[:end] if getattr(o, "name", None) != name] + [*operations[end:]]


def opened_at(operations: Sequence[Operation]) -> list[Operation]:
    """The cursors that are open after some operations, opened at once: at the start, or at the end of the topic."""
    topic = Topic()
    for operation in operations:
        topic.take(operation)
    return [Add(name, at if at == EARLIEST else topic.latest) for name, at in topic.open.items()]


def once(operations: Sequence[Operation]) -> list[Operation]:
    """The operations with one mark of each cursor alone, its last, which is the only entry."""
    rest: list[Operation] = []
    marked: set[str] = set()
    for operation in reversed(operations):
        if not isinstance(operation, Update):
            rest.append(operation)
        elif operation.name not in marked:
            rest.append(Update(operation.name, ONLY))
            marked.add(operation.name)
        if isinstance(operation, OPENING):
            marked.discard(operation.name)
    return rest[::-1]


def at_either_end(life: Sequence[Any], most: int) -> Iterator[list[Operation]]:
    """A short life with its cursors opened in all ways at the start or at the only entry."""
    openings = [i for i, o in enumerate(life) if isinstance(o, OPENING)]
    if len(life) < most and len(openings) <= FEW:
        for ends in product((EARLIEST, ONLY), repeat=len(openings)):
            at = dict(zip(openings, ends, strict=True))
            yield [Add(o.name, at[i]) if i in at else o for i, o in enumerate(life)]


WHOLE = Workload(
    name="whole",
    sentence="Cursors are opened at the earliest or at the latest position, marked forward, and deleted.",
    makers=makers,
    asks=asks,
    rewrites=rewrites,
    beyond=frozenset({"CC-04", "CC-05", "CC-14", "CC-15"}),
)
