"""The data of a report, computed from a campaign's manifest and tables before the page is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from broker_tck.model.rules import Rule
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.search.run import failure_bound
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.report import facts
from broker_tck.spark_fuzz.report.figures import TELLING, Curve, Figures, rate
from broker_tck.spark_fuzz.report.grouping import Entry, entries
from broker_tck.spark_fuzz.store.rows import PAIR
from broker_tck.spark_fuzz.store.tables import Store

PairKey = tuple[str, str]
"""A subject and its profile."""
FEW = 30
"""A pair with fewer counted walks is small. With 95 % certainty, these meet any rule that 1 walk in 10 meets."""
COUNTS = ("walks", "operations", "counted", "failing", "milliseconds")
"""Figures of a pair."""
GROWING = 0.01
"""If the last tenth of the operations added more of the states than this, a pair still finds new ones."""
SLOW = 0.75
"""A machine is slow below this share of the median speed."""


@dataclass(frozen=True)
class RuleFigures:
    """The figures of a rule that a pair must exercise."""

    rule: Rule
    met: int
    """Number of counted walks that met its condition."""
    replaced: bool
    """The profile has another clause in its place."""
    walks: int
    """Number of failing walks that are reported under this rule."""
    shares: Sequence[float | None]
    """The share of counted walks that met it, by column of rounds; None: no walk was counted."""

    @property
    def missing(self) -> bool:
        """Whether no walk shows anything of the rule."""
        return not (self.met or self.replaced or self.walks)

    @property
    def bound(self) -> float:
        """With 95 % confidence, fewer than this share of the walks that meet the rule break it."""
        return failure_bound(self.met)


@dataclass(frozen=True)
class Pair:
    """The figures of a pair. In a search of races, its walks are programs, all counted; its operations, schedules."""

    name: PairKey
    walks: int
    operations: int
    counted: int
    failing: int
    milliseconds: int
    curve: Curve
    rules: Sequence[RuleFigures]
    """The rules that the pair must exercise."""
    entries: Sequence[Entry]

    @property
    def speed(self) -> float:
        """Operations a second of one shard."""
        return rate(self.operations, self.milliseconds)

    @property
    def failure_bound(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail in another way than was seen."""
        return failure_bound(self.walks - self.failing)

    @property
    def small(self) -> bool:
        """Whether so few walks were counted that a rule which none met may just have been missed."""
        return self.counted < FEW

    @property
    def met(self) -> dict[str, int]:
        """In how many counted walks the condition of each rule was met."""
        return {each.rule.number: each.met for each in self.rules}

    @property
    def missing(self) -> list[str]:
        """The rules that no walk exercised, as far as they were counted."""
        return [each.rule.number for each in self.rules if each.missing]

    @property
    def never(self) -> list[str]:
        """The rules that enough counted walks never exercised."""
        return [] if self.small else self.missing

    @property
    def growing(self) -> bool:
        """Whether new states still turn up often."""
        return (self.curve.last or 0.0) > GROWING


@dataclass(frozen=True)
class Report:
    """The data of a report on a campaign."""

    manifest: Manifest
    where: str
    rules: Mapping[str, Rule]
    pairs: Sequence[Pair]
    entries: Sequence[Entry]
    figures: Figures

    def total(self, name: str) -> int:
        """What ``walks``, ``operations`` or ``failing`` of all pairs add up to."""
        return sum(getattr(pair, name) for pair in self.pairs)

    @property
    def one(self) -> str:
        """What is judged as a whole: a walk, or a program."""
        return self.manifest.counts.judged.removesuffix("s")

    @property
    def broken(self) -> bool:
        """Whether something failed, or a shard could not be finished."""
        return bool(self.entries or self.total("failing") or self.figures.unfinished)

    @property
    def never(self) -> list[str]:
        """The rules that enough counted walks of some pair never exercised."""
        return sorted({number for pair in self.pairs for number in pair.never})

    @property
    def small(self) -> Pair | None:
        """The smallest pair, if it is small: then the campaign is. Pairs that fail are left out, as they end early."""
        pairs = [pair for pair in self.pairs if pair.small and not pair.failing]
        return min(pairs, key=lambda pair: pair.counted, default=None)

    @property
    def enough_rounds(self) -> int:
        """The number of rounds after which no pair is small, if further rounds are like those so far."""
        counted, rounds = self.small.counted if self.small else FEW, self.figures.rounds
        return max(ceil(rounds * FEW / max(1, counted)), 2 * rounds, self.manifest.goal.rounds or 0)

    @property
    def weakest(self) -> tuple[Pair, RuleFigures] | None:
        """The rule that fewest counted walks met, if none broke it, with its pair; small pairs are left out."""
        told = [(pair, rule) for pair in self.pairs if not pair.small for rule in pair.rules]
        return min((each for each in told if each[1].met and not each[1].walks), key=lambda e: e[1].met, default=None)

    @property
    def slow(self) -> dict[str, float]:
        """The machines that are much slower than most, with their share of the median speed."""
        told = [machine for machine in self.figures.machines if machine.shards >= TELLING]
        usual = median(machine.speed for machine in told) if told else 0.0
        return {machine.host: machine.speed / usual for machine in told if machine.speed < usual * SLOW}


def report_of(source: Store, where: str) -> Report:
    """Compute the report on a store; ``where`` is the store's name in commands."""
    manifest = source.manifest
    figures = Figures(source.figures(), len(manifest.pairs), manifest.counts.steps)
    rules = CONTRACTS[manifest.contract].rules
    found = entries(source.findings(figures.end))
    return Report(manifest, where, rules, pairs_of(manifest, figures, rules, found), found, figures)


def pairs_of(manifest: Manifest, figures: Figures, known: Mapping[str, Rule], found: Sequence[Entry]) -> list[Pair]:
    """Each pair of the manifest, with the entries that are its own."""
    counts, met = (figures.sums(kind, *PAIR, "name") for kind in ("figure", "rule_walks"))
    curves, heat, pairs = figures.curves(), figures.heat(), []
    judged, steps, _ = manifest.counts
    named = {"walks": judged, "operations": steps, "counted": judged if manifest.threads else "counted"}
    for name in ((pair.subject, pair.profile) for pair in manifest.pairs):
        own = {each: counts.get((*name, named.get(each, each)), 0) for each in COUNTS}
        mine = [entry for entry in found if entry.place[:2] == name]
        broken, replaced = {e.place.rule: e.walks for e in mine}, facts.replaced(manifest.contract, name[1])
        rules = []
        for rule in () if manifest.threads else facts.required(manifest.contract, *name):
            parts = [(*name, part) for part in facts.names(manifest.contract, *name, rule)]
            keys = parts if any(part in met for part in parts) else [(*name, rule)]
            count = min(met.get(key, 0) for key in keys)
            shares = least([heat.get(key, [0.0]) for key in keys])
            rules.append(RuleFigures(known[rule], count, rule in replaced, broken.get(rule, 0), shares))
        pairs.append(Pair(name, **own, curve=curves.get(name, Curve([0], [0], None)), rules=rules, entries=mine))
    return pairs


def least(rows: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The least share in each column; None if no walk was counted there."""
    width = max(map(len, rows))
    columns = ([row[i] if i < len(row) else 0.0 for row in rows] for i in range(width))
    return [None if None in column else min(share for share in column if share is not None) for column in columns]
