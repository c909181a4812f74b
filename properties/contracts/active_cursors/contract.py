"""Contract ``active-cursors``, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from broker_tck.implementations.interface import ActiveCursors
from broker_tck.model.active_cursors import PROFILES
from broker_tck.properties.contracts.active_cursors.abstract import abstract
from broker_tck.properties.contracts.active_cursors.adapter import Adapter
from broker_tck.properties.contracts.active_cursors.concurrent import CONCURRENT
from broker_tck.properties.contracts.active_cursors.edges import EDGES, ebb
from broker_tck.properties.contracts.active_cursors.fallback import FALLBACKS
from broker_tck.properties.contracts.active_cursors.generator import drain, draw_config, makers
from broker_tck.properties.contracts.active_cursors.invariants import INVARIANTS, RELATIONS, Seen
from broker_tck.properties.contracts.active_cursors.life import WHOLE
from broker_tck.properties.contracts.active_cursors.operations import (
    Add,
    AnyOperation,
    Capabilities,
    Config,
    Crowd,
    Durable,
    Update,
)
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Of each operation, whether a subject can be asked for it."""
    seen = Seen()
    for operation in operations:
        durable = isinstance(operation, Crowd) and operation.durable
        asked = (
            able(operation, capabilities)
            and (capabilities.durables or not durable)
            and (capabilities.null_updates or not takes_away(operation, seen.at))
        )
        if asked:
            seen.take(operation)
        yield asked


def takes_away(operation: Operation, there: Collection[str]) -> bool:
    """Whether an operation takes a position away, given the names that are there."""
    if isinstance(operation, Add | Durable):
        return operation.at is None and operation.name in there
    return isinstance(operation, Update) and operation.at is None


ACTIVE_CURSORS = Contract(
    name="active-cursors",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=ActiveCursors,
    call="Factory(config, clock)",
    adapter=Adapter,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={},
    thing="container",
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    asks=asks,
    workloads=(WHOLE,),
    concurrent=CONCURRENT,
)
