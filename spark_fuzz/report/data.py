"""All that a report says, as data: computed from the tables, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from broker_tck.model.rules import Rule
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.report import facts
from broker_tck.spark_fuzz.report.figures import Curve, Heat, LaneFigures, LaneKey, Speed, Summary, residual
from broker_tck.spark_fuzz.report.grouping import Entry, entries
from broker_tck.spark_fuzz.report.source import Source

GROWING = 0.01
"""Where the last tenth of the operations added more of the states than this, a lane still finds new ones."""
MAPS = 24
"""So many lanes have a heat map: of more, first those that never exercised some rule."""
SLOW = 0.75
"""A shard is slow below this share of the median speed."""


@dataclass(frozen=True)
class RuleFigures:
    """What a lane says of a rule that it has to exercise."""

    rule: Rule
    met: int
    reach: float
    """The share of walks that meet it."""
    bound: float
    """The failure rate of a walk that meets it which is excluded."""
    replaced: bool
    """The profile has another clause in its place."""
    walks: int
    """Failing walks that are told under this rule."""

    @property
    def never(self) -> bool:
        """Whether the campaign says nothing of the rule."""
        return not (self.met or self.replaced or self.walks)


@dataclass(frozen=True)
class Lane:
    """A lane with its rules and its states."""

    figures: LaneFigures
    rules: Sequence[RuleFigures]
    curve: Curve
    entries: Sequence[Entry]

    @property
    def name(self) -> LaneKey:
        """Subject and profile."""
        return self.figures.lane

    @property
    def never(self) -> list[str]:
        """The rules that were never exercised."""
        return [each.rule.number for each in self.rules if each.never]

    @property
    def growing(self) -> bool:
        """Whether new states still turn up often."""
        return self.curve.last is not None and self.curve.last > GROWING

    @property
    def unexplained(self) -> int:
        """Failing walks that no finding stands for."""
        return max(0, self.figures.failing - sum(entry.walks for entry in self.entries))

    @property
    def weakest(self) -> RuleFigures | None:
        """The rule without a finding of which the walks say least, though they meet it."""
        met = [each for each in self.rules if each.met and not each.walks]
        return max(met, key=lambda each: each.bound, default=None)


@dataclass(frozen=True)
class Report:
    """A campaign, ready to be told."""

    manifest: Manifest
    where: str
    rules: Mapping[str, Rule]
    lanes: Sequence[Lane]
    entries: Sequence[Entry]
    heat: Heat
    speeds: Sequence[Speed]
    shards: Mapping[int, float]
    duration: int
    rounds: int

    @cached_property
    def walks(self) -> int:
        """All walks."""
        return sum(lane.figures.walks for lane in self.lanes)

    @cached_property
    def operations(self) -> int:
        """All operations."""
        return sum(lane.figures.operations for lane in self.lanes)

    @property
    def failing(self) -> int:
        """All failing walks."""
        return sum(lane.figures.failing for lane in self.lanes)

    @property
    def residual(self) -> float:
        """The share of walks below which failures may hide in some lane, at 95 % confidence."""
        return max((lane.figures.residual for lane in self.lanes), default=residual(0))

    @property
    def never(self) -> list[tuple[LaneKey, str]]:
        """The rules that were never exercised, with their lane."""
        return [(lane.name, number) for lane in self.lanes for number in lane.never]

    @property
    def weakest(self) -> tuple[LaneKey, RuleFigures] | None:
        """The rule of which the walks that meet it say least, with its lane."""
        each = [(lane.name, lane.weakest) for lane in self.lanes if lane.weakest]
        return max(each, key=lambda pair: pair[1].bound, default=None)

    @property
    def slow(self) -> dict[int, float]:
        """The shards that are much slower than most, with their share of the median speed."""
        usual = median(self.shards.values()) if self.shards else 0.0
        return {number: speed / usual for number, speed in self.shards.items() if speed < usual * SLOW}

    @property
    def green(self) -> bool:
        """Whether nothing failed and every required rule was exercised."""
        return not (self.entries or self.failing or self.never)


def report_of(source: Source, where: str) -> Report:
    """Compute all that the report on a store says; ``where`` is how the store is named in commands."""
    manifest, summary = source.manifest, Summary(source.summary())
    found = entries(source.findings())
    figures = summary.lanes((lane.subject, lane.profile) for lane in manifest.lanes)
    lanes = [lane_of(manifest.contract, each, summary.curve(each.lane), found) for each in figures]
    first, last = summary.rounds
    return Report(
        manifest,
        where,
        facts.rules(manifest.contract),
        lanes,
        found,
        summary.heat(min(len(lanes), MAPS)),
        summary.speeds(),
        summary.by_shard(),
        summary.duration,
        last - first + 1,
    )


def lane_of(contract: str, figures: LaneFigures, curve: Curve, found: Sequence[Entry]) -> Lane:
    """A lane, with the entries that are its own."""
    mine = [entry for entry in found if entry.place[:2] == figures.lane]
    walks = {entry.place.rule: entry.walks for entry in mine}
    known, other = facts.rules(contract), facts.replaced(contract, figures.lane[1])
    rules = [
        RuleFigures(
            known[number],
            figures.met.get(number, 0),
            figures.reach(number),
            figures.bound(number),
            number in other,
            walks.get(number, 0),
        )
        for number in facts.required(contract, *figures.lane)
    ]
    return Lane(figures, rules, curve, mine)
