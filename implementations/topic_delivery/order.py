"""The views of a topic, in the order of how far they are: in positions, and in buckets.

Who may still see a copy is behind it in both. So whether anybody does is asked of the fewest, the one that is furthest
behind first.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import count, islice

from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.index import Entries
from broker_tck.implementations.topic_delivery.tracker import View

START: Position = (-(1 << 63), -1)
"""Before every position."""
InPositions = tuple[Position, int, int, View]
"""The place of a view among all, by the position up to which it sees nothing, then by bucket and number."""
InBuckets = tuple[int, int, View]
"""Its place among all, by the buckets in which it sees nothing, then by number."""


class Order:
    """Views in two orders. A view that has moved is to be placed anew."""

    __slots__ = ("_by_bucket", "_by_position", "_numbers", "_places", "furthest")

    def __init__(self) -> None:
        self._numbers = count()
        self._places: dict[View, InPositions] = {}
        """Where each view was last known to be."""
        self._by_position: list[InPositions] = []
        self._by_bucket: list[InBuckets] = []
        self.furthest = 0
        """In buckets from there on every view may see something."""

    def place(self, view: View) -> None:
        """Take in a view, or where it has moved to."""
        bound, bucket = view.sight.bound or START, view.nothing_before
        place = self._places.get(view)
        if place:
            if place[1] == bucket and place[0] == bound:
                return
            self.remove(view)
        number = next(self._numbers)
        place = self._places[view] = bound, bucket, number, view
        insort(self._by_position, place)
        insort(self._by_bucket, (bucket, number, view))
        if bucket > self.furthest:
            self.furthest = bucket

    def remove(self, view: View) -> None:
        """Take out a view, if it is there."""
        place = self._places.pop(view, None)
        if place:
            del self._by_position[bisect_left(self._by_position, place)]
            del self._by_bucket[bisect_left(self._by_bucket, place[1:])]

    def clear(self) -> None:
        """Take out all."""
        self._places.clear()
        self._by_position.clear()
        self._by_bucket.clear()

    def last(self) -> View:
        """The view that is furthest behind in positions, of which there is one at least."""
        return self._by_position[0][-1]

    def behind(self, copy: Entries) -> Iterator[View]:
        """Views, all those among them that may see some of what is held in a set."""
        bound = bisect_left(self._by_position, ((copy.ledger, copy.entries.max()), -1))
        before = bisect_left(self._by_bucket, (copy.key + 1, -1))
        if bound < before:
            return (place[-1] for place in islice(self._by_position, bound))
        return (place[-1] for place in islice(self._by_bucket, before))

    def behind_position(self, position: Position) -> list[View]:
        """Views, all those among them that have not passed a position."""
        bound = bisect_left(self._by_position, (position, -1))
        return [place[-1] for place in self._by_position[:bound]]

    def ahead(self, key: int) -> list[View]:
        """The views that have seen a bucket to its end."""
        before = bisect_left(self._by_bucket, (key + 1, -1))
        self.furthest = self._by_bucket[-1][0] if self._by_bucket else 0
        return [place[-1] for place in self._by_bucket[before:]]
