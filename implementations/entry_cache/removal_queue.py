"""Entry caches over one queue of removal (profiles ``ideal`` and ``queue``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from broker_tck.implementations.entry_cache.manager import Manager
from broker_tck.implementations.entry_cache.reads import CacheReads, ReadLimiter, WholeReads
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    ExpectedReads,
    IllegalArgumentException,
    LedgerHandle,
    Position,
    ReadAnswered,
    ReadCount,
)

FIRST: Position = (-(2**63), -(2**63))
"""No position is before this one."""
BLANKS = 1_024
"""Number of blank slots from which the queue is cleaned, if they are also the greater part of it."""


class Count:
    """Reads of an entry that are still expected."""

    __slots__ = ("expected",)

    def __init__(self, expected: int) -> None:
        self.expected = expected

    def get_expected_read_count(self) -> int:
        """The count now; it may be below 0."""
        return self.expected

    def increment_expected_read_count(self) -> None:
        """One more read is expected."""
        self.expected += 1

    def mark_read(self) -> None:
        """A reader is done."""
        self.expected -= 1


@dataclass(eq=False, slots=True)
class Slot:
    """The place of a value in its cache and in the queue. Without a value it has left the cache."""

    cache: TopicCache
    value: Entry | None
    size: int
    """As it was inserted: the value's own length is not asked for again."""
    stamp: int
    requeued: int = 0
    accessed: bool = False


class TopicCache:
    """The cache of one topic: its slots by ledger and entry."""

    __slots__ = ("added", "added_size", "broker", "disabled", "entries", "ledgers", "reads", "size")

    first: ClassVar[Position] = FIRST
    """What is before it is not invalidated."""

    def __init__(self, broker: RemovalQueue) -> None:
        self.broker = broker
        self.disabled = broker.max_size == 0
        self.added = self.added_size = 0
        self.reads = broker.new_reads(self)
        self.ledgers: dict[int, dict[int, Slot]] = {}
        self.entries = 0
        self.size = 0

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value, unless its position is cached. IllegalArgumentException for a value of another position."""
        if value.position != position:
            raise IllegalArgumentException(f"the value is of {value.position}, not of {position}")
        if self.disabled:
            return False
        ledger, entry = position
        slots = self.ledgers.get(ledger)
        if slots is None:
            slots = self.ledgers[ledger] = {}
        elif entry in slots:
            return False
        value.retain()
        slots[entry] = slot = Slot(self, value, value.length, self.broker.clock())
        self.entries += 1
        self.size += slot.size
        self.added += 1
        self.added_size += slot.size
        self.broker.added(slot)
        return True

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        slots = self.ledgers.get(position[0])
        slot = slots and slots.get(position[1])
        return self._read(slot) if slot else None

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained, in ascending order."""
        return [value for slot in self._within(first, last, True) if (value := self._read(slot))]

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range; answers with entries and bytes."""
        return self._remove(self._within(first, last, last_inclusive))

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        self._remove(self._within(self.first, last, False))

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        self._remove(self._within((ledger, 0), (ledger + 1, 0), False))
        self.reads.forget(ledger)

    def clear(self) -> tuple[int, int]:
        """Remove everything; answers with entries and bytes."""
        self.reads.forget_all()
        return self._remove(slot for slots in self.ledgers.values() for slot in slots.values())

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        return self.entries

    def get_size(self) -> int:
        """Their bytes."""
        return self.size

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Answer a reader, out of the cache and the storage."""
        self.reads.read(handle, first, last, expected, answered)

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """The same of a single entry, of which no reads are expected."""
        self.reads.read(handle, entry, entry, lambda: 0, answered)

    def take_out(self, slot: Slot) -> None:
        """Take a slot out of the maps, and let go of its value."""
        give_back(self.unmap(slot))

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps, and blank it; answers with its value, which is to be released."""
        value = slot.value
        assert value is not None
        ledger, entry = value.position
        slots = self.ledgers[ledger]
        del slots[entry]
        if not slots:
            del self.ledgers[ledger]
        slot.value = None
        self.entries -= 1
        self.size -= slot.size
        return value

    def _read(self, slot: Slot) -> Entry | None:
        value = slot.value
        slot.accessed = True
        return value if value is not None and value.retain() else None

    def _within(self, first: Position, last: Position, inclusive: bool) -> Iterator[Slot]:
        """The slots of a range in ascending order; entries of one ledger are probed where they are few."""
        for ledger in sorted(n for n in self.ledgers if first[0] <= n <= last[0]):
            slots = self.ledgers[ledger]
            low = first[1] if ledger == first[0] else -inf
            high = last[1] + inclusive if ledger == last[0] else inf
            if high - low <= len(slots):
                yield from (slots[entry] for entry in range(int(low), int(high)) if entry in slots)
            else:
                yield from (slots[entry] for entry in sorted(slots) if low <= entry < high)

    def _remove(self, slots: Iterable[Slot]) -> tuple[int, int]:
        gone = [*slots]
        for slot in gone:
            self.take_out(slot)
        size = sum(slot.size for slot in gone)
        self.broker.removed(len(gone), size, blanks=len(gone))
        return len(gone), size


class RemovalQueue(Manager):
    """The caches of a broker. Removal goes by one queue, in which every slot stands once.

    A pass costs what it visits. Slots that left their cache by another way stay where they are until a pass meets them,
    or until they are the greater part of the queue.
    """

    profiles: tuple[str, ...] = ("ideal",)
    capabilities: ClassVar[dict[str, object]] = {"steps": False}
    cache_type: ClassVar[Any] = TopicCache
    reads: ClassVar[type[CacheReads]] = CacheReads

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self.queue: deque[Any] = deque()
        self._blanks = 0
        self._most_requeued = config.max_requeue_count
        self._extends_accessed = config.extend_ttl_of_recently_accessed
        self._read_counters = [0, 0, 0, 0]
        self._limiter: ReadLimiter | None = None
        if config.max_reads_in_flight > 0:
            self._limiter = ReadLimiter(config.max_reads_in_flight, config.acquire_queue, config.acquire_timeout, clock)

    def new_reads(self, cache: TopicCache) -> CacheReads:
        """What answers the readers of a cache."""
        return self.reads(cache, self._limiter, self._read_counters, self.new_read_count)

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, if reads are expected."""
        return Count(expected) if expected > 0 else None

    # ---- What the caches tell

    def added(self, slot: Slot) -> None:
        """A slot was made."""
        self.queue.append(slot)
        self.inserted(slot.size)
        if self.size > self.trigger:
            self.order()

    def removed(self, entries: int, size: int, blanks: int = 0) -> None:
        """Slots left their caches; so many of them are still in the queue."""
        super().removed(entries, size)
        self._blanks += blanks
        if self._blanks > BLANKS and self._blanks > len(self.queue) // 2:
            self.queue = deque(slot for slot in self.queue if slot.value is not None)
            self._blanks = 0

    # ---- Passes

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """Remove from the head what was put there before a time; answers with entries and bytes."""
        return self._take_from_head(timestamp, inf)

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """Remove from the head until this number of bytes is gone. IllegalArgumentException for 0 bytes."""
        if size <= 0:
            raise IllegalArgumentException(f"{size} bytes cannot be evicted")
        return self._take_from_head(inf, size)

    def _take_from_head(self, before: float, wanted: float) -> tuple[int, int]:
        entries = size = 0
        queue, requeues = self.queue, self.requeues
        while queue:
            slot = queue[0]
            if slot.value is None:
                self._blanks -= 1
            elif slot.stamp >= before or size >= wanted:
                break
            elif requeues(slot):
                slot.requeued += 1
                slot.stamp = self.clock()
                slot.accessed = False
                queue.append(slot)
            else:
                slot.cache.take_out(slot)
                entries += 1
                size += slot.size
            queue.popleft()
        self.removed(entries, size)
        return entries, size

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        if slot.accessed and self._extends_accessed:
            return True
        return slot.requeued < self._most_requeued and expects_reads(slot)

    def get_non_evictable_size(self) -> tuple[int, int]:
        """Entries and bytes of slots with expected reads, or without a count."""
        sizes = [slot.size for slot in self.queue if slot.value and (slot.value.reads is None or expects_reads(slot))]
        return len(sizes), sum(sizes)

    # ---- Settings, and what is told

    def update_max_requeue_count(self, count: int) -> None:
        """Set how often reads that are expected have an entry requeued."""
        self._most_requeued = count

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        """Set whether entries that were accessed are requeued."""
        self._extends_accessed = extend

    def get_read_counters(self) -> tuple[int, int, int, int]:
        """Entries and bytes of hits, entries and bytes of misses."""
        hits, hit_bytes, misses, missed_bytes = self._read_counters
        return hits, hit_bytes, misses, missed_bytes

    def get_remaining_permits(self) -> int:
        """The bytes that are left of the limit of reads in flight."""
        return self._limiter.remaining if self._limiter else 0

    def time_out_reads(self) -> None:
        """Refuse the reads that have waited for too long."""
        if self._limiter:
            self._limiter.time_out()


class FromALedgerOn(TopicCache):
    """Invalidates nothing below every ledger that a broker makes."""

    __slots__ = ()

    first = (-1, 0)


class FifoQueue(RemovalQueue):
    """First in, first out: nothing is requeued."""

    profiles = ("queue",)
    cache_type = FromALedgerOn
    reads = WholeReads
    capabilities: ClassVar[dict[str, object]] = {"pinned": False, "settings": False, "steps": False}

    def new_read_count(self, expected: int) -> ReadCount | None:
        """Reads are not counted."""
        return None

    def requeues(self, slot: Slot) -> bool:
        """Nothing is."""
        return False


def expects_reads(slot: Slot) -> bool:
    """Whether reads of a slot's value are still expected."""
    count = slot.value.reads if slot.value else None
    return count is not None and count.get_expected_read_count() >= 1


def give_back(value: Entry) -> None:
    """Release a value, unless a caller released it once too often."""
    if value.retain():
        value.release()
        value.release()
