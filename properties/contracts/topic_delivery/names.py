"""What handles mean: they are counted for each name, so that an ``open`` that is left out changes those after it."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.contracts.topic_delivery.operations import Open
from broker_tck.properties.engine.operation import Operation


class Names:
    """The views of a trace by their handles in it, and those that they have once something is left out."""

    def __init__(self, model: TopicDelivery) -> None:
        self.registry = model.registry
        self.now: dict[str, str] = {}
        """By the handle that a view had in the trace as it was, the one that it has now."""
        self.opens: tuple[str, str] | None = None
        """The handle that the operation to come opened in the trace as it was, and the one that it opens now."""

    def next(self, operation: Open) -> str:
        """The handle that an ``open`` gives out now."""
        return f"{operation.name}{self.registry.opened[operation.name] + 1}"

    def meant(self, operation: Operation) -> str | None:
        """The handle that an operation gives out, or that it is about."""
        return self.next(operation) if isinstance(operation, Open) else getattr(operation, "handle", None)

    def named(self, operation: Operation, handle: str) -> Operation | None:
        """The operation with the handle that a view has now; None: it was not opened."""
        if isinstance(operation, Open):
            self.opens = handle, self.next(operation)
            return operation
        changed: dict[str, Any] = {"handle": self.now.get(handle)}
        return structs.replace(operation, **changed) if handle in self.now else None

    def done(self) -> None:
        """An operation was done."""
        if self.opens:
            self.now[self.opens[0]] = self.opens[1]
            self.opens = None
