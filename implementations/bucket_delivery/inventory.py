"""Which positions a sealed bucket has, and which of them are in segments that were not loaded yet."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.bucket_delivery.metadata import PackedMetadata
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet, positions_of, union_of
from broker_tck.implementations.interface import Position


class Inventory:
    """Two bitmaps a ledger, whatever the number of segments."""

    __slots__ = ("_recurring", "all", "unloaded")

    def __init__(self, whole: PositionSet, first: PositionSet, recurring: dict[Position, int]) -> None:
        """Take over all positions, and know those of the first segment as loaded.

        ``recurring`` are the few that are in several segments, each with the place of the last one, counted from 0:
        such a position was refused, and then accepted for another time.
        """
        self.all = whole
        self.unloaded = PositionSet() if first is whole else whole.copy()
        self._recurring = recurring
        self._leave(0, first)

    def loaded(self, place: int, segment: Packed) -> None:
        """A segment was loaded; places are counted from 0."""
        self._leave(place, positions_of(segment.ledgers, segment.entries))

    def _leave(self, place: int, positions: PositionSet) -> None:
        self.unloaded.discard_all(positions)
        for position, last in self._recurring.items():
            if last > place:
                self.unloaded.add(*position)


def stock_of(segments: Sequence[PositionSet]) -> Inventory:
    """The inventory of segments, given the positions of each, which are taken over."""
    if len(segments) == 1:
        return Inventory(segments[0], segments[0], {})
    whole = union_of(bitmap for positions in segments for bitmap in positions.ledgers.items())
    recurring = {} if len(whole) == sum(map(len, segments)) else _recurring(segments)
    return Inventory(whole, segments[0] if segments else PositionSet(), recurring)


def stock_behind(metadata: PackedMetadata, skipped: int) -> Inventory:
    """The inventory of the segments behind those that are skipped.

    ``InvalidSnapshotException`` where a bitmap is none.
    """
    end = len(metadata)
    if metadata.whole is None:
        return stock_of([metadata.positions(at, at + 1) for at in range(skipped, end)])
    if skipped > end // 2:
        whole = metadata.positions(skipped, end)
    else:
        whole = metadata.whole.copy()
        whole.discard_all(metadata.positions(0, skipped))
    return Inventory(whole, metadata.positions(skipped, skipped + 1), {})


def _recurring(segments: Sequence[PositionSet]) -> dict[Position, int]:
    """The positions that are in several segments, each with the place of the last one."""
    seen, recurring = PositionSet(), {}
    for place, positions in enumerate(segments):
        recurring.update(dict.fromkeys(seen.common(positions), place))
        seen.update(positions)
    return recurring
