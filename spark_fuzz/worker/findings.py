"""Findings of a shard: failing walks, reduced and diagnosed, as rows."""

from __future__ import annotations

from typing import Any

import msgspec

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import RESULT, Difference
from broker_tck.properties.engine.operation import shape
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find, find_breach, unreduced
from broker_tck.properties.explain.guarding import UNREPEATED, find_fatal
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.search.isolation.guard import Limits
from broker_tck.spark_fuzz.store.rows import FINDING, Row

NOT_REDUCED = "This trace was not reduced, because similar traces end the subject's process."


class Finder:
    """Makes rows of the failing walks of one subject under one profile."""

    def __init__(self, subject: Subject, model: type[Reference], limits: Limits, parent: Any) -> None:
        self.subject = subject
        self.model = model
        self.limits = limits
        self.parent = parent

    def of_failing(self, failed: Walk) -> Row:
        """The row of a walk that failed, made in the subject's process."""
        finding = find(Diagnoser(self.subject, self.model), failed)
        return row_of(finding) if finding else self.as_it_is(failed, UNREPEATED)

    def of_breach(self, done: Walk, number: str, text: str) -> Row:
        """The row of a walk that agrees with the model and breaks an invariant, or differs from its relation."""
        finding = find_breach(self.subject, self.model, number, done)
        return row_of(finding) if finding else self.breach_as_it_is(done, number, text)

    def of_fatal(self, failed: Walk) -> Row:
        """The row of a walk that was not answered: each replay has a process of its own."""
        return row_of(find_fatal(self.subject, self.model, failed, self.limits, self.parent))

    def as_it_is(self, failed: Walk, why: str = NOT_REDUCED, rule: str = "") -> Row:
        """The row of a walk that failed and was not reduced."""
        return row_of(unreduced(self.subject, self.model.PROFILE, failed, rule, why))

    def breach_as_it_is(self, done: Walk, number: str, text: str) -> Row:
        """The row of a walk that breaks an invariant and was not reduced."""
        difference = Difference(RESULT, f"{number} to hold", text)
        broken = Walk(done.seed, done.config, done.operations, difference)
        return self.as_it_is(broken, f"{number} does not hold: {text}", number)


def row_of(finding: Finding) -> Row:
    """A finding as a row. Its text is its document as JSON."""
    return Row(
        FINDING,
        finding.subject,
        finding.profile,
        ",".join(finding.diagnosis.rules),
        finding.note or f"{shape(finding.operations)} [{finding.observed}]",
        1,
        str(finding.seed),
        len(finding.operations),
        msgspec.json.encode(finding_result(finding)).decode(),
    )
