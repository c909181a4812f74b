"""The results of a campaign so far: the sums of its rounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker_tck.properties.search.run import failure_bound
from broker_tck.spark_fuzz.driver.manifest import RACES, WALKS, Goal, Manifest, Pair
from broker_tck.spark_fuzz.report import facts
from broker_tck.spark_fuzz.store.rows import FIGURE, NEW_FINDINGS, NEW_STATES, ROUND, RULE, UNFINISHED

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class PairTotals:
    """The results of a pair."""

    figures: Counter[str] = field(default_factory=Counter)
    """What the campaign counts, ``counted``, ``failing``, ``milliseconds`` and ``findings``."""
    met: Counter[str] = field(default_factory=Counter)
    """How often the condition of each rule was met in walks that were counted."""

    @property
    def failure_bound(self) -> float:
        """With 95 % confidence, fewer than this share of walks, or programs, fail, as long as none has."""
        return failure_bound(self.figures[WALKS.judged] + self.figures[RACES.judged])


@dataclass
class Totals:
    """The results of a campaign. Its size depends on the pairs, not on the rounds."""

    manifest: Manifest
    rounds: int = 0
    milliseconds: int = 0
    unfinished: int = 0
    """Shards that nothing could finish."""
    pairs: dict[Pair, PairTotals] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = {pair: PairTotals() for pair in self.manifest.pairs}

    def add(self, figures: pa.Table, rounds: int = 1) -> None:
        """Take in the figures of a round, or of several."""
        self.rounds += rounds
        for row in figures.to_pylist():
            kind, count, pair = row["kind"], row["count"], Pair(row["subject"], row["profile"])
            if kind == ROUND:
                self.milliseconds += count
            elif kind == UNFINISHED:
                self.unfinished += count
            elif kind == RULE:
                self.pairs[pair].met[row["name"]] += count
            elif kind in (FIGURE, NEW_STATES, NEW_FINDINGS):
                self.pairs[pair].figures[row["name"] or kind] += count

    def sum(self, name: str) -> int:
        """A figure of all pairs."""
        return sum(pair.figures[name] for pair in self.pairs.values())

    @property
    def seconds(self) -> float:
        """How long the rounds took, one after the other."""
        return self.milliseconds / 1000

    @property
    def rate(self) -> float:
        """Operations, or schedules, a second by the clock."""
        return self.sum(self.manifest.counts.steps) / self.seconds if self.seconds else 0.0

    @property
    def failure_bound(self) -> float:
        """The largest such share of the pairs without a failure; 1: there is no such pair."""
        return max((t.failure_bound for t in self.pairs.values() if not t.figures["failing"]), default=1.0)

    def vacuous(self, pair: Pair) -> list[str]:
        """The required rules that a pair did not exercise. A failing pair need not exercise all, threads need none."""
        totals = self.pairs[pair]
        if totals.figures["failing"] or self.manifest.threads:
            return []
        counts, replaced = (
            facts.met(self.manifest.contract, pair.subject, pair.profile, totals.met),
            facts.replaced(self.manifest.contract, pair.profile),
        )
        required = facts.required(self.manifest.contract, pair.subject, pair.profile)
        return [number for number in required if not counts.get(number, number in replaced)]

    def seconds_of(self, rounds: int) -> float:
        """The seconds of a number of rounds, if they take as long as those so far."""
        return self.seconds / self.rounds * rounds if self.rounds else 0.0

    def left(self, goal: Goal) -> float | None:
        """Seconds until the goal, about; None if unknown."""
        guesses = []
        if goal.rounds is not None and self.rounds:
            guesses.append(self.seconds_of(goal.rounds - self.rounds))
        if goal.seconds is not None:
            guesses.append(goal.seconds - self.seconds)
        return max(0.0, min(guesses)) if guesses else None
