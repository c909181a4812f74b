"""Shorter traces that a trace may be reduced to: which calls end changes with each operation that is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    WAITS,
    Complete,
    Conflict,
    Fail,
    Storage,
    Stored,
)
from broker_tck.properties.engine.operation import Operation

MOST_ENDED = 6
"""So many ends of calls are left out at most together with what made the calls."""


def rewrites(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Calls that end as they are made, in place of ends; an operation left out with the ends of what it called."""
    yield from at_once(operations)
    for i, operation in enumerate(operations):
        if not ends(operation):
            yield from without(operations, i)


def ends(operation: Operation) -> bool:
    """Whether an operation ends a call."""
    return isinstance(operation, Complete | Fail | Conflict | Stored)


def at_once(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Up to some operation, all calls end well as they are made; more of the trace first."""
    for upto in range(len(operations), 0, -1):
        before = [o for o in operations[:upto] if not isinstance(o, Complete | Storage)]
        if before and len(before) + 2 < upto and not any(map(ends, before)):
            yield [Storage(AT_ONCE), *before, Storage(WAITS), *operations[upto:]]


def without(operations: Sequence[Operation], i: int) -> Iterator[list[Operation]]:
    """The trace without an operation and some of the ends that follow it: the next ones, or the last."""
    places = [j for j in range(i + 1, len(operations)) if ends(operations[j])]
    for n in range(1, min(len(places), MOST_ENDED) + 1):
        for left_out in (places[:n], places[-n:]):
            yield [o for j, o in enumerate(operations) if j != i and j not in left_out]
