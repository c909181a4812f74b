"""What threads may call at the same time: the dispatcher's threads, the timer's, and those that read or clear.

A dispatcher takes its own monitor for most of its calls, but not for all. After it has let go of a tracker it closes
it, and only the timer may still come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.contracts.delayed_delivery.operations import (
    Add,
    Advance,
    Capabilities,
    Clear,
    Close,
    Get,
    Has,
    Memory,
    Pause,
    ResetTick,
)
from broker_tck.properties.engine.concurrent import Concurrent
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.passing_time import ExpiringTime

FURTHEST = 2**40
"""How far ahead of the clock a message's time is, at most, in milliseconds: Java's timer counts nanoseconds."""


class TimePasses(ExpiringTime):
    """Time passes, in milliseconds."""

    def now(self) -> int:
        """The time."""
        return int(self.timer.now)

    def move_to(self, time: int) -> None:
        """Move the clock."""
        self.timer.now = time

    @property
    def timer(self) -> Any:
        """The timer."""
        return self.model.timer


def rest(_: DelayedDelivery, done: Sequence[Operation]) -> Iterator[Operation]:
    """Bring the timer up to date; then all becomes due, and comes out. A closed tracker is asked for nothing."""
    closed = any(isinstance(operation, Close) for operation in done)
    if not closed:
        yield Has()
    yield Advance(FURTHEST)
    if not closed:
        yield Get(len(done))
        yield Has()


def fits(operation: Operation, model: DelayedDelivery, _: Capabilities) -> bool:
    """Whether the time of a message is near."""
    return not isinstance(operation, Add) or operation.at <= model.timer.now + FURTHEST


ASKS = (Add, Has, Get, Pause)
CALLS = (*ASKS, ResetTick, Memory, Clear)
CONCURRENT = Concurrent(
    fills=(Add,),
    before=(*ASKS, Advance),
    calls=(*CALLS, *[Advance] * len(CALLS)),
    of_one=(Advance,),
    last=Close(),
    beside=(Advance,),
    rest=rest,
    steps={Advance: lambda model, operation, _: TimePasses(model, operation.ms)},  # type: ignore[attr-defined]
    fits=fits,
)
