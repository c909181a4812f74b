"""Whether a trace fails, where, and how: compared with the model, or judged by an invariant on the subject alone."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from broker_tck.implementations.interface.common import NOT_ANSWERED, Hang
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import (
    HANG,
    RESULT,
    Difference,
    first_difference,
    kept,
    no_answer,
    observable,
    record,
    recorder,
    replay_differs,
    unanswered,
)
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract, Step
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk

VARIED = 12
"""In how many ways a trace is varied while a breach is reduced."""
Failure = tuple[int, Difference]
"""Where a trace fails, and how."""
Judge = Callable[[Subject, type[Reference], Any, Sequence[Operation]], Failure | None]
"""Replays a trace: a subject, the model, a configuration and operations. None if it does not fail."""


def failure(subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]) -> Failure | None:
    """Where a trace fails, and how, replayed in this process."""
    made = partial(subject.fresh, config)
    try:
        with Limit(subject.seconds):
            return replay_differs(operations, partial(model, config), made, subject.contract.expensive)
    except Hang:
        return 0, no_answer(HANG, NOT_ANSWERED)


def fails_unasked(subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]) -> bool:
    """Whether a failing trace passes if all observables are asked for after each operation."""
    if not subject.contract.expensive:
        return False
    try:
        with Limit(subject.seconds):
            return first_difference(operations, model(config), subject.fresh(config)) is None
    except Hang:
        return False


def can_try(subject: Subject, given: Any, config: Any, operations: Sequence[Operation]) -> bool:
    """Whether a subject accepts a configuration, unless it is the ``given`` one, and all operations of a trace."""
    contract, capabilities = subject.contract, subject.capabilities
    starts = config == given or contract.edges.may_start(config, capabilities)
    return starts and contract.can_ask(operations, capabilities)


def answered(subject: Subject, config: Any, operations: Sequence[Operation]) -> tuple[Step, ...]:
    """What a subject answers and shows at each operation of a trace; nothing is told of one that hangs."""
    try:
        with Limit(subject.seconds):
            return tuple(record(operations, subject.fresh(config)))
    except Hang:
        return ()


def kind(contract: Contract, operation: Operation, difference: Difference) -> tuple[str, str, str]:
    """The kind of a failure: the kind of operation, what differed, and whether it was an error or no answer."""
    error = "error" if erred(difference) else ""
    return operation.tag, observable(contract, difference), unanswered(difference) or error


def erred(difference: Difference) -> bool:
    """Whether an error was seen in place of an answer."""
    return isinstance(difference.seen, dict) and "error" in difference.seen


# ---- Invariants and relations: the subject alone


class Judged(NamedTuple):
    """The verdict of an invariant, or a relation, on a subject's trace."""

    name: str
    met: int
    """How often its condition was met."""
    at: int | None
    """The operation at which it is broken; None if it is kept."""
    complaint: str


def judged(
    contract: Contract,
    adapted: Callable[[Any], Any],
    config: Any,
    operations: Sequence[Operation],
    seed: int = 0,
    wanted: Container[str] | None = None,
) -> Iterator[Judged]:
    """The verdicts of invariants and relations, all or those wanted, on a subject's trace. Relations draw from a seed.

    ``adapted`` makes a fresh subject, on an adapter, for a configuration.
    """
    recorded, choices = recorder(adapted), SeededChoices(seed)
    invariants = [invariant for invariant in contract.invariants if wanted is None or invariant.number in wanted]
    for invariant in invariants:
        yield Judged(invariant.number, *invariant.check(config, recorded(config, invariant.part(operations))))
    for relation in contract.relations:
        if wanted is None or relation.name in wanted:
            holds = kept(relation, config, operations, choices, recorded)
            broken = (len(operations) - 1, relation.sentence) if holds is False else (None, "")
            yield Judged(relation.name, holds is not None, *broken)


def broken_by(
    contract: Contract, done: Walk, adapted: Any, capabilities: Any, wanted: Container[str] | None = None
) -> list[str]:
    """The invariants and relations, all or those wanted, that a subject breaks on a walk without the model."""
    found = judged(
        contract, lambda config: adapted(config, capabilities), done.config, done.operations, done.seed or 0, wanted
    )
    return [each.name for each in found if each.complaint]


def breach_of(
    contract: Contract, adapted: Callable[[Any], Any], name: str, config: Any, operations: Sequence[Operation]
) -> tuple[int | None, str]:
    """The operation at which a subject breaks an invariant or a relation, and what is wrong; None if it does not."""
    of_invariant = name in {invariant.number for invariant in contract.invariants}
    for number in range(1 if of_invariant else VARIED):
        for each in judged(contract, adapted, config, operations, number, {name}):
            if each.complaint:
                return each.at, each.complaint
    return None, ""


def breach_told(contract: Contract, name: str, complaint: str) -> Difference:
    """A breach as a difference. For a relation, the complaint is that its sentence does not hold."""
    if name in {invariant.number for invariant in contract.invariants}:
        return Difference(RESULT, f"{name} to hold", complaint)
    return Difference(RESULT, complaint, "something else")
