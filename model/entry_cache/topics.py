"""The topics of the caches: entries are added, cursors come, move and leave, ledgers and caches are dropped."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.entry_cache import caches, cursors
from broker_tck.model.entry_cache.broker import Broker
from broker_tck.model.entry_cache.cursors import Cursors
from broker_tck.model.entry_cache.entries import Cache, Position, Removed
from broker_tck.model.entry_cache.ledgers import Ledgers, size_of
from broker_tck.model.entry_cache.lookup import Lookup
from broker_tck.model.entry_cache.pending_reads import PendingReads
from broker_tck.model.entry_cache.readers import SINGLE, Reader
from broker_tck.model.rules import also, rule
from broker_tck.model.said import said

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
        "A cursor that comes, moves or leaves does not change the counts of what is cached.",
        source="PIP-430",
        look="counts that are corrected; only the time and the limit of requeueing take such entries away",
        needs="reads",
        when=lambda m, topic, before: any(entry.counter for entry in m.caches[topic].entries.values()),
    )
    def moved(self, topic: int, before: Position | None) -> None:
        """What a cursor's move, or a cursor that leaves, does to the cache."""
        cursors = self.cursors[topic]
        now = cursors.slowest(before)
        if not cursors.moves_invalidate() or now == before:
            return
        if now is not None:
            self.invalidate(topic, *now)
        else:
            self.invalidate_all(topic)

    @said(
        absent=(
            "Your cache keeps its entries when the last cursor leaves; where reads are not counted, all have to go."
        ),
    )
    @also(Cursors.slowest, when=lambda m, topic: m.caches[topic].entries, absent=lambda m, topic: None)
    def invalidate_all(self, topic: int) -> None:
        """The last cursor has left."""
        self.clear(topic)

    @said(
        absent="A read of a single entry populates your cache; it expects no reads.",
    )
    @rule(
        "EC-49",
        "A read of a single entry expects no reads: it never populates the cache.",
        source="RangeEntryCacheImpl",
        look="the constant that it passes; a hit marks the entry and shares its count, as any other",
        needs="reads",
        absent=lambda m, reader: 1 if reader.cursor == SINGLE else m.start_by_cursor(reader),
    )
    def start_of(self, reader: Reader) -> int:
        """What the expected reads of an entry start with, for this reader, now."""
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

    @said(
        absent="Your cache still joins reads of a ledger that was dropped; they can no longer be joined.",
    )
    @also(
        Lookup.of_ledger,
        when=lambda m, cache, ledger: m.pending_reads.runs(cache, ledger),
        absent=lambda m, cache, ledger: None,
    )
    def forget_dropped(self, cache: Cache, ledger: int) -> None:
        """Reads of a ledger that is dropped can no longer be joined."""
        self.pending_reads.forget_ledger(cache, ledger)

    def clear(self, cache: int) -> Removed:
        """Empty a cache."""
        self.forget_cleared(self.caches[cache])
        return self.empty(self.caches[cache])

    @said(
        absent="A clear of your cache leaves the reads that run; they can no longer be joined.",
    )
    @also(Broker.empty, when=lambda m, cache: m.pending_reads.runs(cache), absent=lambda m, cache: None)
    def forget_cleared(self, cache: Cache) -> None:
        """Reads of a cache that is emptied can no longer be joined."""
        self.pending_reads.forget_all(cache)

    @said(
        absent="Your cache keeps the entries of a topic that was closed; they have to go.",
    )
    @rule(
        "EC-18",
        "A topic that is closed clears its cache; what is inserted into it later counts, and leaves by the queue.",
        source="RangeEntryCacheManagerImpl.removeEntryCache",
        look="entries of a cache that no name leads to any more",
        when=lambda m, cache: cache.entries,
        absent=lambda m, cache: None,
    )
    def close(self, cache: Cache) -> None:
        """The topic of a cache is closed."""
        self.store.remove_all([*cache.entries.values()])
        self.pending_reads.forget_all(cache)

    def reopen(self, cache: int) -> None:
        """A topic is closed and opened again. Somebody may still hold its old cache."""
        left = self.caches[cache]
        self.close(left)
        self.left[cache] = left
        self.caches[cache] = self.manager.new_cache()
