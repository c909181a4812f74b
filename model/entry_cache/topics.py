"""The topics of the caches: entries are added, cursors come, move and leave, ledgers and caches are dropped."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.entry_cache import caches, cursors
from broker_tck.model.entry_cache.broker import Broker
from broker_tck.model.entry_cache.cursors import Cursors
from broker_tck.model.entry_cache.entries import Cache, Position, Removed
from broker_tck.model.entry_cache.ledgers import Ledgers, size_of
from broker_tck.model.entry_cache.pending_reads import PendingReads
from broker_tck.model.entry_cache.readers import SINGLE, Reader
from broker_tck.model.rules import rule

FIRST_OF_CROWD = 10
"""The name of the first cursor of a crowd: the names before it are those of single ones."""


class Config(caches.Config, cursors.Config, Protocol):
    """What a trace configures of topics as well."""


class Topics(Broker):
    """Caches of topics, which have ledgers and cursors."""

    Cursors = Cursors
    PendingReads = PendingReads

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.ledgers = Ledgers()
        self.cursors = [self.Cursors(config, self.now) for _ in self.caches]
        self.crowds = [0 for _ in self.caches]
        """How many cursors of a crowd there are."""
        self.pending_reads = self.PendingReads()

    # ---- Entries are added

    def append(self, topic: int, ledger: int) -> bool | None:
        """Add the next entry of a ledger; answers whether it was inserted, with nothing where it is not to be."""
        entry = self.ledgers.write(topic, ledger, 1)
        cursors = self.cursors[topic]
        cursors.advance_to(self.now)
        if not cursors.caches_added():
            return None
        return self.put(topic, ledger, entry, size_of(entry), cursors.start_on_add())

    def write(self, topic: int, ledger: int, n: int) -> None:
        """A ledger has n entries more, which were written before all this."""
        self.ledgers.write(topic, ledger, n)

    # ---- Cursors

    def cursor(self, topic: int, name: int, ledger: int, entry: int, caching: int) -> None:
        """A cursor is added, or moves."""
        cursors = self.cursors[topic]
        before = cursors.active.slowest()
        cursors.move(str(name), (ledger, entry), bool(caching))
        self.moved(topic, before)

    def uncursor(self, topic: int, name: int) -> bool:
        """A cursor is removed; answers whether it was there."""
        cursors = self.cursors[topic]
        cursors.advance_to(self.now)
        before = cursors.active.slowest()
        if not cursors.remove(str(name)):
            return False
        self.moved(topic, before)
        return True

    def crowd(self, topic: int, ledger: int, entry: int, n: int, caching: int) -> None:
        """A crowd of cursors becomes n: those are added, or move, and what is more of it leaves."""
        before = self.crowds[topic]
        for i in range(n):
            self.cursor(topic, FIRST_OF_CROWD + i, ledger, entry, caching)
        for i in range(n, before):
            self.uncursor(topic, FIRST_OF_CROWD + i)
        self.crowds[topic] = n

    @rule(
        "RC-11",
        source="PIP-430",
        needs="reads",
        when=lambda m, topic, before: any(entry.counter for entry in m.caches[topic].entries.values()),
    )
    def moved(self, topic: int, before: Position | None) -> None:
        """A cursor that comes, moves or leaves does not change the counts of what is cached."""
        cursors = self.cursors[topic]
        now = cursors.slowest(before)
        if not cursors.moves_invalidate() or now == before:
            return
        if now is not None:
            self.invalidate(topic, *now)
        else:
            self.invalidate_all(topic)

    @rule("EC-57", needs="reads")
    def invalidate_all(self, topic: int) -> None:
        """When the last cursor leaves, the cache is emptied."""
        self.clear(topic)

    @rule("EC-49", source="RangeEntryCacheImpl", needs="reads")
    def start_of(self, reader: Reader) -> int:
        """A read of a single entry expects no reads: it never populates the cache."""
        return 0 if reader.cursor == SINGLE else self.start_by_cursor(reader)

    def start_by_cursor(self, reader: Reader) -> int:
        """The same for the reader's cursor."""
        return self.cursors[reader.topic].start_on_read(str(reader.cursor))

    # ---- Ledgers and caches are dropped

    def trim(self, cache: int, ledger: int) -> None:
        """A ledger is dropped."""
        self.drop_ledger(self.caches[cache], ledger)

    def drop_ledger(self, cache: Cache, ledger: int) -> None:
        """Remove all of a ledger from a cache, and forget the running reads of it."""
        self.drop(cache, ledger)
        self.forget_dropped(cache, ledger)

    @rule("EC-15", needs="reads", when=lambda m, cache, ledger: m.pending_reads.runs(cache, ledger))
    def forget_dropped(self, cache: Cache, ledger: int) -> None:
        """Reads of a ledger that is dropped can no longer be joined."""
        self.pending_reads.forget_ledger(cache, ledger)

    def clear(self, cache: int) -> Removed:
        """Empty a cache."""
        self.forget_cleared(self.caches[cache])
        return self.empty(self.caches[cache])

    @rule("EC-16", needs="reads", when=lambda m, cache: m.pending_reads.runs(cache))
    def forget_cleared(self, cache: Cache) -> None:
        """Reads of a cache that is emptied can no longer be joined."""
        self.pending_reads.forget_all(cache)

    @rule("EC-18", source="RangeEntryCacheManagerImpl.removeEntryCache", when=lambda m, cache: cache.entries)
    def close(self, cache: Cache) -> None:
        """A topic that is closed clears its cache; what is inserted into it later counts, and leaves by the queue."""
        self.store.remove_all([*cache.entries.values()])
        self.pending_reads.forget_all(cache)

    def reopen(self, cache: int) -> None:
        """A topic is closed and opened again. Somebody may still hold its old cache."""
        left = self.caches[cache]
        self.close(left)
        self.left[cache] = left
        self.caches[cache] = self.manager.new_cache()
