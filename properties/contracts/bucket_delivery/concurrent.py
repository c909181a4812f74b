"""What threads may call at the same time: the dispatcher's calls, the timer, and the ends of calls to the storage.

A dispatcher lets go of its tracker, closes it, and another one recovers. Meanwhile the timer may come, and calls to the
storage end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.generator import settled
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    Add,
    Advance,
    Capabilities,
    Clear,
    Closing,
    Complete,
    Config,
    Conflict,
    Contains,
    Fail,
    Get,
    Has,
    Mark,
    Pause,
    Reopen,
    Snapshots,
    Storage,
    Stored,
)
from broker_tck.properties.contracts.bucket_delivery.stepping import Dispatched, Ending, Reopening, TimePasses
from broker_tck.properties.engine.concurrent import Concurrent
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.state import state_of

MOST_CALLS = 5
"""Maximum number of calls that are left when the threads have ended."""
ALL = 100
"""More messages than a program has."""
LAST = 2**42
"""The time of a message is below it: Java's timer counts nanoseconds."""


def rest(model: BucketDelivery, done: Sequence[Operation]) -> Iterator[Operation]:
    """After a close it is asked first whether that has ended. All calls end, all times pass, everything comes out."""
    last = max((operation.at for operation in done if isinstance(operation, Add)), default=model.now)
    if any(isinstance(operation, Reopen) for operation in done):
        yield Closing()
    yield Pause()
    yield Storage(AT_ONCE)
    yield from [Complete(0)] * MOST_CALLS
    yield from (Has(), Get(ALL), Advance(max(0, last - model.now)), Has(), Get(ALL), Get(ALL), Snapshots())


def ready(model: BucketDelivery) -> Iterator[Operation]:
    """All calls end, then the next segment is to be loaded."""
    yield from settled(model)
    assert model.tracker
    ends = [p.bucket.about[p.bucket.current - 1].last_time for p in model.tracker.placed.pieces if p.bucket.unloaded]
    if ends:
        yield Advance(max(0, min(ends) - model.now))
        yield Get(ALL)


def plain(config: Config) -> Config:
    """A configuration with which few messages make buckets, and few buckets are too many."""
    return structs.replace(
        config,
        min_index_count=min(config.min_index_count, 2),
        time_step=min(config.time_step, 10),
        max_buckets=min(config.max_buckets, 2),
    )


def fits(operation: Operation, _: BucketDelivery, __: Capabilities) -> bool:
    """Whether the time of a message is near."""
    return not isinstance(operation, Add) or operation.at < LAST


ENDS = (Complete, Fail, Conflict, Stored)
CALLS = (Add, Contains, Has, Get, Clear)
CONCURRENT = Concurrent(
    fills=(*[Add] * 8, Complete, Mark),
    ready=ready,
    before=(Complete, Get, Advance),
    calls=(*CALLS, *ENDS, *[Get] * 3, *[Complete] * 5, *[Advance] * 4),
    most=(20, 2),
    of_one=(Advance,),
    last=Reopen(),
    beside=(*ENDS, *[Complete] * 3, *[Advance] * 2),
    rest=rest,
    steps={
        **dict.fromkeys(CALLS, Dispatched),
        **dict.fromkeys(ENDS, Ending),
        Reopen: Reopening,
        Advance: TimePasses,
    },
    fingerprint=state_of,
    fits=fits,
    config=plain,
)
