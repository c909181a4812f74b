"""A comparison of subjects: the rules of a contract's specification that each keeps or breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from broker_tck.model.rules import Rule, rules_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.explain.checked import Checked, check_subject, of_failing
from broker_tck.properties.explain.deviating import behaves_as, broken_rules, deviation
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.report.finding import FindingResult
from broker_tck.properties.report.made import finding_result, rule_named
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.exercised import deviating
from broker_tck.properties.search.run import SAMPLED, Progress, checked


class Verdict(StrEnum):
    """Whether a subject keeps a rule."""

    KEEPS = "keeps"
    BREAKS = "breaks"
    NOT_EXERCISED = "not exercised"
    """The rule's condition was never met, or the rule decides nothing for this subject."""


@dataclass
class Column:
    """The results of one subject."""

    subject: str
    profile: str | None
    """The profile as which it behaves; None if there is none, and then no rule counts as kept."""
    verdicts: dict[str, Verdict]
    findings: dict[str, FindingResult] = field(default_factory=dict)
    """The finding with the shortest trace for each broken rule."""
    walks: int = 0
    operations: int = 0


def compared_rules(contract: Contract) -> list[Rule]:
    """The rules of a comparison: the checkable rules of the specification, and the relations."""
    rules = {rule.number: rule for rule in rules_of(contract.specification) if rule.checkable}
    names = [*rules, *(relation.name for relation in contract.relations if relation.name not in rules)]
    return [rule_named(contract, contract.specification, name) for name in names]


def column(count: int, seed: int, subject: Subject, progress: Progress) -> Column:
    """Find the rules that a subject keeps and breaks, in a number of walks and in further ones for broken rules."""
    contract = subject.contract
    profile = behaves_as(subject, seed)
    if profile is None:
        return of_end(check_subject(subject, contract.default, Budget(seed, count), progress, parts=("walks",)))
    run = Checked(subject, profile, seed)
    for _ in checked(run, range(count), SAMPLED, SAMPLED):
        if run.walks % 8 == 1:
            progress(run)
    verdicts = not_exercised(subject)
    exercised = {*run.exercised, *(v.name for v in contract.relations if run.met[v.name])} - {*run.model.NOT_APPLICABLE}
    verdicts |= dict.fromkeys(exercised - deviating(run.model), Verdict.KEEPS)
    found = {finding.rule: finding for finding in of_failing(run)}
    complained = [name for _, name, _ in run.breaches if name in verdicts]
    for number in dict.fromkeys([*broken_rules(contract, profile), *complained]):
        progress(run)
        finding = deviation(subject, profile, number, seed)
        found |= {number: finding} if finding else {}
    return told(Column(subject.name, profile, verdicts, walks=run.walks, operations=run.operations), found)


def not_exercised(subject: Subject) -> dict[str, Verdict]:
    """The verdicts on a subject without any result."""
    return {rule.number: Verdict.NOT_EXERCISED for rule in compared_rules(subject.contract)}


def of_end(checked: Checked) -> Column:
    """The results of a subject that behaves as no profile, or that ended its process."""
    nothing, of = not_exercised(checked.subject), checked.subject.name
    column = Column(of, None, nothing, walks=checked.walks, operations=checked.operations)
    return told(column, {finding.rule: finding for finding in checked.findings})


def told(column: Column, found: dict[str, Finding]) -> Column:
    """A column with its findings."""
    column.verdicts |= dict.fromkeys(found, Verdict.BREAKS)
    column.findings |= {number: finding_result(finding) for number, finding in found.items()}
    return column
