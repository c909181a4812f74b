"""Which positions a sealed bucket has, and which of them are in segments that were not loaded yet."""

from __future__ import annotations

from itertools import islice

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, SegmentPositions, positions_of
from broker_tck.implementations.interface import Position


class Inventory:
    """Two bitmaps a ledger, whatever the number of segments."""

    __slots__ = ("_recurring", "all", "unloaded")

    def __init__(self, segments: SegmentPositions) -> None:
        """Take stock of some segments; the first one counts as loaded."""
        self.all = segments.joined()
        self.unloaded = self.all.copy()
        self._recurring = {} if len(self.all) == segments.count() else _recurring(segments)
        """The few positions that are in several segments, each with the place of the last one: it was refused, and
        then accepted for another time."""
        for first in islice(segments, 1):
            self._leave(0, first)

    def loaded(self, place: int, segment: Packed) -> None:
        """A segment was loaded; places are counted from 0."""
        self._leave(place, positions_of(segment.ledgers, segment.entries))

    def _leave(self, place: int, positions: PositionSet) -> None:
        self.unloaded.discard_all(positions)
        for position, last in self._recurring.items():
            if last > place:
                self.unloaded.add(*position)


def _recurring(segments: SegmentPositions) -> dict[Position, int]:
    """The positions that are in several segments, each with the place of the last one."""
    seen, recurring = PositionSet(), {}
    for place, positions in enumerate(segments):
        recurring.update(dict.fromkeys(seen.common(positions), place))
        seen.update(positions)
    return recurring
