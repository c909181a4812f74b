"""Calls under way: what was asked of somebody else, and has not been answered."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from broker_tck.model.rules import Part

C = TypeVar("C")


class CallsUnderWay(Part, Generic[C]):
    """Calls that wait to be ended. Each can be ended before those that were made earlier."""

    def __init__(self, order: Callable[[C], Any] | None = None) -> None:
        self.order = order
        """What they are listed by; None: as they were made."""
        self.waiting: list[C] = []
        self.begun = 0
        """How many calls were made."""

    def begin(self, call: C) -> None:
        """A call was made."""
        self.begun += 1
        if self.order is None:
            self.waiting.append(call)
        else:
            insort(self.waiting, call, key=self.order)

    def take(self, i: int) -> C | None:
        """One that is to end now: the i-th, counted on from the first behind the last; None if there is none."""
        return self.waiting.pop(i % len(self.waiting)) if self.waiting else None
