"""Kept traces, run again: those that still fail are findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Failure, Finding, failure, find, find_breach, unreduced
from broker_tck.properties.report.kept import Kept


@dataclass
class Again:
    """What became of kept traces."""

    failing: list[tuple[Kept, Finding]] = field(default_factory=list)
    passing: list[Kept] = field(default_factory=list)
    unasked: list[Kept] = field(default_factory=list)
    """Those that ask for what the subject declares to lack by now."""


def run_again(subject: Subject, profile: str, kept: Iterable[Kept], fail_fast: bool = False) -> Again:
    """Run the kept traces that belong to a subject under a profile; with ``fail_fast`` up to the first that fails."""
    again = Again()
    for each in kept:
        if not each.is_of(subject, profile):
            continue
        if not subject.contract.can_ask(each.trace.operations, subject.capabilities):
            again.unasked.append(each)
        elif finding := finding_of(subject, each):
            again.failing.append((each, finding))
            if fail_fast:
                break
        else:
            again.passing.append(each)
    return again


def finding_of(subject: Subject, kept: Kept) -> Finding | None:
    """What a kept trace shows now, reduced and diagnosed anew; None: nothing is wrong."""
    trace, contract = kept.trace, subject.contract
    model = contract.model(trace.profile)
    failed = failure(subject, model, trace.config, trace.operations)
    if failed:
        return reduced(subject, Diagnoser(contract, model, subject.rig, subject.capabilities), kept, failed)
    if kept.law:
        return find_breach(subject, model, kept.rule, Walk(None, trace.config, [*trace.operations], None))
    return None


def reduced(subject: Subject, diagnoser: Diagnoser, kept: Kept, failed: Failure) -> Finding:
    """The finding of a kept trace that failed. What does not fail again is told as it was."""
    trace, (at, difference) = kept.trace, failed
    walk = Walk(None, trace.config, [*trace.operations[: at + 1]], difference)
    found = find(subject, diagnoser, trace.config, trace.operations, None)
    return found or unreduced(subject, trace.profile, walk, kept.rule)
