"""Contract ``ack-timeout``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import AckTimeoutTracker
from broker_tck.model.ack_timeout import PROFILES
from broker_tck.properties.contracts.ack_timeout.abstract import abstract
from broker_tck.properties.contracts.ack_timeout.adapter import Adapter
from broker_tck.properties.contracts.ack_timeout.concurrent import CONCURRENT
from broker_tck.properties.contracts.ack_timeout.edges import EDGES
from broker_tck.properties.contracts.ack_timeout.fallback import FALLBACKS
from broker_tck.properties.contracts.ack_timeout.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.ack_timeout.invariants import INVARIANTS, RELATIONS
from broker_tck.properties.contracts.ack_timeout.operations import Add, AnyOperation, Capabilities, Config, entries_of
from broker_tck.properties.engine.client import entries_kept
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able
from broker_tck.properties.engine.units import TIME


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Which operations a subject can be asked for.

    An entry is in so many chunks, or an earlier chunk, for good; and what is in chunks is not in a batch.
    """

    def fits(operation: Operation) -> bool:
        mixed = isinstance(operation, Add) and operation.chunks > 1 and operation.index >= 0
        return able(operation, capabilities) and not mixed and all(at[1] >= 0 for at, _ in entries_of(operation))

    return entries_kept(operations, fits, entries_of)


ACK_TIMEOUT = Contract(
    name="ack-timeout",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=AckTimeoutTracker,
    call="Factory(config, clock, timer, consumer)",
    adapter=Adapter,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={
        "size": "The number of messages that are tracked.",
        "armed": "The times for which timeouts are armed, in order.",
    },
    units={"size": "messages", "armed": TIME},
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    asks=asks,
    concurrent=CONCURRENT,
)
