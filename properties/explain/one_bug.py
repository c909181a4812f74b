"""One failure report for each bug: findings that have one explanation, or show one wrong state, are merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.properties.engine.check import Recorded, answered, record, unanswered
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.diagnose import SEED, Diagnoser
from broker_tck.properties.explain.finding import MOST_BULK, Finding
from broker_tck.properties.mistakes.book import Mistake
from broker_tck.properties.search.failing import breach_of, kind

DRAWS = 24
"""Number of draws from all kinds of operations, for one that suits the state at the end of a trace."""
TRIED = 8
"""Number of them that are tried."""
SEVERAL = 2
"""Number of shared steps from which on two failures are not related by chance."""
SECONDS = 2.0

Kind = tuple[str, str, str]
"""The kind of a failure: the operation, what differed, and whether it was an error."""


def told_once(diagnoser: Diagnoser, findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each bug, the best explained first; it knows the others that show the same bug."""
    return [as_one(bug) for bug in bugs(diagnoser, findings)]


def as_one(bug: Sequence[Finding]) -> Finding:
    """Findings of one bug as the first of them, which lists the others and what they were merged from."""
    first, *others = bug
    also = [first.also, *((replace(each, also=()), *each.also) for each in others)]
    return replace(first, also=tuple(each for several in also for each in several if each.rule != first.rule))


def bugs(diagnoser: Diagnoser, findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings by the bug that they show, the best explained first."""
    found: list[list[Finding]] = []
    for finding in sorted(findings, key=order):
        same = next((bug for bug in found if any(same_bug(diagnoser, each, finding) for each in bug)), None)
        same.append(finding) if same else found.append([finding])
    return found


def order(finding: Finding) -> tuple[bool, bool, float, int, str]:
    """Sorts findings by how well they are explained, then by length; those of invariants come last."""
    diagnosis = finding.diagnosis
    return diagnosis.invariant, not diagnosis.whole, -diagnosis.support, len(finding.operations), finding.rule


def same_bug(diagnoser: Diagnoser, one: Finding, other: Finding) -> bool:
    """Whether one finding's explanation explains another; if neither has one, whether both show one wrong state.

    Of a finding of an invariant: whether one trace breaks both. Nothing is tried with a trace to which the subject may
    not answer, or that is long in bulk.
    """
    if one.rule == other.rule:
        return True
    if not all(may_be_tried(each) for each in (one, other)):
        return False
    if other.diagnosis.invariant:
        return breaks_both(diagnoser, one, other)
    if diagnoser.explains(one.diagnosis, other.config, other.operations):
        return True
    if one.diagnosis.whole or other.diagnosis.likely:
        return False
    if diagnoser.comes_up(one.diagnosis, other.config, other.operations):
        return True
    kinds = ((this, like(diagnoser.contract, that)) for this, that in ((one, other), (other, one)))
    return not one.diagnosis.likely and any(shows(diagnoser, each, wanted) for each, wanted in kinds)


def may_be_tried(finding: Finding) -> bool:
    """Whether a subject may be asked once more for the trace of a finding."""
    return not unanswered(finding.difference) and bulk(finding.operations) <= MOST_BULK


# ---- Invariants


def with_invariants(diagnoser: Diagnoser, findings: Sequence[Finding], broken: Iterable[str]) -> list[Finding]:
    """Findings, each with those of the invariants that walks broke which its trace breaks as well."""
    names = sorted(set(broken))
    return [replace(each, invariants=tuple(n for n in names if breaks(diagnoser, n, each))) for each in findings]


def breaks_both(diagnoser: Diagnoser, one: Finding, invariant: Finding) -> bool:
    """Whether one finding's trace, or a mistake that explains it, breaks the invariant of another.

    Of two invariants, whether either trace breaks both.
    """
    mistakes = one.diagnosis.mistakes if one.diagnosis.whole else ()
    return (
        breaks(diagnoser, invariant.rule, one)
        or (one.diagnosis.invariant and breaks(diagnoser, one.rule, invariant))
        or any(breaks(diagnoser, invariant.rule, invariant, mistake) for mistake in mistakes)
    )


def breaks(diagnoser: Diagnoser, invariant: str, finding: Finding, mistake: Mistake | None = None) -> bool:
    """Whether the subject alone, or the model with a mistake, breaks an invariant on the trace of a finding."""
    if not may_be_tried(finding):
        return False

    def adapted(config: Any) -> Any:
        return mistake.applied_to(diagnoser.model)(config) if mistake else diagnoser.subject.fresh(config)

    try:
        with Limit(SECONDS):
            return breach_of(diagnoser.contract, adapted, invariant, finding.config, finding.operations)[0] is not None
    except (Hang, Exception):
        return False


# ---- Recorded traces


def untold(diagnoser: Diagnoser, findings: Sequence[Finding], failing: Iterable[Walk], other: Walk) -> bool:
    """Whether no finding covers a failing trace: none explains it, and no walk behind a finding fails alike."""
    if not findings or (other.difference and unanswered(other.difference)):
        return True
    wanted = like(diagnoser.contract, other)
    if any(like(diagnoser.contract, walk) == wanted for walk in failing):
        return False
    tried = [finding for finding in findings if may_be_tried(finding)]
    return not any(diagnoser.explains(each.diagnosis, other.config, other.operations) for each in tried) and not any(
        shows(diagnoser, each, wanted) for each in tried if not each.diagnosis.likely
    )


def like(contract: Contract, failed: Walk | Finding) -> Kind:
    """The kind of a failure."""
    assert failed.difference
    return kind(contract, failed.operations[-1], failed.difference)


# ---- One wrong state, seen by two questions


def shows(diagnoser: Diagnoser, one: Finding, wanted: Kind) -> bool:
    """Whether a failure of another kind is of the same operation, or shows behind steps of a finding.

    Each step of a reduced trace matters. For the other failure, all steps must matter, or several without the rest.
    """
    config, steps = one.config, one.operations
    if steps[-1].tag == wanted[0]:
        return True
    for before in (steps[:-1], steps):
        for some in filter(None, (before, *one_less(before))):
            for asked in suitable(diagnoser, config, some, wanted[0]):
                if at_end(diagnoser, config, [*some, asked]) == wanted:
                    needed = least(diagnoser, config, some, asked, wanted)
                    if len(needed) in (len(before), *range(SEVERAL, len(before))):
                        return True
    return False


def one_less(steps: Sequence[Operation]) -> list[Sequence[Operation]]:
    """Steps with one of them left out, each in turn."""
    return [[*steps[:i], *steps[i + 1 :]] for i in range(len(steps))]


def least(
    diagnoser: Diagnoser, config: Any, steps: Sequence[Operation], asked: Operation, wanted: Kind
) -> Sequence[Operation]:
    """Those of some steps without which a question, asked behind them, is not answered wrong."""
    while True:
        shorter = (some for some in one_less(steps) if at_end(diagnoser, config, [*some, asked]) == wanted)
        if (left := next(shorter, None)) is None:
            return steps
        steps = left


def at_end(diagnoser: Diagnoser, config: Any, operations: Sequence[Operation]) -> Kind | None:
    """What is wrong at the last operation of a trace, whatever was before; None: nothing."""
    recording = diagnoser.recorded(config, operations)
    if recording is None:
        return None
    model, difference = diagnoser.model(config), None
    try:
        with Limit(SECONDS):
            for step in recording[1]:
                difference = answered(step.operation, model, Recorded([step]))
    except (Hang, Exception):
        return None
    return kind(diagnoser.contract, operations[-1], difference) if difference else None


def suitable(diagnoser: Diagnoser, config: Any, before: Sequence[Operation], tag: str) -> Iterator[Operation]:
    """Operations of a kind that may be done after others, as walks make them."""
    model: Any = diagnoser.model(config)
    record(before, model)
    found: dict[Operation, None] = {}
    for number in range(DRAWS):
        choices = SeededChoices(SEED + number)
        makers = diagnoser.contract.offered(model, choices, diagnoser.subject.capabilities)
        found |= {made: None for made in (maker.make() for maker in makers) if made.tag == tag}
    yield from [*found][:TRIED]
