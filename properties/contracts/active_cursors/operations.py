"""What can be done to a container of active cursors, and with what it is configured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.operation import CLOCK, PLACE, POSITION, Bulk, Duration, Operation

Id = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Position = Annotated[tuple[Id, Id], Meta(description="a position, such as [0,5]")]
Place = Annotated[Position | None, Meta(extra=PLACE)]
Step = Annotated[int, Meta(ge=-65_536, le=65_536)]
Within = Annotated[int, Meta(ge=0, le=2**40)]
Name = Annotated[
    str, Meta(pattern="^[^\\s;]{1,64}$", description="a word of 1 to 64 characters, no semicolon", extra=POSITION)
]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace."""

    clock: Annotated[int, Meta(ge=0, le=2**53, extra=CLOCK)] = 1_700_000_000_000
    """The time at the start, in milliseconds."""
    grace: Annotated[int, Meta(ge=-(2**31), le=2**53)] = 2_000
    """How long added entries are cached after the last cursor has gone, in milliseconds; 0 or less: not at all."""


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    ranks: bool = True
    """It counts the cursors at a position or before."""
    grace: bool = True
    """It goes on caching for a while after the last cursor has gone."""
    versions: bool = True
    """It tells which cursor has the oldest position, with a version."""
    durables: bool = True
    """It tells whether there are durable cursors."""
    null_updates: bool = True
    """The position of a cursor that is there can be taken away, by an update or by an add under its name. Without this,
    a cursor may still be added that has no position yet."""


class Add(Operation, frozen=True, tag="add"):
    """Add a new cursor, which is not durable, with or without a position (``add``); no result."""

    name: Name
    at: Place


class Durable(Operation, frozen=True, tag="durable"):
    """Add a new cursor, which is durable, with or without a position (``add``); no result."""

    needs = "durables"

    name: Name
    at: Place


class Update(Operation, frozen=True, tag="update"):
    """Move a cursor; without a position it is not tracked any more (``update_cursor``); no result."""

    name: Name
    at: Place


class Remove(Operation, frozen=True, tag="remove"):
    """Remove a cursor (``remove_cursor``); result: whether the name was there.

    With ``n`` it is the cursors ``name0``, ``name1`` … that are removed, so many; result: how many were there.
    """

    name: Name
    n: Bulk = 0

    def names(self) -> list[str]:
        """The name of each cursor that is removed."""
        return [f"{self.name}{i}" for i in range(self.n)] or [self.name]

    def on(self, to: Any) -> Any:
        return [to.remove(name) for name in self.names()].count(True) if self.n else to.remove(self.name)


class Crowd(Operation, frozen=True, tag="crowd"):
    """Add n cursors ``name0``, ``name1`` …, each ``step`` entries after the one before (``add``); no result.

    Below 0 each is before. With ``within`` so many entries they begin again at the first, and mix. They may be durable.
    """

    name: Name
    n: Bulk
    at: Position
    step: Step
    within: Within = 0
    durable: bool = False

    def each(self) -> Iterator[tuple[str, Position]]:
        """Each cursor's name, and where it is added."""
        return each(self, self.n)

    def on(self, to: Any) -> Any:
        add, durable = to.add_object, self.durable
        for name, at in self.each():
            add(name, at, durable)


class March(Operation, frozen=True, tag="march"):
    """Move n cursors ``name0``, ``name1`` …, to ``step`` entries after each other (``update_cursor``); no result.

    ``within`` is as of :class:`Crowd`. With ``among`` so many cursors the first moves again, until there were n moves.
    """

    name: Name
    n: Bulk
    at: Position
    step: Step
    within: Within = 0
    among: Annotated[int, Meta(ge=0, le=1_000_000)] = 0

    def each(self) -> Iterator[tuple[str, Position]]:
        """The name of each cursor that moves, and where to."""
        return each(self, self.among or self.n)

    def on(self, to: Any) -> Any:
        update = to.update
        for name, at in self.each():
            update(name, at)


def each(many: Crowd | March, among: int) -> Iterator[tuple[str, Position]]:
    """The name and the position of each of many cursors; after so many the names come again."""
    ledger, entry = many.at
    for i in range(many.n):
        yield (
            f"{many.name}{i % among}",
            (ledger, entry + (i * many.step % many.within if many.within else i * many.step)),
        )


class Slowest(Operation, frozen=True, tag="slowest"):
    """Ask for the slowest position (``get_slowest_cursor_position``); result: the position, or null."""


class Count(Operation, frozen=True, tag="count"):
    """Count the cursors that are where this one is, or before; result: the number, 0 without a position."""

    unit = "cursors"

    needs = "ranks"

    name: Name


class Size(Operation, frozen=True, tag="size"):
    """Ask how many cursors there are, those without position included (``size``); result: the number."""

    unit = "cursors"


class Get(Operation, frozen=True, tag="get"):
    """Look a cursor up (``get``); result: the number of the object, counted by adds from 1, or null."""

    name: Name


class Listed(Operation, frozen=True, tag="list"):
    """Go through the container; result: the numbers of all its cursor objects, sorted."""


class Caches(Operation, frozen=True, tag="caches"):
    """Ask whether an added entry is to be cached (``should_cache_added_entry``); result: yes or no."""

    needs = "grace"


class Oldest(Operation, frozen=True, tag="oldest"):
    """Ask for the cursor with the oldest position; result: ``[object, position, version]``, or null for none."""

    needs = "versions"


class HasDurable(Operation, frozen=True, tag="durables"):
    """Ask whether there are durable cursors (``has_durable_cursors``); result: yes or no."""

    needs = "durables"


class Advance(Operation, frozen=True, tag="adv"):
    """Time passes; no result."""

    ms: Duration


class StillThere(Operation, frozen=True, tag="still_there"):
    """Ask which of some cursor objects, each a number and a name, are still there; result: their names."""

    traced = False

    cursors: tuple[tuple[int, str], ...]


AnyOperation = (
    Add
    | Durable
    | Update
    | Remove
    | Crowd
    | March
    | Slowest
    | Count
    | Size
    | Get
    | Listed
    | Caches
    | Oldest
    | HasDurable
    | Advance
)
QUESTIONS = Slowest | Count | Size | Get | Listed | Caches | Oldest | HasDurable
"""Operations that change nothing that can be seen."""
