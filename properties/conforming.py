"""Everything that is asked of one subject under one profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path

from broker_tck import fixtures
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load, profile_in
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.again import Again, run_again
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.explain.one_bug import as_one, bugs, untold
from broker_tck.properties.report.kept import Kept
from broker_tck.properties.report.lines import unit_of, value_text
from broker_tck.properties.search.fitness import see_made
from broker_tck.properties.search.replay import Disagreement, disagreements
from broker_tck.properties.search.run import Progress, Run, findings, run_subject
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH


@dataclass
class Checked:
    """What became of a subject under a profile."""

    run: Run
    golden_steps: int
    golden_agreed: int
    disagreements: list[Disagreement]
    machine_steps: int
    again: Again = field(default_factory=Again)
    """What became of kept traces."""

    @property
    def verdict(self) -> str:
        """What the check comes to."""
        return BROKEN if self.disagreements or self.again.failing else self.run.verdict

    @cached_property
    def findings(self) -> list[tuple[Finding, str]]:
        """A finding for each bug, the best explained, with a note; those of kept traces come first."""
        kept = {id(finding): f"The trace is kept in {kept.file}." for kept, finding in self.again.failing}
        found = [*(finding for _, finding in self.again.failing), *self.run.findings]
        if not kept or len(found) == 1:
            return [(finding, kept.get(id(finding), self.run.notes.get(finding.rule, ""))) for finding in found]
        each_bug = bugs(self.diagnoser, found)
        each_bug.sort(key=lambda bug: not any(id(each) in kept for each in bug))
        return [(as_one(bug), kept.get(id(bug[0]), "")) for bug in each_bug]

    @property
    def diagnoser(self) -> Diagnoser:
        """Explains what the subject does wrong under the profile."""
        subject = self.run.subject
        return Diagnoser(subject.contract, self.run.model, subject.rig, subject.capabilities)

    @property
    def green(self) -> bool:
        """Whether there is nothing to report."""
        return self.verdict == CONFORMS

    @cached_property
    def complaints(self) -> list[str]:
        """What is wrong besides findings, a sentence each: of recorded traces, those of which no finding tells."""
        told, failing, diagnoser = [finding for finding, _ in self.findings], self.run.failing, self.diagnoser
        new = (d for d in self.disagreements if untold(diagnoser, told, failing, failing_part(d)))
        return [disagreement_text(d) for d in islice(new, 3)] + self.run.said

    @property
    def unseen(self) -> list[str]:
        """What has to come up and did not, where nothing is wrong."""
        return self.run.unseen if self.verdict == NOT_ENOUGH else []


def failing_part(found: Disagreement) -> Walk:
    """A recorded trace up to the step at which it failed."""
    trace = found.trace
    return Walk(None, trace.config, [*trace.operations[: found.step + 1]], found.difference)


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
    kept: Sequence[Kept] = (),
    search: int | None = None,
) -> Checked:
    """Put a subject through kept and recorded traces, walks, laws and the Hypothesis machine.

    Walks of the ``reserve`` are made as long as a rule has not come up. Nothing is asked after a kept trace that fails
    where the check is to ``fail_fast``. BadInput where the subject cannot be made, or
    lacks a method.
    """
    see_made(subject)
    again = run_again(subject, profile, kept, fail_fast)
    if fail_fast and again.failing:
        return Checked(Run(subject, profile, seed), 0, 0, [], 0, again)
    golden = [asked(trace, subject) for trace in golden]
    found = [*disagreements(golden, subject, profile)]
    steps = sum(len(trace.operations) for trace in golden)
    lost = sum(len(d.trace.operations) - d.step for d in found)
    known = [*witnesses(subject, profile), *([] if found else golden)]
    run = run_subject(subject, profile, seed, count, fail_fast, progress, known=known, reserve=reserve, search=search)
    machine_steps = 0
    if not run.failing and examples:
        from broker_tck.properties.engine.machine import run_machine  # which imports Hypothesis

        failed, machine_steps = run_machine(subject, run.model, examples)
        if failed:
            run.failing.append(failed)
            run.findings = findings(run)
    return Checked(run, steps, steps - lost, found, machine_steps, again)


@cache
def golden_traces(contract: str, profile: str) -> tuple[Trace, ...]:
    """The recorded traces of a profile. Of the files of others only the beginning is read."""
    own = (path for path in fixtures.golden(contract) if profile_in(path) == profile)
    return tuple(trace for path in own for trace in load(str(path)))


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
