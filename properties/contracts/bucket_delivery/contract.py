"""Contract ``bucket-delivery``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import BucketDelayedDeliveryTracker
from broker_tck.model.bucket_delivery import PROFILES
from broker_tck.properties.contracts.bucket_delivery.abstract import abstract
from broker_tck.properties.contracts.bucket_delivery.adapter import Adapter
from broker_tck.properties.contracts.bucket_delivery.concurrent import CONCURRENT
from broker_tck.properties.contracts.bucket_delivery.edges import EDGES
from broker_tck.properties.contracts.bucket_delivery.fallback import FALLBACKS
from broker_tck.properties.contracts.bucket_delivery.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.bucket_delivery.invariants import INVARIANTS, RELATIONS
from broker_tck.properties.contracts.bucket_delivery.names import Names
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    WAITS,
    Add,
    AnyOperation,
    Capabilities,
    Config,
    Fill,
    Storage,
)
from broker_tck.properties.contracts.bucket_delivery.rewrites import rewrites
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able
from broker_tck.properties.engine.units import TIME


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Of each operation, whether a subject can be asked for it.

    One that waits for its calls takes no message before they end as they are made, as they do from then on.
    """
    at_once = capabilities.calls_under_way
    for operation in operations:
        at_once = at_once or operation == Storage(AT_ONCE)
        waits = not at_once if isinstance(operation, Add | Fill) else operation == Storage(WAITS)
        yield able(operation, capabilities) and (capabilities.calls_under_way or not waits)


BUCKET_DELIVERY = Contract(
    name="bucket-delivery",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=BucketDelayedDeliveryTracker,
    call="Factory(config, clock, timer, storage, cursor)",
    adapter=Adapter,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={
        "count": "The number of delayed messages.",
        "buckets": "First and last ledger, the segment loaded last, and the number of segments, of each bucket.",
        "queues": "How many indexes may be handed out next, and how many the growing bucket has.",
        "armed": "The times for which timeouts are armed, in order.",
        "pending": "The calls to storage and cursor that wait to be ended, in the order in which they were made.",
        "keys": "The cursor's properties: by the range of a bucket, the number of its snapshot.",
    },
    shown_with={"buckets": "shows_buckets", "queues": "shows_buckets"},
    units={"count": "messages", "queues": ("ready", "growing"), "armed": TIME},
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    rewrites=rewrites,
    names=Names,
    asks=asks,
    concurrent=CONCURRENT,
    expensive=True,
    wordy=True,
)
