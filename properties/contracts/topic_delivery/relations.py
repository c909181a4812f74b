"""Changes of a trace that change its outcomes in a known way: what other views do, and when all of it happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from broker_tck.properties.contracts.delayed_delivery.invariants import shift
from broker_tck.properties.contracts.topic_delivery import operations as op
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.contract import Relation, Step
from broker_tck.properties.engine.operation import Operation

OTHER = "Z"
"""A subscription that few walks have."""
Varied = tuple[op.Config, list[Operation]]


def lasting(operations: Sequence[Operation]) -> list[Operation]:
    """What is done with the first view of each subscription, were it opened at the start, and never closed."""
    names = dict.fromkeys(o.name for o in operations if isinstance(o, op.Open))
    first = {f"{name}1" for name in names}
    done = [o for o in operations if not isinstance(o, op.Open | op.Close | op.Reads | op.Shutdown)]
    return [*map(op.Open, names), *(o for o in done if getattr(o, "handle", None) in first | {None})]


def answers(steps: Sequence[Step], handles: set[str]) -> Iterator[tuple[Any, ...]]:
    """What some views answered, in order."""
    for step in steps:
        if (
            isinstance(step.operation, op.Add | op.Get | op.Has | op.Count | op.Pause)
            and step.operation.handle in handles
        ):
            yield step.operation, step.result


def handles_of(operations: Sequence[Operation]) -> list[str]:
    """The views that are opened at the start."""
    return [f"{o.name}1" for o in operations if isinstance(o, op.Open)]


# ---- What another view takes


def vary_takes(config: op.Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Leave out what all views but one take, clear and acknowledge."""
    handles = handles_of(operations)
    if len(handles) < 2:
        return None
    chosen = one_of(choices, handles)
    varied = [o for o in operations if not takes(o) or getattr(o, "handle", chosen) == chosen]
    return (config, varied) if len(varied) < len(operations) else None


def takes(o: Operation) -> bool:
    """Whether a view may be done with messages after it."""
    return isinstance(o, op.Get | op.Clear | op.MarkDelete)


def equal_for_one(config: op.Config, steps: Sequence[Step], other: op.Config, varied: Sequence[Step]) -> bool:
    """The same answers to a view whose takes are still there."""
    taking = {s.operation.handle for s in varied if isinstance(s.operation, op.Get | op.Clear | op.MarkDelete)}
    return [*answers(steps, taking)] == [*answers(varied, taking)]


# ---- What is kept for another view


def vary_keeping(config: op.Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Open one more subscription, which never takes anything: all is kept for it."""
    handles = handles_of(operations)
    return (config, [op.Open(OTHER), *operations]) if handles and f"{OTHER}1" not in handles else None


def equal_for_all(config: op.Config, steps: Sequence[Step], other: op.Config, varied: Sequence[Step]) -> bool:
    """The same answers to all other views."""
    handles = {*handles_of([s.operation for s in steps])}
    return [*answers(steps, handles)] == [*answers(varied, handles)]


# ---- When


def outcome(step: Step, ms: int) -> tuple[Any, ...]:
    """What a step showed, with its times moved; a memory estimate may depend on the way that led there."""
    if len(step.seen) != 5:
        return step.result, step.seen
    moves = isinstance(step.operation, op.Advance) and isinstance(step.result, list)
    result = [[firing[0] + ms, *firing[1:]] for firing in step.result] if moves else step.result
    result = None if isinstance(step.operation, op.Memory) else result
    count, _, armed, index, state = step.seen
    return result, count, [at + ms for at in armed], index, state


RELATIONS = (
    Relation(
        "isolation",
        "What other views take, clear or acknowledge changes no answer of a view.",
        vary_takes,
        equal_for_one,
        part=lasting,
    ),
    Relation(
        "keeping",
        "A further subscription, for which everything is kept, changes no answer of the others: pruning changes none.",
        vary_keeping,
        equal_for_all,
        part=lasting,
    ),
    shift(outcome),
)
