"""Entry caches that evict each for itself, as before the queue of removal (profile ``legacy``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

from sortedcontainers import SortedDict

from broker_tck.implementations.entry_cache.manager import Manager
from broker_tck.implementations.entry_cache.removal_queue import give_back
from broker_tck.implementations.interface import Entry, IllegalArgumentException, Position, ReadCount

FIRST: Position = (-1, 0)
CONSIDERED = 2
"""A pass takes from the largest caches that together have this fraction (1 / N) of all bytes."""


class Kept(NamedTuple):
    """A value with what was known of it when it was inserted."""

    value: Entry
    size: int
    stamp: int


class SortedCache:
    """The cache of one topic: its values in the order of their positions."""

    __slots__ = ("_broker", "_disabled", "_kept", "size")

    def __init__(self, broker: PerCachePolicy) -> None:
        self._broker = broker
        self._disabled = broker.max_size == 0
        self._kept: SortedDict[Position, Kept] = SortedDict()
        self.size = 0

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value, if there is space and its position is not cached. IllegalArgumentException for another's."""
        if value.position != position:
            raise IllegalArgumentException(f"the value is of {value.position}, not of {position}")
        if self._disabled or not self._broker.has_space() or position in self._kept:
            return False
        value.retain()
        self._kept[position] = kept = Kept(value, value.length, self._broker.clock())
        self.size += kept.size
        self._broker.inserted(kept.size)
        return True

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        kept = self._kept.get(position)
        return kept.value if kept and kept.value.retain() else None

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained, in ascending order."""
        values = (self._kept[position].value for position in self._kept.irange(first, last))
        return [value for value in values if value.retain()]

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range; answers with entries and bytes."""
        return self._remove([*self._kept.irange(first, last, (True, last_inclusive))])

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        self.remove_range(FIRST, last, False)

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        self.remove_range((ledger, 0), (ledger + 1, 0), False)

    def clear(self) -> tuple[int, int]:
        """Remove everything; answers with entries and bytes."""
        return self._remove([*self._kept])

    def evict_before(self, timestamp: int) -> tuple[int, int]:
        """Remove from the lowest position on what was inserted before a time; answers with entries and bytes."""
        old: list[Position] = []
        for position, kept in self._kept.items():
            if kept.stamp >= timestamp:
                break
            old.append(position)
        return self._remove(old)

    def evict_least(self, size: int) -> tuple[int, int]:
        """Remove from the lowest position on until so many bytes are gone; answers with entries and bytes."""
        first: list[Position] = []
        for position, kept in self._kept.items():
            if size <= 0:
                break
            first.append(position)
            size -= kept.size
        return self._remove(first)

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        return len(self._kept)

    def get_size(self) -> int:
        """Their bytes."""
        return self.size

    def _remove(self, positions: Iterable[Position]) -> tuple[int, int]:
        gone = [self._kept.pop(position) for position in positions]
        for kept in gone:
            give_back(kept.value)
        size = sum(kept.size for kept in gone)
        self.size -= size
        self._broker.removed(len(gone), size)
        return len(gone), size


class PerCachePolicy(Manager):
    """The caches of a broker. A pass looks at each of them; what it takes from which is decided by their sizes."""

    profiles: tuple[str, ...] = ("legacy",)
    capabilities: ClassVar[dict[str, object]] = {"pinned": False, "settings": False, "reads": False, "steps": False}
    cache_type: ClassVar[Any] = SortedCache

    def new_read_count(self, expected: int) -> ReadCount | None:
        """Reads are not counted."""
        return None

    def has_space(self) -> bool:
        """Whether an entry may be inserted. A pass is ordered where one is due."""
        if self.size > self.trigger:
            self.order()
        return self.max_size is None or self.size < self.max_size

    # ---- Passes

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """Remove old entries from every cache; answers with entries and bytes."""
        return added_up(cache.evict_before(timestamp) for cache in self._caches.values())

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """Remove a number of bytes, as the policy shares them out. IllegalArgumentException for 0 bytes."""
        if size <= 0:
            raise IllegalArgumentException(f"{size} bytes cannot be evicted")
        return added_up(cache.evict_least(share) for cache, share in self._shares(size))

    def get_non_evictable_size(self) -> tuple[int, int]:
        """Nothing is kept from eviction."""
        return 0, 0

    def _shares(self, size: int) -> list[tuple[SortedCache, int]]:
        """The caches to take from, and the bytes that each has to give."""
        largest = sorted(self._caches.items(), key=lambda item: (-item[1].size, item[0]))
        goal, taken = sum(cache.size for _, cache in largest) // CONSIDERED, 0
        chosen: list[SortedCache] = []
        for _, cache in largest:
            chosen.append(cache)
            taken += cache.size
            if taken >= goal:
                break
        return [(cache, size * cache.size // taken) for cache in chosen] if taken else []

    def update_max_requeue_count(self, count: int) -> None:
        """Nothing is requeued."""

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        """Access extends nothing."""


def added_up(removed: Iterator[tuple[int, int]]) -> tuple[int, int]:
    """The entries and bytes of several removals together."""
    entries = size = 0
    for n, length in removed:
        entries += n
        size += length
    return entries, size
