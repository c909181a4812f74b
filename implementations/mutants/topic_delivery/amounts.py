"""Mutants that go wrong by how much there is: ends of chunks, like copies, second lives."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import Recounting
from broker_tck.implementations.topic_delivery.index import CHUNK, Entries, SharedIndex
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View

# ---- Sizes


@mutant("TD-08", shows="Chunks of entries, of which the model has none.", conditions=2, deep=True)
class LastOfAChunkIsNotPassed(SharedIndexManager):
    """A mark-delete position that is the last of a chunk of 256 entries leaves that entry to be seen."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        ledger, entry = position
        super().acknowledge(view, (ledger, entry - 1) if entry >= 0 and (entry + 1) % CHUNK == 0 else position)


class SixtyFourLedgers(SharedIndex):
    """An index of 64 ledgers a bucket."""

    __slots__ = ()

    def add(self, key: int, ledger: int, entry: int) -> bool:
        """Add a copy; where there is no place for its ledger, another one makes room."""
        added = super().add(key, ledger, entry)
        ledgers = self.buckets[key]
        if len(ledgers) > 64:
            first = next(iter(ledgers))
            self.remove(Entries(key, first, ledgers[first]))
        return added


@mutant("TD-20", shows="More ledgers in a bucket than it has places.", conditions=2, deep=True)
class LedgersMakeRoom(Recounting):
    """A bucket has room for 64 ledgers: one more puts out the first."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = SixtyFourLedgers()


@mutant("TD-13", shows="More buckets than a loop has turns.", conditions=2, deep=True)
class ClearsAHundredBuckets(SharedIndexManager):
    """A clear forgets what a view sees in the first hundred buckets, and leaves the others."""

    def forget(self, view: View) -> None:
        """Have a view forget what it sees in some buckets."""
        copies = self._seen_by(view)
        some = sorted({copy.key for copy in copies})[:100]
        copies = [copy for copy in copies if copy.key in some]
        self._let_go(view, copies)
        self._release(copies)


# ---- Copies that are alike


@mutant("TD-11", shows="A position in two buckets, counted once.", conditions=2)
class PositionsForCopies(SharedIndexManager):
    """A view counts the positions that it waits for, one that is in two buckets once."""

    def count_of(self, view: View) -> int:
        """How many positions a view sees."""
        return len({(held.ledger, entry) for held in self._index.all() for entry in view.sight.of(held)})


@mutant("TD-15", shows="A position in two buckets, acknowledged once.", conditions=3)
class FirstCopyAloneIsPassed(SharedIndexManager):
    """Of a position that is in two buckets a mark-delete position lets go of the copy in the first alone."""

    _acknowledging = False

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        self._acknowledging = True
        super().acknowledge(view, position)
        self._acknowledging = False

    def _release(self, copies: Iterable[Entries]) -> None:
        if not self._acknowledging:
            super()._release(copies)
            return
        gone: set[Position] = set()
        for key, ledger, entries in sorted(copies, key=lambda each: (each.key, each.ledger)):
            first = entries - type(entries)(entry for entry in entries if (ledger, entry) in gone)
            gone.update((ledger, entry) for entry in entries)
            super()._release([Entries(key, ledger, first)])


# ---- Lives


@mutant("TD-13", shows="What is right the first time, and wrong the second.", conditions=3)
class SecondClearDoesNothing(SharedIndexManager):
    """A view that was cleared once is not cleared again."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._cleared: set[View] = set()

    def forget(self, view: View) -> None:
        """Have a view forget what it sees."""
        if view not in self._cleared and self.count_of(view):
            self._cleared.add(view)
            super().forget(view)
