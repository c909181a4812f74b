"""Contract ``ack-timeout``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import AckTimeoutTracker
from broker_tck.model.ack_timeout import PROFILES
from broker_tck.properties.contracts.ack_timeout.abstract import abstract
from broker_tck.properties.contracts.ack_timeout.adapter import Adapter
from broker_tck.properties.contracts.ack_timeout.edges import EDGES
from broker_tck.properties.contracts.ack_timeout.fallback import FALLBACKS
from broker_tck.properties.contracts.ack_timeout.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.ack_timeout.invariants import INVARIANTS, RELATIONS
from broker_tck.properties.contracts.ack_timeout.operations import Add, AnyOperation, Capabilities, Config, entries_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able
from broker_tck.properties.engine.units import TIME


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Which operations a subject can be asked for.

    An entry is in so many chunks, or an earlier chunk, for good; and what is in chunks is not in a batch.
    """
    known: dict[tuple[int, int], object] = {}
    for operation in operations:
        named = dict(entries_of(operation))
        mixed = isinstance(operation, Add) and operation.chunks > 1 and operation.index >= 0
        fits = (
            able(operation, capabilities)
            and not mixed
            and all(known.get(at, kind) == kind and at[1] >= 0 for at, kind in named.items())
        )
        if fits:
            known |= named
        yield fits


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
)
