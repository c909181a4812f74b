"""What the failing walks of a run have said, and whether another one has something new to say."""

from __future__ import annotations

from collections import Counter

from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.explain.one_bug import order, told_once
from broker_tck.properties.search.failing import kind

ENOUGH = 3
"""So many more failing walks are reduced that say what was said, for the shortest trace."""
MOST_WORK = 50_000
"""No more are once so many operations were replayed to reduce those before them."""


class Gathered:
    """One finding for each rule that failing walks break, the best explained of each, with the shortest trace.

    Once enough walks that fail alike, or that one way explains to their end, have said nothing new, another one like
    them is old: a subject that is wrong everywhere fails on every walk.
    """

    def __init__(self, diagnoser: Diagnoser) -> None:
        self.diagnoser = diagnoser
        self.found: dict[str, Finding] = {}
        self.again = Counter[str]()
        """How many findings more there were of a rule."""
        self.alike = Counter[tuple[str, ...]]()
        """How many walks in a row that failed so have said nothing new."""
        self.work = 0

    @property
    def findings(self) -> list[Finding]:
        """One finding for each bug, the best explained first."""
        return told_once(self.diagnoser, self.found.values())

    def is_old(self, failed: Walk) -> bool:
        """Whether a walk would say once more what was said."""
        enough = 0 if self.work > MOST_WORK else ENOUGH
        own = self.kind(failed)
        if own in self.alike and self.alike[own] >= enough:
            return True
        found = [finding.diagnosis for rule, finding in self.found.items() if self.again[rule] >= enough]
        known = [diagnosis for diagnosis in found if diagnosis.whole]
        return any(self.diagnoser.explains(diagnosis, failed.config, failed.operations) for diagnosis in known)

    def add(self, failed: Walk, finding: Finding) -> None:
        """Keep what a failing walk came to, if it is new, better explained, or shorter."""
        own, before = self.kind(failed), self.found.get(finding.rule)
        self.work += finding.work
        self.alike[own] = self.alike[own] + 1 if before else 0
        self.again[finding.rule] += before is not None
        if before is None or order(finding) < order(before):
            self.found[finding.rule] = finding

    def kind(self, failed: Walk) -> tuple[str, ...]:
        """What the failure of a walk is like."""
        assert failed.difference
        return kind(self.diagnoser.contract, failed.operations[-1], failed.difference)
