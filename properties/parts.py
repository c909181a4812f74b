"""A check as tests of other people: each part is one, and each rule. It answers with what is wrong, or with nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from broker_tck.model.rules import deviations_of
from broker_tck.properties.conforming import asked, disagreement_text, golden_traces, witnesses
from broker_tck.properties.engine.machine import run_machine
from broker_tck.properties.engine.replay import disagreements
from broker_tck.properties.engine.run import SAMPLED, Run, checked, complaint_text, deviations, findings
from broker_tck.properties.engine.subjects import Subject, contract_named, declared, resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.fitness import see_made
from broker_tck.properties.findings.telling import story_or_line

WALKS = 300
EXAMPLES = 30


@cache
def walked(subject: Subject, profile: str, seed: int, count: int) -> Run:
    """The walks of a subject, made once for all tests that look at them."""
    run = Run(subject, profile, seed)
    if any(done.difference for done in checked(run, range(count), SAMPLED, SAMPLED)):
        run.findings = findings(run)
    return run


def part_golden(subject: Subject, profile: str, _seed: int = 0) -> str:
    """The traces that were recorded on the broker's own classes."""
    parts = [asked(trace, subject) for trace in golden_traces(subject.contract.name, profile)]
    found = next(disagreements(parts, subject, profile), None)
    return disagreement_text(found) if found else ""


def part_walks(subject: Subject, profile: str, seed: int) -> str:
    """Random walks, with the laws."""
    return told(walked(subject, profile, seed, WALKS), "walks")


def part_machine(subject: Subject, profile: str, seed: int) -> str:
    """The Hypothesis machine."""
    run = Run(subject, profile, seed)
    failed, _ = run_machine(subject, run.model, EXAMPLES)
    if failed is None:
        return ""
    run.failing.append(failed)
    run.findings = findings(run)
    return told(run, "machine")


def part_deviations(subject: Subject, profile: str, seed: int) -> str:
    """Every deviation that the profile declares is seen to be one."""
    run = Run(subject, profile, seed)
    golden = [asked(trace, subject) for trace in golden_traces(subject.contract.name, profile)]
    deviations(run, golden + witnesses(subject, profile))
    return not_enough(run.gone_in_words)


PARTS: dict[str, Callable[[Subject, str, int], str]] = {
    "golden": part_golden,
    "walks": part_walks,
    "machine": part_machine,
    "deviations": part_deviations,
}


def of_rule(subject: Subject, profile: str, number: str, seed: int) -> str:
    """One rule, in the random walks: none breaks it, and it came up unless they ended early."""
    run = walked(subject, profile, seed, WALKS)
    stories = [story_or_line(subject, profile, number, each) for each in run.findings if number in each.numbers]
    laws = [complaint_text(*complaint) for complaint in run.complaints if complaint[1] == number]
    never = not_enough([number]) if number in run.vacuous and not run.failing else ""
    return "\n\n".join(stories or laws[:1]) or never


def not_enough(unseen: list[str]) -> str:
    """What did not come up, as text; empty where all did."""
    return f"NOT ENOUGH: {'; '.join(unseen)} never came up" if unseen else ""


def told(run: Run, part: str) -> str:
    """What a run found, as text; of what another part or rule has told, a line."""
    stories = (story_or_line(run.subject, run.profile, part, finding) for finding in run.findings)
    return "\n\n".join([*stories, *run.said])


def cases(subject: Subject, profile: str | None) -> list[tuple[str, str]]:
    """The profiles, one or those that the subject declares, with the parts that have something to check, and rules."""
    found = []
    for name in (profile,) if profile else subject.profiles:
        model = subject.contract.model(name)
        nothing = set() if golden_traces(subject.contract.name, name) else {"golden"}
        nothing |= set() if model.BREAKS or model.ACCEPTS or deviations_of(model) else {"deviations"}
        found += [(name, part) for part in PARTS if part not in nothing]
        found += [(name, rule.number) for rule in Run(subject, name, 0).rules]
    return found


def run_part(subject: Subject, profile: str, part: str, seed: int = 0) -> None:
    """Run one part, or look at one rule, as a test, which fails with the story alone."""
    import pytest

    try:
        see_made(subject)
        wrong = PARTS[part](subject, profile, seed) if part in PARTS else of_rule(subject, profile, part, seed)
    except BadInput as error:
        wrong = str(error)
    if wrong:
        pytest.fail(wrong, pytrace=False)


def conformance(contract: str, factory: Callable[..., Any] | str, *, profile: str | None = None, seed: int = 0) -> Any:
    """Make a pytest test of a factory. A module that assigns it to a name with ``test_`` in front is complete.

    ``factory`` is called as the contract says, or is the name of a subject. ``profile`` is one of the
    contract's; without one, those that the factory declares are checked. One test for each profile and part: the
    recorded traces, walks, the Hypothesis machine, the profile's deviations, as far as it has any; and one for each
    rule (``pytest -k DD-05``), which says whether the walks break it, or never come to it.
    """
    import pytest

    kit = contract_named(contract)
    name = f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', '?')}"
    subject = resolve(factory) if isinstance(factory, str) else declared(name, factory, kit)
    chosen = cases(subject, profile)

    @pytest.mark.parametrize(("profile", "part"), chosen, ids=["-".join(case) for case in chosen])
    def test_conformance(profile: str, part: str) -> None:
        run_part(subject, profile, part, seed)

    return test_conformance
