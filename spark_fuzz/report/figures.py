"""The figures of a campaign, summed and binned by Arrow: no loop here is over the rows of the tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import expm1, log
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

LaneKey = tuple[str, str]
POINTS = 120
"""A curve has no more points."""
TELLING = 10
"""In fewer rounds than this, the last tenth of the operations says nothing."""
MAX_CELLS = 720
"""The cells in one row of the heat maps of all lanes together."""
MOST_COLUMNS = 60


@dataclass(frozen=True)
class LaneFigures:
    """What was counted of one lane."""

    lane: LaneKey
    walks: int
    operations: int
    counted: int
    failing: int
    milliseconds: int
    states: int
    met: Mapping[str, int]
    """How often the condition of each rule was met, in counted walks."""
    met_walks: Mapping[str, int]
    """In how many counted walks."""

    @property
    def speed(self) -> float:
        """Operations a second."""
        return self.operations / self.milliseconds * 1000 if self.milliseconds else 0.0

    @property
    def residual(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail, as none has."""
        return residual(self.walks - self.failing)

    def reach(self, rule: str) -> float:
        """The share of the walks that meet a rule."""
        return self.met_walks.get(rule, 0) / self.counted if self.counted else 0.0

    def bound(self, rule: str) -> float:
        """The failure rate of a walk that meets the rule, as far as the walks without a failure exclude it."""
        return residual((self.walks - self.failing) * self.reach(rule))


@dataclass(frozen=True)
class Curve:
    """States over operations, both summed up to the end of each of some rounds."""

    operations: Sequence[int]
    states: Sequence[int]
    last: float | None
    """The share of the states that the last tenth of the operations added; None: too few rounds to tell."""


@dataclass(frozen=True)
class Speed:
    """Operations a second of the shards at one time."""

    round: float
    slowest: float
    mean: float
    fastest: float


@dataclass(frozen=True)
class Heat:
    """The share of counted walks that met a rule, by column of rounds; None where no walk was counted."""

    spans: Sequence[tuple[int, int]]
    """The first and the last round of each column."""
    shares: Mapping[tuple[LaneKey, str], Sequence[float | None]]

    def row(self, lane: LaneKey, rule: str) -> Sequence[float | None]:
        """The columns of a rule."""
        return self.shares.get((lane, rule), [None] * len(self.spans))


def residual(walks: float) -> float:
    """Where none of so many walks failed: with 95 % confidence, fewer than this share of walks fail."""
    return -expm1(log(0.05) / walks) if walks > 0 else 1.0


@dataclass(frozen=True)
class Summary:
    """The table of a campaign's figures."""

    table: Any

    @cached_property
    def rounds(self) -> tuple[int, int]:
        """The first round and the last; (0, -1) where there is none."""
        span = pc.min_max(self.table["round"]).as_py()
        return (0, -1) if span["min"] is None else (span["min"], span["max"])

    @cached_property
    def duration(self) -> int:
        """The milliseconds of all rounds, by the wall clock."""
        return pc.sum(self.rows("round")["count"]).as_py() or 0

    def rows(self, kind: str, shards: bool = False) -> Any:
        """The rows of a kind: those of lanes (or of whole rounds), or those of shards."""
        of_shard = pc.is_valid(self.table["shard"])
        return self.table.filter(
            pc.and_(pc.equal(self.table["kind"], kind), of_shard if shards else pc.invert(of_shard))
        )

    def totals(self, kind: str) -> dict[LaneKey, dict[str, int]]:
        """The counts of a kind over the whole campaign, by lane and name."""
        sums = self.rows(kind).group_by(["subject", "profile", "name"]).aggregate([("count", "sum")]).to_pylist()
        totals: dict[LaneKey, dict[str, int]] = defaultdict(dict)
        for row in sorted(sums, key=lambda row: row["name"]):
            totals[row["subject"], row["profile"]][row["name"]] = row["count_sum"]
        return totals

    def lanes(self, declared: Iterable[LaneKey]) -> list[LaneFigures]:
        """The figures of each lane: first the declared ones, in their order, then what else there is."""
        figures, states = self.totals("figure"), self.totals("states")
        met, met_walks = self.totals("rule"), self.totals("rule_walks")
        order = [*dict.fromkeys([*declared, *sorted(figures)])]
        names = ("walks", "operations", "counted", "failing", "milliseconds")
        return [
            LaneFigures(
                lane,
                **{name: figures.get(lane, {}).get(name, 0) for name in names},
                states=sum(states.get(lane, {}).values()),
                met=met.get(lane, {}),
                met_walks=met_walks.get(lane, {}),
            )
            for lane in order
        ]

    def spans(self, columns: int) -> list[tuple[int, int]]:
        """The rounds in so many columns, or one column a round."""
        first, last = self.rounds
        count = last - first + 1
        columns = min(columns, count)
        edges = [first + (column * count + columns - 1) // columns for column in range(columns + 1)] if columns else []
        return [(low, high - 1) for low, high in pairwise(edges)]

    def binned(self, rows: Any, columns: int) -> Any:
        """The rows with the column that each round falls into."""
        first, last = self.rounds
        count = last - first + 1
        since = pc.subtract(pc.cast(rows["round"], pa.int64()), first)
        column = pc.divide(pc.multiply(since, min(columns, count)), max(count, 1))
        return rows.append_column("column", column)

    def heat(self, lanes: int) -> Heat:
        """How often rules were met over the rounds, in as many columns as so many lanes leave room for."""
        columns = max(12, min(MOST_COLUMNS, MAX_CELLS // max(lanes, 1)))
        spans = self.spans(columns)
        figures = self.rows("figure")
        walks = self.cells(figures.filter(pc.equal(figures["name"], "counted")), columns)
        met = self.cells(self.rows("rule_walks"), columns)
        shares: dict[tuple[LaneKey, str], Sequence[float | None]] = {}
        for lane, rule in met:
            of = walks.get((lane, "counted"), {})
            cells = met[lane, rule]
            shares[lane, rule] = [cells.get(i, 0) / of[i] if of.get(i) else None for i in range(len(spans))]
        return Heat(spans, shares)

    def cells(self, rows: Any, columns: int) -> dict[tuple[LaneKey, str], dict[int, int]]:
        """Counts by lane and name, then by column."""
        names = ["subject", "profile", "name", "column"]
        sums = self.binned(rows, columns).group_by(names).aggregate([("count", "sum")]).to_pylist()
        cells: dict[tuple[LaneKey, str], dict[int, int]] = defaultdict(dict)
        for row in sums:
            cells[(row["subject"], row["profile"]), row["name"]][row["column"]] = row["count_sum"]
        return cells

    def curve(self, lane: LaneKey) -> Curve:
        """How the states of a lane grew with its operations."""
        figures, states = self.rows("figure"), self.rows("states")
        operations = self.series(figures.filter(pc.equal(figures["name"], "operations")), lane)
        found = self.series(states, lane)
        spans = self.spans(POINTS)
        ends = [high - self.rounds[0] for _, high in spans]
        last = late_share(operations, found) if len(operations) >= TELLING else None
        return Curve([0, *(operations[end] for end in ends)], [0, *(found[end] for end in ends)], last)

    def series(self, rows: Any, lane: LaneKey) -> list[int]:
        """What the counts of a lane add up to by the end of each round."""
        mine = rows.filter(pc.and_(pc.equal(rows["subject"], lane[0]), pc.equal(rows["profile"], lane[1])))
        sums = mine.group_by("round").aggregate([("count", "sum")])
        by_round = dict(zip(sums["round"].to_pylist(), sums["count_sum"].to_pylist(), strict=True))
        first, last = self.rounds
        return list(accumulate(by_round.get(number, 0) for number in range(first, last + 1)))

    def by_shard(self) -> dict[int, float]:
        """Operations a second of each shard, over the whole campaign."""
        sums = self.rows("figure", shards=True).group_by(["shard", "name"]).aggregate([("count", "sum")]).to_pylist()
        shards: dict[int, dict[str, int]] = defaultdict(dict)
        for row in sums:
            shards[row["shard"]][row["name"]] = row["count_sum"]
        return {
            shard: sums.get("operations", 0) / sums["milliseconds"] * 1000
            for shard, sums in sorted(shards.items())
            if sums.get("milliseconds")
        }

    def speeds(self) -> list[Speed]:
        """How fast the shards were over the rounds: the slowest, all of them, and the fastest."""
        rows = self.binned(self.rows("figure", shards=True), MOST_COLUMNS)
        keys = ["column", "shard"]
        sums = rows.group_by([*keys, "name"]).aggregate([("count", "sum")])
        operations = sums.filter(pc.equal(sums["name"], "operations")).select([*keys, "count_sum"])
        times = sums.filter(pc.equal(sums["name"], "milliseconds")).select([*keys, "count_sum"])
        both = operations.join(times.rename_columns([*keys, "time"]), keys=keys, join_type="inner")
        both = both.filter(pc.greater(both["time"], 0))
        rate = pc.multiply(pc.divide(pc.cast(both["count_sum"], pa.float64()), both["time"]), 1000.0)
        wanted = [("rate", "min"), ("rate", "max"), ("count_sum", "sum"), ("time", "sum")]
        table = both.append_column("rate", rate).group_by("column").aggregate(wanted).sort_by("column").to_pylist()
        spans = self.spans(MOST_COLUMNS)
        return [
            Speed(
                sum(spans[row["column"]]) / 2,
                row["rate_min"],
                row["count_sum_sum"] / row["time_sum"] * 1000,
                row["rate_max"],
            )
            for row in table
        ]


def late_share(operations: Sequence[int], states: Sequence[int]) -> float | None:
    """The share of the states that the last tenth of the operations added; both are sums by round."""
    if not states or not states[-1]:
        return None
    edge = operations[-1] * 0.9
    after = next(i for i, done in enumerate(operations) if done >= edge)
    done, found = (operations[after - 1], states[after - 1]) if after else (0, 0)
    part = (edge - done) / (operations[after] - done) if operations[after] > done else 1.0
    return 1 - (found + part * (states[after] - found)) / states[-1]
