"""Everything that is asked of one subject under one profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import getsourcefile, getsourcelines
from pathlib import Path
from typing import Any

from broker_tck import fixtures
from broker_tck.properties.engine.accepted import accepted
from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.machine import run_machine
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.replay import Disagreement, on_subject
from broker_tck.properties.engine.run import Progress, Run, findings, run_subject
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load
from broker_tck.properties.findings.document import finding_json
from broker_tck.properties.findings.fitness import see_made
from broker_tck.properties.findings.lines import unit_of, value_text
from broker_tck.properties.findings.raised import near
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH


@dataclass
class Checked:
    """What became of a subject under a profile."""

    run: Run
    golden_steps: int
    golden_agreed: int
    disagreements: list[Disagreement]
    machine_steps: int

    @property
    def verdict(self) -> str:
        """What the check comes to."""
        return BROKEN if self.disagreements else self.run.verdict

    @property
    def green(self) -> bool:
        """Whether there is nothing to report."""
        return self.verdict == CONFORMS

    @property
    def complaints(self) -> list[str]:
        """What is wrong besides findings, a sentence each."""
        return [disagreement_text(d) for d in self.disagreements[:3]] + self.run.said

    @property
    def unseen(self) -> list[str]:
        """What has to come up and did not, where nothing is wrong."""
        return self.run.unseen if self.verdict == NOT_ENOUGH else []


def checked_json(checked: Checked) -> dict[str, Any]:
    """What became of one subject under one profile."""
    run = checked.run
    return {
        "subject": run.subject.name,
        "profile": run.profile,
        "source": source_json(run.subject),
        "verdict": checked.verdict,
        "golden": {"steps": checked.golden_steps, "agreed": checked.golden_agreed},
        "rules": {"exercised": run.exercised, "vacuous": run.vacuous, "met": dict(sorted(run.met.items()))},
        "walks": run.walks,
        "operations": run.operations,
        "machine_steps": checked.machine_steps,
        "residual": run.residual,
        "deviations": run.deviations,
        "left_out": run.subject.left_out,
        "accepted": [each._asdict() for each in accepted(run.subject, run.profile)],
        "findings": [finding_json(f) for f in run.findings],
        "complaints": checked.complaints,
        "unseen": checked.unseen,
    }


def source_json(subject: Subject) -> dict[str, Any] | None:
    """Where a subject's factory is written; None where that is not known, as of a class of Java."""
    try:
        lines, line = getsourcelines(subject.factory)
        return {"file": near(getsourcefile(subject.factory) or ""), "line": max(line, 1)} if lines else None
    except (TypeError, OSError):
        return None


def disagreement_text(found: Disagreement) -> str:
    """A disagreement with a recorded trace, in a line."""
    expected, seen = found.difference.expected, found.difference.seen
    clock = clock_of(found.trace.config)
    unit = unit_of(found.trace.contract, found.trace.operations[found.step], found.observed)
    return (
        f"{Path(found.trace.where).name}: step {found.step + 1}: {found.observed}: "
        f"expected {value_text(expected, clock, unit)}, seen {value_text(seen, clock, unit)}"
    )


def check_subject(
    subject: Subject,
    profile: str,
    golden: Sequence[Trace],
    seed: int,
    count: int,
    examples: int,
    fail_fast: bool = False,
    progress: Progress | None = None,
    reserve: int = 0,
) -> Checked:
    """Put a subject through recorded traces, walks, laws and the Hypothesis machine.

    Walks of the ``reserve`` are made as long as a rule has not come up. BadInput where the subject cannot be made, or
    lacks a method.
    """
    see_made(subject)
    disagreements: list[Disagreement] = []
    golden = [asked(trace, subject) for trace in golden]
    for trace in golden:
        if found := on_subject(trace, subject, profile):
            disagreements.append(found)
            if unanswered(found.difference):
                break
    steps = sum(len(trace.operations) for trace in golden)
    lost = sum(len(d.trace.operations) - d.step for d in disagreements)
    known = [*([] if disagreements else golden), *witnesses(subject, profile)]
    run = run_subject(subject, profile, seed, count, fail_fast, progress, known=known, reserve=reserve)
    machine_steps = 0
    if not run.failing and examples:
        failed, machine_steps = run_machine(subject, run.model, examples)
        if failed:
            run.failing.append(failed)
            run.findings = findings(run)
    return Checked(run, steps, steps - lost, disagreements, machine_steps)


@cache
def golden_traces(contract: str, profile: str) -> tuple[Trace, ...]:
    """The recorded traces of a profile."""
    traces = (trace for path in fixtures.golden(contract) for trace in load(str(path)))
    return tuple(trace for trace in traces if trace.profile == profile)


def witnesses(subject: Subject, profile: str) -> list[Trace]:
    """Traces that show deviations of a profile which the recorded ones do not show, if the subject can be asked all."""
    path = fixtures.deviations(subject.contract.name)
    traces = load(str(path)) if path.exists() else []
    return [t for t in traces if t.profile == profile and subject.contract.can_ask(t.operations, subject.capabilities)]


def asked(trace: Trace, subject: Subject) -> Trace:
    """A recorded trace without the operations that a subject declares to lack."""
    asks = subject.contract.asks(trace.operations, subject.capabilities)
    steps = zip(trace.operations, trace.outcomes, asks, strict=False)
    kept = [(o, outcome) for o, outcome, asked in steps if asked]
    return replace(trace, operations=[o for o, _ in kept], outcomes=[outcome for _, outcome in kept])
