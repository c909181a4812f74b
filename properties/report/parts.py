"""A check as tests of other people: each part is one, and each rule. It answers with what is wrong, or with nothing."""

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
"""What a part came to, the program of Hypothesis that fails, and Hypothesis's statistics."""
TOLD: dict[tuple[Subject, str], dict[str, str]] = {}
"""By subject and profile, and by the number of each rule: which test of this process has told of it."""


def seen(checked: Checked) -> Seen:
    """What a part came to."""
    return profile_result(checked), checked.program, checked.statistics


def asked_for(profile: str, part: str, budget: Budget, subject: Subject, progress: Progress) -> Seen:
    """Ask a part of a subject, in its process."""
    return seen(check_subject(subject, profile, budget, progress, parts=(part,)))


@cache
def came_to(subject: Subject, profile: str, part: str, budget: Budget = USUAL) -> Seen | str:
    """What a part comes to, in a guarded process, once for all tests that look at it; why it cannot be asked at all."""
    try:
        return run_one(Task(subject, profile, partial(asked_for, profile, part, budget), seen, budget.seed))
    except BadInput as error:
        return str(error)


def once(subject: Subject, profile: str, part: str, told: FindingResult) -> str:
    """A finding as text; where another test has told of the same rules, a line that says which."""
    before = TOLD.setdefault((subject, profile), {})
    first = next((before[number] for number in told.numbers if number in before), part)
    before.update(dict.fromkeys(told.numbers, first))
    return told.story if first == part else f"the same failure as in {profile}-{first}: {told.what}"


def of_part(subject: Subject, part: str, found: ProfileResult) -> list[str]:
    """What is wrong with a part, each as text."""
    stories = [once(subject, found.profile, part, told) for told in found.findings]
    return [*stories, *found.complaints, *not_enough(found.gone)]


def of_rule(subject: Subject, number: str, found: ProfileResult) -> list[str]:
    """One rule, in the random walks: none breaks it, and it came up unless they ended early."""
    stories = [once(subject, found.profile, number, told) for told in found.findings if number in told.numbers]
    invariants = [text for text in found.complaints if text.startswith(f"{number} ")]
    unseen = [number] if number in found.rules.vacuous and found.verdict != BROKEN else []
    return stories or invariants[:1] or not_enough(unseen)


def not_enough(unseen: list[str]) -> list[str]:
    """What did not come up, in a line; nothing if all did."""
    return [f"NOT ENOUGH: {'; '.join(unseen)} never came up"] if unseen else []


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


def run_part(subject: Subject, profile: str, part: str, budget: Budget, request: Any) -> None:
    """Run one part, or look at one rule, as a test, which fails with the story alone."""
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
    """A failure of a machine as text: the findings that it comes to."""
    checked = Checked(subject, profile, 0, failing=[failed])
    explain(checked)
    found = profile_result(checked)
    return "\n\n".join([*(finding.story for finding in found.findings), *found.complaints])


def stop_in(subject: Subject, finding: FindingResult, wrong: str, config: Any) -> None:
    """Stop in the debugger, in this process: where a subject raises, else before the last operation is done.

    What it raises is raised here, so that pytest's own debugger is in the subject's frame.
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
    """Make a pytest test of a factory. A module that assigns it to a name with ``test_`` in front is complete.

    ``factory`` is called as the contract says, or is the name of a subject. ``profile`` is one of the
    contract's; without one, those that the factory declares are checked. The budget is that of `broker-tck check`, with
    the table of pyproject.toml; ``seed`` is that of the walks. One test for each profile and part: the
    recorded traces, walks, the Hypothesis machine, the profile's deviations, as far as it has any; and one for each
    rule (``pytest -k DD-05``), which says whether the walks break it, or never come to it.

    ``conformance(...).machine(profile)`` is the state machine of Hypothesis, a class to add rules to, or to run by its
    ``TestCase``; without a profile it is that of the first.
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
