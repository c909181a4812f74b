"""What a campaign has come to so far: the sums of its rounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker_tck.properties.engine.run import residual, to_exercise
from broker_tck.properties.unloaded import resolve_unloaded
from broker_tck.properties.worth.exercised import deviating
from broker_tck.spark_fuzz.driver.manifest import Goal, Lane, Manifest
from broker_tck.spark_fuzz.store.rows import ROUND, RULE, RULE_WALKS, UNFINISHED

if TYPE_CHECKING:
    import pyarrow as pa

SUMMED = ("kind", "subject", "profile", "name")


@dataclass
class LaneTotals:
    """What a lane has come to."""

    figures: Counter[str] = field(default_factory=Counter)
    """``walks``, ``operations``, ``counted``, ``failing``, ``milliseconds``, ``states`` and ``findings``."""
    met: Counter[str] = field(default_factory=Counter)
    """How often the condition of each rule was met in walks that were counted."""

    @property
    def residual(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail, as long as none has."""
        return residual(self.figures["walks"])


@dataclass
class Totals:
    """What a campaign has come to. Its size depends on the lanes, not on the rounds."""

    manifest: Manifest
    rounds: int = 0
    milliseconds: int = 0
    unfinished: int = 0
    """Shards that nothing could finish."""
    lanes: dict[Lane, LaneTotals] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for lane in self.manifest.lanes:
            self.lanes.setdefault(lane, LaneTotals())

    def add(self, figures: pa.Table, rounds: int = 1) -> None:
        """Take in the figures of a round, or of several."""
        self.rounds += rounds
        for row in figures.group_by(list(SUMMED)).aggregate([("count", "sum")]).to_pylist():
            if row["kind"] == ROUND:
                self.milliseconds += row["count_sum"]
            elif row["kind"] == UNFINISHED:
                self.unfinished += row["count_sum"]
            elif row["subject"]:
                self._add(self.lanes[Lane(row["subject"], row["profile"])], row["kind"], row["name"], row["count_sum"])

    def _add(self, lane: LaneTotals, kind: str, name: str, count: int) -> None:
        if kind == RULE:
            lane.met[name] += count
        elif kind != RULE_WALKS:
            lane.figures[name or kind] += count

    def sum(self, name: str) -> int:
        """A figure of all lanes."""
        return sum(lane.figures[name] for lane in self.lanes.values())

    @property
    def seconds(self) -> float:
        """How long the rounds took, one after the other."""
        return self.milliseconds / 1000

    @property
    def rate(self) -> float:
        """Operations a second by the clock."""
        return self.sum("operations") / self.seconds if self.seconds else 0.0

    @property
    def residual(self) -> float:
        """The largest such share of the lanes without a failure; 1: there is no such lane."""
        return max((t.residual for t in self.lanes.values() if not t.figures["failing"]), default=1.0)

    def vacuous(self, lane: Lane) -> list[str]:
        """The rules that have to be exercised in a lane and were not. A lane that fails need not get to all."""
        totals = self.lanes[lane]
        if totals.figures["failing"]:
            return []
        subject = resolve_unloaded(lane.subject)
        model = subject.contract.model(lane.profile)
        seen = {*+totals.met, *deviating(model)}
        return [rule.number for rule in to_exercise(subject, model) if rule.number not in seen]

    def seconds_of(self, rounds: int) -> float:
        """How long so many rounds take, if others take as long as those so far."""
        return self.seconds / self.rounds * rounds if self.rounds else 0.0

    def left(self, goal: Goal) -> float | None:
        """Seconds until then, about; None: nobody knows."""
        guesses = []
        if goal.rounds is not None and self.rounds:
            guesses.append(self.seconds_of(goal.rounds - self.rounds))
        if goal.seconds is not None:
            guesses.append(goal.seconds - self.seconds)
        return max(0.0, min(guesses)) if guesses else None


def of_store(manifest: Manifest, sums: pa.Table, rounds: int) -> Totals:
    """The totals of the rounds that a store has, from the sums of its figures."""
    totals = Totals(manifest)
    totals.add(sums, rounds)
    return totals
