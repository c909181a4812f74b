"""Right but unusual entry caches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any, ClassVar

from broker_tck.implementations.entry_cache.reads import CacheReads
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue
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


@dataclass
class Tally:
    """A read count that is equal to any other of its number, is false, and cannot be hashed."""

    left: int

    def __bool__(self) -> bool:
        return False

    def get_expected_read_count(self) -> int:
        return self.left

    def increment_expected_read_count(self) -> None:
        self.left += 1

    def mark_read(self) -> None:
        self.left -= 1


class NotThisOne(IllegalArgumentException):
    """What these caches refuse an argument with."""


def new_tally(expected: int) -> ReadCount | None:
    """A count, if there is something to count."""
    return Tally(expected) if expected > 0 else None


class Row(list[Any]):
    """A cached entry as it stands in the heap: its number there, then whatever is known of it."""

    number = property(lambda row: row[0])

    def __init__(self, number: int, cache: HeapCache, value: Entry, stamp: int) -> None:
        super().__init__([number])
        self.cache, self.value, self.stamp = cache, value, stamp
        self.size, self.requeued, self.accessed = value.length, 0, False

    @property
    def is_expected(self) -> bool:
        """Whether reads are expected."""
        return self.value.reads is not None and self.value.reads.get_expected_read_count() > 0


class HeapCache:
    """The cache of one topic: two lists side by side, of positions and of rows, in the order of positions."""

    def __init__(self, broker: HeapCaches, disabled: bool) -> None:
        self.broker, self.disabled = broker, disabled
        self.positions: list[Position] = []
        self.rows: list[Row] = []

    def __len__(self) -> int:
        return len(self.rows)

    def span(self, first: Position, last: Position, inclusive: bool = True) -> range:
        """Where the positions of a range stand."""
        find = bisect_right if inclusive else bisect_left
        return range(bisect_left(self.positions, first), find(self.positions, last))

    def put(self, position: Position, value: Entry) -> bool:
        if value.position != position:
            raise NotThisOne(position)
        if self.disabled or self.span(position, position) or not value.retain():
            return False
        at = bisect_left(self.positions, position)
        self.positions.insert(at, position)
        self.rows.insert(at, self.broker.new_row(self, value))
        self.broker.was_put()
        return True

    def get(self, position: Position) -> Entry | None:
        return next(iter(self.get_range(position, position)), None)

    def get_range(self, first: Position, last: Position) -> Sequence[Entry]:
        rows = [self.rows[at] for at in self.span(first, last)]
        for row in rows:
            row.accessed = True
        return tuple(row.value for row in rows if row.value.retain())

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        return self.remove(self.span(first, last, last_inclusive))

    def invalidate_entries(self, last: Position) -> None:
        self.remove(self.span((-1, 0), last, False))

    def invalidate_all_entries(self, ledger: int) -> None:
        self.remove(self.span((ledger, 0), (ledger + 1, 0), False))

    def clear(self) -> tuple[int, int]:
        return self.remove(range(len(self.rows)))

    def remove(self, span: range) -> tuple[int, int]:
        """Remove some neighbours."""
        rows = self.rows[span.start : span.stop] if span else []
        if span:
            del self.rows[span.start : span.stop], self.positions[span.start : span.stop]
        for row in rows:
            row.cache = None  # type: ignore[assignment]  # a tombstone
            if row.value.count:
                row.value.release()
        return self.broker.was_removed(rows)

    def get_number_of_entries(self) -> int:
        return len(self.rows)

    def get_size(self) -> int:
        return sum(row.size for row in self.rows)


class HeapCaches:
    """There is no queue: entries have numbers, and a heap of these in which what was removed stays as a tombstone.

    The broker keeps no sizes, and adds them up on each question. A cache that is empty is false, counts are false, and
    errors are of a class of their own.
    """

    contract: ClassVar = "entry-cache"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar = {"reads": False, "steps": False}

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        self.clock, self.execute = clock, execute
        self.max_size, self.watermark, self.ttl = config.max_size, config.watermark, config.ttl
        self.most, self.extends = config.max_requeue_count, config.extend_ttl_of_recently_accessed
        self.heap: list[Row] = []
        self.caches: dict[str, HeapCache] = {}
        self.last = self.inserted = self.gone = self.passes = 0
        self.is_ordered = False

    def get_entry_cache(self, topic: str) -> HeapCache:
        if topic not in self.caches:
            self.caches[topic] = HeapCache(self, self.max_size == 0)
        return self.caches[topic]

    def remove_entry_cache(self, topic: str) -> None:
        self.caches.pop(topic).clear()

    def new_read_count(self, expected: int) -> ReadCount | None:
        return new_tally(expected)

    def new_row(self, cache: HeapCache, value: Entry) -> Row:
        """A row with the highest number so far."""
        self.last += 1
        row = Row(self.last, cache, value, self.clock())
        heappush(self.heap, row)
        return row

    def was_put(self) -> None:
        """Order a pass if it is needed."""
        self.inserted += 1
        if not self.is_ordered and self.excess() is not None:
            self.is_ordered = True
            self.execute(self.run_ordered)

    def run_ordered(self) -> None:
        """The pass that was ordered."""
        self.is_ordered = False
        self.relieve()

    def was_removed(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Count what was removed, and sweep the heap where most of it are tombstones."""
        self.gone += len(rows)
        if self.gone % 64 == 0:
            self.heap = [row for row in self.heap if row.cache is not None]
            heapify(self.heap)
        return len(rows), sum(row.size for row in rows)

    def living(self) -> Iterator[Row]:
        """All rows that are cached."""
        return (row for row in self.heap if row.cache is not None)

    def excess(self) -> int | None:
        """The bytes above the watermark, None unless the trigger is passed."""
        size = self.get_size()
        if self.max_size is None or size <= self.max_size * 98 // 100:
            return None
        return size - self.max_size * self.watermark // 100

    def relieve(self) -> None:
        """A size pass, if it is needed."""
        excess = self.excess()
        if excess is not None and excess > 0:
            self.passes += 1
            self.evict_least_accessed_entries(excess)

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        return self.evict(timestamp, inf)

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        if size <= 0:
            raise NotThisOne(size)
        return self.evict(inf, size)

    def evict(self, before: float, wanted: float) -> tuple[int, int]:
        """Go from the lowest number on."""
        entries = size = 0
        while self.heap:
            row = self.heap[0]
            if row.cache is None:
                heappop(self.heap)
            elif row.stamp >= before or size >= wanted:
                break
            elif (row.accessed and self.extends) or (row.is_expected and row.requeued < self.most):
                heappop(self.heap)
                self.last += 1
                row[0], row.stamp, row.accessed, row.requeued = self.last, self.clock(), False, row.requeued + 1
                heappush(self.heap, row)
            else:
                at = bisect_left(row.cache.positions, row.value.position)
                one, bytes_of_it = row.cache.remove(range(at, at + 1))
                entries, size = entries + one, size + bytes_of_it
        return entries, size

    def get_non_evictable_size(self) -> tuple[int, int]:
        rows = [row for row in self.living() if row.value.reads is None or row.is_expected]
        return len(rows), sum(row.size for row in rows)

    def do_cache_eviction(self) -> None:
        self.evict_entries_before_timestamp(self.clock() - self.ttl)
        self.relieve()

    def update_max_size(self, size: int) -> None:
        self.max_size = size

    def update_watermark(self, percent: int) -> None:
        self.watermark = percent

    def update_max_requeue_count(self, count: int) -> None:
        self.most = count

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        self.extends = extend

    def get_size(self) -> int:
        return sum(row.size for row in self.living())

    def get_counters(self) -> tuple[int, int, int]:
        return self.inserted, self.gone, self.passes


class Answer(Sequence[Entry]):
    """A sequence that is neither a list nor a tuple, and false."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = deque(entries)

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, at: Any) -> Any:
        return [*self.entries][at]


@dataclass
class Stone:
    """A cached entry. It is equal to another of the same size and time, and cannot be hashed."""

    size: int
    stamp: int
    cache: Any = None
    value: Entry | None = None
    accessed: bool = False
    requeued: int = 0


class BytesCache:
    """The cache of one topic: a sorted list of bytes, which holds what was removed until it is swept, and a dictionary.

    Ranges are answered with a sequence of a class of its own. What is inserted is buffered until a range is asked for.
    """

    def __init__(self, broker: BytesCaches) -> None:
        self.broker = broker
        self.disabled = broker.max_size == 0
        self.added = self.added_size = self.size = 0
        self.reads = CacheReads(self, broker.limiter, broker.read_counters, broker.new_read_count)
        self.stones: dict[bytes, Stone] = {}
        self.keys: list[bytes] = []
        self.fresh: list[bytes] = []

    @staticmethod
    def key(position: Position) -> bytes:
        """A position as bytes that sort as positions do, beyond 64 bits as well."""
        return b"".join((number + 2**70).to_bytes(9, "big") for number in position)

    def put(self, position: Position, value: Entry) -> bool:
        if value.position != position:
            raise NotThisOne(position)
        key = self.key(position)
        if self.disabled or key in self.stones or not value.retain():
            return False
        stone = self.stones[key] = Stone(value.length, self.broker.clock(), self, value)
        self.fresh.append(key)
        self.size += stone.size
        self.added += 1
        self.added_size += stone.size
        self.broker.added(stone)
        return True

    def get(self, position: Position) -> Entry | None:
        return self.read(self.key(position))

    def read(self, key: bytes) -> Entry | None:
        """The value of a key, retained."""
        stone = self.stones.get(key)
        if stone is None or stone.value is None:
            return None
        stone.accessed = True
        return stone.value if stone.value.retain() else None

    def between(self, first: bytes, last: bytes | None) -> list[bytes]:
        """The keys from one to another, that one not included; up to the end without it."""
        for key in self.fresh:
            at = bisect_left(self.keys, key)
            if self.keys[at : at + 1] != [key]:
                insort(self.keys, key)
        self.fresh = []
        if len(self.keys) > 2 * len(self.stones) + 16:
            self.keys = [key for key in self.keys if key in self.stones]
        found = self.keys[bisect_left(self.keys, first) : None if last is None else bisect_left(self.keys, last)]
        return [key for key in found if key in self.stones]

    def get_range(self, first: Position, last: Position) -> Sequence[Entry]:
        values = map(self.read, self.between(self.key(first), self.key(last) + b"\0"))
        return Answer([value for value in values if value is not None])

    def remove(self, keys: Sequence[bytes]) -> tuple[int, int]:
        """Remove what stands under keys."""
        gone = [stone for key in keys if (stone := self.stones.get(key)) and self.take_out(stone)]
        size = sum(stone.size for stone in gone)
        self.broker.removed(len(gone), size, blanks=len(gone))
        return len(gone), size

    def take_out(self, stone: Stone) -> bool:
        """Remove a stone; what is left of it is blank."""
        value = stone.value
        assert value is not None
        del self.stones[self.key(value.position)]
        self.size -= stone.size
        stone.value = None
        if value.count:
            value.release()
        return True

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        return self.remove(self.between(self.key(first), self.key(last) + b"\0" * last_inclusive))

    def invalidate_entries(self, last: Position) -> None:
        self.remove(self.between(self.key((-1, 0)), self.key(last)))

    def invalidate_all_entries(self, ledger: int) -> None:
        self.remove(self.between(self.key((ledger, 0)), self.key((ledger + 1, 0))))
        self.reads.forget(ledger)

    def clear(self) -> tuple[int, int]:
        self.reads.forget_all()
        return self.remove(self.between(b"", None))

    def get_number_of_entries(self) -> int:
        return len(self.stones)

    def get_size(self) -> int:
        return self.size

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        def answer(result: Sequence[Entry] | Exception) -> None:
            answered(result if isinstance(result, Exception) else Answer(result))

        self.reads.read(handle, first, last, expected, answer)

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        self.read_entries(handle, entry, entry, int, answered)


class BytesCaches(RemovalQueue):
    """The bundled queue, but caches that keep positions as bytes, and counts that are false and equal to each other."""

    cache_type: ClassVar[Any] = BytesCache

    @property
    def limiter(self) -> Any:
        """The limit of reads in flight."""
        return self._limiter

    @property
    def read_counters(self) -> list[int]:
        """Hits and misses."""
        return self._read_counters

    def get_entry_cache(self, topic: str) -> Any:
        if topic not in self._caches:
            self._caches[topic] = self.cache_type(self)
        return self._caches[topic]

    def new_read_count(self, expected: int) -> ReadCount | None:
        return new_tally(expected)

    def get_non_evictable_size(self) -> tuple[int, int]:
        living = [stone for stone in self.queue if stone.value is not None]
        counts = [(stone, stone.value.reads) for stone in living if stone.value is not None]
        sizes = [stone.size for stone, count in counts if count is None or count.get_expected_read_count() >= 1]
        return len(sizes), sum(sizes)
