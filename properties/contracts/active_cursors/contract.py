"""Contract ``active-cursors``, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from broker_tck.implementations.interface import ActiveCursors
from broker_tck.model.active_cursors import PROFILES
from broker_tck.properties.contracts.active_cursors.abstract import abstract
from broker_tck.properties.contracts.active_cursors.edges import EDGES, ebb
from broker_tck.properties.contracts.active_cursors.fallback import FALLBACKS
from broker_tck.properties.contracts.active_cursors.generator import drain, draw_config, makers
from broker_tck.properties.contracts.active_cursors.laws import LAWS, VARIATIONS
from broker_tck.properties.contracts.active_cursors.life import WHOLE
from broker_tck.properties.contracts.active_cursors.operations import (
    Add,
    AnyOperation,
    Capabilities,
    Config,
    Crowd,
    Durable,
    Remove,
    Update,
)
from broker_tck.properties.contracts.active_cursors.rig import Rig
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Of each operation, whether a subject can be asked for it."""
    there: set[str] = set()
    for operation in operations:
        asked = is_able(operation, capabilities) and (capabilities.null_updates or not takes_away(operation, there))
        if asked:
            note(operation, there)
        yield asked


def is_able(operation: Operation, capabilities: Capabilities) -> bool:
    """Whether a subject can be asked for an operation: many cursors are durable where one can be."""
    durable = isinstance(operation, Crowd) and operation.durable
    return able(operation, capabilities) and (capabilities.durables or not durable)


def takes_away(operation: Operation, there: Collection[str]) -> bool:
    """Whether an operation takes a position away, given the names that are there."""
    if isinstance(operation, Add | Durable):
        return operation.at is None and operation.name in there
    return isinstance(operation, Update) and operation.at is None


def note(operation: Operation, there: set[str]) -> None:
    """Note which names are there after an operation."""
    if isinstance(operation, Add | Durable):
        there.add(operation.name)
    elif isinstance(operation, Crowd):
        there.update(f"{operation.name}{i}" for i in range(operation.n))
    elif isinstance(operation, Remove):
        there.difference_update(operation.names())


ACTIVE_CURSORS = Contract(
    name="active-cursors",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=ActiveCursors,
    call="Factory(config, clock)",
    rig=Rig,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={},
    thing="container",
    laws=LAWS,
    variations=VARIATIONS,
    fallbacks=FALLBACKS,
    asks=asks,
    lives=(WHOLE,),
)
