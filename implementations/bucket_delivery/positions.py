"""Sets of positions: a roaring bitmap of entry ids for each ledger."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pyroaring import BitMap

from broker_tck.implementations.interface import InvalidSnapshotException, Position


class PositionSet:
    """A set of positions. Entry ids are below 2^32. A ledger of which nothing is left costs nothing."""

    __slots__ = ("ledgers",)

    def __init__(self, ledgers: dict[int, BitMap] | None = None) -> None:
        """Take over bitmaps by ledger; none of them may be empty."""
        self.ledgers: dict[int, BitMap] = {} if ledgers is None else ledgers

    def __len__(self) -> int:
        return sum(map(len, self.ledgers.values()))

    def __bool__(self) -> bool:
        return bool(self.ledgers)

    def __contains__(self, position: Position) -> bool:
        entries = self.ledgers.get(position[0])
        return entries is not None and position[1] in entries

    def __iter__(self) -> Iterator[Position]:
        return ((ledger, entry) for ledger in sorted(self.ledgers) for entry in self.ledgers[ledger])

    def copy(self) -> PositionSet:
        """Another set of the same positions."""
        return PositionSet({ledger: entries.copy() for ledger, entries in self.ledgers.items()})

    def add(self, ledger: int, entry: int) -> None:
        """Add a position."""
        entries = self.ledgers.get(ledger)
        if entries is None:
            entries = self.ledgers[ledger] = BitMap()
        entries.add(entry)

    def discard(self, ledger: int, entry: int) -> bool:
        """Take a position out; whether it was in."""
        entries = self.ledgers.get(ledger)
        if entries is None or entry not in entries:
            return False
        entries.remove(entry)
        if not entries:
            del self.ledgers[ledger]
        return True

    def update(self, other: PositionSet) -> None:
        """Add all positions of another set."""
        for ledger, entries in other.ledgers.items():
            mine = self.ledgers.get(ledger)
            if mine is None:
                self.ledgers[ledger] = entries.copy()
            else:
                mine |= entries

    def discard_all(self, other: PositionSet) -> int:
        """Take out all positions of another set; how many were in."""
        before = after = 0
        for ledger, entries in other.ledgers.items():
            mine = self.ledgers.get(ledger)
            if mine is None:
                continue
            before += len(mine)
            mine -= entries
            after += len(mine)
            if not mine:
                del self.ledgers[ledger]
        return before - after

    def common(self, other: PositionSet) -> PositionSet:
        """The positions that are in both."""
        shared = self.ledgers.keys() & other.ledgers.keys()
        both = ((ledger, self.ledgers[ledger] & other.ledgers[ledger]) for ledger in sorted(shared))
        return PositionSet({ledger: entries for ledger, entries in both if entries})

    def clear(self) -> None:
        """Take out everything."""
        self.ledgers = {}

    def serialized(self) -> dict[int, bytes]:
        """By ledger, the entries in the portable format of roaring bitmaps."""
        return {ledger: entries.serialize() for ledger, entries in self.ledgers.items()}


def positions_of(ledgers: array[int], entries: array[int]) -> PositionSet:
    """The positions in two columns of one length."""
    if ledgers and ledgers.count(ledgers[0]) == len(ledgers):
        # As it is where a ledger has more messages than a bucket needs.
        return PositionSet({ledgers[0]: BitMap(entries)})
    by_ledger: dict[int, list[int]] = {}
    for ledger, entry in zip(ledgers, entries, strict=True):
        if ledger in by_ledger:
            by_ledger[ledger].append(entry)
        else:
            by_ledger[ledger] = [entry]
    return PositionSet({ledger: BitMap(mine) for ledger, mine in by_ledger.items()})


def read_entries(bitmap: bytes) -> BitMap:
    """The entries in a serialized bitmap. ``InvalidSnapshotException`` where it is none."""
    try:
        return BitMap.deserialize(bitmap)
    except (ValueError, IndexError):  # the latter is for no bytes at all
        raise InvalidSnapshotException(f"{len(bitmap)} bytes are no bitmap") from None


def union_of(bitmaps: Iterable[tuple[int, BitMap]]) -> PositionSet:
    """The positions in bitmaps, each of entry ids of a ledger. All of one ledger are joined at once."""
    by_ledger: defaultdict[int, list[BitMap]] = defaultdict(list)
    for ledger, entries in bitmaps:
        if entries:
            by_ledger[ledger].append(entries)
    return PositionSet({ledger: BitMap.union(*mine) for ledger, mine in by_ledger.items()})
