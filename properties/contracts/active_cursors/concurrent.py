"""What threads may call at the same time: a container has one lock, so each call takes effect at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.properties.contracts.active_cursors.operations import (
    Add,
    Capabilities,
    Count,
    HasDurable,
    Remove,
    Size,
    Slowest,
    Update,
)
from broker_tck.properties.engine.concurrent import Concurrent
from broker_tck.properties.engine.operation import Operation

CALLS = (Add, Update, Remove, Slowest, Count, Size, HasDurable)
"""Not what answers with the number of a cursor object: adds of two threads may number theirs either way."""


def rest(_: ActiveCursors, done: Sequence[Operation]) -> Iterator[Operation]:
    """Ask for the rank of each cursor that was ever there, then for the slowest position and the size."""
    yield from (Count(name) for name in dict.fromkeys(o.name for o in done if isinstance(o, Add | Update)))
    yield from (Slowest(), Size(), HasDurable())


def fits(operation: Operation, _: ActiveCursors, capabilities: Capabilities) -> bool:
    """Whether an operation takes no position away, in whatever order, if the subject cannot do without one."""
    return capabilities.null_updates or not isinstance(operation, Add | Update) or operation.at is not None


CONCURRENT = Concurrent(fills=(Add,), before=CALLS, calls=CALLS, rest=rest, fits=fits)
