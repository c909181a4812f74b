"""Changes of a trace that change its outcomes in a known way: what other views do, and when all of it happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from broker_tck.properties.contracts.topic_delivery.operations import (
    Add,
    Advance,
    Clear,
    Close,
    Config,
    Count,
    Fill,
    Get,
    Has,
    MarkDelete,
    Memory,
    Open,
    Pause,
    Reads,
    ResetTick,
    Shutdown,
)
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.contract import Step, Variation
from broker_tck.properties.engine.operation import Operation, shifted

FAR = 2**52
"""Times beyond this are left alone: moved, they might pass the end of time."""
OTHER = "Z"
"""A subscription that few walks have."""
Varied = tuple[Config, list[Operation]]


def lasting(operations: Sequence[Operation]) -> list[Operation]:
    """What is done with the first view of each subscription, were it opened at the start, and never closed."""
    names = dict.fromkeys(o.name for o in operations if isinstance(o, Open))
    first = {f"{name}1" for name in names}
    done = [o for o in operations if not isinstance(o, Open | Close | Reads | Shutdown)]
    return [*map(Open, names), *(o for o in done if getattr(o, "handle", None) in first | {None})]


def answers(steps: Sequence[Step], handles: set[str]) -> Iterator[tuple[Any, ...]]:
    """What some views answered, in order."""
    for step in steps:
        if isinstance(step.operation, Add | Get | Has | Count | Pause) and step.operation.handle in handles:
            yield step.operation, step.result


def handles_of(operations: Sequence[Operation]) -> list[str]:
    """The views that are opened at the start."""
    return [f"{o.name}1" for o in operations if isinstance(o, Open)]


# ---- What another view takes


def vary_takes(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Leave out what all views but one take, clear and acknowledge."""
    handles = handles_of(operations)
    if len(handles) < 2:
        return None
    chosen = one_of(choices, handles)
    varied = [o for o in operations if not takes(o) or getattr(o, "handle", chosen) == chosen]
    return (config, varied) if len(varied) < len(operations) else None


def takes(o: Operation) -> bool:
    """Whether a view may be done with messages after it."""
    return isinstance(o, Get | Clear | MarkDelete)


def equal_for_one(config: Config, steps: Sequence[Step], other: Config, varied: Sequence[Step]) -> bool:
    """The same answers to a view whose takes are still there."""
    taking = {s.operation.handle for s in varied if isinstance(s.operation, Get | Clear | MarkDelete)}
    return [*answers(steps, taking)] == [*answers(varied, taking)]


# ---- What is kept for another view


def vary_keeping(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Open one more subscription, which never takes anything: all is kept for it."""
    handles = handles_of(operations)
    return (config, [Open(OTHER), *operations]) if handles and f"{OTHER}1" not in handles else None


def equal_for_all(config: Config, steps: Sequence[Step], other: Config, varied: Sequence[Step]) -> bool:
    """The same answers to all other views."""
    handles = {*handles_of([s.operation for s in steps])}
    return [*answers(steps, handles)] == [*answers(varied, handles)]


# ---- When


def vary_shift(config: Config, operations: Sequence[Operation], choices: Choices) -> Varied | None:
    """Move clock and times by a multiple of every bucket's width."""
    if any(last_time(o) > FAR for o in operations):
        return None
    if max([config.tick, *(o.tick for o in operations if isinstance(o, ResetTick))]) > config.clock:
        return None  # a released timer keeps its distance from a run at 0, which does not move
    ms = (1 + choices.below(1000)) << max(22, config.tick.bit_length())
    return replace(config, clock=config.clock + ms), [shifted(o, ms) for o in operations]


def last_time(o: Operation) -> int:
    """The last time for which an operation adds a message; 0: it adds none."""
    return o.at + max(0, (o.n - 1) * o.apart) if isinstance(o, Fill) else getattr(o, "at", 0)


def equal_shifted(config: Config, steps: Sequence[Step], other: Config, varied: Sequence[Step]) -> bool:
    """The same outcomes, times moved as the clock was."""
    return [outcome(s, other.clock - config.clock) for s in steps] == [outcome(s, 0) for s in varied]


def outcome(step: Step, ms: int) -> tuple[Any, ...]:
    """What a step showed, with its times moved; a memory estimate may depend on the way that led there."""
    if len(step.seen) != 5:
        return step.result, step.seen
    moves = isinstance(step.operation, Advance) and isinstance(step.result, list)
    result = [[firing[0] + ms, *firing[1:]] for firing in step.result] if moves else step.result
    result = None if isinstance(step.operation, Memory) else result
    count, _, armed, index, state = step.seen
    return result, count, [at + ms for at in armed], index, state


VARIATIONS = (
    Variation(
        "isolation",
        "What other views take, clear or acknowledge changes no answer of a view.",
        vary_takes,
        equal_for_one,
        part=lasting,
    ),
    Variation(
        "keeping",
        "A further subscription, for which everything is kept, changes no answer of the others: pruning changes none.",
        vary_keeping,
        equal_for_all,
        part=lasting,
    ),
    Variation(
        "shift",
        "With all its times moved by a multiple of every bucket's width, a trace has the same outcomes, moved.",
        vary_shift,
        equal_shifted,
    ),
)
