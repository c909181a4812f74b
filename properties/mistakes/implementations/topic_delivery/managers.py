"""Broken managers: what each view sees, what leaves the index and when, and numbers that are cut."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.topic_delivery.index import CHUNK, MAX_ENTRY, Entries, SharedIndex
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View
from broker_tck.properties.mistakes.implementations.locks import ReentrantLock
from broker_tck.properties.mistakes.implementations.mutant import mutant

# ---- Mark-delete positions


class TakesMarksFor(SharedIndexManager):
    """The base of mutants that take a mark-delete position for another one."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        super().acknowledge(view, (self.ledger(position[0]), self.entry(position[1])))

    def ledger(self, ledger: int) -> int:
        """What is taken for the ledger of a position."""
        return ledger

    def entry(self, entry: int) -> int:
        """What is taken for its entry."""
        return entry


@mutant("TD-15")
class MarkLedgerCutShort(TakesMarksFor):
    """The ledger id of a mark-delete position is kept in 32 bits."""

    def ledger(self, ledger: int) -> int:
        """The low 32 bits, with their sign."""
        return (ledger + 2**31) % 2**32 - 2**31


@mutant("TD-08")
class MarkEntryIsCut(TakesMarksFor):
    """Of the entry id of a mark-delete position the low 32 bits are kept: 2^32 acknowledges up to entry 0."""

    def entry(self, entry: int) -> int:
        """The low 32 bits, unless it is -1."""
        return entry & MAX_ENTRY if entry > 0 else entry


@mutant("TD-08")
class MarkBeforeTheFirstIsAll(TakesMarksFor):
    """A mark-delete position before the first entry of a ledger, at -1, is read as 2^32 - 1: all is acknowledged."""

    def entry(self, entry: int) -> int:
        """An entry without its sign."""
        return entry & MAX_ENTRY if entry < 0 else entry


@mutant("TD-08")
class LastOfAChunkIsNotPassed(TakesMarksFor):
    """A mark-delete position that is the last of a chunk of 256 entries leaves that entry to be seen."""

    def entry(self, entry: int) -> int:
        """The entry before, at the end of a chunk."""
        return entry - 1 if entry >= 0 and (entry + 1) % CHUNK == 0 else entry


@mutant("TD-20")
class MarkPrunesItsLedgerAlone(SharedIndexManager):
    """A mark-delete position lets go of the messages of its own ledger alone, not of those of earlier ones."""

    _ledger: int | None = None

    def acknowledge(self, view: View, position: Position) -> None:
        """Note the ledger."""
        self._ledger = position[0]
        super().acknowledge(view, position)
        self._ledger = None

    def _release(self, copies: Iterable[Entries]) -> None:
        super()._release([each for each in copies if self._ledger in (None, each.ledger)])


# ---- What leaves, and what is left


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


class Recounting(SharedIndexManager):
    """A manager that counts what a view sees each time, as what is broken may not come out even."""

    def count_of(self, view: View) -> int:
        """Look at everything."""
        return sum(len(view.sight.of(held)) for held in self._index.all())

    def _look(self, view: View) -> bool:
        """Look at every bucket that is due."""
        view.nothing_before = 0
        return super()._look(view)


@mutant("TD-20")
class LedgersMakeRoom(Recounting):
    """A bucket has room for 64 ledgers: one more puts out the first."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = SixtyFourLedgers()


@mutant("TD-20", source="PIP-448, drafts before the last")
class ViewsWithoutMarkAreIgnored(Recounting):
    """A view that has no mark-delete position yet is not asked before a message leaves the index."""

    def _release(self, copies: Iterable[Entries]) -> None:
        ignored = [view for view in self._views.values() if not view.sight.mark]
        for view in ignored:
            self._order.remove(view)
        super()._release(copies)
        for view in ignored:
            self._order.place(view)


@mutant("TD-20", source="PIP-448, TD-21")
class PrunesAreThrottled(SharedIndexManager):
    """As long as the clock stands still after a prune, nothing else leaves the index."""

    _pruned_at = 0

    def _release(self, copies: Iterable[Entries]) -> None:
        before = self._index.count
        if self._clock() != self._pruned_at:
            super()._release(copies)
        if self._index.count < before:
            self._pruned_at = self._clock()


@mutant("DD-29", source="PIP-448's branch (unmerged), T-10")
class MemoryDriftsWithPrunes(SharedIndexManager):
    """Each set that a prune drops takes a byte more off the estimate than it had added."""

    _drift = 0

    def _release(self, copies: Iterable[Entries]) -> None:
        before = self._index.sets
        super()._release(copies)
        self._drift += before - self._index.sets

    def get_buffer_memory_usage(self) -> int:
        """The estimate, as far as it was kept right."""
        return super().get_buffer_memory_usage() - self._drift


# ---- What only one view, or one call, does


@mutant("TD-19")
class FiringAsksOneView(SharedIndexManager):
    """A firing asks one dispatcher to read, and leaves the others waiting."""

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        self._told = self._buckets.last_woken(self._clock())
        self._update_timer()
        for view in asked[:1]:
            view.dispatcher.read_more_entries()


@mutant("TD-44", shows="A deadlock of two threads.")
class DispatchersAskedUnderALock(SharedIndexManager):
    """Holds, while it asks dispatchers to read, a lock that every get takes; its own thread may take it again."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._lock = ReentrantLock()

    def _fired(self) -> None:
        with self._lock:
            super()._fired()

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out to a view what is due, with the lock held."""
        with self._lock:
            return super().hand_out(view, most)


@mutant("TD-13")
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


@mutant("DD-37")
class BucketsStaySettled(SharedIndexManager):
    """A view looks at no bucket again that has passed, though the clock was set back and messages come to it again."""

    def _sees_from(self, view: View, key: int) -> None:
        below = view.nothing_before
        super()._sees_from(view, key)
        view.sight.settles(min(below, self._buckets.key(self._settled + 1)))

    _settled = 0

    def _settle(self, view: View) -> None:
        self._settled = max(self._settled, self._clock())
        super()._settle(view)
