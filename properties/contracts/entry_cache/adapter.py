"""The caches of a broker on their adapter: a clock, an executor, and readers that hold values and let go of them."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from typing import Any

from broker_tck.implementations.interface import EntryCache, EntryCachesFactory, Position
from broker_tck.properties.contracts.entry_cache.operations import CACHES, Capabilities, Config, Fill
from broker_tck.properties.contracts.entry_cache.reading_adapter import ReadersAdapter
from broker_tck.properties.contracts.entry_cache.values import Tally, Value
from broker_tck.properties.engine.answers import Odd, listed


class Adapter(ReadersAdapter):
    """A subject under test, and all that it deals with. Its methods are the operations."""

    def __init__(self, factory: EntryCachesFactory, config: Config, capabilities: Capabilities) -> None:
        self.now = 0
        self.tally = Tally()
        self.tasks: list[Callable[[], object]] = []
        self.broker = factory(config, lambda: self.now, self.tasks.append)
        self.caches: list[EntryCache] = [self.broker.get_entry_cache(topic(number)) for number in range(CACHES)]
        self.left: list[EntryCache | None] = [None] * CACHES
        self.stored: dict[tuple[int, Position], Value] = {}
        """The value inserted last under each key."""
        self.holds: deque[Any] = deque()
        self.start_reading(config)

    # ---- Inserting and reading

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool:
        """Insert a new value, and let go of it."""
        position = ledger, entry
        value = Value(self.tally, position, size, self.broker.new_read_count(expected))
        inserted = self.caches[cache].put(position, value)
        if inserted:
            self.stored[cache, position] = value
        value.release()
        return inserted

    def fill(self, *numbers: int) -> int:
        """Insert many new values, one after the other."""
        return sum(put.on(self) for put in Fill(*numbers).puts())

    def late(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool | None:
        """Insert into the cache that the topic had before."""
        left = self.left[cache]
        if left is None:
            return None
        value = Value(self.tally, (ledger, entry), size, self.broker.new_read_count(expected))
        inserted = left.put(value.position, value)
        value.release()
        return inserted

    def misput(self, cache: int, ledger: int, entry: int) -> bool:
        """Insert a value under the position after its own."""
        value = Value(self.tally, (ledger, entry), 1, None)
        try:
            return self.caches[cache].put((ledger, entry + 1), value)
        finally:
            value.release()

    def get(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry, and let go of it."""
        found = self.caches[cache].get((ledger, entry))
        if found is None:
            return "miss"
        found.release()
        return "hit"

    def hold(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry, and keep it."""
        found = self.caches[cache].get((ledger, entry))
        if found is None:
            return "miss"
        self.holds.append(found)
        return "hit"

    def free(self) -> bool:
        """Let go of the value that is held longest."""
        if not self.holds:
            return False
        self.holds.popleft().release()
        return True

    def spoil(self, cache: int, ledger: int, entry: int) -> bool:
        """Let go of a cached value once too often, if nobody else holds it."""
        value = self.stored.get((cache, (ledger, entry)))
        if value is None or value.count != 1 or value in self.holds:
            return False
        value.release()
        return True

    def range(self, cache: int, l1: int, e1: int, l2: int, e2: int) -> list[list[int]]:
        """Read a range, and let go of it."""
        if refused(l1, e1, l2, e2):
            return []
        found = [*self.caches[cache].get_range((l1, e1), (l2, e2))]
        positions = [[*value.position] for value in found]
        for value in found:
            value.release()
        return positions

    def read(self, cache: int, ledger: int, entry: int) -> Any:
        """A reader is done with the value stored last under a key."""
        count = self.count(cache, (ledger, entry))
        if count is None:
            return "none"
        count.mark_read()
        return count.get_expected_read_count()

    def expect(self, cache: int, ledger: int, entry: int) -> Any:
        """One more read of the value stored last under a key is expected."""
        count = self.count(cache, (ledger, entry))
        if count is None:
            return "none"
        count.increment_expected_read_count()
        return count.get_expected_read_count()

    def count(self, cache: int, position: Position) -> Any:
        """The read count of the value stored last under a key."""
        value = self.stored.get((cache, position))
        return None if value is None else value.reads

    # ---- Removing

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Any:
        """Remove a range of one cache."""
        if refused(l1, e1, l2, e2):
            return [0, 0]
        return listed(self.caches[cache].remove_range((l1, e1), (l2, e2), bool(last_inclusive)))

    def invalidate(self, cache: int, ledger: int, entry: int) -> None:
        """Remove what is before a position."""
        self.caches[cache].invalidate_entries((ledger, entry))

    def trim(self, cache: int, ledger: int) -> None:
        """A ledger is dropped."""
        self.caches[cache].invalidate_all_entries(ledger)

    def clear(self, cache: int) -> Any:
        """Empty a cache."""
        return listed(self.caches[cache].clear())

    def reopen(self, cache: int) -> None:
        """A topic is closed and opened again; its old cache is still known to somebody."""
        self.left[cache] = self.caches[cache]
        self.broker.remove_entry_cache(topic(cache))
        self.caches[cache] = self.broker.get_entry_cache(topic(cache))

    def evict_old(self, age: int) -> Any:
        """A time pass."""
        return listed(self.broker.evict_entries_before_timestamp(self.now - age))

    def evict_size(self, asked: int) -> Any:
        """A size pass."""
        return listed(self.broker.evict_least_accessed_entries(asked))

    def pinned(self) -> Any:
        """What is not to be evicted."""
        return listed(self.broker.get_non_evictable_size())

    # ---- The broker

    def background(self) -> int:
        """What was ordered is done."""
        tasks = [*self.tasks]
        self.tasks.clear()
        for task in tasks:
            task()
        return len(tasks)

    def run(self) -> None:
        """The scheduled run."""
        self.broker.do_cache_eviction()

    def size_of_all(self) -> int:
        """The bytes of all caches."""
        return self.broker.get_size()

    def counters(self) -> Any:
        """Insertions, removals, size passes."""
        return listed(self.broker.get_counters())

    def resize(self, size: int) -> None:
        """Set the largest size."""
        self.broker.update_max_size(size)

    def set_watermark(self, percent: int) -> None:
        """Set the watermark."""
        self.broker.update_watermark(percent)

    def requeues(self, n: int) -> None:
        """Set how often reads that are expected have an entry requeued."""
        self.broker.update_max_requeue_count(n)

    def extend(self, on: int) -> None:
        """Set whether entries that were accessed are requeued."""
        self.broker.update_extend_ttl_of_recently_accessed(bool(on))

    def advance(self, ms: int) -> None:
        """Time passes."""
        self.now += ms

    def let_go(self) -> None:
        """Forget the values that were inserted."""
        self.stored.clear()

    def collect_garbage(self) -> None:
        """Collect garbage; a subject outside of Python has a method of its own for that."""
        getattr(self.broker, "collect_garbage", gc.collect)()

    def seen(self) -> tuple[list[list[int]] | Odd, int]:
        """Entries and bytes of each cache, and the values that somebody holds a reference of."""
        a, b, c = self.caches  # written out, as it is asked after each operation
        m, k, n = a.get_number_of_entries(), b.get_number_of_entries(), c.get_number_of_entries()
        x, y, z = a.get_size(), b.get_size(), c.get_size()
        sizes = [[m, x], [k, y], [n, z]]
        plain = type(m) is type(k) is type(n) is type(x) is type(y) is type(z) is int
        return sizes if plain else Odd(sizes), self.tally.alive


def refused(l1: int, e1: int, l2: int, e2: int) -> bool:
    """Whether a range ends before it begins. Callers of the caches refuse it, and so does the adapter."""
    return (l1, e1) > (l2, e2)


def topic(number: int) -> str:
    """The name of a topic."""
    return f"topic-{number}"
