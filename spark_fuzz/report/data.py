"""All that a report says, as data: computed from a campaign's manifest and tables, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any, Protocol

from broker_tck.model.rules import Rule
from broker_tck.properties.engine.run import residual
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.report import facts
from broker_tck.spark_fuzz.report.figures import FEW, TELLING, Figures, LaneFigures, LaneKey, Machine, Unfinished, rate
from broker_tck.spark_fuzz.report.grouping import Entry, Key, entries

GROWING = 0.01
"""If the last tenth of the operations added more of the states than this, a lane still finds new ones."""
SLOW = 0.75
"""A machine is slow below this share of the median speed."""


class Source(Protocol):
    """A campaign's store, as far as a report looks at it. The tables are Arrow's; no value in them is null."""

    @property
    def manifest(self) -> Manifest:
        """What was asked for."""

    def figures(self) -> Any:
        """What each round came to: round, kind, subject, profile, name, key, count."""

    def findings(self) -> Any:
        """The findings without their texts: subject, profile, rules, shape, count, round, shard, walk, length."""

    def texts(self, keys: Sequence[Key]) -> Mapping[Key, str]:
        """The JSON text of some findings. One that is not there is left out."""


@dataclass(frozen=True)
class RuleFigures:
    """What a lane says of a rule that it has to exercise."""

    rule: Rule
    met: int
    """In how many counted walks its condition was met."""
    replaced: bool
    """The profile has another clause in its place."""
    walks: int
    """Failing walks that are told under this rule."""

    @property
    def missing(self) -> bool:
        """Whether no walk shows anything of the rule."""
        return not (self.met or self.replaced or self.walks)

    @property
    def bound(self) -> float:
        """With 95 % confidence, fewer than this share of the walks that meet the rule break it."""
        return residual(self.met)


@dataclass(frozen=True)
class Lane:
    """A lane with its rules and its findings."""

    figures: LaneFigures
    rules: Sequence[RuleFigures]
    entries: Sequence[Entry]

    @property
    def name(self) -> LaneKey:
        """Subject and profile."""
        return self.figures.lane

    @property
    def missing(self) -> list[str]:
        """The rules that no walk exercised, as far as they were counted."""
        return [each.rule.number for each in self.rules if each.missing]

    @property
    def never(self) -> list[str]:
        """The rules that enough counted walks never exercised."""
        return [] if self.figures.small else self.missing

    @property
    def growing(self) -> bool:
        """Whether new states still turn up often."""
        return (self.figures.curve.last or 0.0) > GROWING

    @property
    def unexplained(self) -> int:
        """Failing walks that no finding stands for."""
        return max(0, self.figures.failing - sum(entry.walks for entry in self.entries))

    @property
    def weakest(self) -> RuleFigures | None:
        """The rule that fewest counted walks met, of those that some met and none broke."""
        return min((each for each in self.rules if each.met and not each.walks), key=lambda e: e.met, default=None)


@dataclass(frozen=True)
class Report:
    """A campaign, ready to be told."""

    manifest: Manifest
    where: str
    rules: Mapping[str, Rule]
    lanes: Sequence[Lane]
    entries: Sequence[Entry]
    figures: Figures
    machines: Sequence[Machine]
    unfinished: Sequence[Unfinished]

    @property
    def walks(self) -> int:
        """All walks."""
        return sum(lane.figures.walks for lane in self.lanes)

    @property
    def operations(self) -> int:
        """All operations."""
        return sum(lane.figures.operations for lane in self.lanes)

    @property
    def failing(self) -> int:
        """All failing walks."""
        return sum(lane.figures.failing for lane in self.lanes)

    @property
    def broken(self) -> bool:
        """Whether something failed, or a shard could not be finished."""
        return bool(self.entries or self.failing or self.unfinished)

    @property
    def residual(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail otherwise than was seen, in every lane."""
        return max((lane.figures.residual for lane in self.lanes), default=1.0)

    @property
    def never(self) -> list[tuple[LaneKey, str]]:
        """The rules that enough counted walks never exercised, with their lane."""
        return [(lane.name, number) for lane in self.lanes for number in lane.never]

    @property
    def small(self) -> Lane | None:
        """The lane of fewest counted walks, if it is small; then so is the campaign."""
        least = min(self.lanes, key=lambda lane: lane.figures.counted, default=None)
        return least if least and least.figures.small else None

    @property
    def enough_rounds(self) -> int:
        """In how many rounds the smallest lane would no longer be small, if they are as those so far."""
        counted = max(1, min((lane.figures.counted for lane in self.lanes), default=1))
        return max(ceil(self.figures.rounds * FEW / counted), 2 * self.figures.rounds, 1)

    @property
    def weakest(self) -> tuple[Lane, RuleFigures] | None:
        """The rule that fewest counted walks met, with its lane; small lanes are left out."""
        each = [(lane, lane.weakest) for lane in self.lanes if lane.weakest and not lane.figures.small]
        return min(each, key=lambda pair: pair[1].met, default=None)

    @property
    def speed(self) -> float:
        """Operations a second, by the clock."""
        return rate(self.operations, sum(self.figures.milliseconds))

    @property
    def slow(self) -> dict[str, float]:
        """The machines that are much slower than most, with their share of the median speed."""
        told = [machine for machine in self.machines if machine.shards >= TELLING]
        usual = median(machine.speed for machine in told) if told else 0.0
        return {machine.host: machine.speed / usual for machine in told if machine.speed < usual * SLOW}


def report_of(source: Source, where: str) -> Report:
    """Compute all that the report on a store says; ``where`` is how the store is named in commands."""
    manifest, found = source.manifest, entries(source.findings())
    declared = [(lane.subject, lane.profile) for lane in manifest.lanes]
    figures = Figures(source.figures(), len(declared))
    lanes = [lane_of(manifest.contract, each, found) for each in figures.lanes(declared)]
    rules = facts.rules(manifest.contract)
    return Report(manifest, where, rules, lanes, found, figures, figures.machines(), figures.unfinished())


def lane_of(contract: str, figures: LaneFigures, found: Sequence[Entry]) -> Lane:
    """A lane, with the entries that are its own."""
    mine = [entry for entry in found if entry.place[:2] == figures.lane]
    walks = {entry.place.rule: entry.walks for entry in mine}
    known, other = facts.rules(contract), facts.replaced(contract, figures.lane[1])
    rules = [
        RuleFigures(known[number], figures.met.get(number, 0), number in other, walks.get(number, 0))
        for number in facts.required(contract, *figures.lane)
    ]
    return Lane(figures, rules, mine)
