"""The caches of a broker's topics: entries are inserted, read and removed."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from broker_tck.model.entry_cache import manager, passes
from broker_tck.model.entry_cache.entries import Cache, Cached, Count, Position, Removed
from broker_tck.model.entry_cache.lookup import Lookup
from broker_tck.model.entry_cache.manager import Manager
from broker_tck.model.entry_cache.read_counts import ReadCounts
from broker_tck.model.entry_cache.store import Store
from broker_tck.model.reference import Fault, Reference
from broker_tck.model.rules import rule

CACHES = 3
"""Topics, each with a cache."""


class Config(manager.Config, passes.Config, Protocol):
    """What a trace configures of caches and passes."""

    @property
    def ttl(self) -> int:
        """Milliseconds after which a scheduled run takes an entry for old."""


class Caches(Reference):
    """A cache for each topic, all over one store."""

    ReadCounts = ReadCounts
    Store = Store
    Lookup = Lookup
    Manager = Manager

    config: Config

    def __init__(self, config: Config) -> None:
        self.config = config
        self.now = 0
        self.read_counts = self.ReadCounts()
        self.store = self.Store()
        self.lookup = self.Lookup()
        self.manager = self.Manager(config)
        self.caches = [self.manager.new_cache() for _ in range(CACHES)]
        self.left: list[Cache | None] = [None] * CACHES
        """The cache that each topic had before, which somebody may still insert into."""
        self.stored: dict[tuple[int, Position], Cached] = {}
        """What was inserted last under each key."""
        self.holds: deque[Cached] = deque()

    # ---- Inserting

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool:
        """Insert an entry into the cache of a topic; answers whether it was."""
        inserted = self.insert(self.caches[cache], (ledger, entry), size, self.read_counts.new(expected))
        if inserted:
            self.stored[cache, (ledger, entry)] = inserted
        return inserted is not None

    def late(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool | None:
        """Insert into the cache that the topic had before it was reopened; no answer where it was not."""
        left = self.left[cache]
        if left is None:
            return None
        return self.insert(left, (ledger, entry), size, self.read_counts.new(expected)) is not None

    def fill(
        self,
        cache: int,
        ledger: int,
        entry: int,
        n: int,
        across: int,
        step: int,
        size: int,
        apart: int,
        expected: int,
        turns: int,
    ) -> int:
        """Insert many entries, one after the other; answers how many were inserted."""
        return sum(
            self.put(cache, ledger + i % across, entry + i // across * step, size + i * apart, expected - i % turns)
            for i in range(n)
        )

    @rule("EC-06", source="RangeCache.put", when=lambda m, cache, ledger, entry: True)
    def misput(self, cache: int, ledger: int, entry: int) -> bool:
        """A value of another position than its key is refused with an error, and nothing changes."""
        raise Fault("IllegalArgumentException")

    def insert(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry; answers with it, or nothing where it was refused."""
        return None if self.manager.keeps_nothing(cache) else self.insert_and_order(cache, position, size, count)

    def insert_and_order(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry, and order a pass if it is one too many."""
        inserted = self.enter(cache, position, size, count)
        if inserted:
            self.manager.order_pass(self.store.total)
        return inserted

    def enter(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Put an entry into a cache and into the queue, unless it is refused."""
        entry = Cached(cache, position, size, count, self.now)
        return entry if self.store.enter(entry) else None

    # ---- Reading

    @rule("EC-11", source="RangeCacheEntryWrapper, PR 24623", when=lambda m, entry, alone: not entry.accessed)
    def touch(self, entry: Cached, alone: bool) -> None:
        """Reading an entry marks it as accessed and does not move it; removing or refusing it does not mark it."""
        entry.accessed = True

    def looked_up(self, cache: Cache, position: Position, alone: bool) -> Cached | None:
        """The entry of a position that is read, alone or in a range; none where it cannot be handed out."""
        entry = self.lookup.find(cache, position)
        if entry is None:
            return None
        self.touch(entry, alone)
        return entry if self.lookup.hands_out(entry) else None

    def get(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry, and let go of it; ``hit`` or ``miss``."""
        return "hit" if self.looked_up(self.caches[cache], (ledger, entry), alone=True) else "miss"

    def hold(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry and keep it."""
        found = self.looked_up(self.caches[cache], (ledger, entry), alone=True)
        if found:
            found.count += 1
            self.holds.append(found)
        return "hit" if found else "miss"

    def free(self) -> bool:
        """Let go of the value that is held longest; answers whether there was one."""
        if not self.holds:
            return False
        self.store.release(self.holds.popleft(), 1)
        return True

    def spoil(self, cache: int, ledger: int, entry: int) -> bool:
        """Let go of a value once too often, if only the cache holds it; answers whether it was."""
        there = self.caches[cache].entries.get((ledger, entry))
        if there is None or there.count != 1 or there is not self.stored.get((cache, there.position)):
            return False
        self.store.release(there, 1)
        return True

    def range(self, cache: int, l1: int, e1: int, l2: int, e2: int) -> list[list[int]]:
        """Read a range and let go of it; answers with the positions."""
        first, last = (l1, e1), (l2, e2)
        found = [e for e in self.caches[cache].entries.values() if self.lookup.within(e.position, first, last)]
        for entry in found:
            self.touch(entry, False)
        return [[*entry.position] for entry in self.lookup.in_order(found) if self.lookup.hands_out(entry)]

    def read(self, cache: int, ledger: int, entry: int) -> int | str:
        """A reader is done with the value that was stored last under a key; the count then, or ``none``."""
        count = self.count_of(cache, (ledger, entry))
        if count is None:
            return "none"
        self.read_counts.read(count)
        return count.left

    def expect(self, cache: int, ledger: int, entry: int) -> int | str:
        """One more read of the value that was stored last under a key is expected; the count then, or ``none``."""
        count = self.count_of(cache, (ledger, entry))
        if count is None:
            return "none"
        self.read_counts.expect(count)
        return count.left

    def count_of(self, cache: int, position: Position) -> Count | None:
        """The count of the value that was stored last under a key."""
        entry = self.stored.get((cache, position))
        return None if entry is None else entry.counter

    # ---- Removing

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Removed:
        """Remove a range of one cache, with its last position or without."""
        first, last, inclusive = (l1, e1), (l2, e2), bool(last_inclusive)
        entries = self.caches[cache].entries.values()
        takes = self.lookup.in_removal
        return self.store.remove_all([e for e in entries if takes(e.position, first, last, inclusive)])

    def invalidate(self, cache: int, ledger: int, entry: int) -> None:
        """The slowest cursor has come to a position: what is before it goes."""
        last = ledger, entry
        entries = self.caches[cache].entries
        lowest = min(entries, default=last)
        self.store.remove_all([e for e in entries.values() if self.lookup.invalid(e.position, last, lowest)])

    def drop(self, cache: Cache, ledger: int) -> None:
        """Remove all of a ledger from a cache."""
        entries = cache.entries.values()
        self.store.remove_all([e for e in entries if self.lookup.of_ledger(e.position, ledger)])

    @rule("EC-16", source="RangeCache.clear, PR 10225", when=lambda m, cache: cache.entries)
    def empty(self, cache: Cache) -> Removed:
        """Clearing removes everything, and answers with what it removed."""
        return self.store.remove_all([*cache.entries.values()])
