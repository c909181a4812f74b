"""What threads may call at the same time: the application receives, acknowledges and closes, the timer fires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from broker_tck.model.ack_timeout.specification import AckTimeout
from broker_tck.properties.contracts.ack_timeout.operations import (
    Add,
    Advance,
    Capabilities,
    Clear,
    Close,
    Config,
    Remove,
    RemoveTill,
)
from broker_tck.properties.engine.concurrent import Concurrent
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.passing_time import PassingTime


class TimePasses(PassingTime):
    """Time passes, in milliseconds."""

    def now(self) -> int:
        """The time."""
        return int(self.model.now)

    def move_to(self, time: int) -> None:
        """Move the clock."""
        self.model.now = time

    def armed(self) -> list[int]:
        """The times of all timeouts."""
        return list(self.model.timer.armed)


def rest(model: AckTimeout, _: Sequence[Operation]) -> Iterator[Operation]:
    """Look at what is tracked and armed; then all of it comes back."""
    yield Advance(0)
    yield Advance(model.config.ack_timeout + 2 * model.wheel.tick)


def plain(config: Config) -> Config:
    """A configuration of one topic, without a backoff."""
    return structs.replace(config, backoff=None, topics=())


def fits(operation: Operation, _: AckTimeout, __: Capabilities) -> bool:
    """Whether a message is not in chunks."""
    return not isinstance(operation, Add) or operation.chunks == 1


CHANGES = (Add, Remove, RemoveTill)
CONCURRENT = Concurrent(
    fills=(Add,),
    before=(*CHANGES, Advance),
    calls=(*CHANGES, Clear, Close, Advance),
    of_one=(Advance,),
    rest=rest,
    steps={Advance: lambda model, operation, _: TimePasses(model, operation.ms)},  # type: ignore[attr-defined]
    fits=fits,
    config=plain,
)
