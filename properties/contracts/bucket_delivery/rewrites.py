"""Shorter traces that a trace may be reduced to: calls that end as they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

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


def rewrites(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Calls end well as they are made: all up to some operation, or all from where several end in a row."""
    for upto in range(len(operations), 0, -1):
        before = [o for o in operations[:upto] if not isinstance(o, Complete | Storage)]
        if before and len(before) + 2 < upto and not any(isinstance(o, Fail | Conflict | Stored) for o in before):
            yield [Storage(AT_ONCE), *before, Storage(WAITS), *operations[upto:]]
    for ends, run in groupby(range(len(operations)), lambda i: isinstance(operations[i], Complete)):
        places = [*run] if ends else []
        for left in places[:-1]:
            kept = operations[places[0] : left]
            yield [*operations[: places[0]], Storage(AT_ONCE), *kept, *operations[places[-1] + 1 :]]
