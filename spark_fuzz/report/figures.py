"""The figures of a campaign, summed and put into columns of rounds by Arrow: no loop is over the rows of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from broker_tck.spark_fuzz.store.rows import PAIR

TELLING = 10
"""In fewer rounds than this, the last tenth of the operations says nothing; in fewer shards, nor does a speed."""
MAX_CELLS = 720
"""The cells in one row of the heat maps of all pairs together."""
LEAST_COLUMNS, MOST_COLUMNS = 12, 60


class Curve(NamedTuple):
    """States over operations, both summed up to the end of each column of rounds, from nothing on."""

    operations: Sequence[int]
    states: Sequence[int]
    last: float | None
    """The share of the states that the last tenth of the operations added; None: too few rounds to tell."""


@dataclass(frozen=True)
class Machine:
    """The work of one machine."""

    host: str
    shards: int
    operations: int
    milliseconds: int
    """How long its shards took, one after the other."""
    speeds: Sequence[float]
    """Operations a second by the clock, by column of rounds."""

    @property
    def speed(self) -> float:
        """Operations a second of one of its shards."""
        return rate(self.operations, self.milliseconds)


class Figures:
    """The table of a campaign's figures. Its rounds are in columns; with more pairs, there are fewer columns.

    ``steps`` is what speed is measured in: operations, or schedules.
    """

    def __init__(self, table: Any, pairs: int, steps: str = "operations") -> None:
        self.steps = steps
        span = pc.min_max(table["round"]).as_py()
        self.first: int = span["min"] or 0
        self.rounds: int = 0 if span["max"] is None else span["max"] - self.first + 1
        self.end = self.first + self.rounds
        room = max(LEAST_COLUMNS, min(MOST_COLUMNS, MAX_CELLS // max(pairs, 1)))
        self.columns = min(room, self.rounds)
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

    def by_column(self, kind: str, *by: str) -> dict[tuple[str, ...], list[int]]:
        """The same, each as a list of the sums by column of rounds."""
        rows: dict[tuple[str, ...], list[int]] = {}
        for (*key, column), count in self.sums(kind, *by, "column").items():
            rows.setdefault(tuple(key), [0] * self.columns)[column] = count
        return rows

    def curves(self) -> dict[tuple[str, ...], Curve]:
        """How the states of each pair grew with its operations."""
        operations, states = self.by_column("figure", *PAIR, "name"), self.by_column("states", *PAIR)
        curves = {}
        for *pair, name in operations:
            if name == "operations":
                done = [0, *accumulate(operations[*pair, name])]
                found = [0, *accumulate(states.get(tuple(pair), [0] * self.columns))]
                curves[tuple(pair)] = Curve(done, found, late_share(done, found) if self.rounds >= TELLING else None)
        return curves

    def heat(self) -> dict[tuple[str, ...], list[float | None]]:
        """The share of counted walks that met a rule, by subject, profile and rule; None: no walk was counted."""
        counted, met = (self.by_column(kind, *PAIR, "name") for kind in ("figure", "rule_walks"))
        shares = {}
        for key, counts in met.items():
            of = counted.get((*key[:2], "counted"), [0] * self.columns)
            shares[key] = [count / walks if walks else None for count, walks in zip(counts, of, strict=True)]
        return shares

    @cached_property
    def milliseconds(self) -> list[int]:
        """How long the rounds took by the clock, by column."""
        return self.by_column("round", "name").get(("milliseconds",), [0] * self.columns)

    @cached_property
    def speeds(self) -> list[float]:
        """Operations a second by the clock, by column."""
        operations = self.by_column("figure", "name").get((self.steps,), [0] * self.columns)
        return [*map(rate, operations, self.milliseconds)]

    @cached_property
    def machines(self) -> list[Machine]:
        """The work of each machine, most first."""
        did = self.by_column("machine", "key", "name")
        machines = []
        for host in dict.fromkeys(host for host, _ in did):
            shards, operations, time = (sum(did[host, name]) for name in ("shards", self.steps, "milliseconds"))
            speeds = [*map(rate, did[host, self.steps], self.milliseconds)]
            machines.append(Machine(host, shards, operations, time, speeds))
        return sorted(machines, key=lambda machine: -machine.operations)

    @cached_property
    def unfinished(self) -> list[tuple[str, str]]:
        """The shards that no machine finished, and why, in the order of rounds."""
        return [(which, why) for _, which, why in self.sums("unfinished", "round", "key", "name")]


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
