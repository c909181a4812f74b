"""Shorter traces of a topic, and plainer ones: without a subscription, without a view, with names in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from broker_tck.properties.contracts.topic_delivery.operations import Open
from broker_tck.properties.engine.operation import Operation, letters


def rewrites(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """The traces to try."""
    for name in dict.fromkeys(filter(None, map(name_of, operations))):
        yield [operation for operation in operations if name_of(operation) != name]
    for handle in dict.fromkeys(filter(None, map(handle_of, operations))):
        yield [operation for operation in operations if handle_of(operation) != handle]
    plain = by_first_use(operations)
    if plain != operations:
        yield plain


def handle_of(operation: Operation) -> str | None:
    """The view that an operation is about."""
    return getattr(operation, "handle", None)


def name_of(operation: Operation) -> str | None:
    """The subscription that an operation is about."""
    handle = handle_of(operation)
    return operation.name if isinstance(operation, Open) else handle and handle[0]


def by_first_use(operations: Sequence[Operation]) -> list[Operation]:
    """The operations with subscriptions named A, B, C in the order in which they come up."""
    names = dict.fromkeys(filter(None, map(name_of, operations)))
    plain = {name: letters(number) for number, name in enumerate(names)}
    return [renamed(operation, plain) for operation in operations]


def renamed(operation: Operation, plain: dict[str, str]) -> Operation:
    """The operation with another name for its subscription."""
    if isinstance(operation, Open):
        return structs.replace(operation, name=plain[operation.name])
    handle = handle_of(operation)
    changed = {"handle": f"{plain[handle[0]]}{handle[1:]}"} if handle else {}
    return structs.replace(operation, **changed) if changed else operation
