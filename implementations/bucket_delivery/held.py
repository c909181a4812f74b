"""The positions that a tracker holds: the only source for which messages are tracked, and how many."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.packed import Packed, packed
from broker_tck.implementations.bucket_delivery.positions import PositionSet
from broker_tck.implementations.interface import DelayedIndex, Position


class HeldIndex:
    """The positions that were accepted and neither handed out nor refused: a bitmap a ledger.

    A held position is handed out with the first of its indexes, so its time need not be known. But a position that was
    held before may have an old index left: it is a suspect. If a suspect is accepted again, it is stored with its time.
    """

    __slots__ = ("_last_suspect_time", "_latest", "count", "positions", "suspects", "times")

    def __init__(self) -> None:
        self._latest = 0
        """No index has a later time."""
        self.clear()

    def clear(self) -> None:
        """Let go of everything: no index is left."""
        self.positions = PositionSet()
        self.count = 0
        self.times: dict[Position, int] = {}
        """The times of suspects that were accepted again; milliseconds."""
        self.suspects = PositionSet()
        """Positions of which an old index may be left."""
        self._last_suspect_time = 0

    def contains(self, ledger: int, entry: int) -> bool:
        """Whether a position is held. The entry id must be one."""
        entries = self.positions.ledgers.get(ledger)
        return entries is not None and entry in entries

    def add(self, ledger: int, entry: int, at: int, covered: bool) -> None:
        """Hold a position that is not held. ``covered``: a sealed bucket, which may have an index of it, lies there."""
        self.positions.add(ledger, entry)
        self.count += 1
        if at > self._latest:
            self._latest = at
        if covered or (self.suspects and (ledger, entry) in self.suspects):
            self.times[ledger, entry] = at

    def recover(self, positions: PositionSet, latest: int) -> None:
        """Hold the positions of a recovered bucket, none of which is held; ``latest`` is the last of their times."""
        self.positions.update(positions)
        self.count += len(positions)
        self._latest = max(self._latest, latest)

    def is_for(self, index: DelayedIndex) -> bool:
        """Whether a position is held, and for this time."""
        at, ledger, entry = index
        if not self.contains(ledger, entry):
            return False
        return not self.times or self.times.get((ledger, entry), at) == at

    def worth_storing(self, indexes: Packed) -> Packed:
        """The indexes that are for a held position, and for its time: a recovery knows no times (BD-11)."""
        if not self.suspects:
            return indexes
        return packed(index for index in indexes if self.is_for(index))

    def let_go(self, ledger: int, entry: int) -> None:
        """Hold a position no longer whose index is gone."""
        if self.positions.discard(ledger, entry):
            self.count -= 1
            if self.times:
                self.times.pop((ledger, entry), None)

    def let_go_of_orphan(self, index: DelayedIndex) -> None:
        """Hold a position no longer, whichever of its indexes this is."""
        at, ledger, entry = index
        if self.times.get((ledger, entry), at) != at:
            self.suspect_one(ledger, entry)
        self.let_go(ledger, entry)

    def refuse(self, ledger: int, entry: int) -> None:
        """Hold a position no longer, though its index stays where it is (BD-04)."""
        if self.contains(ledger, entry):
            self.let_go(ledger, entry)
            self.suspect_one(ledger, entry)

    def let_go_all(self, positions: PositionSet) -> None:
        """Hold none of these any longer."""
        self.count -= self.positions.discard_all(positions)
        for position in [position for position in self.times if position in positions]:
            del self.times[position]

    # ---- Suspects

    def suspect(self, positions: PositionSet) -> None:
        """Old indexes of these positions may be left."""
        self.suspects.update(positions)
        self._last_suspect_time = self._latest

    def suspect_one(self, ledger: int, entry: int) -> None:
        """An old index of this position may be left."""
        self.suspects.add(ledger, entry)
        self._last_suspect_time = self._latest

    def nothing_before(self, first: int) -> None:
        """Forget the suspects if no old index can be left, in memory or to be loaded."""
        if self.suspects and first > self._last_suspect_time:
            self.suspects.clear()
