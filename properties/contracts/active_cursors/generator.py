"""What a walk does next: cursors with few names at few positions, so that they meet, pass each other and are the last.

Moves go where containers differ: onto another cursor, past it, ahead of the last one, back, from the slowest position
on. The generator keeps its own record of where it has sent whom.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.active_cursors.specification import ActiveCursors, Position
from broker_tck.properties.contracts.active_cursors.edges import CROWDED, left
from broker_tck.properties.contracts.active_cursors.operations import (
    Add,
    Advance,
    AnyOperation,
    Caches,
    Capabilities,
    Config,
    Count,
    Crowd,
    Durable,
    Get,
    HasDurable,
    Listed,
    March,
    Oldest,
    Remove,
    Size,
    Slowest,
    Update,
)
from broker_tck.properties.contracts.active_cursors.places import HIGHEST, names, positions
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.sizes import Sizes

GRACES = (2_000, 2_000, 1_000, 1, 20_000, 0, -1)
BUDGETS = weighted([(64, 40), (129, 60), (513, 24), (1_025, 20), (4_097, 1)])
"""Number of cursors and moves in all operations in bulk of a walk: each question may look at each cursor."""
CLOCKS = (1_700_000_000_000, 1_700_000_000_000, 0, 2**41)
STEPS = (0, 0, 1, 3, 1, -1, 7)
"""How far apart the positions of many cursors are."""
WITHIN = (0, 0, 0, 5, 12, 40)
"""Within how many entries they are mixed; 0: they are in order."""
LEAVING = 8
"""If there are crowds, one removal in this number removes a crowd, or a part of one."""
MOST_AMONG = 64
MOST_DRAINED = 14
LAST = 3
"""One move in sixteen takes a position away, if the walk does that; those below this are of the last cursor."""
SLOWEST = (4, 8, 14, 14)
"""Those below one of these are of the slowest cursor."""


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk."""
    grace, clock = one_of(choices, GRACES), one_of(choices, CLOCKS)
    return Config(clock, grace if capabilities.grace else 0)


def makers(model: ActiveCursors, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    cursors = Cursors(model, choices, capabilities)
    return [
        Maker("add", (20, 40, 60), cursors.add),
        Maker("update", (40, 80, 160), cursors.update),
        Maker("remove", (0, 10, 30, 60), cursors.remove),
        Maker("crowd", (0,) * 9 + (1,), cursors.crowd),
        Maker("march", (0, 1, 6), cursors.march),
        Maker("slowest", (20, 60, 160), Slowest),
        Maker("size", (0, 2, 5), Size),
        Maker("get", (0, 5, 15), cursors.get),
        Maker("list", (0, 1, 3), Listed),
        Maker("caches", (0, 2, 10), Caches),
        Maker("adv", (0, 2, 10), cursors.advance),
        Maker("count", (10, 30, 80), cursors.count),
        Maker("oldest", (0, 3, 10), Oldest),
        Maker("durable", (0, 5, 20), cursors.durable),
        Maker("durables", (0, 3, 10), HasDurable),
    ]


class Cursors:
    """Names and positions of one walk."""

    def __init__(self, model: ActiveCursors, choices: Choices, capabilities: Capabilities) -> None:
        self.nulls, self.durables = capabilities.null_updates, capabilities.durables
        self.model = model
        self.choices, self.below = choices, choices.below
        self.pool = positions(choices)
        self.names = names(choices)
        self.at: dict[str, Position] = {}
        """The last position of each cursor that has one."""
        self.crowds: list[Crowd] = []
        self.sizes = Sizes(choices, CROWDED, BUDGETS)
        self.takes_away = choices.below(8) == 0 and self.nulls
        self.adds_again = choices.below(6) == 0
        """Whether updates take positions away, and whether names are added that are there: neither is what a broker
        does every day, and after either some containers do nothing more that is right."""
        self.there: dict[str, None] = {}
        self.placed = one_of(choices, (12, 12, 12, 2))
        """One cursor in this number is added without position."""
        self.slowest = one_of(choices, SLOWEST)
        self.tails = choices.below(2) == 0
        """Whether the slowest cursor becomes the last one when it moves."""
        grace = model.config.grace
        self.steps = [0, 1, *(max(0, grace + by) for by in (-1, 0, 0, 1)), max(0, grace // 2)]

    def forget(self) -> None:
        """Forget the cursors that were there if all were removed."""
        if self.there and not self.model.objects:
            for record in (self.at, self.there, self.crowds):
                record.clear()

    def name(self, of_crowd: int = 4) -> str:
        """A name; if there are crowds, one name in ``of_crowd`` is that of a cursor in a crowd."""
        if self.crowds and self.below(of_crowd) == 0:
            crowd = self.crowds[self.below(len(self.crowds))]
            return f"{crowd.name}{self.below(crowd.n + 1)}"
        name: str = self.names[self.below(len(self.names))]
        return name

    def position(self) -> Position:
        """A position out of the pool."""
        return self.pool[self.below(len(self.pool))]

    def ahead(self, of: Position) -> Position:
        """A position a little ahead of another."""
        return of[0], min(of[1] + self.below(3), HIGHEST)

    def add(self) -> Add | Update:
        """A cursor added, most often with a position; if all are there, one moves instead."""
        name = self.new_name()
        return Add(name, self.first_place(name)) if name else self.update()

    def durable(self) -> Durable | Update:
        """A durable cursor added, likewise."""
        name = self.new_name()
        return Durable(name, self.first_place(name)) if name else self.update()

    def new_name(self) -> str:
        """A name to add; empty if all are there, and the walk adds none again."""
        self.forget()
        name = self.name()
        if self.adds_again or name not in self.there:
            return name
        return next((other for other in self.names if other not in self.there), "")

    def first_place(self, name: str) -> Position | None:
        """The position at which a cursor is added."""
        unplaced = self.below(self.placed) == 0 and (self.nulls or name not in self.there)
        self.there[name] = None
        return self.sent(name, None if unplaced else self.position())

    def update(self) -> Update:
        """A move: anywhere, onto or past another cursor, ahead, or of the last or the slowest; rarely to nowhere."""
        self.forget()
        kind, at = self.below(16), self.at
        if kind == 0 or not at:
            name = self.name()
            return Update(name, self.sent(name, None if kind == 0 and self.takes_away else self.position()))
        if kind < LAST:
            name = max(at, key=at.__getitem__)
        elif kind < self.slowest:
            name = min(at, key=at.__getitem__)
        else:
            name = self.name()
        where = self.below(4)
        if self.tails and LAST <= kind < self.slowest:
            to = self.ahead(max(at.values()))
        elif where < 2 or name not in at:
            to = self.position()
        elif where == 2:
            to = self.ahead(at[name])
        else:
            to = self.ahead(at.get(self.names[self.below(len(self.names))], at[name]))
        at[name] = to
        return Update(name, to)

    def sent(self, name: str, to: Position | None) -> Position | None:
        """Note the new position of a cursor."""
        if to is None:
            self.at.pop(name, None)
        else:
            self.at[name] = to
        return to

    def remove(self) -> Remove:
        """A cursor removed, or many at once."""
        self.forget()
        if self.crowds and self.below(LEAVING) == 0:
            return self.leave(self.below(len(self.crowds)))
        name = self.name()
        self.at.pop(name, None)
        self.there.pop(name, None)
        return Remove(name)

    def leave(self, i: int) -> Remove:
        """A crowd removed, and its name is free again; or a part of it."""
        crowd = self.crowds[i]
        n = self.below(crowd.n + 1)
        if self.below(2):
            n = crowd.n
            del self.crowds[i]
        removal = Remove(crowd.name, n)
        for name in removal.names():
            self.at.pop(name, None)
            self.there.pop(name, None)
        return removal

    def count(self) -> Count:
        """A rank asked for; if there are crowds, now and then that of the last cursor."""
        self.forget()
        there = self.model.order.positions
        if self.crowds and there and self.below(4) == 0:
            return Count(max(there, key=there.__getitem__).name)
        return Count(self.name(of_crowd=2))

    def get(self) -> Get:
        """A cursor asked for."""
        self.forget()
        return Get(self.name())

    def crowd(self) -> Crowd | Update:
        """Many cursors."""
        self.forget()
        name = self.names[self.below(len(self.names))]
        name = name if name.isalpha() else f"{name}_"
        if not self.adds_again and any(crowd.name == name for crowd in self.crowds):
            return self.update()
        n = self.sizes.next()
        if self.below(4) == 0:
            n = max(n - len(self.model.order.positions), 0)
        at, step, within = self.spread()
        crowd = Crowd(name, n, at, step, within, self.durables and self.below(4) == 0)
        self.crowds.append(crowd)
        self.there.update((f"{name}{i}", None) for i in range(n))
        return crowd

    def spread(self) -> tuple[Position, int, int]:
        """The positions of many cursors: the first one, how far apart, and within how many entries."""
        ledger, entry = self.position()
        at = ledger, max(-(2**62), min(entry, 2**62))
        return at, STEPS[self.below(len(STEPS))], WITHIN[self.below(len(WITHIN))]

    def march(self) -> March | Update:
        """A whole crowd moved, or as many of it as there are of another."""
        self.forget()
        if not self.crowds:
            return self.update()
        crowd = self.crowds[self.below(len(self.crowds))]
        if self.below(4) == 0:
            return March(
                crowd.name, self.sizes.next(), *self.spread(), 1 + self.below(max(1, min(crowd.n, MOST_AMONG)))
            )
        n = crowd.n if self.below(2) else self.below(crowd.n + 1)
        return March(crowd.name, n, *self.spread())

    def advance(self) -> Advance:
        """A step of time."""
        return Advance(min(self.steps[self.below(len(self.steps))], left(self.model)))


def drain(model: ActiveCursors, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: some cursors are asked for and removed one after the other, and time passes."""
    names = [*model.objects][:MOST_DRAINED]
    yield from (Slowest(), Size(), Listed(), Oldest())
    for name in names:
        yield Count(name)
        yield Get(name)
    while names:
        if len(names) == 1 and choices.below(2):  # the grace time is that of the last one, wherever it is
            yield Advance(min(1 + choices.below(max(1, model.config.grace)), left(model)))
        yield Remove(names.pop(choices.below(len(names))))
        yield Slowest()
        if names:
            yield Count(names[0])
    yield Listed()
    if capabilities.grace:
        yield from (Caches(), Advance(min(1, left(model))), Caches())
        yield from (Advance(min(max(0, model.config.grace - 1), left(model))), Caches())
