"""Mutants of the reads through an entry cache that join one under way."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.entry_cache.reads import CacheReads, Reader, Running
from broker_tck.implementations.entry_cache.removal_queue import TopicCache
from broker_tck.implementations.interface import (
    Entry,
    LedgerHandle,
    ReadFailed,
)
from broker_tck.implementations.mutants.entry_cache.around import around_cache, around_reads
from broker_tck.implementations.mutants.mutant import mutant


@mutant("EC-50", inside=around_reads)
class JoinsNone(CacheReads):
    """Asks the storage for what is being read already."""

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        """Start a storage read."""
        reader.awaited += 1
        self.start(reader, first, last)


@mutant("EC-50", inside=around_reads, conditions=3, deep=True)
class LeavesTheCacheOut(CacheReads):
    """Asks the storage for what the joined reads leave, though the cache may have it."""

    def read_rest(self, reader: Reader, first: int, last: int) -> None:
        """Start a storage read."""
        self.start(reader, first, last)


@mutant("EC-50", inside=around_reads, conditions=2)
class JoinsTheSame(CacheReads):
    """Joins a read of exactly the same range only."""

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        """Join, or start a storage read."""
        reader.awaited += 1
        for other in self.running.get(reader.handle.ledger_id, ()):
            if (other.first, other.last) == (first, last):
                other.listeners.append((reader, first, last))
                return
        self.start(reader, first, last)


@mutant("EC-51", inside=around_reads, conditions=2)
class OriginalsCountToo(CacheReads):
    """Counts the release of the entries themselves as a read, beside that of their copies."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Give several listeners copies."""
        super().deliver(running, values)
        if len(running.listeners) > 1:
            for value in values:
                if value.reads is not None:
                    value.reads.mark_read()


@mutant("EC-51", inside=around_reads, conditions=2)
class CopiesOfAll(CacheReads):
    """Gives each of several listeners all that was read."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Give several listeners copies."""
        running.listeners = [(reader, running.first, running.last) for reader, *_ in running.listeners]
        super().deliver(running, values)


@mutant("EC-52", inside=around_reads, conditions=2)
class AddsUpListeners(CacheReads):
    """Expects the reads of all listeners, added up."""

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        readers = [reader for reader, *_ in running.listeners]
        running.expected = lambda: sum(reader.expected() for reader in readers)
        super().completed(running, values)


@mutant("EC-53", source="PR 23958", inside=around_reads, conditions=2)
class JoinsWhatHasCome(CacheReads):
    """Lets a listener join, before it returns, the very read whose answer it is told."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Pass the values on."""
        self.running.setdefault(running.ledger, []).append(running)
        listeners, running.listeners = running.listeners, []
        told = Running(listeners[0][0], running.first, running.last)
        told.listeners = listeners
        super().deliver(told, values)
        self.answered(running)


@mutant("EC-54", inside=around_reads, conditions=2, deep=True)
class ForgetsAtAnyFailure(CacheReads):
    """Has the running reads of a ledger forgotten even though the storage was only busy."""

    def failed(self, running: Running, error: Exception) -> None:
        """The storage has failed."""
        self.forget(running.ledger)
        super().failed(running, error)


@mutant("EC-54", inside=around_reads, conditions=2, deep=True)
class RemembersAfterFailure(CacheReads):
    """Lets readers join what was asked of a ledger that is broken."""

    def failed(self, running: Running, error: Exception) -> None:
        """The storage has failed."""
        self.answered(running)
        for reader, *_ in running.listeners:
            reader.failure = error
            self.arrived(reader)


@mutant("EC-54", inside=around_reads, conditions=2)
class RaisingIsFailing(CacheReads):
    """Keeps the entries of a ledger whose storage raises."""

    def ask(self, running: Running, handle: LedgerHandle) -> None:
        """Ask the storage."""
        try:
            handle.read(running.first, running.last, self.listening(running, handle))
        except OSError as error:
            self.failed(running, ReadFailed(str(error)))


@mutant("EC-54", inside=around_reads, conditions=2)
class ClosedIsBroken(CacheReads):
    """Does not read once more where the ledger's handle was closed."""

    def ask(self, running: Running, handle: LedgerHandle) -> None:
        """Ask the storage."""
        running.reopened = True
        super().ask(running, handle)


@mutant("EC-15", inside=around_cache, conditions=2, deep=True)
class JoinsTheDropped(TopicCache):
    """Lets readers join what was asked of a ledger before it was dropped."""

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        running = self.reads.running.get(ledger)
        super().invalidate_all_entries(ledger)
        if running:
            self.reads.running[ledger] = running


@mutant("EC-16", inside=around_cache, conditions=2, deep=True)
class JoinsTheCleared(TopicCache):
    """Lets readers join what was asked for before the cache was cleared."""

    def clear(self) -> tuple[int, int]:
        """Remove everything."""
        running = {**self.reads.running}
        removed = super().clear()
        self.reads.running.update(running)
        return removed
