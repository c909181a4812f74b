"""The whole check of one subject under one profile, by one function, and its result."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.engine.walk import Walk, walk
from broker_tck.properties.engine.written import unit_of, value_text
from broker_tck.properties.explain.deviating import findings_by_rule, gone_in_words, happens
from broker_tck.properties.explain.diagnose import Diagnoser, back_models
from broker_tck.properties.explain.failing_walks import Gathered, flaky
from broker_tck.properties.explain.finding import Finding, find, find_breach
from broker_tck.properties.explain.one_bug import as_one, bugs, told_once, untold, with_invariants
from broker_tck.properties.explain.regressions import Regression, Regressions, in_file, run_regressions
from broker_tck.properties.mistakes.book import AS_SPECIFIED, deviations_of
from broker_tck.properties.search.budget import USUAL, Budget
from broker_tck.properties.search.exercised import unmet
from broker_tck.properties.search.fitness import see_made
from broker_tck.properties.search.replay import Disagreement, asked, disagreements, golden_traces, witnesses
from broker_tck.properties.search.run import Progress, Run, until_all_came_up
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH

PARTS = ("golden", "walks", "deviations", "machine")
"""The parts of a check besides regressions: recorded traces, random walks with the invariants, the deviations of the
profile, and the Hypothesis machine."""


@dataclass
class Checked(Run):
    """The result of a check of a subject under a profile."""

    findings: list[Finding] = field(default_factory=list)
    """A finding for each bug, the best explained first; findings of regressions come before all others."""
    flaky: list[str] = field(default_factory=list)
    """A sentence for each walk that failed once and not again."""
    deviations: dict[str, bool] = field(default_factory=dict)
    """Each declared deviation, and whether it occurred."""
    golden_steps: int = 0
    golden_agreed: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    """Recorded traces on which subject and model disagree."""
    machine_steps: int = 0
    statistics: str = ""
    """Hypothesis's statistics on the machine."""
    program: str = ""
    """The example of the machine that failed, as Hypothesis prints it."""
    regressions: Regressions = field(default_factory=Regressions)
    """The results of the regressions."""

    @cached_property
    def diagnoser(self) -> Diagnoser:
        """Explains what the subject does wrong under the profile."""
        return Diagnoser(self.subject, self.model)

    @property
    def verdict(self) -> str:
        """The verdict of the check."""
        if self.findings or self.failing or self.breaches or self.disagreements:
            return BROKEN
        return NOT_ENOUGH if self.vacuous or self.gone else CONFORMS

    @property
    def green(self) -> bool:
        """Whether there is nothing to report."""
        return self.verdict == CONFORMS

    @property
    def gone(self) -> list[str]:
        """Declared deviations that do not occur."""
        return [name for name, seen in self.deviations.items() if not seen]

    @property
    def unseen(self) -> list[str]:
        """The required rules and deviations that never came up, in words, if nothing is wrong."""
        return (
            [*map(self.unseen_part, self.vacuous), *gone_in_words(self.profile, self.deviations)]
            if self.verdict == NOT_ENOUGH
            else []
        )

    def unseen_part(self, number: str) -> str:
        """A rule that was not exercised; if only some of its clauses were not, with their names."""
        clauses = unmet(self.model, self.met, number, self.subject.lacked)
        return f"{number} ({', '.join(clauses)})" if clauses else number

    @cached_property
    def complaints(self) -> list[str]:
        """Failures besides the findings, a sentence each, such as failing recorded traces that no finding explains."""
        new = (d for d in self.disagreements if untold(self.diagnoser, self.findings, self.failing, failing_part(d)))
        found, invariants = {number for finding in self.findings for number in finding.numbers}, dict[str, str]()
        for seed, invariant, text in self.breaches:
            if invariant not in found:
                invariants.setdefault(invariant, f"{invariant} does not hold: {text} (walk {seed})")
        return [*(disagreement_text(d) for d in islice(new, 3)), *invariants.values(), *self.flaky[:1]]


def failing_part(found: Disagreement) -> Walk:
    """A recorded trace up to the step at which it failed."""
    walk = found.trace.walk
    return replace(walk, operations=walk.operations[: found.step + 1], difference=found.difference)


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
    budget: Budget = USUAL,
    progress: Progress | None = None,
    kept: Sequence[Regression] = (),
    parts: Collection[str] = PARTS,
) -> Checked:
    """Check a subject with regressions, recorded traces, walks with the invariants, and the machine, or some of these.

    With ``budget.fail_fast``, the check ends after a failing regression. It looks for deviations and runs the machine
    only if no walk failed. Raises BadInput if the subject cannot be made, or lacks a method.
    """
    see_made(subject)
    checked = Checked(subject, profile, budget.seed)
    checked.regressions = run_regressions(subject, profile, kept, budget.fail_fast)
    if not (budget.fail_fast and checked.regressions.failing):
        golden = [asked(trace, subject) for trace in golden_traces(subject.contract.name, profile)]
        known = witnesses(subject, profile)  # before walks, after which a subject may leave no file to open
        if "golden" in parts:
            replay_golden(checked, golden)
        if "walks" in parts:
            walk_all(checked, budget, progress)
        if "deviations" in parts and not (checked.failing or subject.contract.workload):  # not all are in a workload
            see_deviations(checked, [*known, *([] if checked.disagreements else golden)])
        if "machine" in parts and budget.examples and not checked.failing:
            run_the_machine(checked, budget, progress)
    return with_regressions(checked)


def replay_golden(checked: Checked, golden: Sequence[Trace]) -> None:
    """Replay the traces that were recorded on the broker's own classes."""
    checked.disagreements = [*disagreements(golden, checked.subject, checked.profile)]
    checked.golden_steps = sum(len(trace.operations) for trace in golden)
    lost = sum(len(d.trace.operations) - d.step for d in checked.disagreements)
    checked.golden_agreed = checked.golden_steps - lost


def walk_all(checked: Checked, budget: Budget, progress: Progress | None = None) -> None:
    """Make the walks of a budget, and findings of those that fail; with ``fail_fast`` the first is the last."""
    for done in until_all_came_up(checked, budget.walks, budget.reserve):
        unanswered_now = done.difference and unanswered(done.difference)
        if done.difference and (budget.fail_fast or len(checked.failing) >= budget.failing or unanswered_now):
            break
        if budget.fail_fast and checked.breaches:
            break
        if progress and checked.walks % 8 == 1:
            progress(checked)
    explain(checked, progress, by_rule=not budget.fail_fast, search=budget.search)


def run_the_machine(checked: Checked, budget: Budget, progress: Progress | None = None) -> None:
    """Run the Hypothesis machine, and make a finding of the example that fails."""
    from broker_tck.properties.engine import machine as machines  # which imports Hypothesis

    machine = machines.machine_for(checked.subject, checked.profile)
    settings = (machines.of_the_user if budget.own_settings else machines.fixed)(budget.examples)
    with machines.described() as statistics:
        failed, checked.machine_steps, checked.program = machines.run_machine(machine, settings)
    checked.statistics = "\n".join(statistics)
    if failed:
        checked.failing.append(failed)
        explain(checked, progress)


# ---- Findings


def explain(
    checked: Checked, progress: Progress | None = None, by_rule: bool = False, search: int | None = None
) -> None:
    """Make findings of the walks that failed, or of invariants that they broke.

    With ``by_rule``, a subject that breaks the specification as some profile does has one for each of its deviations,
    searched for in ``search`` walks.
    """
    checked.looking = True
    if progress and checked.failing:
        progress(checked)
    found = list[Finding]()
    foreign = by_rule and checked.failing and checked.profile == checked.subject.contract.default
    if foreign and not any(unanswered(walk.difference) for walk in checked.failing if walk.difference):
        found = findings_by_rule(checked.subject, checked.seed, search)
    checked.findings = found or of_failing(checked) or of_breaches(checked)


def of_failing(checked: Checked) -> list[Finding]:
    """One finding for each bug that failing walks show, the best explained first."""
    subject, diagnoser, gathered = checked.subject, checked.diagnoser, Gathered(checked.diagnoser)
    for failed in sorted(checked.failing, key=lambda walk: walk.effort):
        if gathered.is_old(failed):
            continue
        finding = find(diagnoser, failed)
        if finding:
            gathered.add(failed, finding)
        else:
            checked.flaky.append(flaky(subject, checked.model, failed))
    return with_invariants(diagnoser, gathered.findings, [name for _, name, _ in checked.breaches])


def of_breaches(checked: Checked) -> list[Finding]:
    """The invariants and relations that walks break where model and subject agree, each of the first such walk.

    Those that one trace breaks are one finding.
    """
    subject, model, first = checked.subject, checked.model, dict[str, int]()
    for seed, name, _ in checked.breaches:
        if seed is not None:
            first.setdefault(name, seed)
    found = []
    for name, seed in sorted(first.items()):
        done = walk(subject.contract, seed, subject.adapter, model, subject.capabilities)
        found.append(find_breach(subject, model, name, done))
    return told_once(checked.diagnoser, [finding for finding in found if finding])


def with_regressions(checked: Checked) -> Checked:
    """The result with the findings of regressions before all others; findings of one bug become one."""
    kept = [replace(finding, note=in_file(of)) for of, finding in checked.regressions.failing]
    if kept:
        each_bug = bugs(checked.diagnoser, [*kept, *checked.findings])
        each_bug.sort(key=lambda bug: not any(each in kept for each in bug))
        checked.findings = [as_one(bug) for bug in each_bug]
    return checked


# ---- Deviations: declared, and seen to be needed


def see_deviations(checked: Checked, known: Sequence[Trace] = ()) -> None:
    """Test whether each deviation occurs that the profile declares and the subject's capabilities allow.

    A deviation occurs if the model without it disagrees with the subject: on a known trace, with whose outcomes the
    subject agrees, or on a walk.
    """
    subject, model, seed = checked.subject, checked.model, checked.seed
    back = [(mistake, mistake.applied_to(model)) for mistake in deviations_of(model)]
    back += [each for each in back_models(subject.contract, model) if each[0].name == AS_SPECIFIED]
    for mistake, specified in back:
        number = mistake.rule.number
        if number not in subject.out_of_reach:
            invariant = number if mistake.rule.invariant else ""
            checked.deviations[f"{number} ({mistake.clause})"] = happens(subject, specified, seed, known, invariant)
    for name in (invariant for invariant in model.BREAKS if invariant not in subject.out_of_reach):
        checked.deviations[name] = happens(subject, model, seed, known, name)
