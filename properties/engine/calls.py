"""Calls under way: a subject's calls to the adapter, which end when an operation says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

C = TypeVar("C")


class CallsUnderWay(Generic[C]):
    """Calls that the adapter holds until it is told to end them, which it may be in any order."""

    def __init__(self, order: Callable[[C], Any] | None = None) -> None:
        self.order = order
        """The key that orders them; None for their order of arrival."""
        self.held: list[C] = []

    def hold(self, call: C) -> None:
        """A subject has made a call."""
        self.held.append(call)
        if self.order is not None:
            self.held.sort(key=self.order)

    def release(self, i: int) -> C | None:
        """The call to end, by its place in the list, which is counted round and round; None: nothing is held."""
        return self.held.pop(i % len(self.held)) if self.held else None
