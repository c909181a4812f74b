"""Traces replayed or judged in separate processes, and the trace that a process was on when it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from broker_tck.implementations.interface import NOT_ANSWERED, Hang
from broker_tck.implementations.naming import unknown
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.blackbox import WALK
from broker_tck.properties.engine.check import HANG, no_answer
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.engine.walk import OPERATIONS, Walk, generated, walk
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.failing import Failure, breach_of, failure
from broker_tck.properties.search.isolation.guard import MEMORY, SECONDS, End, Limits, Tell, can_fork, guarded
from broker_tck.properties.search.isolation.unloaded import loaded

MAKING = 24
"""Factor of the limit for a subject that starts something, when it is made for the first time."""
T = TypeVar("T")
Asked = tuple[type[Reference], Any, Sequence[Operation]]
"""A trace to be replayed: beside which model, how the subject is configured, and what it is asked for."""


def limits_of(subject: Subject, seconds: float = SECONDS, memory: int | None = MEMORY) -> Limits:
    """The limits of a subject's process."""
    return Limits(seconds, memory if subject.forks else None, MAKING if subject.starts else 1)


def asked_apart(
    subject: Subject,
    function: Callable[[Subject, Tell], T],
    limits: Limits,
    told: Tell = lambda message: None,
    parent: Any = None,
) -> T | End:
    """The result of a function that runs a subject, in a separate process."""
    return guarded(lambda tell: function(loaded(subject), tell), limits, told, subject.name, parent)


class Apart:
    """Replays traces of a subject, each in a process of its own.

    Once ``most`` were not answered, or were made of a subject that starts much anew, no other fails.
    """

    def __init__(self, subject: Subject, limits: Limits, parent: Any = None, most: int | None = None) -> None:
        self.subject = subject
        self.limits = limits
        self.parent = parent
        self.left = most
        self.known: dict[tuple[Any, tuple[Operation, ...]], Failure | None] = {}

    def failure(
        self, _subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]
    ) -> Failure | None:
        """Where a trace fails, and how; at the operation that is not answered, if one is not. Each is replayed once."""
        trace = config, tuple(operations)
        if trace not in self.known and self.left != 0:
            found = self.known[trace] = self.replayed(model, config, operations)
            if found:
                self.known[config, trace[1][: found[0] + 1]] = found
        return self.known.get(trace)

    def replayed(self, model: type[Reference], config: Any, operations: Sequence[Operation]) -> Failure | None:
        """The same, of a trace that is not known. A subject that is asked for nothing does not fail."""
        if not operations:
            return None
        if not can_fork(self.subject.forks):
            return failure(self.subject, model, config, operations)
        found = asked_apart(
            self.subject,
            lambda subject, tell: failure(subject, model, config, operations),
            self.limits,
            parent=self.parent,
        )
        if self.left and (isinstance(found, End) or not self.subject.forks):
            self.left -= 1
        if isinstance(found, End):
            return max(0, len(found.trace) - 2), no_answer(found.error, found.message)
        return found


def all_apart(subject: Subject, asked: Sequence[Asked]) -> Iterator[Failure | None]:
    """Where each of some traces fails. One process replays them all; after one that ends it, another goes on.

    A failing trace is replayed alone as well, so its report does not depend on the others.
    """
    if not can_fork(subject.forks):
        yield from (failure(subject, *each) for each in asked)
        return
    limits, done = limits_of(subject), 0
    judge = Apart(subject, limits)
    while done < len(asked):
        found: list[Failure | None] = []
        end = asked_apart(subject, partial(replay_each, asked[done:]), limits, found.append)
        if isinstance(end, End) and len(found) == len(asked) - done:  # it ended behind the last one
            found.pop()
        for number, each in enumerate(found, done):
            yield judge.failure(subject, *asked[number]) if each else None
        done += len(found)
        if done < len(asked):
            yield judge.failure(subject, *asked[done])
            done += 1


def replay_each(asked: Sequence[Asked], subject: Subject, tell: Tell) -> None:
    """Send where each of some traces fails."""
    for each in asked:
        tell(failure(subject, *each))


def seed_of(end: End) -> int | None:
    """The seed of the walk that a process was on when it ended; None: each operation is written down, or no walk."""
    line = end.trace[0] if end.trace else b""
    return int(line.removeprefix(WALK)) if line.startswith(WALK) else None


def written_down(end: End, subject: Subject, model: type[Reference], limits: Limits, parent: Any = None) -> End | None:
    """How a process ended, with the operations of the walk that it was on: it is made again, each written down.

    None if it was only slow: no operation takes too long if each has the limit for itself.
    """
    seed = seed_of(end)
    if seed is None:
        return end
    again = asked_apart(
        subject,
        lambda subject, tell: walk(subject.contract, seed, subject.adapter, model, subject.capabilities),
        limits,
        parent=parent,
    )
    if isinstance(again, End):
        return again
    trace = tuple(map(msgspec.json.encode, (again.config, *again.operations)))
    return None if end.error == HANG else end._replace(trace=trace)


def walk_of(end: End, subject: Subject, model: type[Reference], seed: int | None = None) -> Walk:
    """The trace that a process was on when it ended. A subject that was just being made was asked for something."""
    contract = subject.contract
    config = msgspec.json.decode(end.trace[0], type=contract.config) if end.trace else contract.config()
    operations = [msgspec.json.decode(line, type=contract.operations) for line in end.trace[1:]]
    if not operations:
        choices = SeededChoices(0)
        operations = [next(generated(contract, model(config), choices, subject.capabilities, OPERATIONS))]
    return Walk(seed, config, operations, no_answer(end.error, end.message))


# ---- Invariants


class Judgement(msgspec.Struct, frozen=True):
    """The verdict of an invariant, or a relation, on a subject's trace."""

    where: str
    subject: str
    invariant: str
    step: int | None
    """The operation where it was broken, counted from 1; None if it was kept."""
    complaint: str


def judged_apart(trace: Trace, subject: Subject, invariant: str) -> Judgement:
    """Judge a trace by an invariant, on a subject in a process of its own; one that ends the process breaks it."""
    if not can_fork(subject.forks):
        return judgement(trace, subject, invariant)
    found = asked_apart(subject, lambda subject, tell: judgement(trace, subject, invariant), limits_of(subject))
    if isinstance(found, End):
        return Judgement(trace.where, subject.name, invariant, max(1, len(found.trace) - 1), found.message)
    return found


def judgement(trace: Trace, subject: Subject, invariant: str) -> Judgement:
    """Judge a subject's trace by an invariant, without the model. Raises BadInput if there is no such invariant."""
    known = [*(each.number for each in trace.contract.invariants), *(each.name for each in trace.contract.relations)]
    invariant = next((name for name in known if name.lower() == invariant.lower()), invariant)
    if invariant not in known:
        raise BadInput(unknown("invariant", invariant, known, of=trace.contract.name))

    try:
        at, complaint = breach_of(trace.contract, subject.fresh, invariant, trace.config, tuple(trace.operations))
    except Hang:
        at, complaint = 0, NOT_ANSWERED
    return Judgement(trace.where, subject.name, invariant, None if at is None else at + 1, complaint)
