"""Right but unusual entry caches."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_tck.implementations.entry_cache.reads import CacheReads, Reader, Running, gaps
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, TopicCache
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    ExpectedReads,
    HandleClosedException,
    IllegalArgumentException,
    LedgerHandle,
    Position,
    ReadAnswered,
    ReadCount,
    ReadFailed,
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


class AnsweringCache(TopicCache):
    """A cache that answers with sequences of a class of its own, and refuses with an error of its own."""

    def put(self, position: Position, value: Entry) -> bool:
        if value.position != position:
            raise NotThisOne(position)
        return super().put(position, value)

    def get_range(self, first: Position, last: Position) -> Any:
        return Answer(super().get_range(first, last))

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        def answer(result: Sequence[Entry] | Exception) -> None:
            answered(result if isinstance(result, Exception) else Answer(result))

        super().read_entries(handle, first, last, expected, answer)

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        self.read_entries(handle, entry, entry, int, answered)


class WholeAnswers(CacheReads):
    """Reads that fail if the storage answers in part, and release what they have as soon as a part fails."""

    def came(self, running: Running, handle: LedgerHandle, values: Sequence[Entry]) -> None:
        running.came += values
        if len(values) <= running.last - running.first:
            self.failed(running, ReadFailed("not all has come"))
        else:
            self.completed(running, values)

    def arrived(self, reader: Reader) -> None:
        if reader.failure:
            for value in reader.taken():
                value.release()
        super().arrived(reader)


class AnsweringCaches(RemovalQueue):
    """The bundled queue with such caches and reads, and with counts that are false and equal to each other."""

    cache_type = AnsweringCache
    reads = WholeAnswers

    def new_read_count(self, expected: int) -> ReadCount | None:
        return Tally(expected) if expected > 0 else None


class CopiesAtOnce(CacheReads):
    """Of several listeners all have their copies, and the originals are freed, before the first one is told.

    If the storage answers in part, the rest is asked for entry by entry.
    """

    def ask(self, running: Running, handle: LedgerHandle) -> None:
        if not running.came:
            return super().ask(running, handle)
        first = running.first + len(running.came)
        return handle.read(first, first, self.listening(running, handle))

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        if len(running.listeners) == 1:
            return super().deliver(running, values)
        for reader, first, last in running.listeners:
            for value in values:
                if first <= value.position[1] <= last:
                    reader.take(value.copy())
        for value in values:
            value.counts_as_read = False
            value.release()
        for reader, *_ in running.listeners:
            self.arrived(reader)
        return None


class CopyingCaches(RemovalQueue):
    """The bundled queue with such reads."""

    reads = CopiesAtOnce


class Parted(Running):
    """A storage read whose parts are asked for at the same time."""

    def __init__(self, reader: Reader, first: int, last: int) -> None:
        super().__init__(reader, first, last)
        self.asked: list[tuple[int, int]] = []
        """What the storage was asked for, and has not given yet."""

    def rest(self) -> list[tuple[int, int]]:
        """The runs that have not come, and are not asked for."""
        there = [*self.asked, *((value.position[1], value.position[1]) for value in self.came)]
        return [*gaps(self.first, self.last, iter(sorted(there)))]


class ReadsOfHalves(CacheReads):
    """If the storage answers in part, the rest is asked for in two halves at the same time.

    Each half is repeated once for itself. If one fails, the read fails, and what comes later is released.
    """

    def start(self, reader: Reader, first: int, last: int) -> None:
        running = Parted(reader, first, last)
        if not self.cache.disabled:
            self.running.setdefault(running.ledger, []).append(running)
        self.ask(running, reader.handle)

    def came(self, running: Any, handle: LedgerHandle, values: Sequence[Entry]) -> None:
        running.came = sorted([*running.came, *values], key=lambda value: value.position)
        for first, last in running.rest():
            middle = (first + last) // 2
            for half in [(first, middle), (middle + 1, last)][: 1 + (first < last)]:
                self.ask_for(running, handle, half, running.reopened)
        if len(running.came) > running.last - running.first:
            self.completed(running, running.came)

    def ask_for(self, running: Parted, handle: LedgerHandle, run: tuple[int, int], is_repeated: bool) -> None:
        """Ask for a part."""
        running.asked.append(run)

        def answered(answer: Sequence[Entry] | Exception) -> None:
            running.asked.remove(run)
            if running.answered:
                self.come_late([] if isinstance(answer, Exception) else answer)
            elif isinstance(answer, HandleClosedException) and self.may_repeat(running, is_repeated):
                running.reopened = True
                self.forget(running.ledger)
                self.ask_for(running, handle.reopened(), run, True)
            elif isinstance(answer, Exception):
                self.failed(running, answer)
            else:
                self.came(running, handle, answer)

        handle.read(*run, answered)

    def may_repeat(self, running: Parted, is_repeated: bool) -> bool:
        """Whether a part may be asked for again."""
        return not is_repeated

    def come_late(self, values: Sequence[Entry]) -> None:
        """Entries have come of a read that has failed."""
        for value in values:
            value.release()


class HalvingCaches(RemovalQueue):
    """The bundled queue with such reads."""

    reads = ReadsOfHalves


class PassingCache(TopicCache):
    """A cache whose answer for a range can be gone through once, and has no length."""

    def get_range(self, first: Position, last: Position) -> Any:
        return iter(super().get_range(first, last))


class PassingCaches(RemovalQueue):
    """The bundled queue with such caches."""

    cache_type = PassingCache
    capabilities: ClassVar[dict[str, object]] = {"reads": False, "steps": False}


@dataclass
class Slot:
    """An entry that is cached, or was: a removed one has no cache any more, and no value."""

    cache: SegmentedCache | None
    value: Entry
    size: int
    time: int
    accessed: bool = False
    turns: int = 0


class SegmentedCache:
    """A cache by ledgers: of each a sorted list of its entries, and their slots."""

    def __init__(self, broker: SegmentedCaches) -> None:
        self.broker = broker
        self.is_disabled = broker.most == 0
        self.ledgers: dict[int, dict[int, Slot]] = {}
        self.sizes = [0, 0]

    def put(self, position: Position, value: Entry) -> bool:
        ledger, entry = position
        if value.position != position:
            raise IllegalArgumentException(position)
        if self.is_disabled or entry in self.ledgers.get(ledger, ()) or not value.retain():
            return False
        slot = self.ledgers.setdefault(ledger, {})[entry] = Slot(self, value, value.length, self.broker.clock())
        self.broker.enqueue(slot)
        self.count(1, slot.size)
        self.broker.inserted += 1
        self.broker.order_if_due()
        return True

    def count(self, entries: int, size: int) -> None:
        """Count entries that have come, or gone."""
        for sizes in (self.sizes, self.broker.sizes):
            sizes[:] = sizes[0] + entries, sizes[1] + size

    def read(self, slot: Slot | None) -> Entry | None:
        """The value of a slot, for a reader."""
        if slot is not None:
            slot.accessed = True
        return slot.value if slot is not None and slot.value.retain() else None

    def get(self, position: Position) -> Entry | None:
        return self.read(self.ledgers.get(position[0], {}).get(position[1]))

    def between(self, first: Position, last: Position) -> list[Slot]:
        """The slots of a range without its last position, in order."""
        found: list[Slot] = []
        for ledger in sorted(ledger for ledger in self.ledgers if first[0] <= ledger <= last[0]):
            entries = sorted(self.ledgers[ledger])
            low = bisect_left(entries, first[1]) if ledger == first[0] else 0
            high = bisect_left(entries, last[1]) if ledger == last[0] else len(entries)
            found += [self.ledgers[ledger][entry] for entry in entries[low:high]]
        return found

    def get_range(self, first: Position, last: Position) -> Sequence[Entry]:
        values = map(self.read, self.between(first, (last[0], last[1] + 1)))
        return tuple(value for value in values if value is not None)

    def remove(self, slots: Sequence[Slot]) -> tuple[int, int]:
        """Remove some slots, the last one first."""
        for slot in reversed(slots):
            ledger, entry = slot.value.position
            del self.ledgers[ledger][entry]
            if not self.ledgers[ledger]:
                del self.ledgers[ledger]
            slot.cache = None
            self.count(-1, -slot.size)
            if slot.value.count > 0:
                slot.value.release()
            del slot.value
        return len(slots), sum(slot.size for slot in slots)

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        return self.remove(self.between(first, (last[0], last[1] + last_inclusive)))

    def invalidate_entries(self, last: Position) -> None:
        self.remove(self.between((min([*self.ledgers, last[0]]), -1), last))

    def invalidate_all_entries(self, ledger: int) -> None:
        self.remove([*self.ledgers.get(ledger, {}).values()])

    def clear(self) -> tuple[int, int]:
        return self.remove([slot for slots in self.ledgers.values() for slot in slots.values()])

    def get_number_of_entries(self) -> int:
        return self.sizes[0]

    def get_size(self) -> int:
        return self.sizes[1]


class SegmentedCaches:
    """A queue in segments of three slots. A pass takes a whole segment out, and puts what it did not look at back.

    What was removed stays in its segment until a pass comes there. Sizes are counted, protected ones are not.
    """

    contract: ClassVar = "entry-cache"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar[dict[str, object]] = {"reads": False, "steps": False}

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        self.clock, self.execute, self.ttl = clock, execute, config.ttl
        self.most, self.percent = config.max_size, config.watermark
        self.turns, self.extends = config.max_requeue_count, config.extend_ttl_of_recently_accessed
        self.caches: dict[str, SegmentedCache] = {}
        self.segments: deque[list[Slot]] = deque()
        self.sizes, self.inserted, self.passes, self.is_ordered = [0, 0], 0, 0, False

    def get_entry_cache(self, topic: str) -> SegmentedCache:
        if topic not in self.caches:
            self.caches[topic] = SegmentedCache(self)
        return self.caches[topic]

    def remove_entry_cache(self, topic: str) -> None:
        self.caches.pop(topic).clear()

    def new_read_count(self, expected: int) -> ReadCount | None:
        return None if expected < 1 else Tally(expected)

    def enqueue(self, slot: Slot) -> None:
        """Put a slot into the last segment, or into a new one."""
        if not self.segments or len(self.segments[-1]) >= 3:
            self.segments.append([])
        self.segments[-1].append(slot)

    def go(self, ends: Callable[[Slot, int], bool]) -> tuple[int, int]:
        """A pass over segments."""
        entries = size = 0
        while self.segments:
            segment = self.segments.popleft()
            while segment:
                slot = segment.pop(0)
                if slot.cache is None:
                    continue
                if ends(slot, size):
                    self.segments.appendleft([slot, *segment])
                    return entries, size
                reads = slot.value.reads
                to_come = reads is not None and reads.get_expected_read_count() >= 1 and slot.turns < self.turns
                if to_come or (slot.accessed and self.extends):
                    slot.time, slot.accessed, slot.turns = self.clock(), False, slot.turns + 1
                    self.enqueue(slot)
                else:
                    slot.cache.remove([slot])
                    entries, size = entries + 1, size + slot.size
        return entries, size

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        return self.go(lambda slot, _: not slot.time < timestamp)

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        if size < 1:
            raise IllegalArgumentException(size)
        return self.go(lambda _, removed: removed >= size)

    def get_non_evictable_size(self) -> tuple[int, int]:
        slots = [slot for segment in self.segments for slot in segment if slot.cache is not None]
        counts = [(slot.size, slot.value.reads) for slot in slots]
        sizes = [size for size, reads in counts if reads is None or reads.get_expected_read_count() > 0]
        return len(sizes), sum(sizes)

    def is_above(self, percent: int) -> int:
        """By how many bytes all caches are above a share of the largest size."""
        return 0 if self.most is None else max(self.sizes[1] - self.most * percent // 100, 0)

    def order_if_due(self) -> None:
        """Order a pass, unless one is ordered."""
        if self.is_above(98) and not self.is_ordered:
            self.is_ordered = True
            self.execute(self.ordered)

    def ordered(self) -> None:
        """The pass that was ordered."""
        self.is_ordered = False
        if self.is_above(98) and (excess := self.is_above(self.percent)):
            self.passes += 1
            self.evict_least_accessed_entries(excess)

    def do_cache_eviction(self) -> None:
        waits = self.is_ordered
        self.evict_entries_before_timestamp(self.clock() - self.ttl)
        self.ordered()
        self.is_ordered = waits

    def update_max_size(self, size: int) -> None:
        self.most = size

    def update_watermark(self, percent: int) -> None:
        self.percent = percent

    def update_max_requeue_count(self, count: int) -> None:
        self.turns = count

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        self.extends = extend

    def get_size(self) -> int:
        return self.sizes[1]

    def get_counters(self) -> tuple[int, int, int]:
        return self.inserted, self.inserted - self.sizes[0], self.passes


@dataclass
class Row:
    """An entry in the table of all that are cached: its number says when its turn is."""

    number: int
    value: Entry
    size: int
    since: int
    marked: bool = False
    requeued: int = 0


class Rows:
    """A topic's part of the table: what it is asked for, it selects there."""

    def __init__(self, table: TableCaches) -> None:
        self.table, self.keeps = table, table.largest != 0

    def rows(self, wanted: Callable[[Position], bool] = lambda _: True) -> dict[Position, Row]:
        """The rows at some positions, in order."""
        chosen = (place for place in self.table.rows if place[0] is self and wanted(place[1]))
        return {place[1]: self.table.rows[place] for place in sorted(chosen, key=lambda each: each[1])}

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a row."""
        if value.position != position:
            raise NotThisOne
        return self.keeps and position not in self.rows() and value.retain() and self.table.insert(self, value)

    def get_range(self, first: Position, last: Position) -> Iterator[Entry]:
        """Select, mark, and hand out one by one. All are retained before the first is handed out."""
        rows = self.rows(lambda at: first <= at <= last).values()
        for row in rows:
            row.marked = True
        return iter([row.value for row in rows if row.value.retain()])

    def get(self, position: Position) -> Entry | None:
        """A range of one."""
        return next(self.get_range(position, position), None)

    def delete(self, wanted: Callable[[Position], bool]) -> tuple[int, int]:
        """Delete rows; answers with entries and bytes."""
        sizes = [self.table.delete(self, position) for position in self.rows(wanted)]
        return len(sizes), sum(sizes)

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Delete a range."""
        return self.delete(lambda at: first <= at < last or (last_inclusive and at == last))

    def invalidate_entries(self, last: Position) -> None:
        """Delete what is before a position."""
        self.delete(lambda at: at < last)

    def invalidate_all_entries(self, ledger: int) -> None:
        """Delete a ledger."""
        self.delete(lambda at: at[0] == ledger)

    def clear(self) -> tuple[int, int]:
        """Delete all."""
        return self.delete(lambda _: True)

    def get_number_of_entries(self) -> int:
        """Count."""
        return len(self.rows())

    def get_size(self) -> int:
        """Add up."""
        return sum(row.size for row in self.rows().values())


class TableCaches:
    """One table of all that is cached, and no queue: the next row of a pass is the one with the least number.

    A row that is requeued gets another number. Nothing is counted but insertions and passes: all else is added up.
    """

    contract: ClassVar = "entry-cache"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar[dict[str, object]] = {"reads": False, "steps": False}

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        self.clock, self.execute, self.ttl = clock, execute, config.ttl
        self.update_max_size(config.max_size)
        self.update_watermark(config.watermark)
        self.update_max_requeue_count(config.max_requeue_count)
        self.update_extend_ttl_of_recently_accessed(config.extend_ttl_of_recently_accessed)
        self.rows: dict[tuple[Rows, Position], Row] = {}
        self.topics: dict[str, Rows] = {}
        self.orders: list[object] = []
        self.number = self.inserted = self.passes = 0

    def get_entry_cache(self, topic: str) -> Rows:
        """The part of a topic."""
        self.topics[topic] = self.topics.get(topic) or Rows(self)
        return self.topics[topic]

    def remove_entry_cache(self, topic: str) -> None:
        """Empty the part of a topic, and forget it."""
        self.topics.pop(topic).clear()

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, if there is anything to count."""
        return Tally(expected) if expected >= 1 else None

    def next_number(self) -> int:
        """One more than any other."""
        self.number += 1
        return self.number

    def insert(self, topic: Rows, value: Entry) -> bool:
        """Insert a row with the last number."""
        self.rows[topic, value.position] = Row(self.next_number(), value, value.length, self.clock())
        self.inserted += 1
        if self.excess(98) > 0 and not self.orders:
            self.orders.append(self.execute(self.run_order))
        return True

    def delete(self, topic: Rows, position: Position) -> int:
        """Delete a row; answers with its bytes."""
        row = self.rows.pop((topic, position))
        if row.value.count:
            row.value.release()
        return row.size

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """Delete rows until one is young."""
        return self.evict(lambda row, _: row.since >= timestamp)

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """Delete rows until there are enough bytes."""
        if size < 1:
            raise NotThisOne
        return self.evict(lambda _, sizes: sum(sizes) >= size)

    def evict(self, ends: Callable[[Row, list[int]], bool]) -> tuple[int, int]:
        """Delete or requeue the row with the least number, again and again."""
        sizes: list[int] = []
        while self.rows:
            place, row = min(self.rows.items(), key=lambda each: each[1].number)
            if ends(row, sizes):
                break
            if (row.marked and self.extends) or (self.expected(row) >= 1 and row.requeued < self.requeues):
                self.rows[place] = Row(self.next_number(), row.value, row.size, self.clock(), False, row.requeued + 1)
            else:
                sizes.append(self.delete(*place))
        return len(sizes), sum(sizes)

    def expected(self, row: Row, without: int = 0) -> int:
        """How many reads of a row are expected; ``without``: if there is no count."""
        return without if row.value.reads is None else row.value.reads.get_expected_read_count()

    def get_non_evictable_size(self) -> tuple[int, int]:
        """Select what is protected, and add it up."""
        sizes = [row.size for row in self.rows.values() if self.expected(row, 1) >= 1]
        return len(sizes), sum(sizes)

    def excess(self, percent: int) -> int:
        """By how many bytes there are more than a share of the largest size, rounded down; below 0: fewer."""
        return 0 if self.largest is None else self.get_size() - self.largest * percent // 100

    def run_order(self) -> None:
        """What was ordered."""
        self.orders.clear()
        self.relieve()

    def relieve(self) -> None:
        """A size pass, if it is due."""
        if self.excess(98) > 0 and self.excess(self.share) > 0:
            self.passes += 1
            self.evict_least_accessed_entries(self.excess(self.share))

    def do_cache_eviction(self) -> None:
        """The scheduled run."""
        self.evict_entries_before_timestamp(self.clock() - self.ttl)
        self.relieve()

    def update_max_size(self, size: int | None) -> None:
        """Set the largest size."""
        self.largest = size

    def update_watermark(self, percent: int) -> None:
        """Set the share that is left."""
        self.share = percent

    def update_max_requeue_count(self, count: int) -> None:
        """Set the limit."""
        self.requeues = count

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        """Set whether a mark counts."""
        self.extends = extend

    def get_size(self) -> int:
        """Add up."""
        return sum(row.size for row in self.rows.values())

    def get_counters(self) -> tuple[int, int, int]:
        """What is no longer there was removed."""
        return self.inserted, self.inserted - len(self.rows), self.passes
