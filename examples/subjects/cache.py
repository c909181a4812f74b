"""Entry caches over one queue, to copy from: one class conforms, and one limits what has no limit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    IllegalArgumentException,
    Position,
    ReadCount,
)


class Count:
    """How many reads of an entry are still expected."""

    def __init__(self, expected: int) -> None:
        self.expected = expected

    def get_expected_read_count(self) -> int:
        """The count now."""
        return self.expected

    def increment_expected_read_count(self) -> None:
        """One more read is expected."""
        self.expected += 1

    def mark_read(self) -> None:
        """A reader is done."""
        self.expected -= 1


@dataclass(eq=False)
class Cached:
    """An entry in its cache."""

    cache: Cache
    value: Entry
    size: int
    time: int
    accessed: bool = False
    requeued: int = 0


class Cache:
    """The cache of one topic."""

    def __init__(self, queue: OrderedDict[Cached, None], clock: Clock) -> None:
        self.queue = queue
        self.clock = clock
        self.cached: dict[Position, Cached] = {}

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value at the tail of the queue."""
        if value.position != position:
            raise IllegalArgumentException(f"{position} is not the position of the value")
        if position in self.cached or not value.retain():
            return False
        self.cached[position] = one = Cached(self, value, value.length, self.clock())
        self.queue[one] = None
        return True

    def get(self, position: Position) -> Entry | None:
        """The value of a position, which is marked as accessed."""
        one = self.cached.get(position)
        if one is None:
            return None
        one.accessed = True
        return one.value if one.value.retain() else None

    def get_range(self, first: Position, last: Position) -> Sequence[Entry]:
        """The values from one position to another."""
        positions = sorted(at for at in self.cached if first <= at <= last)
        return [value for at in positions if (value := self.get(at)) is not None]

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range."""
        return self.remove_where(lambda at: first <= at <= last and (last_inclusive or at != last))

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        self.remove_where(lambda at: at < last)

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        self.remove_where(lambda at: at[0] == ledger)

    def clear(self) -> tuple[int, int]:
        """Remove everything."""
        return self.remove_where(lambda _: True)

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        return len(self.cached)

    def get_size(self) -> int:
        """Their bytes."""
        return sum(one.size for one in self.cached.values())

    def remove_where(self, chosen: Callable[[Position], bool]) -> tuple[int, int]:
        """Remove the entries at the chosen positions."""
        removed = [one for at, one in self.cached.items() if chosen(at)]
        return len(removed), sum(map(self.remove, removed))

    def remove(self, one: Cached) -> int:
        """Remove an entry that is cached; answers with its size."""
        del self.queue[one], self.cached[one.value.position]
        if one.value.count:  # somebody may have released it once too often
            one.value.release()
        return one.size


class Caches:
    """The caches of a broker. The queue has what is cached and nothing else, the oldest first."""

    contract: ClassVar = "entry-cache"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar = dict.fromkeys(("manager", "settings", "pinned", "reads", "steps"), False)

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        self.config = config
        self.clock = clock
        self.caches: dict[str, Cache] = {}
        self.queue: OrderedDict[Cached, None] = OrderedDict()

    def get_entry_cache(self, topic: str) -> Cache:
        """The cache of a topic."""
        return self.caches.setdefault(topic, Cache(self.queue, self.clock))

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed."""
        self.get_entry_cache(topic).clear()
        del self.caches[topic]

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, if there is something to count."""
        return Count(expected) if expected > 0 else None

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """A time pass: up to the first entry that is young."""
        return self.evict(lambda one, removed: one.time >= timestamp)

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass: until so many bytes are removed."""
        if size <= 0:
            raise IllegalArgumentException("a size pass is for one byte at least")
        return self.evict(lambda one, removed: removed >= size)

    def evict(self, ends: Callable[[Cached, int], bool]) -> tuple[int, int]:
        """Remove or requeue the head of the queue, again and again."""
        entries = removed = 0
        while self.queue:
            one = next(iter(self.queue))
            if ends(one, removed):
                break
            if self.stays(one):
                self.queue.move_to_end(one)
                one.time, one.accessed, one.requeued = self.clock(), False, one.requeued + 1
            else:
                entries += 1
                removed += one.cache.remove(one)
        return entries, removed

    def stays(self, one: Cached) -> bool:
        """Whether an entry is requeued: it was accessed, or is to be read and was not requeued too often."""
        extended = one.accessed and self.config.extend_ttl_of_recently_accessed
        return extended or (self.is_to_be_read(one) and one.requeued < self.config.max_requeue_count)

    def is_to_be_read(self, one: Cached) -> bool:
        """Whether reads of an entry are expected."""
        reads = one.value.reads
        return reads is not None and reads.get_expected_read_count() > 0


class StrictCaches(Caches):
    """The same with one mistake: the limit of requeueings holds for entries that were accessed, too."""

    def stays(self, one: Cached) -> bool:
        """Whether an entry is requeued: there is a reason, and it was not requeued too often."""
        return one.requeued < self.config.max_requeue_count and super().stays(one)
