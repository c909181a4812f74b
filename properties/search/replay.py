"""Replay: a trace on the model and on subjects, against its recorded outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

from broker_tck import fixtures
from broker_tck.model.reference import Allowed, Reference
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import RESULT, Difference, apart, concrete, failed, observable
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.engine.trace import Trace, load, profile_in
from broker_tck.properties.search.failing import failure
from broker_tck.properties.search.isolation.apart import Asked, all_apart

MODEL = "model"


@dataclass(frozen=True)
class Disagreement:
    """The first step of a trace at which the model differs from the record, or a subject from the model."""

    trace: Trace
    profile: str
    who: str
    """``model``, or the subject's name."""
    step: int
    """Counted from 0."""
    difference: Difference

    @property
    def observed(self) -> str:
        """The name of what differed."""
        return observable(self.trace.contract, self.difference)


@dataclass(frozen=True)
class Replay:
    """The result of a replay."""

    steps: int
    agreed: int
    who: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]


def replay_all(chosen: Sequence[tuple[Trace, Sequence[Subject]]], profile: str | None = None) -> Iterator[Replay]:
    """Replay each trace on the model of its profile, or of another, and on its subjects, which are guarded."""
    asked: dict[str, tuple[Subject, list[Asked]]] = {}
    for trace, subjects in chosen:
        model = trace.contract.model(profile or trace.profile)
        for subject in subjects:
            asked.setdefault(subject.name, (subject, []))[1].append((model, trace.config, trace.operations))
    failing = {name: all_apart(*each) for name, each in asked.items()}
    for trace, subjects in chosen:
        under = profile or trace.profile
        failed = [(subject.name, next(failing[subject.name])) for subject in subjects]
        found = [Disagreement(trace, under, name, *failure) for name, failure in failed if failure]
        found = [d for d in [on_model(trace, under)] if d] + found
        agreed = min((d.step for d in found), default=len(trace.operations))
        yield Replay(len(trace.operations), agreed, (MODEL, *(s.name for s in subjects)), tuple(found))


def declaring(contract: Contract, profile: str) -> list[Subject]:
    """The bundled subjects that declare a profile."""
    return [s for s in bundled(contract) if profile in s.profiles]


def unasked(trace: Trace, subject: Subject) -> tuple[int, Operation] | None:
    """The first operation of a trace that a subject is not asked for, and its number; None: it is asked for all."""
    if subject.contract is not trace.contract:
        return None
    asks = trace.contract.asks(trace.operations, subject.capabilities)
    steps = zip(count(1), trace.operations, asks, strict=False)
    return next(((number, operation) for number, operation, asked in steps if not asked), None)


def on_model(trace: Trace, profile: str) -> Disagreement | None:
    """Replay on the model of a profile against the recorded outcomes."""
    found = otherwise(trace, trace.contract.model(profile))
    return Disagreement(trace, profile, MODEL, *found) if found else None


def otherwise(trace: Trace, model: type[Reference]) -> tuple[int, Difference] | None:
    """The first step, counted from 0, at which a model differs from the record; None if there is none."""
    reference: Any = model(trace.config)
    for step, (operation, outcome) in enumerate(zip(trace.operations, trace.outcomes, strict=True)):
        try:
            answer = operation.on(reference)
        except Exception as fault:
            answer = failed(fault)
        if outcome is None:
            concrete(answer)
        elif difference := not_as_recorded(answer, reference.seen, outcome):
            return step, difference
    return None


def not_as_recorded(answer: Any, seen: Callable[[], Sequence[Any]], outcome: Sequence[Any]) -> Difference | None:
    """How the model's answer and observables differ from the record."""
    if type(answer) is Allowed:
        if not answer.permits(outcome[0]):
            return Difference(RESULT, outcome[0], answer.says)
        answer.follow(outcome[0])
    elif plain(answer) != outcome[0] or isinstance(answer, bool) is not isinstance(outcome[0], bool):
        return Difference(RESULT, outcome[0], plain(answer))
    bad = apart(seen(), outcome[1:])  # by what was taken over
    return Difference(bad.observed, bad.seen, bad.expected) if bad else None


def on_subject(trace: Trace, subject: Subject, profile: str) -> Disagreement | None:
    """Replay on a subject beside the model."""
    found = failure(subject, trace.contract.model(profile), trace.config, trace.operations)
    return Disagreement(trace, profile, subject.name, *found) if found else None


def disagreements(traces: Sequence[Trace], subject: Subject, profile: str) -> Iterator[Disagreement]:
    """Replay traces on a subject beside the model: those on which they disagree, as they are found."""
    return (found for trace in traces if (found := on_subject(trace, subject, profile)))


# ---- Recorded traces


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
    """A recorded trace without the operations that need capabilities which the subject lacks."""
    asks = subject.contract.asks(trace.operations, subject.capabilities)
    steps = zip(trace.operations, trace.outcomes, asks, strict=False)
    kept = [(o, outcome) for o, outcome, asked in steps if asked]
    return replace(trace, operations=[o for o, _ in kept], outcomes=[outcome for _, outcome in kept])
