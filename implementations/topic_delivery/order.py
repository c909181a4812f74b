"""The views of a topic, in the order of how far they are: in positions, and in buckets.

Who may still see a copy is behind it in both. So whether anybody does is asked of the fewest, the one that is furthest
behind first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from sortedcontainers import SortedKeyList

from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.index import Entries
from broker_tck.implementations.topic_delivery.tracker import View

START: Position = (-(1 << 63), -1)
"""Before every position."""


class Place:
    """Where a view was last known to be."""

    __slots__ = ("bound", "bucket", "number", "view")

    def __init__(self, number: int, view: View) -> None:
        self.number = number
        self.view = view
        self.bound = view.sight.bound or START
        self.bucket = view.nothing_before

    def in_positions(self) -> tuple[Position, int, int]:
        """Its place among all, by the position up to which it sees nothing."""
        return self.bound, self.bucket, self.number

    def in_buckets(self) -> tuple[int, int]:
        """Its place among all, by the buckets in which it sees nothing."""
        return self.bucket, self.number


class Order:
    """Views in two orders. A view that has moved is to be placed anew."""

    __slots__ = ("_by_bucket", "_by_position", "_numbers", "_places", "furthest")

    def __init__(self) -> None:
        self._numbers = count()
        self._places: dict[View, Place] = {}
        self._by_position: Any = SortedKeyList(key=Place.in_positions)
        self._by_bucket: Any = SortedKeyList(key=Place.in_buckets)
        self.furthest = 0
        """In buckets from there on every view may see something."""

    def place(self, view: View) -> None:
        """Take in a view, or where it has moved to."""
        place = self._places.get(view)
        if place and (place.bound, place.bucket) == (view.sight.bound or START, view.nothing_before):
            return
        self.remove(view)
        place = self._places[view] = Place(next(self._numbers), view)
        self._by_position.add(place)
        self._by_bucket.add(place)
        self.furthest = max(self.furthest, place.bucket)

    def remove(self, view: View) -> None:
        """Take out a view, if it is there."""
        place = self._places.pop(view, None)
        if place:
            self._by_position.remove(place)
            self._by_bucket.remove(place)

    def clear(self) -> None:
        """Take out all."""
        self._places.clear()
        self._by_position.clear()
        self._by_bucket.clear()

    def last(self) -> View:
        """The view that is furthest behind in positions, of which there is one at least."""
        first: Place = self._by_position[0]
        return first.view

    def behind(self, copy: Entries) -> Iterator[View]:
        """Views, all those among them that may see some of what is held in a set."""
        bound = self._by_position.bisect_key_left(((copy.ledger, copy.entries.max()), -1, -1))
        before = self._by_bucket.bisect_key_left((copy.key + 1, -1))
        fewest = self._by_position.islice(0, bound) if bound < before else self._by_bucket.islice(0, before)
        return (place.view for place in fewest)

    def behind_position(self, position: Position) -> list[View]:
        """Views, all those among them that have not passed a position."""
        bound = self._by_position.bisect_key_left((position, -1, -1))
        return [place.view for place in self._by_position.islice(0, bound)]

    def ahead(self, key: int) -> list[View]:
        """The views that have seen a bucket to its end."""
        before = self._by_bucket.bisect_key_left((key + 1, -1))
        ahead = [place.view for place in self._by_bucket.islice(before)]
        self.furthest = self._by_bucket[-1].bucket if self._by_bucket else 0
        return ahead
