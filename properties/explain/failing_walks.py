"""Failing walks: which of them show nothing new, and which do not fail again."""

from __future__ import annotations

from collections import Counter

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import observable
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.engine.written import named_text, value_text
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.explain.one_bug import like, order, told_once
from broker_tck.properties.search.failing import failure

ENOUGH = 3
"""Number of further failing walks of a known bug that are reduced, for the shortest trace."""
MOST_WORK = 50_000
"""Number of operations replayed for reductions after which no further walks of a known bug are reduced."""
REPLAYS = 3


class Gathered:
    """One finding for each rule that failing walks break, the best explained of each, with the shortest trace.

    Once enough walks that fail alike, or that one way explains to their end, have said nothing new, another one like
    them is old: a subject that is wrong everywhere fails on every walk.
    """

    def __init__(self, diagnoser: Diagnoser) -> None:
        self.diagnoser = diagnoser
        self.found: dict[str, Finding] = {}
        self.again = Counter[str]()
        """Number of further findings of each rule."""
        self.alike = Counter[tuple[str, ...]]()
        """Number of walks in a row that failed alike and showed nothing new."""
        self.work = 0

    @property
    def findings(self) -> list[Finding]:
        """One finding for each bug, the best explained first."""
        return told_once(self.diagnoser, self.found.values())

    def is_old(self, failed: Walk) -> bool:
        """Whether a walk would show a known bug once more."""
        enough = 0 if self.work > MOST_WORK else ENOUGH
        own = like(self.diagnoser.contract, failed)
        if own in self.alike and self.alike[own] >= enough:
            return True
        found = [finding.diagnosis for rule, finding in self.found.items() if self.again[rule] >= enough]
        known = [diagnosis for diagnosis in found if diagnosis.whole]
        return any(self.diagnoser.explains(diagnosis, failed.config, failed.operations) for diagnosis in known)

    def add(self, failed: Walk, finding: Finding) -> None:
        """Keep the finding of a failing walk if it is new, better explained, or shorter."""
        own, before = like(self.diagnoser.contract, failed), self.found.get(finding.rule)
        self.work += finding.work
        self.alike[own] = self.alike[own] + 1 if before else 0
        self.again[finding.rule] += before is not None
        if before is None or order(finding) < order(before):
            self.found[finding.rule] = finding


# ---- Subjects that do not always do the same


def flaky(subject: Subject, model: type[Reference], failed: Walk) -> str:
    """How the replays of a failing walk differ from each other, as a sentence."""
    assert failed.difference
    first = len(failed.operations) - 1, failed.difference
    replays = (failure(subject, model, failed.config, failed.operations) for _ in range(REPLAYS))
    other = next((found for found in replays if found != first), first)
    at, difference = min((found for found in (first, other) if found), key=lambda found: found[0])
    both = (found[1].seen if found and found[0] == at else difference.expected for found in (first, other))
    clock = clock_of(failed.config)
    told = " and then ".join(dict.fromkeys(value_text(value, clock) for value in both))
    of = "answered" if (name := observable(subject.contract, difference)) == "result" else f"showed {name}"
    operation = named_text(failed.operations[at], clock)
    walk = "" if failed.seed is None else f" of walk {failed.seed}"
    often = "" if other != first else " each time, but shorter traces fail only sometimes"
    return f"the subject is not deterministic: at operation {at + 1}{walk}, `{operation}`, it {of} {told}{often}"
