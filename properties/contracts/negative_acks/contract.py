"""Contract ``negative-acks``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import NegativeAcksTracker
from broker_tck.model.negative_acks import PROFILES
from broker_tck.properties.contracts.negative_acks.abstract import abstract
from broker_tck.properties.contracts.negative_acks.adapter import Adapter
from broker_tck.properties.contracts.negative_acks.concurrent import CONCURRENT
from broker_tck.properties.contracts.negative_acks.edges import EDGES
from broker_tck.properties.contracts.negative_acks.fallback import FALLBACKS
from broker_tck.properties.contracts.negative_acks.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.negative_acks.invariants import INVARIANTS, RELATIONS
from broker_tck.properties.contracts.negative_acks.operations import (
    AnyOperation,
    Capabilities,
    Chunked,
    Config,
    Inside,
    entries_of,
)
from broker_tck.properties.engine.client import entries_kept
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able
from broker_tck.properties.engine.units import TIME

FEWEST_CHUNKS = 2
LAST_ENTRY = 2**63 - 1


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Which operations a client can do, and the subject: what an entry is, it is for good.

    It is a message by itself, a batch, the last of so many chunks, or an earlier chunk, and then nothing else. No
    entry has an id of more than 63 bits.
    """

    def fits(operation: Operation) -> bool:
        one = isinstance(operation, Chunked) and operation.chunks < FEWEST_CHUNKS
        closes_inside = isinstance(operation, Inside) and operation.what == "close"
        return (
            able(operation, capabilities)
            and (capabilities.closes_inside or not closes_inside)
            and not one
            and all(entry <= LAST_ENTRY for (_, entry), _ in entries_of(operation))
        )

    return entries_kept(operations, fits, entries_of)


NEGATIVE_ACKS = Contract(
    name="negative-acks",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=NegativeAcksTracker,
    call="Factory(config, clocks, timer, consumer)",
    adapter=Adapter,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={
        "count": "The number of items that are held: what one nack adds, unless it is there.",
        "armed": "The times for which timeouts are armed, in order, in milliseconds.",
    },
    units={"count": "items", "armed": TIME},
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    asks=asks,
    concurrent=CONCURRENT,
)
