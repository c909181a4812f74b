"""Numbers at their edges, which a walk sometimes draws instead of the generator's numbers.

A generator aims at what its contract is about. It does not aim at where numbers change their width, where structures
change with their size, and at the ends of what a broker accepts. So in some walks a few numbers, out of all that the
configuration and the operations take, come from there. These numbers and their bounds are read off the types of the
operations; a contract says by an :class:`Edge` what its rules name besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect, structs

from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import BULK, HANDLE, TIME, Operation

EDGED = 4
"""In one walk out of this number, some numbers are drawn at their edges."""
FIELDS = (1, 1, 2, 3)
"""How many numbers of its operations; of its configuration, one less."""
OFTEN = (1, 2, 4, 16)
"""Such a number is drawn at its edges once in how many times."""
VALUES = (1, 2, 3, 6)
"""From how many values a walk draws it."""
WIDTHS = weighted([((8, 16, 32, 63), 3), ((7, 15, 31, 53, 62), 2), ((*range(1, 64),), 3)])
"""The powers of two: those that are the widths of integers more often than others."""
SIZES = weighted([(100, 10), (1_100, 3), (4_100, 1)])
"""How large an operation in bulk gets at its edges: one of 4,096 costs as much as a walk."""
EARLY = 6
"""One walk out of this number starts near time 0, so that a 0 that stands for "never" looks like a moment ago."""
MOST_IN_BULK = 10_000
"""What the operations in bulk at their edges come to in a walk."""


class Edge(NamedTuple):
    """A contract's declaration for a number: its further edges, and the bounds within which it is drawn."""

    thresholds: tuple[int, ...] = ()
    """Where a rule changes its answer."""
    why: str = ""
    """Which rule, or why it is drawn within other bounds, or not at all."""
    low: int | None = None
    """The least that is drawn; None: the least that its type allows."""
    high: int | None = None
    """The most that is drawn; None: the most that its type allows."""
    left: bool = False
    """Whether it is left as the generator makes it."""


class Number(NamedTuple):
    """A number that an operation or a configuration takes."""

    record: str
    """The operation's tag, or ``config``."""
    field: str
    kind: str
    """What the field is marked as: ``time``, ``bulk`` …; empty: it is not."""
    low: int
    high: int
    edge: Edge

    @property
    def name(self) -> str:
        """As a contract names it: ``get.most``, ``config.tick``."""
        return f"{self.record}.{self.field}"


class Edges(NamedTuple):
    """What a contract says so that its numbers can be drawn at their edges."""

    numbers: Callable[[Any], Mapping[str, Edge]] = lambda capabilities: {}
    """By capabilities: what there is to say of numbers, by their names."""
    now: Callable[[Any], int] = lambda model: 0
    """The time of a model, from which times are counted."""
    may: Callable[[Any, Any, Any], bool] = lambda model, operation, capabilities: True
    """Whether an operation can be asked for, by model, operation and capabilities. If not, it stays as it was made."""
    may_start: Callable[[Any, Any], bool] = lambda config, capabilities: True
    """Whether a subject with some capabilities can be configured so."""


NOTHING_TO_SAY = Edges()
"""That numbers have the edges that all have."""


@cache
def integers(record: type[msgspec.Struct]) -> list[tuple[str, str, int, int]]:
    """The fields of a record that hold an integer with bounds: name, mark, least and largest."""
    found = []
    described: Any = inspect.type_info(record)
    for field in described.fields:
        kind, type_ = "", field.type
        if isinstance(type_, inspect.Metadata):
            kind, type_ = (type_.extra or {}).get("kind", ""), type_.type
        types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
        found += [
            (field.name, kind, int(t.ge), int(t.le))
            for t in types
            if isinstance(t, inspect.IntType) and t.ge is not None and t.le is not None
        ]
    return found


def numbers_of(record: type[msgspec.Struct], name: str, given: Mapping[str, Edge]) -> Iterator[Number]:
    """The numbers that a record takes, and what a contract says of them. Handles are names."""
    for field, kind, least, largest in integers(record):
        edge = given.get(f"{name}.{field}", Edge())
        low = least if edge.low is None else max(least, edge.low)
        high = largest if edge.high is None else min(largest, edge.high)
        if kind != HANDLE["kind"]:
            yield Number(name, field, kind, low, high, edge)


def value_beside(number: Number, choices: Choices, high: int) -> int:
    """A value at an edge of a number, or one beside it: a threshold, an end, or a power of two."""
    thresholds = [t for t in number.edge.thresholds if t - 1 <= high]
    kind = choices.below(8)
    if kind < 3 and thresholds:
        at = one_of(choices, thresholds)
    elif kind < 5:
        at = one_of(choices, (0, 0, 1, number.low, high))
    else:
        at = 2 ** one_of(choices, [k for k in one_of(choices, WIDTHS) if 2**k - 1 <= high] or [0])
        at = -at if number.low < -1 and choices.below(4) == 0 else at
    return min(max(at + choices.below(3) - 1, number.low), high)


class Drawn:
    """A number that a walk draws at its edges: how often, and from which values."""

    def __init__(self, number: Number, choices: Choices) -> None:
        self.number = number
        self.in_bulk = number.kind == BULK["kind"]
        high = min(number.high, one_of(choices, SIZES)) if self.in_bulk else number.high
        self.often = one_of(choices, OFTEN)
        self.values = [value_beside(number, choices, high) for _ in range(one_of(choices, VALUES))]
        self.from_now = number.kind == TIME["kind"] and choices.below(4) > 0

    def value(self, choices: Choices, now: int) -> int:
        """One of its values; of a time, mostly counted from now."""
        value = one_of(choices, self.values)
        return min(value + now, self.number.high) if self.from_now else value


class AtEdges:
    """The operations of a walk in which some numbers are drawn at their edges."""

    def __init__(
        self, edges: Edges, model: Any, choices: Choices, capabilities: Any, numbers: Sequence[Number]
    ) -> None:
        self.edges, self.model, self.choices, self.capabilities = edges, model, choices, capabilities
        self.drawn: dict[str, list[Drawn]] = {}
        for _ in range(one_of(choices, FIELDS)):
            number = one_of(choices, numbers)
            self.drawn.setdefault(number.record, []).append(Drawn(number, choices))
        self.left_in_bulk = MOST_IN_BULK

    def changed(self, made: Operation) -> Operation:
        """An operation as it was made, or with numbers of it at their edges."""
        if made.tag not in self.drawn:
            return made
        drawn = [d for d in self.drawn[made.tag] if self.choices.below(d.often) == 0]
        if not drawn:
            return made
        now = self.edges.now(self.model)
        changed = structs.replace(made, **{d.number.field: d.value(self.choices, now) for d in drawn})
        in_bulk = sum(getattr(changed, d.number.field) for d in drawn if d.in_bulk)
        if in_bulk > self.left_in_bulk or not self.edges.may(self.model, changed, self.capabilities):
            return made
        self.left_in_bulk -= in_bulk
        return changed

    def makes(self, make: Callable[[], Operation]) -> Callable[[], Operation]:
        """Makes an operation, with numbers at their edges now and then."""
        return lambda: self.changed(make())


def clock_at_start(choices: Choices, usual: Sequence[int], tick: int) -> int:
    """The time at which a walk starts: a usual one, or one within a tick of 0."""
    if choices.below(EARLY) == EARLY - 1:
        return one_of(choices, (0, 0, 1, tick // 2, max(tick - 1, 0), tick, tick + 1))
    return one_of(choices, usual)


def is_edged(choices: Choices) -> bool:
    """Whether a walk is one of those that draw numbers at their edges."""
    return choices.below(EDGED) == EDGED - 1


def edged_config(edges: Edges, config: Any, choices: Choices, capabilities: Any) -> Any:
    """A configuration as it was drawn, or with numbers of it at their edges."""
    given = edges.numbers(capabilities)
    numbers = [number for number in numbers_of(type(config), "config", given) if not number.edge.left]
    for _ in range(one_of(choices, FIELDS) - 1):
        drawn = Drawn(one_of(choices, numbers), choices)
        changed = structs.replace(config, **{drawn.number.field: drawn.value(choices, 0)})
        if edges.may_start(changed, capabilities):
            config = changed
    return config
