"""The figures of a campaign, summed and put into columns of rounds by Arrow: no loop is over the rows of the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from broker_tck.properties.engine.run import residual

LaneKey = tuple[str, str]
"""A subject and its profile."""
TELLING = 10
"""In fewer rounds than this, the last tenth of the operations says nothing; in fewer shards, nor does a speed."""
FEW = 30
"""With fewer counted walks a lane is small. So many meet, with 95 % certainty, any rule that one walk in ten meets."""
MAX_CELLS = 720
"""The cells in one row of the heat maps of all lanes together."""
LEAST_COLUMNS, MOST_COLUMNS = 12, 60


@dataclass(frozen=True)
class Curve:
    """States over operations, both summed up to the end of each column of rounds, from nothing on."""

    operations: Sequence[int]
    states: Sequence[int]
    last: float | None
    """The share of the states that the last tenth of the operations added; None: too few rounds to tell."""


@dataclass(frozen=True)
class LaneFigures:
    """What was counted of one lane."""

    lane: LaneKey
    walks: int
    operations: int
    counted: int
    failing: int
    milliseconds: int
    met: Mapping[str, int]
    """In how many counted walks the condition of each rule was met."""
    curve: Curve

    @property
    def states(self) -> int:
        """All states that were reached."""
        return self.curve.states[-1]

    @property
    def speed(self) -> float:
        """Operations a second of one shard."""
        return rate(self.operations, self.milliseconds)

    @property
    def residual(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail in another way than was seen."""
        return residual(self.walks - self.failing)

    @property
    def small(self) -> bool:
        """Whether so few walks were counted that a rule which none met may just have been missed."""
        return self.counted < FEW


@dataclass(frozen=True)
class Machine:
    """What one machine did."""

    host: str
    shards: int
    operations: int
    milliseconds: int
    """How long its shards took, one after the other."""
    share: float
    """Of the operations of all machines."""
    speeds: Sequence[float]
    """Operations a second by the clock, by column of rounds."""

    @property
    def speed(self) -> float:
        """Operations a second of one of its shards."""
        return rate(self.operations, self.milliseconds)


@dataclass(frozen=True)
class Unfinished:
    """A shard that no machine finished."""

    round: int
    which: str
    why: str


class Figures:
    """The table of a campaign's figures, its rounds in as many columns as so many lanes leave room for."""

    def __init__(self, table: Any, lanes: int) -> None:
        span = pc.min_max(table["round"]).as_py()
        self.first, self.rounds = (0, 0) if span["min"] is None else (span["min"], span["max"] - span["min"] + 1)
        columns = max(LEAST_COLUMNS, min(MOST_COLUMNS, MAX_CELLS // max(lanes, 1)))
        self.columns = min(columns, self.rounds)
        since = pc.subtract(pc.cast(table["round"], pa.int64()), self.first)
        column = pc.divide(pc.multiply(since, self.columns), max(self.rounds, 1))
        self.table = table.append_column("column", column)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The first and the last round of each column."""
        edges = [self.first - (-column * self.rounds // max(self.columns, 1)) for column in range(self.columns + 1)]
        return [(low, high - 1) for low, high in pairwise(edges)]

    def sums(self, kind: str, *by: str) -> dict[tuple[Any, ...], int]:
        """The counts of a kind, summed up by the columns of the table that are named, in their order."""
        rows = self.table.filter(pc.equal(self.table["kind"], kind))
        sums = rows.group_by(list(by)).aggregate([("count", "sum")]).sort_by([(name, "ascending") for name in by])
        keys = zip(*(sums[name].to_pylist() for name in by), strict=True)
        return dict(zip(keys, sums["count_sum"].to_pylist(), strict=True))

    def lanes(self, declared: Iterable[LaneKey]) -> list[LaneFigures]:
        """The figures of each lane: first the declared ones, in their order, then what else there is."""
        figures = self.sums("figure", "subject", "profile", "name")
        met = self.sums("rule_walks", "subject", "profile", "name")
        operations, states = (self.sums(kind, "subject", "profile", "name", "column") for kind in ("figure", "states"))
        lanes = []
        for lane in dict.fromkeys([*declared, *(key[:2] for key in figures)]):
            names = ("walks", "operations", "counted", "failing", "milliseconds")
            own = {name: figures.get((*lane, name), 0) for name in names}
            rules = {rule: count for (*key, rule), count in met.items() if tuple(key) == lane}
            curve = self.curve(self.by_column(operations, *lane, "operations"), self.by_column(states, *lane, ""))
            lanes.append(LaneFigures(lane, **own, met=rules, curve=curve))
        return lanes

    def curve(self, operations: Sequence[int], states: Sequence[int]) -> Curve:
        """How states grew with operations; both are by column."""
        done, found = [0, *accumulate(operations)], [0, *accumulate(states)]
        return Curve(done, found, late_share(done, found) if self.rounds >= TELLING else None)

    def by_column(self, sums: Mapping[tuple[Any, ...], int], *key: str) -> list[int]:
        """The sums of one key, by column."""
        return [sums.get((*key, column), 0) for column in range(self.columns)]

    def heat(self) -> dict[tuple[LaneKey, str], list[float | None]]:
        """The share of counted walks that met each rule, by column; None: no walk was counted."""
        counted = self.sums("figure", "subject", "profile", "name", "column")
        met = self.sums("rule_walks", "subject", "profile", "name", "column")
        rows = {}
        for lane, rule in dict.fromkeys((key[:2], key[2]) for key in met):
            pairs = zip(self.by_column(met, *lane, rule), self.by_column(counted, *lane, "counted"), strict=True)
            rows[lane, rule] = [count / of if of else None for count, of in pairs]
        return rows

    @cached_property
    def milliseconds(self) -> list[int]:
        """How long the rounds took by the clock, by column."""
        return self.by_column(self.sums("round", "name", "column"), "milliseconds")

    def speeds(self) -> list[float]:
        """Operations a second by the clock, by column."""
        operations = self.by_column(self.sums("figure", "name", "column"), "operations")
        return [*map(rate, operations, self.milliseconds)]

    def machines(self) -> list[Machine]:
        """What each machine did, the one that did most first."""
        sums, columns = self.sums("machine", "key", "name"), self.sums("machine", "key", "name", "column")
        whole = sum(count for (_, name), count in sums.items() if name == "operations")
        machines = []
        for host in dict.fromkeys(host for host, _ in sums):
            own = {name: sums.get((host, name), 0) for name in ("shards", "operations", "milliseconds")}
            speeds = map(rate, self.by_column(columns, host, "operations"), self.milliseconds)
            share = own["operations"] / whole if whole else 0.0
            machines.append(Machine(host, **own, share=share, speeds=[*speeds]))
        return sorted(machines, key=lambda machine: -machine.operations)

    def unfinished(self) -> list[Unfinished]:
        """The shards that no machine finished."""
        return [Unfinished(*key) for key in self.sums("unfinished", "round", "key", "name")]


def rate(operations: int, milliseconds: int) -> float:
    """Operations a second; 0 if there was no time."""
    return operations / milliseconds * 1000 if milliseconds else 0.0


def late_share(operations: Sequence[int], states: Sequence[int]) -> float | None:
    """The share of the states that the last tenth of the operations added; both are sums that begin with 0."""
    if not states[-1]:
        return None
    edge = operations[-1] * 0.9
    after = next(i for i, done in enumerate(operations) if done >= edge)
    before, found = (operations[after - 1], states[after - 1]) if after else (0, 0)
    part = (edge - before) / (operations[after] - before) if after else 0.0
    return 1 - (found + part * (states[after] - found)) / states[-1]
