"""Contract ``active-cursors``, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from broker_tck.implementations.interface import ActiveCursors
from broker_tck.model.active_cursors import PROFILES
from broker_tck.properties.contracts.active_cursors.abstract import abstract
from broker_tck.properties.contracts.active_cursors.generator import drain, draw_config, makers
from broker_tck.properties.contracts.active_cursors.laws import LAWS, VARIATIONS
from broker_tck.properties.contracts.active_cursors.life import WHOLE
from broker_tck.properties.contracts.active_cursors.operations import (
    LACKED,
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
from broker_tck.properties.engine.operation import Operation

RESULTS = {
    "add": "CC-04",
    "durable": "CC-04",
    "update": "CC-05",
    "march": "CC-05",
    "remove": "CC-09",
    "size": "CC-09",
    "get": "CC-09",
    "list": "CC-15",
    "caches": "EC-58",
    "oldest": "CC-12",
    "durables": "CC-13",
}


def blame(operations: Sequence[Operation], _observed: str) -> str:
    """The rule to name for a difference that no wrong way explains. There is nothing to observe but results."""
    tag = operations[-1].tag
    changes: list[Any] = [*operations[:-1]]
    if tag not in ("slowest", "count", "oldest"):
        return RESULTS.get(tag, "CC-02")
    removed = any(o.tag == "remove" for o in changes)
    taken_away = any(o.tag in ("add", "update") and o.at is None for o in changes)
    if tag != "count" and several(changes) and (removed or taken_away):
        return "CC-11"
    if added_again(changes):
        return "CC-04"
    if removed:
        return "CC-11"
    if taken_away:
        return "CC-14"
    return RESULTS.get(tag, "CC-02")


def several(operations: Sequence[Any]) -> bool:
    """Whether more than one cursor is added: whether there are others that may be out of order."""
    return len({o.name for o in operations if o.tag in ("add", "durable")}) > 1 or any(
        o.tag == "crowd" for o in operations
    )


def added_again(operations: Sequence[Any]) -> bool:
    """Whether a name is added that is there."""
    there: set[str] = set()
    for operation in operations:
        if operation.tag in ("add", "durable"):
            if operation.name in there:
                return True
            there.add(operation.name)
        elif operation.tag == "remove":
            there.discard(operation.name)
    return False


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Of each operation, whether a subject can be asked for it."""
    there: set[str] = set()
    for operation in operations:
        able = operation.tag not in LACKED or bool(getattr(capabilities, LACKED[operation.tag]))
        asked = able and (capabilities.null_updates or not takes_away(operation, there))
        if asked:
            note(operation, there)
        yield asked


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
        there.discard(operation.name)


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
    abstract=abstract,
    observables=(),
    laws=LAWS,
    variations=VARIATIONS,
    needs={
        "ranks": "RC-04 CC-03 CC-10 CC-P16",
        "grace": "EC-58",
        "versions": "CC-12",
        "durables": "CC-13",
        "null_updates": "CC-14 CC-P15",  # a law that the broker's list breaks with them alone
    },
    blame=blame,
    asks=asks,
    lives=(WHOLE,),
)
