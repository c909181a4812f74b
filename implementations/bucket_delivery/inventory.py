"""Which positions a sealed bucket has, and which of them are in segments that were not loaded yet."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, positions_of
from broker_tck.implementations.interface import Position


class Inventory:
    """Two bitmaps a ledger, whatever the number of segments."""

    __slots__ = ("_recurring", "all", "unloaded")

    def __init__(self, segments: Iterable[PositionSet]) -> None:
        """Take stock of some segments, given the positions of each; the first one counts as loaded."""
        self.all = PositionSet()
        self.unloaded = PositionSet()
        self._recurring: dict[Position, int] = {}
        """The few positions that are in several segments, each with the place of the last one: it was refused, and
        then accepted for another time."""
        for place, positions in enumerate(segments):
            for position in self.all.common(positions):
                self._recurring[position] = place
            self.all.update(positions)
            if place:
                self.unloaded.update(positions)

    def loaded(self, place: int, segment: Packed) -> None:
        """A segment was loaded; places are counted from 0."""
        self.unloaded.discard_all(positions_of(segment.ledgers, segment.entries))
        for position, last in self._recurring.items():
            if last > place:
                self.unloaded.add(*position)
