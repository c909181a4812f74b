"""The sizes of a broker's caches: they are counted, and a pass is ordered if one is due."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import Any, ClassVar

from broker_tck.implementations.interface import Clock, EntryCacheConfig, Execute


class Manager(ABC):
    """The caches of a broker by topic, their size, and when passes are made."""

    contract = "entry-cache"
    cache_type: ClassVar[Any]
    """Makes the cache of a topic, of its broker."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        self.clock = clock
        self.size = 0
        self._execute = execute
        self._caches: dict[str, Any] = {}
        self._ttl = config.ttl
        self._watermark = config.watermark
        self._ordered = False
        self._counters = [0, 0, 0]
        self.update_max_size(config.max_size)

    def get_entry_cache(self, topic: str) -> Any:
        """The cache of a topic, made where there is none."""
        return self._caches.setdefault(topic, self.cache_type(self))

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed."""
        self._caches.pop(topic).clear()

    def inserted(self, size: int) -> None:
        """An entry was inserted."""
        self.size += size
        self._counters[0] += 1

    def removed(self, entries: int, size: int) -> None:
        """Entries left their caches."""
        self.size -= size
        self._counters[1] += entries

    @abstractmethod
    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """Remove what was put there before a time; answers with entries and bytes."""

    @abstractmethod
    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """Remove a number of bytes; answers with entries and bytes. IllegalArgumentException for 0 bytes."""

    def order(self) -> None:
        """Have a size pass made soon, unless one is ordered already."""
        if not self._ordered:
            self._ordered = True
            self._execute(self._run_ordered)

    def do_cache_eviction(self) -> None:
        """The scheduled run: a time pass, then a size pass if it is needed."""
        self.evict_entries_before_timestamp(self.clock() - self._ttl)
        self._relieve()

    def _run_ordered(self) -> None:
        self._ordered = False
        self._relieve()

    def _relieve(self) -> None:
        excess = self.size - self._goal
        if self.size > self.trigger and excess > 0:
            self._counters[2] += 1
            self.evict_least_accessed_entries(int(excess))

    def update_max_size(self, size: int | None) -> None:
        """Set the largest size in bytes, None for no limit. Nothing is removed before the next pass."""
        self.max_size = size
        self.trigger = inf if size is None else size * 98 // 100
        self._goal = inf if size is None else size * self._watermark // 100

    def update_watermark(self, percent: int) -> None:
        """Set the percentage that a size pass goes down to."""
        self._watermark = percent
        self.update_max_size(self.max_size)

    def get_size(self) -> int:
        """The bytes of all caches, those that were closed included."""
        return self.size

    def get_counters(self) -> tuple[int, int, int]:
        """Insertions, removals, size passes that had something to do."""
        inserted, evicted, passes = self._counters
        return inserted, evicted, passes
