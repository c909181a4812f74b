"""What threads may call at the same time: the application nacks and closes, the timer fires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from broker_tck.model.negative_acks.specification import MS, NegativeAcks
from broker_tck.properties.contracts.negative_acks.operations import Advance, Close, Config, Nack, NackId
from broker_tck.properties.engine.concurrent import Concurrent, Word
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.passing_time import PassingTime


class TimePasses(PassingTime):
    """Time passes, in nanoseconds."""

    def now(self) -> int:
        """The time that only goes forward."""
        return int(self.model.clock.now)

    def move_to(self, time: int) -> None:
        """Move both clocks."""
        self.model.clock.move(time)

    def armed(self) -> list[int]:
        """The deadlines."""
        return list(self.model.timer.armed())


class Nacking:
    """A nack, which reads the clock at its begin or later, and holds its item after that."""

    def __init__(self, model: NegativeAcks, operation: Operation, _thread: int) -> None:
        self.model, self.operation = model, operation
        self.read = model.clock.reading()
        self.done = False

    def words(self) -> list[Word]:
        """It holds its item, by the time at its begin or by that of now."""
        return [] if self.done else [("holds", at) for at in dict.fromkeys((self.read, self.model.clock.reading()))]

    def step(self, word: Word) -> None:
        """Hold the item."""
        clock = self.model.clock
        clock.reading = lambda: word[1]  # type: ignore[method-assign]
        self.operation.on(self.model)
        del clock.reading
        self.done = True

    def ends(self, result: Any) -> bool:
        """Whether it has held its item, and answers nothing."""
        return self.done and result is None

    def says(self) -> str:
        """What it answers."""
        return "no result"


def rest(model: NegativeAcks, _: Sequence[Operation]) -> Iterator[Operation]:
    """Look at what is held and armed; then most of it comes back."""
    yield Advance(0)
    yield Advance(2 * model.delays.delay(0) // model.SCALE)


def plain(config: Config) -> Config:
    """A configuration without a backoff."""
    return structs.replace(config, backoff_ms=None, multiplier=None)


NACKS = (Nack, NackId)
CONCURRENT = Concurrent(
    fills=NACKS,
    before=(*NACKS, Advance),
    calls=(*NACKS, Close, Advance),
    of_one=(Advance,),
    rest=rest,
    steps={
        **dict.fromkeys(NACKS, Nacking),
        Advance: lambda model, operation, _: TimePasses(model, operation.ms * MS),  # type: ignore[attr-defined]
    },
    config=plain,
)
