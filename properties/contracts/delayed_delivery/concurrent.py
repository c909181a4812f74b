"""What threads may call at the same time: the dispatcher's threads, the timer's, and those that read or clear.

A dispatcher takes its own monitor for most of its calls, but not for all. After it has let go of a tracker it closes
it, and only the timer may still come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from broker_tck.properties.engine.concurrent import Concurrent, Word
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.passing_time import PassingTime

FURTHEST = 2**40
"""How far ahead of the clock a message's time is, at most, in milliseconds: Java's timer counts nanoseconds."""


class TimePasses(PassingTime):
    """Time passes, in milliseconds. A timeout that has expired fires later, even if it is cancelled in between."""

    expired: int | None = None

    def now(self) -> int:
        """The time."""
        return int(self.model.timer.now)

    def move_to(self, time: int) -> None:
        """Move the clock."""
        self.model.timer.now = time

    def armed(self) -> list[int]:
        """The times of all timeouts."""
        return list(self.model.timer.armed)

    def on_the_way(self) -> bool:
        """Whether a timeout is to fire before the end."""
        return self.expired is not None or super().on_the_way()

    def words(self) -> list[Word]:
        """A timeout that has expired fires; otherwise time may go on to the next, which expires."""
        if not self.on_the_way():
            return []
        return [("expires",) if self.expired is None else ("fires",)]

    def step(self, word: Word) -> None:
        """It fires, or the next one expires."""
        timer = self.model.timer
        if self.expired is None:
            self.move_to(self.first())
            self.expired = timer.armed.pop(0)
        else:
            timer.fire(self.expired)
            self.said.append(timer.now)
            self.expired = None


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
    rest=rest,
    steps={Advance: lambda model, operation, _: TimePasses(model, operation.ms)},  # type: ignore[attr-defined]
    fits=fits,
)
