"""Mutants that go wrong by how much there is: runs of messages, further lives."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.interface import Position
from broker_tck.implementations.mutants.delayed_delivery.parts import OneByOne, around_detector, around_index
from broker_tck.implementations.mutants.mutant import mutant

# ---- Batches


@mutant("DD-11", conditions=3, inside=around_index)
class RunIsNewIfItsEndsAre(TimeBucketIndex):
    """Of a run of messages only the first and the last are looked up: where these are new, all are counted as new."""

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add the positions from one entry to another."""
        ends = self.add(key, ledger_id, first_entry) + self.add(key, ledger_id, last_entry)
        added = super().add_run(key, ledger_id, first_entry, last_entry)
        return last_entry - first_entry + 1 if ends == 2 else added + ends


# ---- Second and third lives


@mutant("DD-16", conditions=4, deep=True, inside=around_detector)
class DetectionStartsAnewOnce(FixedDelayDetector):
    """The detection of a fixed delay starts anew when the index is empty for the first time, and never after."""

    _drained = 0

    def reset(self) -> None:
        """Start anew, if that has not been done before."""
        if self._drained <= 1:
            super().reset()
        self._drained = self._drained + 1


@mutant("DD-30", conditions=3, inside=around_index)
class ClearedSetIsUsedAgain(OneByOne):
    """A clear keeps the set of the last bucket, which has one from its second message on, for the next: unemptied."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[Position] = []

    def clear(self) -> None:
        """Remove everything, but keep the last bucket's set at hand."""
        positions: list[Position] = []
        while self.first < NEVER:
            positions = self.take(self.first, self.memory)
        super().clear()
        self._kept = positions if len(positions) > 1 else []

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, to the set that is at hand."""
        kept, self._kept = self._kept, []
        for position in kept:
            super().add(key, *position)
        return super().add(key, ledger_id, entry_id)
