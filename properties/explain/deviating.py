"""Deviations: whether each deviation of a profile from the specification occurs, with its shortest trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from broker_tck.model.reference import Reference
from broker_tck.model.rules import method_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.explain.diagnose import WALKS, Diagnoser, Diagnosis
from broker_tck.properties.explain.finding import Finding, find, find_breach
from broker_tck.properties.explain.one_bug import told_once
from broker_tck.properties.mistakes.book import Mistake, deviations_of
from broker_tck.properties.search.exercised import deviating
from broker_tck.properties.search.failing import broken_by, failure
from broker_tck.properties.search.replay import otherwise

DEVIATION_WALKS = 1_000
"""A deviation that none of this number of walks shows is gone."""
FAILING = 10
CANDIDATES = 5
"""Number of failing walks that are compared, and number of them that are reduced, for the shortest trace."""
BRIEFLY = 3, 1
"""The same, if the user gives the number of walks."""
BREACHES = 2
"""Number of candidates that are reduced for an invariant or a relation, because such walks are rare."""
ALIKE = 60
"""A subject that agrees with a profile on this number of walks behaves as the profile."""


def happens(
    subject: Subject, specified: type[Reference], seed: int, known: Sequence[Trace] = (), invariant: str = ""
) -> bool:
    """Whether a deviation occurs: without it, the model, then ``specified``, differs from the subject.

    They do so on a known trace, or on a walk. With known traces that have outcomes the subject agrees. Of an invariant,
    or a relation, whether the subject is seen to break it.
    """
    return any(shows(subject, specified, trace, invariant) for trace in known) or any(
        failing(subject, specified, seed, invariant=invariant)
    )


def shows(subject: Subject, specified: type[Reference], trace: Trace, invariant: str = "") -> bool:
    """Whether a trace shows that a subject is not as a model, by its outcomes if it has any; or that it breaks one."""
    if invariant:
        return breaks(subject, invariant, trace.walk)
    if all(trace.outcomes):
        return otherwise(trace, specified) is not None
    return failure(subject, specified, trace.config, trace.operations) is not None


def breaks(subject: Subject, invariant: str, done: Walk) -> bool:
    """Whether a subject, alone, breaks an invariant, or a relation, on a walk."""
    return bool(broken_by(subject.contract, done, subject.adapter, subject.capabilities, {invariant}))


def failing(
    subject: Subject, model: type[Reference], seed: int, count: int | None = None, invariant: str = ""
) -> Iterator[Walk]:
    """The walks on which a subject differs from a model, or breaks an invariant or a relation if one is given."""
    for done in along(subject, model, seed, count or DEVIATION_WALKS):
        if breaks(subject, invariant, done) if invariant else done.difference:
            yield done


def along(subject: Subject, model: type[Reference], seed: int, count: int) -> Iterator[Walk]:
    """So many walks of a subject along a model."""
    return walks(subject.contract, seed, range(count), subject.adapter, model, subject.capabilities)


def behaves_as(subject: Subject, seed: int) -> str | None:
    """The first profile with which a subject agrees: of those that it declares, then of all; None if there is none."""
    for name in dict.fromkeys([*subject.profiles, *subject.contract.profiles]):
        if not any(done.difference for done in along(subject, subject.contract.model(name), seed, ALIKE)):
            return name
    return None


def broken_rules(contract: Contract, profile: str) -> list[str]:
    """The rules and invariants of the specification that a profile breaks, each once."""
    model = contract.model(profile)
    return [*dict.fromkeys((*sorted(deviating(model)), *model.BREAKS))]


def deviation(subject: Subject, profile: str, number: str, seed: int, count: int | None = None) -> Finding | None:
    """The shortest trace found on which a subject that behaves as a profile breaks a rule, an invariant or a relation.

    Everything else is expected as the profile has it. None: it keeps the rule on so many walks.
    """
    contract = subject.contract
    if number not in deviating(contract.model(profile)):
        return breach(subject, contract.model(profile), number, seed, count)
    model = contract.model(f"{profile}+{number}")
    diagnoser = Diagnoser(subject, model)
    known = Diagnosis((number,), tuple(mistakes_of(contract.model(profile), number)), WALKS, whole=True)
    looked, reduced = BRIEFLY if count else (FAILING, CANDIDATES)
    chosen = sorted(islice(failing(subject, model, seed, count), looked), key=telling)[:reduced]
    return shortest(find(diagnoser, walk, known=known) for walk in chosen)


def breach(subject: Subject, model: type[Reference], name: str, seed: int, count: int | None = None) -> Finding | None:
    """The shortest trace found on which a subject breaks an invariant or a relation."""
    broken = islice(failing(subject, model, seed, count, name), BRIEFLY[1] if count else CANDIDATES)
    found = (find_breach(subject, model, name, done) for done in broken)
    return shortest(islice(filter(None, found), BREACHES))


def telling(failed: Walk) -> tuple[bool, int]:
    """Sorts failing walks: a wrong answer says more than an error, and a walk more than one that does more."""
    difference = failed.difference
    errors = difference and any(isinstance(side, dict) for side in (difference.expected, difference.seen))
    return bool(errors), failed.effort


def mistakes_of(model: type[Reference], number: str) -> Iterator[Mistake]:
    """The mistakes that stand for a profile's deviation from a rule."""
    for mistake in deviations_of(model):
        if mistake.rule.number == number:
            yield Mistake(mistake.rule, mistake.clause, f"as {model.PROFILE}", method_of(model, mistake.clause))


def shortest(findings: Iterable[Finding | None]) -> Finding | None:
    """The finding with the shortest trace."""
    return min((f for f in findings if f), key=lambda f: len(f.operations), default=None)


def findings_by_rule(subject: Subject, seed: int, count: int | None = None) -> list[Finding]:
    """The findings of a subject that behaves as a profile other than the specification, one for each broken rule.

    A trace of each rule is searched for in ``count`` walks, or else in :data:`DEVIATION_WALKS`. An invariant that the
    trace of a rule breaks as well is not reported again.
    """
    profile = behaves_as(subject, seed)
    if profile is None:
        return []
    broken = (number for number in broken_rules(subject.contract, profile) if number not in subject.out_of_reach)
    found = (deviation(subject, profile, number, seed, count) for number in broken)
    specified = subject.contract.specification
    return told_once(Diagnoser(subject, specified), filter(None, found))


def gone_in_words(profile: str, deviations: Mapping[str, bool]) -> list[str]:
    """The declared deviations of a profile that do not occur, in words."""
    return [f"the deviation of {profile} from {name}" for name, happens in deviations.items() if not happens]
