"""A check as tests of other people: each part is one, and each rule. It answers with what is wrong, or with nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from broker_tck.properties.conforming import Checked, asked, golden_traces, witnesses
from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.machine import described, run_machine
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.replay import disagreements
from broker_tck.properties.engine.run import SAMPLED, Progress, Run, checked, complaint_text, deviations, findings
from broker_tck.properties.engine.subjects import Subject, contract_named, declared
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.document import document
from broker_tck.properties.findings.finding import Finding
from broker_tck.properties.findings.fitness import see_made
from broker_tck.properties.findings.raised import debugged, own, raised
from broker_tck.properties.findings.story import story
from broker_tck.properties.guarding import Task, run_one
from broker_tck.properties.mistakes.book import deviations_of
from broker_tck.properties.unloaded import loaded, resolve_unloaded

WALKS = 300
EXAMPLES = 30


class Story(NamedTuple):
    """What a test says of a finding."""

    numbers: tuple[str, ...]
    """The rules that it breaks, laws among them."""
    what: str
    """What went wrong, in a sentence."""
    text: str
    """All there is to tell."""


class Seen(NamedTuple):
    """What a part came to."""

    stories: tuple[Story, ...] = ()
    """The findings."""
    laws: tuple[tuple[str, str], ...] = ()
    """The laws that did not hold, each with a sentence."""
    said: tuple[str, ...] = ()
    """What is wrong besides findings, a sentence each."""
    vacuous: tuple[str, ...] = ()
    """The rules that never came up; empty if a walk failed."""
    statistics: str = ""
    """What Hypothesis has to say."""
    traces: tuple[tuple[Any, tuple[Operation, ...]], ...] = ()
    """The configuration and the operations of each finding whose subject answers."""
    unfit: bool = False
    """Whether the subject cannot be asked at all. What is said tells why."""


def seen(found: Checked) -> Seen:
    """What a check came to."""
    run = found.run
    return Seen(
        tuple(story_of(*each) for each in found.findings),
        tuple((law, complaint_text(seed, law, text)) for seed, law, text in run.complaints),
        tuple(found.complaints),
        () if run.failing or run.findings else tuple(run.vacuous),
        traces=tuple((f.config, f.operations) for f, _ in found.findings if not unanswered(f.difference)),
    )


def story_of(finding: Finding, note: str) -> Story:
    """What a test says of a finding."""
    told = document(finding, note)
    return Story(finding.numbers, told.what, story(told))


class Asked(NamedTuple):
    """What is asked of a subject, besides the part."""

    profile: str
    seed: int = 0
    hypothesis_seed: int | str | None = None
    """Another run of the machine than the fixed one."""


Part = Callable[[Asked, Subject, Progress], Seen]


def part_golden(asked_for: Asked, subject: Subject, _progress: Progress) -> Seen:
    """The traces that were recorded on the broker's own classes."""
    profile = asked_for.profile
    parts = [asked(trace, subject) for trace in golden_traces(subject.contract.name, profile)]
    found = next(disagreements(parts, subject, profile), None)
    return seen(Checked(Run(subject, profile, 0), 0, 0, [found] if found else [], 0))


def part_walks(asked_for: Asked, subject: Subject, progress: Progress) -> Seen:
    """Random walks, with the laws."""
    run = Run(subject, asked_for.profile, asked_for.seed)
    if any(done.difference for done in checked(run, range(WALKS), SAMPLED, SAMPLED)):
        run.looking = True
        progress(run)
        run.findings = findings(run)
    return seen(Checked(run, 0, 0, [], 0))


def part_machine(asked_for: Asked, subject: Subject, progress: Progress) -> Seen:
    """The Hypothesis machine."""
    run = Run(subject, asked_for.profile, asked_for.seed)
    with described() as statistics:
        failed, _ = run_machine(subject, run.model, EXAMPLES, asked_for.hypothesis_seed)
    if failed:
        run.failing.append(failed)
        run.looking = True
        progress(run)
        run.findings = findings(run)
    return seen(Checked(run, 0, 0, [], 0))._replace(statistics="\n".join(statistics))


def part_deviations(asked_for: Asked, subject: Subject, _progress: Progress) -> Seen:
    """Every deviation that the profile declares is seen to be one."""
    run = Run(subject, asked_for.profile, asked_for.seed)
    golden = [asked(trace, subject) for trace in golden_traces(subject.contract.name, run.profile)]
    deviations(run, golden + witnesses(subject, run.profile))
    return Seen(said=tuple(not_enough(run.gone_in_words)))


PARTS: dict[str, Part] = {
    "golden": part_golden,
    "walks": part_walks,
    "machine": part_machine,
    "deviations": part_deviations,
}


def made_first(part: str, asked_for: Asked, subject: Subject, progress: Progress) -> Seen:
    """See that a subject can be made, then what a part comes to."""
    see_made(subject)
    return PARTS[part](asked_for, subject, progress)


@cache
def came_to(subject: Subject, part: str, asked_for: Asked) -> Seen:
    """What a part comes to, in a guarded process; once for all tests that look at it."""
    work = partial(made_first, part, asked_for)
    try:
        return run_one(Task(subject, asked_for.profile, work, seen, asked_for.seed))
    except BadInput as error:
        return Seen(said=(str(error),), unfit=True)


TOLD: dict[tuple[Subject, str], dict[str, str]] = {}
"""By subject and profile, and by the number of each rule: which test of this process has told of it."""


def once(subject: Subject, profile: str, part: str, told: Story) -> str:
    """A story; where another test has told of the same rules, a line that says which."""
    before = TOLD.setdefault((subject, profile), {})
    first = next((before[number] for number in told.numbers if number in before), part)
    before.update(dict.fromkeys(told.numbers, first))
    return told.text if first == part else f"the same failure as in {profile}-{first}: {told.what}"


def of_rule(subject: Subject, profile: str, number: str, found: Seen) -> list[str]:
    """One rule, in the random walks: none breaks it, and it came up unless they ended early."""
    if found.unfit:
        return [*found.said]
    stories = [once(subject, profile, number, told) for told in found.stories if number in told.numbers]
    laws = [text for law, text in found.laws if law == number]
    return stories or laws[:1] or not_enough([number] if number in found.vacuous else [])


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


def run_part(subject: Subject, profile: str, part: str, seed: int, request: Any) -> None:
    """Run one part, or look at one rule, as a test, which fails with the story alone."""
    import pytest

    config = request.config
    asked_for = Asked(profile, seed, hypothesis_seed(config))
    found = came_to(subject, part if part in PARTS else "walks", asked_for)
    stories = (once(subject, profile, part, told) for told in found.stories)
    wrong = "\n\n".join([*stories, *found.said] if part in PARTS else of_rule(subject, profile, part, found))
    if found.statistics and config.getoption("--hypothesis-show-statistics", False):
        request.node.hypothesis_statistics = found.statistics
    if wrong and config.getoption("usepdb", False):
        for trace in found.traces[:1]:
            stop_in(loaded(subject), trace, wrong, config)
    if wrong:
        pytest.fail(wrong, pytrace=False)


def hypothesis_seed(config: Any) -> int | str | None:
    """The seed of ``--hypothesis-seed``."""
    given = config.getoption("--hypothesis-seed", None)
    return int(given) if given is not None and str(given).isdecimal() else given


def stop_in(subject: Subject, trace: tuple[Any, tuple[Operation, ...]], wrong: str, config: Any) -> None:
    """Stop in the debugger, in this process: where a subject raises, else before the last operation is done.

    What it raises is raised here, so that pytest's own debugger is in the subject's frame.
    """
    error = raised(subject, *trace)
    if error and own(error):
        error.add_note(wrong)
        raise error
    capturing = config.pluginmanager.getplugin("capturemanager")
    if capturing:
        capturing.suspend(in_=True)  # what is typed as well
    try:
        print(f"\n{wrong}\n")  # noqa: T201 # pytest shows what it has captured after the test
        debugged(subject, *trace)
    finally:
        if capturing:
            capturing.resume()


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
    subject = resolve_unloaded(factory) if isinstance(factory, str) else declared(name, factory, kit)

    @pytest.mark.parametrize(("profile", "part"), as_parameters(subject, profile))
    def test_conformance(profile: str, part: str, request: Any) -> None:
        run_part(subject, profile, part, seed, request)

    return test_conformance


def as_parameters(subject: Subject, profile: str | None) -> list[Any]:
    """The cases of a subject as parameters of a test."""
    import pytest

    return [pytest.param(*case, id="-".join(case)) for case in cases(subject, profile)]
