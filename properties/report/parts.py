"""A check as pytest tests: one for each part of the check, and one for each rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from broker_tck.properties.engine.subjects import Subject, contract_named, declared
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import PARTS, Checked, check_subject, explain
from broker_tck.properties.explain.guarding import Task, run_one
from broker_tck.properties.mistakes.book import deviations_of
from broker_tck.properties.report.finding import FindingResult
from broker_tck.properties.report.made import profile_result
from broker_tck.properties.report.result import ProfileResult
from broker_tck.properties.search.budget import USUAL, Budget, budget
from broker_tck.properties.search.fitness import debugged, own, raised
from broker_tck.properties.search.isolation.unloaded import loaded, resolve_unloaded
from broker_tck.properties.search.replay import golden_traces
from broker_tck.properties.search.run import Progress, Run
from broker_tck.properties.settings import settings_of
from broker_tck.properties.verdict import BROKEN

Seen = tuple[ProfileResult, str, str]
"""The result of a part, the failing program of Hypothesis, and Hypothesis's statistics."""
TOLD: dict[tuple[Subject, str], dict[str, str]] = {}
"""By subject and profile, and by rule: the test of this process that reported the rule's failure first."""


def seen(checked: Checked) -> Seen:
    """The result of a part."""
    return profile_result(checked), checked.program, checked.statistics


def asked_for(profile: str, part: str, budget: Budget, subject: Subject, progress: Progress) -> Seen:
    """Run a part on a subject, in the subject's process."""
    return seen(check_subject(subject, profile, budget, progress, parts=(part,)))


@cache
def came_to(subject: Subject, profile: str, part: str, budget: Budget = USUAL) -> Seen | str:
    """The result of a part, which runs once in a guarded process for all tests; a text if the subject cannot run."""
    try:
        return run_one(Task(subject, profile, partial(asked_for, profile, part, budget), seen, budget.seed))
    except BadInput as error:
        return str(error)


def once(subject: Subject, profile: str, part: str, told: FindingResult) -> str:
    """The failure report of a finding; one line with the test's name if another test reported the same rules."""
    before = TOLD.setdefault((subject, profile), {})
    first = next((before[number] for number in told.numbers if number in before), part)
    before.update(dict.fromkeys(told.numbers, first))
    return told.story if first == part else f"the same failure as in {profile}-{first}: {told.what}"


def of_part(subject: Subject, part: str, found: ProfileResult) -> list[str]:
    """The failures of a part, as texts."""
    reports = [once(subject, found.profile, part, each) for each in found.findings]
    return [*reports, *found.complaints, *not_enough(found.gone)]


def of_rule(subject: Subject, number: str, found: ProfileResult) -> list[str]:
    """The failures of a rule in the random walks, as texts: it is broken, or never came up though no walk failed."""
    reports = [once(subject, found.profile, number, each) for each in found.findings if number in each.numbers]
    invariants = [text for text in found.complaints if text.startswith(f"{number} ")]
    unseen = [number] if number in found.rules.vacuous and found.verdict != BROKEN else []
    return reports or invariants[:1] or not_enough(unseen)


def not_enough(unseen: list[str]) -> list[str]:
    """The rules and deviations that never came up, in a line; empty if all did."""
    return [f"NOT ENOUGH: {'; '.join(unseen)} never came up"] if unseen else []


def cases(subject: Subject, profile: str | None) -> list[tuple[str, str]]:
    """The tests of a subject: a profile, with a part that has something to check or with the number of a rule."""
    found = []
    for name in (profile,) if profile else subject.profiles:
        model = subject.contract.model(name)
        nothing = set() if golden_traces(subject.contract.name, name) else {"golden"}
        nothing |= set() if model.BREAKS or model.ACCEPTS or deviations_of(model) else {"deviations"}
        found += [(name, part) for part in PARTS if part not in nothing]
        found += [(name, rule.number) for rule in Run(subject, name, 0).rules]
    return found


def run_part(subject: Subject, profile: str, part: str, budget: Budget, request: Any) -> None:
    """Run one part, or look at one rule, as a test. If it fails, pytest prints only the failure report."""
    import pytest

    config = request.config
    came = came_to(subject, profile, part if part in PARTS else "walks", budget._replace(own_settings=True))
    if isinstance(came, str):
        pytest.fail(came, pytrace=False)
    found, program, statistics = came
    wrong = "\n\n".join([*(of_part if part in PARTS else of_rule)(subject, part, found), *filter(None, [program])])
    if statistics and config.getoption("--hypothesis-show-statistics", False):
        request.node.hypothesis_statistics = statistics
    answered = [finding for finding in found.findings if not finding.unanswered]
    if wrong and answered and config.getoption("usepdb", False):
        stop_in(loaded(subject), answered[0], wrong, config)
    if wrong:
        pytest.fail(wrong, pytrace=False)


def report(subject: Subject, profile: str, failed: Walk) -> str:
    """The failure reports of a failing machine."""
    checked = Checked(subject, profile, 0, failing=[failed])
    explain(checked)
    found = profile_result(checked)
    return "\n\n".join([*(finding.story for finding in found.findings), *found.complaints])


def stop_in(subject: Subject, finding: FindingResult, wrong: str, config: Any) -> None:
    """Stop in the debugger, in this process: where the subject raises, or else before the last operation.

    The subject's error is raised here, so pytest's own debugger stops in the subject's frame.
    """
    trace = from_text(finding.trace)
    error = raised(subject, trace.config, trace.operations)
    if error and own(error):
        error.add_note(wrong)
        raise error
    capturing = config.pluginmanager.getplugin("capturemanager")
    if capturing:
        capturing.suspend(in_=True)  # what is typed as well
    try:
        print(f"\n{wrong}\n")  # noqa: T201 # pytest shows what it has captured after the test
        debugged(subject, trace.config, trace.operations)
    finally:
        if capturing:
            capturing.resume()


def conformance(
    contract: str, factory: Callable[..., Any] | str, *, profile: str | None = None, seed: int | None = None
) -> Any:
    """Make a pytest test for a factory. A test module only needs to assign it to a name that begins with ``test_``.

    ``factory`` is a callable as the contract defines it, or the name of a subject. Without ``profile``, the test checks
    each profile that the factory declares. The budget is the one of `broker-tck check`, with the table of
    pyproject.toml; ``seed`` is the seed of the walks. There is one test for each profile and part: recorded traces,
    walks, the Hypothesis machine, and deviations. There is also one test for each rule (``pytest -k DD-05``), which
    fails if a walk breaks the rule, or if it never came up.

    ``conformance(...).machine(profile)`` is the state machine of Hypothesis: a class to add rules to, or to run by its
    ``TestCase``. Without a profile, it has the first one.
    """
    import pytest

    from broker_tck.properties.engine.machine import Machine, machine_for

    kit = contract_named(contract)
    name = f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', '?')}"
    asked = budget(True, {"seed": seed}, vars(settings_of(Path.cwd())))
    subject = resolve_unloaded(factory) if isinstance(factory, str) else declared(name, factory, kit)

    @pytest.mark.parametrize(("profile", "part"), as_parameters(subject, profile))
    def test_conformance(profile: str, part: str, request: Any) -> None:
        run_part(subject, profile, part, asked, request)

    def machine(of: str | None = None) -> type[Machine]:
        return machine_for(loaded(subject), of or profile or subject.profiles[0], report)

    vars(test_conformance)["machine"] = machine
    return test_conformance


def as_parameters(subject: Subject, profile: str | None) -> list[Any]:
    """The cases of a subject as parameters of a test."""
    import pytest

    return [pytest.param(*case, id="-".join(case)) for case in cases(subject, profile)]
