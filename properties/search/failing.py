"""Whether a trace fails, where, and how: beside the model, or by what an invariant says of the subject alone."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any

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
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk

VARIED = 12
"""In how many ways a trace is varied while a breach is reduced."""
Failure = tuple[int, Difference]
"""Where a trace fails, and how."""
Judge = Callable[[Subject, type[Reference], Any, Sequence[Operation]], Failure | None]
"""Replays a trace: a subject, the model, a configuration and operations. None: it does not fail."""


def failure(subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]) -> Failure | None:
    """Where a trace fails, and how, replayed in this process."""
    made = partial(subject.rig, config, subject.capabilities)
    try:
        with Limit(subject.seconds):
            return replay_differs(operations, partial(model, config), made, subject.contract.dear)
    except Hang:
        return 0, no_answer(HANG, NOT_ANSWERED)


def fails_unasked(subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]) -> bool:
    """Whether a failing trace does not fail where everything is asked for after each operation."""
    if not subject.contract.dear:
        return False
    try:
        with Limit(subject.seconds):
            return first_difference(operations, model(config), subject.rig(config, subject.capabilities)) is None
    except Hang:
        return False


def can_try(subject: Subject, given: Any, config: Any, operations: Sequence[Operation]) -> bool:
    """Whether a subject can be configured so, if it was not given so, and be asked for a whole trace."""
    contract, capabilities = subject.contract, subject.capabilities
    starts = config == given or contract.edges.may_start(config, capabilities)
    return starts and contract.can_ask(operations, capabilities)


def answered(subject: Subject, config: Any, operations: Sequence[Operation]) -> tuple[Any, ...]:
    """What a subject answers to each operation of a trace; nothing is told of one that hangs."""
    try:
        with Limit(subject.seconds):
            return tuple(step.result for step in record(operations, subject.rig(config, subject.capabilities)))
    except Hang:
        return ()


def kind(contract: Contract, operation: Operation, difference: Difference) -> tuple[str, str, str]:
    """What a failure is like: the kind of operation, what differed, and whether it was an error or no answer."""
    error = "error" if erred(difference) else ""
    return operation.tag, observable(contract, difference), unanswered(difference) or error


def erred(difference: Difference) -> bool:
    """Whether an error was seen in place of an answer."""
    return isinstance(difference.seen, dict) and "error" in difference.seen


def breach_told(contract: Contract, name: str, complaint: str) -> Difference:
    """A breach as a difference. What is wrong with a variation is its sentence, which does not hold."""
    if name in {law.number for law in contract.laws}:
        return Difference(RESULT, f"{name} to hold", complaint)
    return Difference(RESULT, complaint, "something else")


def breach_of(
    contract: Contract, rigged: Callable[[Any], Any], name: str, config: Any, operations: Sequence[Operation]
) -> tuple[int | None, str]:
    """The operation at which a subject, alone, breaks a law or a variation, and what is wrong; None: it does not.

    ``rigged`` makes a fresh subject, on a rig, for a configuration.
    """
    recorded = recorder(rigged)
    for law in contract.laws:
        if law.number == name:
            return law.check(config, recorded(config, operations))[1:]
    variation = next(variation for variation in contract.variations if variation.name == name)
    for number in range(VARIED):
        if kept(variation, config, operations, SeededChoices(number), recorded) is False:
            return len(operations) - 1, variation.sentence
    return None, ""


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
