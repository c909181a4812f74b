"""One bug, one story: findings that one explanation accounts for, or that show one wrong state, are told as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.properties.engine.check import Recorded, answered, record, unanswered
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.findings.diagnose import SEED, Diagnoser
from broker_tck.properties.findings.finding import MOST_BULK, Finding, kind
from broker_tck.properties.isolation.watchdog import Limit

DRAWS = 24
"""So often all kinds of operations are drawn, for one of a kind that suits the state behind a trace."""
TRIED = 8
"""So many of them are tried."""
SECONDS = 2.0


def told_once(diagnoser: Diagnoser, findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each bug, the best explained first; it knows the others that show the same bug."""
    return [replace(first, also=tuple(others)) for first, *others in bugs(diagnoser, findings)]


def bugs(diagnoser: Diagnoser, findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings by the bug that they show, the best explained first."""
    found: list[list[Finding]] = []
    for finding in sorted(findings, key=order):
        same = next((bug for bug in found if same_bug(diagnoser, bug[0], finding)), None)
        same.append(finding) if same else found.append([finding])
    return found


def order(finding: Finding) -> tuple[bool, float, int, str]:
    """Sorts findings by how well they are explained, everywhere or on how many walks, then by length."""
    diagnosis = finding.diagnosis
    return not (diagnosis.whole or diagnosis.law), -diagnosis.support, len(finding.operations), finding.rule


def same_bug(diagnoser: Diagnoser, one: Finding, other: Finding) -> bool:
    """Whether what explains one finding explains another; where neither is explained, whether both show one state.

    Nothing is tried with a trace to which the subject may not answer, or that is long in bulk.
    """
    if one.rule == other.rule:
        return True
    if any(unanswered(each.difference) or bulk(each.operations) > MOST_BULK for each in (one, other)):
        return False
    if diagnoser.explains(one.diagnosis, other.config, other.operations):
        return True
    if one.diagnosis.likely or other.diagnosis.likely:
        return False
    return shows_in(diagnoser, one, other) or shows_in(diagnoser, other, one)


# ---- One wrong state, seen by two questions


def shows_in(diagnoser: Diagnoser, one: Finding, other: Finding) -> bool:
    """Whether the steps of one finding let another's failure show as well, and no fewer of them do."""
    wanted, steps = of_kind(other), one.operations
    if of_kind(one) == wanted:
        return True
    for before in (steps[:-1], steps):
        for asked in suitable(diagnoser, one.config, before, other.operations[-1].tag):
            if at_end(diagnoser, one.config, [*before, asked]) == wanted and not any(
                at_end(diagnoser, one.config, [*before[:i], *before[i + 1 :], asked]) == wanted
                for i in range(len(before))
            ):
                return True
    return False


def of_kind(finding: Finding) -> tuple[str, str, str]:
    """What the failure of a finding is like."""
    return kind(finding.contract, finding.operations[-1], finding.difference)


def at_end(diagnoser: Diagnoser, config: Any, operations: Sequence[Operation]) -> tuple[str, str, str] | None:
    """What is wrong at the last operation of a trace, whatever was before; None: nothing."""
    recording = diagnoser.recorded(config, operations)
    if recording is None:
        return None
    model, rig, difference = diagnoser.model(config), Recorded(recording[1]), None
    try:
        with Limit(SECONDS):
            for operation in operations:
                difference = answered(operation, model, rig)
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
        makers = diagnoser.contract.offered(model, choices, diagnoser.capabilities)
        found |= {made: None for made in (maker.make() for maker in makers) if made.tag == tag}
    yield from [*found][:TRIED]
