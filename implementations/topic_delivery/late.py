"""Copies that come late: at positions that some view has passed, so that it never sees them.

A view that moves is told how many there are. Nobody is told when one comes, or a subscription that reads a topic again
would cost all others a look at each message.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sortedcontainers import SortedList

from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.tracker import View


class LateCopies:
    """The positions of copies that came late."""

    __slots__ = ("_furthest", "_positions")

    def __init__(self) -> None:
        self._positions: Any = SortedList()
        self._furthest: Position | None = None
        """No view has passed anything behind it."""

    def starts(self, view: View) -> None:
        """A view has come, or moved: it counts with what is before it now."""
        passed = view.sight.passed
        view.told = self._before(passed)
        if passed is not None and (self._furthest is None or passed > self._furthest):
            self._furthest = passed

    def untold(self, view: View) -> int:
        """How many have come at positions that a view has passed, since it was told."""
        return self._before(view.sight.passed) - view.told if self._positions else 0

    def came(self, position: Position, views: Collection[View]) -> None:
        """A copy has come. Once there are more than views, all are told, and nothing need be kept."""
        if self._furthest is None or position > self._furthest:
            return
        self._positions.add(position)
        if len(self._positions) > len(views):
            for view in views:
                view.hidden += self.untold(view)
                view.told = 0
            self._positions.clear()

    def _before(self, passed: Position | None) -> int:
        return self._positions.bisect_right(passed) if passed is not None and self._positions else 0
