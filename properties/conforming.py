"""Everything that is asked of one subject under one profile, for the command line and for other people's tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from broker_tck import fixtures
from broker_tck.properties.check import hangs
from broker_tck.properties.machine import run_machine
from broker_tck.properties.replay import Disagreement, on_subject
from broker_tck.properties.run import SAMPLED, Progress, Run, deviations, findings, judge, run_subject, walks
from broker_tck.properties.story import story, value_text
from broker_tck.properties.subjects import Subject, contract_named, declared, resolve
from broker_tck.properties.trace import Trace, load

WALKS = 300
EXAMPLES = 30


@dataclass
class Checked:
    """What became of a subject under a profile."""

    run: Run
    golden_steps: int
    golden_agreed: int
    disagreements: list[Disagreement]
    machine_steps: int

    @property
    def green(self) -> bool:
        """Whether there is nothing to report."""
        return self.run.green and not self.disagreements

    @property
    def complaints(self) -> list[str]:
        """What there is to report besides findings, a sentence each."""
        said = [disagreement_text(d) for d in self.disagreements[:3]] + self.run.said
        if not self.run.failing:
            said += [f"NOT EXERCISED {number}" for number in self.run.vacuous]
        return said + [f"DEVIATION GONE {name}" for name in self.run.gone]


def disagreement_text(found: Disagreement) -> str:
    """A disagreement with a recorded trace, in a line."""
    expected, seen = found.difference.expected, found.difference.seen
    return (
        f"{found.trace.where}: step {found.step + 1}: {found.observed}: "
        f"expected {value_text(expected, None)}, seen {value_text(seen, None)}"
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
) -> Checked:
    """Put a subject through recorded traces, walks, laws and the Hypothesis machine."""
    disagreements: list[Disagreement] = []
    for trace in golden:
        if found := on_subject(trace, subject, profile):
            disagreements.append(found)
            if hangs(found.difference):
                break
    steps = sum(len(trace.operations) for trace in golden)
    lost = sum(len(d.trace.operations) - d.step for d in disagreements)
    run = run_subject(subject, profile, seed, count, fail_fast, progress)
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


# ---- As tests of other people


def part_golden(run: Run) -> None:
    """The traces that were recorded on the broker's own classes."""
    for trace in golden_traces(run.subject.contract.name, run.profile):
        found = on_subject(trace, run.subject, run.profile)
        assert found is None, disagreement_text(found)


def part_walks(run: Run) -> None:
    """Random walks, with the laws, and every rule exercised."""
    for number, done in enumerate(walks(run, WALKS, SAMPLED)):
        if done.difference:
            run.failing.append(done)
            run.findings = findings(run)
            break
        if number % SAMPLED == 0:
            judge(run, done)
    assert not run.failing, told(run)
    assert not run.complaints, told(run)
    assert not run.vacuous, f"not exercised: {', '.join(run.vacuous)}"


def part_machine(run: Run) -> None:
    """The Hypothesis machine."""
    failed, _ = run_machine(run.subject, run.model, EXAMPLES)
    if failed:
        run.failing.append(failed)
        run.findings = findings(run)
    assert not failed, told(run)


def told(run: Run) -> str:
    """What a run found, as text."""
    return "\n\n".join(["", *map(story, run.findings), *run.said])


def part_deviations(run: Run) -> None:
    """Every deviation that the profile declares is seen to be one."""
    deviations(run)
    assert not run.gone, f"DEVIATION GONE {', '.join(run.gone)}"


PARTS: dict[str, Callable[[Run], None]] = {
    "golden": part_golden,
    "walks": part_walks,
    "machine": part_machine,
    "deviations": part_deviations,
}


def conformance(contract: str, factory: Callable[..., Any] | str, *, profile: str | None = None, seed: int = 0) -> Any:
    """Make a pytest test of a factory. A module that assigns it to a name with ``test_`` in front is complete.

    ``factory`` is called as ``Factory(config, clock, timer)``, or is the name of a subject. ``profile`` is one of the
    contract's; without one, those that the factory declares are checked. One test for each profile and part: the
    recorded traces, walks, the Hypothesis machine, the profile's deviations.
    """
    import pytest

    kit = contract_named(contract)
    name = f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', '?')}"
    subject = resolve(factory) if isinstance(factory, str) else declared(name, factory, kit)
    profiles = (profile,) if profile else subject.profiles
    for each in profiles:
        kit.model(each)
    cases = [pytest.param(p, part, id=f"{p}-{part}") for p in profiles for part in PARTS]

    @pytest.mark.parametrize(("profile", "part"), cases)
    def test_conformance(profile: str, part: str) -> None:
        __tracebackhide__ = True
        PARTS[part](Run(subject, profile, seed))

    return test_conformance
