"""What threads may call of a manager of caches: they insert, read, remove and close; one thread makes its passes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec import structs

from broker_tck.model.entry_cache.releases import LargestFirst
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.concurrent import (
    LARGEST,
    MOST_REQUEUED,
    fingerprint_with,
    happens,
    mark,
    unmarked,
)
from broker_tck.properties.contracts.entry_cache.configs import has_exact_goal
from broker_tck.properties.contracts.entry_cache.managed import Closing, Inserting, Managed, Reading, Taking, Telling
from broker_tck.properties.contracts.entry_cache.managed_passes import AgeingAlone, Ordered, OrderedAlone, Scheduled
from broker_tck.properties.contracts.entry_cache.operations import (
    CACHES,
    Advance,
    Background,
    Capabilities,
    Config,
    Counters,
    Get,
    Invalidate,
    Pinned,
    Put,
    Reopen,
    Run,
    SizeOfAll,
    Trim,
)
from broker_tck.properties.engine.concurrent import Concurrent, Hint
from broker_tck.properties.engine.operation import Operation

LIMITS = (30, 60, 100)
"""The largest sizes: a few entries pass them."""
WATERMARK = 90


def scheduled(model: EntryCaches, call: Run, thread: int) -> Managed:
    """The scheduled run of a release."""
    return (AgeingAlone if isinstance(model.passes, LargestFirst) else Scheduled)(model, call, thread)


def ordered(model: EntryCaches, call: Background, thread: int) -> Managed:
    """The passes that were ordered, of a release."""
    return (OrderedAlone if isinstance(model.passes, LargestFirst) else Ordered)(model, call, thread)


STEPS: Mapping[type[Operation], Callable[[Any, Any, int], Managed]] = {
    Put: Inserting,
    Get: Reading,
    Invalidate: Taking,
    Trim: Taking,
    Reopen: Closing,
    SizeOfAll: Telling,
    Run: scheduled,
    Background: ordered,
}


def rest(model: EntryCaches, _: Sequence[Operation]) -> Iterator[Operation]:
    """The size is that of what is left, which leaves by age and with its topic: then it is 0."""
    yield from (SizeOfAll(), Counters())
    if not isinstance(model.passes, LargestFirst):
        yield from (Background(), Pinned(), Advance(model.config.ttl + 1), Run())
    yield from map(Reopen, range(CACHES))
    yield SizeOfAll()


def fits(operation: Operation, _: EntryCaches, __: Capabilities) -> bool:
    """Whether an entry is so small that many fit."""
    return not isinstance(operation, Put) or operation.size <= LARGEST


def limited(config: Config) -> Config:
    """A configuration with a limit that a few entries pass."""
    largest = config.max_size if config.max_size in LIMITS else LIMITS[1]
    watermark = config.watermark if has_exact_goal(largest, config.watermark) else WATERMARK
    requeues = min(config.max_requeue_count, MOST_REQUEUED)
    return structs.replace(config, max_size=largest, watermark=watermark, max_requeue_count=requeues)


def fingerprint(model: EntryCaches) -> Hashable:
    """All that matters to what may come."""
    calls = sorted(cast(Mapping[int, Managed], model.under_way).items())
    managed = tuple((thread, type(call), call.state()) for thread, call in calls)
    inner = [(thread, call.inner) for thread, call in calls if call.inner]
    manager, store = model.manager, model.store
    counters = store.total, store.inserted, store.evicted, manager.passes, manager.pass_awaits, manager.waiting
    return managed, counters, fingerprint_with(model, inner)


MANAGING = Concurrent(
    fills=(Put,),
    before=(Put, Get, Advance),
    calls=(Put, Put, Put, Get, Invalidate, Trim, Reopen, SizeOfAll, Run, Run, Background, Background),
    of_one=(Run, Background),
    rest=rest,
    steps=STEPS,
    fingerprint=fingerprint,
    hint=Hint("EC-11", unmarked, mark),
    fits=fits,
    happens=happens,
    config=limited,
)
