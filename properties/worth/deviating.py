"""Deviations: what a profile does otherwise than the specification, seen to happen, each with its shortest trace."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.model.rules import method_of
from broker_tck.properties.engine.check import kept, recorder
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.replay import otherwise
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.findings.cheapest import is_dear
from broker_tck.properties.findings.diagnose import WALKS, Diagnoser, Diagnosis
from broker_tck.properties.findings.finding import Finding, failure, find, find_breach
from broker_tck.properties.findings.one_bug import told_once
from broker_tck.properties.mistakes.book import Way, deviations_of
from broker_tck.properties.worth.exercised import deviating

DEVIATION_WALKS = 1_000
"""A deviation that no walk out of so many shows is gone."""
FAILING = 10
CANDIDATES = 5
"""So many failing walks are looked at, and so many of them reduced, for the shortest trace of all."""
BRIEFLY = 3, 1
"""The same, if it is said in how many walks to search."""
BREACHES = 2
"""Of the candidates that break a law or a variation, so many are reduced, as such walks are rare."""
ALIKE = 60
"""A subject that agrees with a profile on so many walks behaves as it does."""


def happens(subject: Subject, specified: type[Reference], seed: int, known: Sequence[Trace] = ()) -> bool:
    """Whether a subject is seen to need something of its profile: without it, as ``specified``, they differ.

    They do so on a known trace, or on a walk. With known traces that have outcomes the subject agrees.
    """
    if any(shows(subject, specified, trace) for trace in known):
        return True
    return next(failing(subject, specified, seed), None) is not None


def shows(subject: Subject, specified: type[Reference], trace: Trace) -> bool:
    """Whether a trace shows that a subject is not as a model: by its outcomes, if it has any."""
    if all(trace.outcomes):
        return otherwise(trace, specified) is not None
    return failure(subject, specified, trace.config, trace.operations) is not None


def breaks(subject: Subject, model: type[Reference], name: str, seed: int, known: Sequence[Trace] = ()) -> bool:
    """Whether a subject is seen to break a law, or a variation: on a known trace, or on a walk."""
    for trace in known:
        done = Walk(seed, trace.config, [*trace.operations], None)
        if broken_by(subject.contract, done, subject.rig, subject.capabilities, {name}):
            return True
    return next(breaking(subject, model, name, seed), None) is not None


def failing(subject: Subject, model: type[Reference], seed: int, count: int | None = None) -> Iterator[Walk]:
    """The walks, of so many, on which a subject differs from a model."""
    return (done for done in along(subject, model, seed, count or DEVIATION_WALKS) if done.difference)


def along(subject: Subject, model: type[Reference], seed: int, count: int) -> Iterator[Walk]:
    """So many walks of a subject along a model."""
    return walks(subject.contract, seed, range(count), subject.rig, model, subject.capabilities)


def breaking(
    subject: Subject, model: type[Reference], name: str, seed: int, count: int | None = None
) -> Iterator[Walk]:
    """The walks, of so many, on which a subject breaks a law or a variation."""
    for done in along(subject, model, seed, count or DEVIATION_WALKS):
        if broken_by(subject.contract, done, subject.rig, subject.capabilities, {name}):
            yield done


def broken_by(
    contract: Contract, done: Walk, rigged: Any, capabilities: Any, wanted: Container[str] | None = None
) -> list[str]:
    """The laws and variations, all or those wanted, that a subject breaks where it makes a walk alone."""
    laws = [law for law in contract.laws if wanted is None or law.number in wanted]
    recorded = recorder(lambda config: rigged(config, capabilities))
    steps = recorded(done.config, done.operations) if laws else []
    broken = [law.number for law in laws if law.check(done.config, steps)[2]]
    choices = SeededChoices(done.seed or 0)
    for variation in contract.variations:
        if wanted is None or variation.name in wanted:
            holds = kept(variation, done.config, done.operations, choices, recorded)
            broken += [variation.name] if holds is False else []
    return broken


def behaves_as(subject: Subject, seed: int) -> str | None:
    """The profile, of those that the subject declares and then of all, with which it agrees; None: with none."""
    for name in dict.fromkeys([*subject.profiles, *subject.contract.profiles]):
        if not any(done.difference for done in along(subject, subject.contract.model(name), seed, ALIKE)):
            return name
    return None


def broken_rules(contract: Contract, profile: str) -> list[str]:
    """The rules and laws of the specification that a profile breaks, each once."""
    model = contract.model(profile)
    return [*dict.fromkeys((*sorted(deviating(model)), *model.BREAKS))]


def deviation(subject: Subject, profile: str, number: str, seed: int, count: int | None = None) -> Finding | None:
    """The shortest trace found on which a subject that behaves as a profile breaks a rule, a law or a variation.

    Everything else is expected as the profile has it. None: it keeps the rule on so many walks.
    """
    contract = subject.contract
    if number not in deviating(contract.model(profile)):
        return breach(subject, contract.model(profile), number, seed, count)
    model = contract.model(f"{profile}+{number}")
    diagnoser = Diagnoser(contract, model, subject.rig, subject.capabilities)
    known = Diagnosis((number,), tuple(ways_of(contract.model(profile), number)), WALKS, whole=True)
    looked, reduced = BRIEFLY if count else (FAILING, CANDIDATES)
    chosen = sorted(islice(failing(subject, model, seed, count), looked), key=telling)[:reduced]
    return shortest(find(subject, diagnoser, w.config, w.operations, w.seed, known=known) for w in chosen)


def breach(subject: Subject, model: type[Reference], name: str, seed: int, count: int | None = None) -> Finding | None:
    """The shortest trace found on which a subject breaks a law or a variation.

    One that is dear to reduce is reduced only if none was before it.
    """
    found = list[Finding]()
    for done in islice(breaking(subject, model, name, seed, count), BRIEFLY[1] if count else CANDIDATES):
        finding = None if found and is_dear(done) else find_breach(subject, model, name, done)
        found += [finding] if finding else []
        if len(found) == BREACHES:
            break
    return shortest(found)


def telling(failed: Walk) -> tuple[bool, int]:
    """Sorts failing walks: a wrong answer says more than an error, and a walk more than one that does more."""
    difference = failed.difference
    errors = difference and any(isinstance(side, dict) for side in (difference.expected, difference.seen))
    return bool(errors), failed.effort


def ways_of(model: type[Reference], number: str) -> Iterator[Way]:
    """What a profile does in place of a rule."""
    for way in deviations_of(model):
        if way.rule.number == number:
            yield Way(way.rule, way.clause, f"as {model.PROFILE}", method_of(model, way.clause))


def shortest(findings: Iterable[Finding | None]) -> Finding | None:
    """The finding with the shortest trace."""
    return min((f for f in findings if f), key=lambda f: len(f.operations), default=None)


def peeled(subject: Subject, seed: int, count: int | None = None) -> list[Finding]:
    """What is wrong with a subject that behaves as another profile than the specification: each rule by itself.

    Each rule is searched for in ``count`` walks, or else in :data:`DEVIATION_WALKS`. A law that the trace of a rule
    breaks as well is not reported again.
    """
    profile = behaves_as(subject, seed)
    if profile is None:
        return []
    broken = (number for number in broken_rules(subject.contract, profile) if number not in subject.out_of_reach)
    found = (deviation(subject, profile, number, seed, count) for number in broken)
    specified = subject.contract.specification
    return told_once(Diagnoser(subject.contract, specified, subject.rig, subject.capabilities), filter(None, found))
