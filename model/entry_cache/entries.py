"""What is stored: entries and their read counts, the cache of each topic, and the one queue that entries leave by."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, rule

COUNTS = "EntryReadCountHandlerImpl, PR 24623"

Position = tuple[int, int]
"""Ledger id and entry id."""
Removed = list[int]
"""The number of entries that were removed, and their bytes."""


class Config(Protocol):
    """How a broker's caches start. Times are in milliseconds, sizes in bytes."""

    ttl: int
    max_requeue_count: int
    extend_ttl_of_recently_accessed: bool
    max_size: int | None
    watermark: int
    by_read_count: bool
    grace: int
    max_reads_in_flight: int
    acquire_timeout: int
    acquire_queue: int


class Clock:
    """The time, which only goes forward."""

    def __init__(self) -> None:
        self.now = 0


@dataclass(eq=False, slots=True)
class Count:
    """Reads of an entry that are still expected, shared by the cache and all who were given the entry."""

    left: int


@dataclass(eq=False, slots=True)
class Cache:
    """The cache of one topic."""

    disabled: bool
    """Whether it was opened while the largest size was 0."""
    entries: dict[Position, Cached] = field(default_factory=dict)
    size: int = 0
    added: int = 0
    """Number of entries that it was ever given."""
    added_size: int = 0

    def average_added(self) -> int:
        """The average size of what it was ever given; 0 if that is nothing."""
        return self.added_size // self.added if self.added else 0


@dataclass(eq=False, slots=True)
class Cached:
    """An entry that was inserted: in its cache until it is removed, in the queue until a pass has met it."""

    cache: Cache
    position: Position
    size: int
    expected_reads: Count | None
    """Reads still expected; None: nobody counts them."""
    stamp: int
    """When it was put into the queue, for the first time or again."""
    requeued: int = 0
    accessed: bool = False
    blank: bool = False
    """Whether its place in the queue stands for nothing any more."""
    from_storage: bool = False
    """Whether a read has brought it."""
    references: int = 1
    """References to the value: that of its cache, and those of readers."""

    @property
    def reads(self) -> int | None:
        """How many reads are still expected."""
        return None if self.expected_reads is None else self.expected_reads.left

    @property
    def cached(self) -> bool:
        """Whether it is in its cache."""
        return self.cache.entries.get(self.position) is self


class ReadCounts(Part):
    """What a read count starts with, and what changes it."""

    @rule("RC-01", source=COUNTS)
    def counted_from(self, expected: int) -> int | None:
        """A read count starts with the number of expected reads; without any, there is no count."""
        return expected if expected > 0 else None

    @rule("RC-08", source=COUNTS)
    def after_read(self, count: int) -> int:
        """A read lowers a count by one, below 0 too."""
        return count - 1

    @rule("RC-08")
    def after_increment(self, count: int) -> int:
        """An increment expects one more read."""
        return count + 1

    @rule("RC-06", source="EntryImpl, PR 24623", needs="reads")
    def counts_as_read(self, moment: str) -> bool:
        """A read is counted once, when the returned entry is freed, and not when it is handed out."""
        return moment == "freed"

    @rule("RC-09", source="PIP-430", needs="reads")
    def replayed(self, count: Count) -> None:
        """If an entry is put back to be replayed, and its reads are counted, one more read is expected."""
        self.expect(count)

    def new(self, expected: int) -> Count | None:
        """A count, if reads are expected."""
        left = self.counted_from(expected)
        return None if left is None else Count(left)

    def read(self, count: Count) -> None:
        """One of the expected reads was made."""
        count.left = self.after_read(count.left)

    def expect(self, count: Count) -> None:
        """One more read is expected."""
        count.left = self.after_increment(count.left)

    def pass_by(self, count: Count | None, moment: str) -> None:
        """A returned entry was answered with, released or freed, which may count as a read."""
        if count is not None and self.counts_as_read(moment):
            self.read(count)


class Store(Part):
    """The entries of all caches, over one queue. An entry stays in the queue until a pass meets it at the head."""

    def __init__(self, clock: Clock, read_counts: ReadCounts) -> None:
        self.clock = clock
        self.read_counts = read_counts
        self.queue: deque[Cached] = deque()
        self.total = 0
        """The bytes of all caches."""
        self.references = 0
        """Number of values that somebody holds a reference of."""
        self.inserted = self.evicted = 0

    # ---- Ways in

    @rule("EC-05", source="RangeCache, put-if-absent", when=lambda s, entry: entry.position in entry.cache.entries)
    def enter(self, entry: Cached) -> bool:
        """If a position is cached already, its insertion is refused, and the old entry stays as it is."""
        if entry.position in entry.cache.entries:
            return False
        self.accept(entry)
        return True

    @rule("EC-04", source="RangeCache, PR 24363", when=lambda s, entry: s.queue)
    def accept(self, entry: Cached) -> None:
        """A new entry goes to the tail of the queue with the time of its insertion, and its size is added."""
        self.map(entry)
        self.queue.append(entry)
        self.count_in(entry)

    def map(self, entry: Cached) -> None:
        """Put an entry into its cache, which has a reference then."""
        entry.cache.entries[entry.position] = entry
        self.references += 1

    def count_in(self, entry: Cached) -> None:
        """Count an entry and its size."""
        self.grow(entry.cache, entry.size)
        entry.cache.added += 1
        entry.cache.added_size += entry.size
        self.inserted += 1

    def grow(self, cache: Cache, size: int) -> None:
        """Count bytes more, or fewer, in a cache and in the broker."""
        cache.size += size
        self.total += size

    # ---- Ways out

    def remove(self, entry: Cached) -> Removed:
        """Take an entry out of its cache; in the queue it stays. Answers with what was removed."""
        self.blanks(entry)
        if entry.cached:
            del entry.cache.entries[entry.position]
        counts = self.counted(entry)
        self.grow(entry.cache, -counts[1])
        self.evicted += counts[0]
        self.let_go(entry)
        if entry.expected_reads and self.removal_counts(entry):
            self.read_counts.read(entry.expected_reads)
        return counts

    @rule("RC-06", needs="reads", when=lambda s, entry: entry.from_storage)
    def removal_counts(self, entry: Cached) -> bool:
        """That an entry leaves its cache does not count as a read."""
        return False

    @rule("RC-06", needs="reads", when=lambda s, entry: True)
    def refusal_counts(self, entry: Cached) -> bool:
        """Nor does it if the storage's answer is cached already."""
        return False

    @rule(
        "EC-26",
        source="RangeCacheRemovalQueue.getNonEvictableSize",
        needs="pinned",
        when=lambda s, entry: entry.reads is None or entry.reads > 0,
    )
    def blanks(self, entry: Cached) -> None:
        """An entry that has left its cache is not reported as protected, though it is still in the queue."""
        entry.blank = True

    @rule("EC-12", source="RangeCacheEntryWrapper, PRs 10480, 22789, 23955")
    def gives_back(self, entry: Cached) -> int:
        """An entry is removed once, and the cache gives its reference back once, unless the value is freed already."""
        return 1 if entry.references else 0

    @rule("EC-12")
    def counted(self, entry: Cached) -> Removed:
        """A removal takes off the size that the entry had at its insertion, whatever has become of the value."""
        return [1, entry.size]

    def remove_all(self, entries: list[Cached]) -> Removed:
        """Take entries out of their caches."""
        removed = [0, 0]
        for entry in entries:
            add(removed, self.remove(entry))
        return removed

    @rule("EC-13", source="RangeCache, reference counts", when=lambda s, entry: entry.references > 1)
    def let_go(self, entry: Cached) -> None:
        """A value that a reader holds stays valid outside the cache, and is freed when the last holder lets go."""
        self.release(entry, self.gives_back(entry))

    def release(self, entry: Cached, times: int) -> None:
        """Give references to a value back. With the last it is freed, and there are no more."""
        self.references -= 0 < entry.references <= times
        entry.references, missing = max(entry.references - times, 0), times > entry.references
        if missing:
            raise Fault("RuntimeError")

    # ---- Another turn

    @rule("EC-22", source="RangeCacheRemovalQueue, PR 24623")
    def requeue(self, entry: Cached) -> None:
        """A requeued entry goes to the tail, gets the present time, loses its access mark, and counts a requeueing."""
        entry.requeued += 1
        entry.stamp = self.clock.now
        entry.accessed = False
        self.queue.append(entry)


class Lookup(Part):
    """Which entries a call is about: one by its position, those of a range, of a ledger, or below a position."""

    FIRST: ClassVar[Position] = (-(2**63), -(2**63))
    """The first position that is invalidated: the first that there is."""

    @rule("EC-09", source="RangeCache.get, PR 23903")
    def find(self, cache: Cache, position: Position) -> Cached | None:
        """A cached position is found, whichever object names it, and its value is retained for the reader."""
        return cache.entries.get(position)

    @rule("EC-09")
    def hands_out(self, entry: Cached) -> bool:
        """If a value's last reference is gone, it cannot be retained: the read marks its entry, and is a miss."""
        return entry.references > 0

    @rule("EC-10", source="RangeCache.getRange")
    def within(self, position: Position, first: Position, last: Position) -> bool:
        """A range includes both its ends, and may span ledgers."""
        return first <= position <= last

    @rule("EC-10")
    def in_order(self, entries: list[Cached]) -> list[Cached]:
        """The answer for a range has its cached entries in ascending order."""
        return sorted(entries, key=lambda entry: entry.position)

    @rule("EC-14", source="RangeEntryCacheImpl.invalidateEntries")
    def invalid(self, position: Position, last: Position, lowest: Position) -> bool:
        """An invalidation up to a position removes all entries before it, in earlier ledgers too, but not that one."""
        return self.FIRST <= position < last

    @rule("EC-14")
    def in_removal(self, position: Position, first: Position, last: Position, inclusive: bool) -> bool:
        """A removal of a range removes its last position only if the caller includes it."""
        return first <= position <= last if inclusive else first <= position < last

    @rule("EC-15", source="RangeEntryCacheImpl.invalidateAllEntries")
    def of_ledger(self, position: Position, ledger: int) -> bool:
        """If a ledger is dropped, all of its entries are removed, and no others."""
        return (ledger, 0) <= position < (ledger + 1, 0)


def add(to: Removed, more: Removed) -> None:
    """Count more as removed."""
    to[0] += more[0]
    to[1] += more[1]
