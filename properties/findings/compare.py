"""What subjects keep and break of a contract's specification, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from broker_tck.model.rules import Rule, rules_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.run import SAMPLED, Run, checked, findings, run_subject
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.findings.document import rule_named
from broker_tck.properties.findings.finding import Finding
from broker_tck.properties.worth.deviating import behaves_as, broken_rules, deviation
from broker_tck.properties.worth.exercised import deviating

Told = Callable[[str], None]
"""Is told what is being looked at: a rule, or how many walks there were."""


class Verdict(StrEnum):
    """What is known of a subject and a rule."""

    KEEPS = "keeps"
    BREAKS = "breaks"
    NOT_EXERCISED = "not exercised"
    """Its condition was never met, or it decides nothing of what the subject has."""


@dataclass
class Column:
    """What is known of one subject."""

    subject: Subject
    profile: str | None
    """The profile as which it behaves; None: as none, so that no rule is said to be kept."""
    verdicts: dict[str, Verdict]
    findings: dict[str, Finding] = field(default_factory=dict)
    """The shortest trace for each rule that it breaks."""
    walks: int = 0
    operations: int = 0


def compared_rules(contract: Contract) -> list[Rule]:
    """What subjects are compared by: the checkable rules of the specification, and the variations."""
    rules = {rule.number: rule for rule in rules_of(contract.specification) if rule.checkable}
    names = [*rules, *(variation.name for variation in contract.variations if variation.name not in rules)]
    return [rule_named(contract, contract.specification, name) for name in names]


def column(subject: Subject, count: int, seed: int, told: Told) -> Column:
    """See what a subject keeps and breaks, in so many walks and in those that show what it breaks."""
    contract = subject.contract
    verdicts = {rule.number: Verdict.NOT_EXERCISED for rule in compared_rules(contract)}
    told("")
    profile = behaves_as(subject, seed)
    if profile is None:
        run = run_subject(subject, contract.default, seed, count, progress=lambda run: told(so_far(run)))
        found = {finding.rule: finding for finding in run.findings}
        return Column(subject, None, verdicts | dict.fromkeys(found, Verdict.BREAKS), found, run.walks, run.operations)
    run = Run(subject, profile, seed)
    for _ in checked(run, range(count), SAMPLED, SAMPLED):
        if run.walks % 8 == 1:
            told(so_far(run))
    exercised = {*run.exercised, *(v.name for v in contract.variations if run.met[v.name])} - {*run.model.MOOT}
    verdicts |= dict.fromkeys(exercised - deviating(run.model), Verdict.KEEPS)
    found = {finding.rule: finding for finding in findings(run)}
    complained = [name for _, name, _ in run.complaints if name in verdicts]
    for number in dict.fromkeys([*broken_rules(contract, profile), *complained]):
        told(number)
        finding = deviation(subject, profile, number, seed)
        found |= {number: finding} if finding else {}
    verdicts |= dict.fromkeys(found, Verdict.BREAKS)
    return Column(subject, profile, verdicts, found, run.walks, run.operations)


def so_far(run: Run) -> str:
    """How many walks there were."""
    return f"{run.walks:,} walks"
