"""Replay: a trace on the model and on subjects, against its recorded outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from broker_tck.model.reference import Allowed, Reference
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import RESULT, Difference, apart, concrete, failed
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.findings.diagnose import observable
from broker_tck.properties.isolation.protected import all_replayed, replayed

SECONDS = 5.0
"""How long a subject may take over an operation."""
MODEL = "model"


@dataclass(frozen=True)
class Disagreement:
    """The first step of a trace at which the model or a subject did not do as recorded, or as the model."""

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
    """How a trace was replayed."""

    steps: int
    agreed: int
    who: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]


def replay(trace: Trace, subjects: Sequence[Subject], profile: str | None = None) -> Replay:
    """Replay a trace on the model of its profile, or of another, and on subjects."""
    chosen = profile or trace.profile
    found = [d for d in [on_model(trace, chosen), *(on_subject(trace, s, chosen) for s in subjects)] if d]
    agreed = min((d.step for d in found), default=len(trace.operations))
    return Replay(len(trace.operations), agreed, (MODEL, *(s.name for s in subjects)), tuple(found))


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
    """The first step at which a model does not do as recorded, counted from 0; None: there is none."""
    reference: Any = model(trace.config)
    for step, (operation, outcome) in enumerate(zip(trace.operations, trace.outcomes, strict=True)):
        try:
            answer = operation.on(reference)
        except Exception as fault:
            answer = failed(fault)
        if outcome is None:
            concrete(answer)
        elif difference := not_as_recorded(answer, reference.seen(), outcome):
            return step, difference
    return None


def not_as_recorded(answer: Any, seen: Sequence[Any], outcome: Sequence[Any]) -> Difference | None:
    """How an answer of the model and what is seen of it differ from what was recorded."""
    if type(answer) is Allowed:
        if not answer.permits(outcome[0]):
            return Difference(RESULT, outcome[0], answer.says)
        answer.follow(outcome[0])
    elif plain(answer) != outcome[0] or isinstance(answer, bool) is not isinstance(outcome[0], bool):
        return Difference(RESULT, outcome[0], plain(answer))
    bad = apart(seen, outcome[1:])
    return Difference(bad.observed, bad.seen, bad.expected) if bad else None


def on_subject(trace: Trace, subject: Subject, profile: str) -> Disagreement | None:
    """Replay on a subject beside the model."""
    found = replayed(subject, trace.contract.model(profile), trace.config, trace.operations, SECONDS)
    return Disagreement(trace, profile, subject.name, *found) if found else None


def disagreements(traces: Sequence[Trace], subject: Subject, profile: str) -> Iterator[Disagreement]:
    """Replay traces on a subject beside the model: those on which they disagree, as they are found."""
    if traces:
        asked = [(trace.config, trace.operations) for trace in traces]
        model = traces[0].contract.model(profile)
        for trace, found in zip(traces, all_replayed(subject, model, asked, SECONDS), strict=True):
            if found:
                yield Disagreement(trace, profile, subject.name, *found)
