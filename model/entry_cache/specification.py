"""The reference model of contract ``entry-cache``: the caches of a broker's topics, over one queue of removal.

The class :class:`EntryCaches` is the specification (profile ``ideal``). A short method with a rule above it is a
clause: it decides one thing. The methods named as operations are flows: the order of things.

An entry of a cache stays in the queue until a pass meets it at the head, even when it has left its cache. Times are
of one clock that only goes forward, in milliseconds; sizes are in bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import ClassVar, Protocol

from broker_tck.model.entry_cache.entries import Cache, Cached, Count, Position
from broker_tck.model.entry_cache.reads import Config as ReadsConfig
from broker_tck.model.entry_cache.reads import Reads
from broker_tck.model.reference import Fault
from broker_tck.model.rules import Rule, also, informative, law, rule

Removed = list[int]
"""How many entries were removed, and their bytes."""
CACHES = 3
"""Topics, each with a cache."""
TRIGGER_PERCENT = 98
"""Of the largest size, in percent: beyond it a size pass is due."""
FIRST: Position = (-1, 0)
"""Below every position of a ledger that the broker makes."""


class Config(ReadsConfig, Protocol):
    """What a trace configures."""

    @property
    def max_requeue_count(self) -> int:
        """How often reads that are expected have an entry requeued."""

    @property
    def extend_ttl_of_recently_accessed(self) -> bool:
        """Whether access has an entry requeued."""

    @property
    def ttl(self) -> int:
        """Milliseconds after which a scheduled run takes an entry for old."""

    @property
    def max_size(self) -> int | None:
        """The largest size in bytes; None for no limit."""

    @property
    def watermark(self) -> int:
        """The percentage of it that a size pass goes down to."""


class EntryCaches(Reads):
    """Entry caches as PIP-430 has them: a queue for all topics, and reads still expected that keep an entry longer."""

    PROFILE = "ideal"

    UNEMBODIED: ClassVar[tuple[Rule, ...]] = (
        *Reads.UNEMBODIED,
        law(
            "EC-01",
            "A cache's size is the sum of its entries' sizes, and the broker's that of all caches.",
            source="RangeEntryCacheManagerImpl, PR 24623",
            look="counters that are kept beside the entries, on every way out of the cache",
        ),
        law(
            "EC-P3",
            "Each cached value has a reference, and none has one that is neither cached nor held by a reader.",
            source="follows from EC-04, EC-12 and EC-13",
            look="every way into the cache, refusals too, and every way out of it",
        ),
        law(
            "EC-P4",
            "A time pass removes nothing that is as young as its threshold.",
            source="follows from EC-20 and EC-21",
            look="the comparison; entries behind an old one",
        ),
        law(
            "EC-P6",
            "A size pass that removes less than it was asked for leaves nothing cached.",
            source="follows from EC-32 and EC-34",
            look="what is protected: it is only removed later",
        ),
        law(
            "EC-P7",
            "A size pass removes less than one entry more than it was asked for.",
            source="follows from EC-32",
            look="the comparison of what is removed with what was asked for",
        ),
        law(
            "EC-P12",
            "A read count is the reads expected of what was stored, one more by each increment and less by each read.",
            source="follows from RC-01 and RC-08",
            look="who else writes the count",
        ),
        informative(
            "EC-07",
            "Who inserts keeps a reference, the cache has its own; where a copy cannot be made, nothing is inserted.",
            source="RangeEntryCacheImpl",
            why="references are judged by EC-P3; a copy that fails cannot be brought about here",
        ),
        informative(
            "EC-08",
            "With copying on, the cache holds a copy of its own; only the bytes of the payload are counted either way.",
            source="RangeEntryCacheImpl, PIP-430",
            why="the memory behind a value is not seen here",
        ),
        informative(
            "EC-17",
            "A pass takes what it removed off the broker's size at its end, and off the cache's at once.",
            source="RangeCacheRemovalQueue, PR 24623",
            why="nothing is seen while a pass is under way",
        ),
        informative(
            "EC-25",
            "An entry that nobody reads lives one TTL, and one more for each requeueing that it is allowed.",
            source="follows from EC-20, EC-22 and EC-24",
            why="it is those three once more",
        ),
        informative(
            "EC-35",
            "A size pass removes plain entries first, in the order of the queue; then those that nothing protects now.",
            source="follows from EC-24, EC-32 and EC-34",
            why="it is those three once more",
        ),
        informative(
            "EC-36",
            "A size pass that goes over a protected entry uses up one of its requeueings.",
            source="follows from EC-22 and EC-34",
            why="it is those two once more",
        ),
        informative(
            "EC-37",
            "The TTL of an entry starts again when a pass requeues it, in a size pass too.",
            source="RangeCacheRemovalQueue, PR 24623",
            why="it is EC-22 once more",
        ),
        informative(
            "EC-39",
            "Both passes end early where their thread is interrupted.",
            source="RangeCacheRemovalQueue, PR 24623",
            why="no pass is interrupted here",
        ),
    )

    config: Config

    def __init__(self, config: Config) -> None:
        self.config = config
        self.now = 0
        self.max_size = config.max_size
        self.queue: deque[Cached] = deque()
        self.caches = [self.new_cache() for _ in range(CACHES)]
        self.left: list[Cache | None] = [None] * CACHES
        """The cache that each topic had before, which somebody may still insert into."""
        self.stored: dict[tuple[int, Position], Cached] = {}
        """What was inserted last under each key."""
        self.holds: deque[Cached] = deque()
        self.references = 0
        self.total = 0
        self.inserted = self.evicted = self.passes = 0
        self.most_requeued = config.max_requeue_count
        self.extends_accessed = config.extend_ttl_of_recently_accessed
        self.watermark = config.watermark
        self.pass_awaits = False
        self.start_reading()

    # ---- Inserting

    @rule(
        "EC-04",
        "A new entry goes to the tail of the queue with the time of its insertion, and its size is added.",
        source="RangeCache, PR 24363",
        look="where in the queue an entry is put; which time it is given",
        absent=lambda m: False,
    )
    def enters_at_tail(self) -> bool:
        return True

    @also(enters_at_tail, absent=lambda m: 0)
    def stamp(self) -> int:
        return self.now

    @rule(
        "EC-05",
        "Where a position is cached already, the insertion is refused, and the old entry stays as it is.",
        source="RangeCache, put-if-absent",
        look="a put that replaces; counters that are raised before it is known; a fresh place in the queue",
        absent=lambda m: True,
    )
    def replaces(self) -> bool:
        return False

    @also(
        replaces,
        absent=lambda m: ("size",),
        the_time=lambda m: ("stamp",),
        the_place=lambda m: ("place",),
        the_count=lambda m: ("counter",),
        the_access=lambda m: ("accessed",),
        the_requeueings=lambda m: ("requeued",),
    )
    def taken_over(self) -> tuple[str, ...]:
        """What the entry that is there takes over from one that is refused."""
        return ()

    @also(replaces, absent=lambda m: True)
    def keeps_refused(self) -> bool:
        """Whether the cache goes on holding a value that it refused."""
        return False

    @rule(
        "RC-01",
        "A read count starts with the number of reads that are expected; where none is, there is no count.",
        source="EntryReadCountHandlerImpl, PR 24623",
        look="a count of 0 or below, which is no count at all",
        absent=lambda m, expected: expected,
        one_more=lambda m, expected: expected + 1 if expected > 0 else None,
        none_for_one=lambda m, expected: expected if expected > 1 else None,
    )
    def counted_from(self, expected: int) -> int | None:
        return expected if expected > 0 else None

    @rule(
        "EC-06",
        "A value of another position than its key is refused with an error, and nothing changes.",
        source="RangeCache.put",
        look="the comparison of key and value before anything is done",
        absent=lambda m: False,
    )
    def refuses_mismatch(self) -> bool:
        return True

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool:
        """Insert an entry into the cache of a topic; answers whether it was."""
        inserted = self.insert(self.caches[cache], (ledger, entry), size, self.new_count(expected))
        if inserted:
            self.stored[cache, (ledger, entry)] = inserted
        return inserted is not None

    def late(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool | None:
        """Insert into the cache that the topic had before it was reopened; no answer where it was not."""
        left = self.left[cache]
        if left is None:
            return None
        return self.insert(left, (ledger, entry), size, self.new_count(expected)) is not None

    def misput(self, cache: int, ledger: int, entry: int) -> bool | None:
        """Insert a value under the position after its own."""
        if self.refuses_mismatch():
            raise Fault("IllegalArgumentException")
        return self.put(cache, ledger, entry + 1, 1, 0)

    def insert(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry; answers with it, or nothing where it was refused."""
        return None if self.keeps_nothing(cache) else self.insert_and_order(cache, position, size, count)

    def insert_and_order(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry, and order a pass if it is one too many."""
        inserted = self.enter(cache, position, size, count)
        if inserted:
            self.order_pass()
        return inserted

    def enter(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Put an entry into a cache and into the queue, unless it is refused."""
        entry = Cached(cache, position, size, count, self.stamp())
        there = cache.entries.get(position)
        if there and not self.replaces():
            self.take_over(there, entry)
            there.accessed = there.accessed or self.marks_refused()
            self.references += self.keeps_refused()
            return None
        if there:
            self.remove_entry(there)
        cache.entries[position] = entry
        self.grow(cache, size)
        cache.added += 1
        cache.added_size += size
        self.place(entry, self.enters_at_tail())
        self.references += 1
        self.inserted += 1
        return entry

    def grow(self, cache: Cache, size: int) -> None:
        """Count bytes more, or fewer, in a cache and in the broker."""
        cache.size += size
        self.total += size

    def place(self, entry: Cached, at_tail: bool) -> None:
        """Put an entry at an end of the queue."""
        if at_tail:
            self.queue.append(entry)
        else:
            self.queue.appendleft(entry)

    def take_over(self, there: Cached, other: Cached) -> None:
        """Change an entry as far as an insertion that was refused changes it."""
        for what in self.taken_over():
            if what == "size":
                self.grow(there.cache, other.size)
            elif what == "place":
                self.move_to_tail(there)
            else:
                setattr(there, what, getattr(other, what))

    def move_to_tail(self, entry: Cached) -> None:
        """Give an entry the last place in the queue."""
        self.queue.remove(entry)
        self.queue.append(entry)

    # ---- Reading

    @rule(
        "EC-09",
        "A position that is cached is found, whatever instance names it, and the value is retained for the reader.",
        source="RangeCache.get, PR 23903",
        look="a search by identity; a value that is handed out without a reference of its own",
        absent=lambda m, cache, position: None,
    )
    def find(self, cache: Cache, position: Position) -> Cached | None:
        return cache.entries.get(position)

    @also(find, absent=lambda m, entry: True)
    def hands_out(self, entry: Cached) -> bool:
        """Whether a value can be retained: one whose last reference is gone is a miss."""
        return entry.count > 0

    @rule(
        "EC-10",
        "A range has both its ends, over ledgers too, and answers in ascending order with what is cached of it.",
        source="RangeCache.getRange",
        look="the last position; ranges over several ledgers; holes",
        absent=lambda m, position, first, last: True,
        without_the_last=lambda m, position, first, last: first <= position < last,
        without_the_first=lambda m, position, first, last: first < position <= last,
        of_one_ledger=lambda m, position, first, last: first <= position <= last and position[0] == first[0],
        by_entry_alone=lambda m, position, first, last: first[1] <= position[1] <= last[1],
        ledgers_of_32_bits=lambda m, position, first, last: low_bits(first) <= low_bits(position) <= low_bits(last),
    )
    def within(self, position: Position, first: Position, last: Position) -> bool:
        return first <= position <= last

    @also(within, absent=lambda m, entries: entries)
    def in_order(self, entries: list[Cached]) -> list[Cached]:
        return sorted(entries, key=lambda entry: entry.position)

    @rule(
        "EC-11",
        "Reading an entry marks it as accessed, and does not move it; removing it, or refusing it, does not mark it.",
        source="RangeCacheEntryWrapper, PR 24623",
        look="single reads and ranges alike; a read that refreshes the place or the time",
        absent=lambda m: (False, False, False),
        refreshes_the_time=lambda m: (True, True, False),
        moves_to_the_tail=lambda m: (True, False, True),
    )
    def marks(self) -> tuple[bool, bool, bool]:
        """Whether a read marks an entry as accessed, renews its time, moves it to the tail."""
        return True, False, False

    @also(marks, absent=lambda m: (False, False, False))
    def marks_in_range(self) -> tuple[bool, bool, bool]:
        return True, False, False

    @also(marks, absent=lambda m: True)
    def marks_refused(self) -> bool:
        """Whether an insertion that is refused marks the entry that is there."""
        return False

    def get(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry, and let go of it; ``hit`` or ``miss``."""
        return "hit" if self.read_one(self.caches[cache], (ledger, entry)) else "miss"

    def hold(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry and keep it."""
        found = self.read_one(self.caches[cache], (ledger, entry))
        if found:
            found.count += 1
            self.holds.append(found)
        return "hit" if found else "miss"

    def read_one(self, cache: Cache, position: Position) -> Cached | None:
        """The entry of a position, marked; none where it cannot be handed out."""
        return self.looked_up(cache, position, alone=True)

    def looked_up(self, cache: Cache, position: Position, alone: bool) -> Cached | None:
        """The same of a position that is read alone, or in a range."""
        entry = self.find(cache, position)
        if entry is None:
            return None
        self.touch(entry, *(self.marks() if alone else self.marks_in_range()))
        return entry if self.hands_out(entry) else None

    def touch(self, entry: Cached, accessed: bool, renewed: bool, moved: bool) -> None:
        """What a read does to an entry."""
        entry.accessed = entry.accessed or accessed
        if renewed:
            entry.stamp = self.now
        if moved:
            self.move_to_tail(entry)

    def range(self, cache: int, l1: int, e1: int, l2: int, e2: int) -> list[list[int]]:
        """Read a range and let go of it; answers with the positions."""
        first, last = (l1, e1), (l2, e2)
        found = [e for e in self.caches[cache].entries.values() if self.within(e.position, first, last)]
        for entry in found:
            self.touch(entry, *self.marks_in_range())
        return [[*entry.position] for entry in self.in_order(found) if self.hands_out(entry)]

    @rule(
        "EC-13",
        "A value that a reader holds stays valid when it leaves the cache, and is freed when the last holder lets go.",
        source="RangeCache, reference counts",
        look="a removal that frees what others hold",
        absent=lambda m, entry: True,
    )
    def frees(self, entry: Cached) -> bool:
        """Whether a value that its cache lets go of is freed, whoever holds it."""
        return False

    def free(self) -> bool:
        """Let go of the value that is held longest; answers whether there was one."""
        if not self.holds:
            return False
        self.release(self.holds.popleft(), 1)
        return True

    def spoil(self, cache: int, ledger: int, entry: int) -> bool:
        """Let go of a value once too often, if only the cache holds it; answers whether it was."""
        there = self.caches[cache].entries.get((ledger, entry))
        if there is None or there.count != 1 or there is not self.stored.get((cache, there.position)):
            return False
        self.release(there, 1)
        return True

    def release(self, entry: Cached, times: int) -> None:
        """Give references to a value back. With the last it is freed, and there are no more."""
        self.references -= 0 < entry.count <= times
        entry.count, missing = max(entry.count - times, 0), times > entry.count
        if missing:
            raise Fault("RuntimeError")

    # ---- Read counts

    @rule(
        "RC-08",
        "A count is its start, with one more for each increment and one less for each read: it has no floor.",
        source="EntryReadCountHandlerImpl, PR 24623",
        look="a count that stops at 0",
        absent=lambda m, count: max(count - 1, 0),
    )
    def after_read(self, count: int) -> int:
        return count - 1

    @also(after_read, absent=lambda m, count: max(count, 0) + 1)
    def after_increment(self, count: int) -> int:
        return count + 1

    def read(self, cache: int, ledger: int, entry: int) -> int | str:
        """A reader is done with the value that was stored last under a key; the count then, or ``none``."""
        return self.count(cache, (ledger, entry), self.after_read)

    def expect(self, cache: int, ledger: int, entry: int) -> int | str:
        """One more read of the value that was stored last under a key is expected; the count then, or ``none``."""
        return self.count(cache, (ledger, entry), self.after_increment)

    def count(self, cache: int, position: Position, change: Callable[[int], int]) -> int | str:
        """Change the count of the value stored last under a key."""
        entry = self.stored.get((cache, position))
        if entry is None or entry.counter is None:
            return "none"
        entry.counter.left = change(entry.counter.left)
        return entry.counter.left

    # ---- Removing

    @rule(
        "EC-12",
        "An entry is removed once: its size as it was inserted is taken off, and the cache lets go of it once.",
        source="RangeCacheEntryWrapper, PRs 10480, 22789, 23955",
        look="two ways out that both count; a reference that is not given back, or given back twice",
        absent=lambda m, entry: 0,
        twice=lambda m, entry: 2 * (entry.count > 0),
        of_a_freed_value_too=lambda m, entry: 1,
    )
    def gives_back(self, entry: Cached) -> int:
        """How many references the cache gives back: its own, unless somebody did so that should not have."""
        return 1 if entry.count else 0

    @also(
        gives_back,
        absent=lambda m, entry: [1, entry.size] if entry.count else [0, 0],
        the_size_that_it_has_now=lambda m, entry: [1, entry.size if entry.count else 0],
    )
    def counted(self, entry: Cached) -> Removed:
        """What a removed entry counts as, whatever became of its value."""
        return [1, entry.size]

    @also(gives_back, absent=lambda m, blank: blank.cache.entries.get(blank.position))
    def taken_for(self, blank: Cached) -> Cached | None:
        """What a pass removes where it meets an entry that has left its cache."""
        return None

    @rule(
        "EC-26",
        "What has left its cache is not told among what is not to be evicted.",
        source="RangeCacheRemovalQueue.getNonEvictableSize",
        look="every way out of the cache, and whether the place in the queue is blank afterwards",
        absent=lambda m, entry: False,
        unless_it_was_freed=lambda m, entry: entry.count > 0,
    )
    def blanks(self, entry: Cached) -> bool:
        """Whether the place of an entry in the queue is blank once it is removed."""
        return True

    def remove_entry(self, entry: Cached) -> Removed:
        """Take an entry out of its cache; in the queue it stays. Answers with what was removed."""
        entry.blank = self.blanks(entry)
        if entry.cached:
            del entry.cache.entries[entry.position]
        counts = self.counted(entry)
        self.grow(entry.cache, -counts[1])
        self.evicted += counts[0]
        self.release(entry, entry.count if self.frees(entry) else self.gives_back(entry))
        return counts

    def remove_all(self, entries: list[Cached]) -> Removed:
        """Take entries out of their caches."""
        removed = [0, 0]
        for entry in entries:
            add(removed, self.remove_entry(entry))
        return removed

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Removed:
        """Remove a range of one cache, with its last position or without."""
        first, last = (l1, e1), (l2, e2)
        entries = self.caches[cache].entries.values()
        return self.remove_all([e for e in entries if self.in_removal(e.position, first, last, bool(last_inclusive))])

    @rule(
        "EC-14",
        "What is invalidated up to a position goes without that position itself, of all ledgers before it.",
        source="RangeEntryCacheImpl.invalidateEntries",
        look="the last position; the first ledgers; positions below the first",
        absent=lambda m, position, last, lowest: position <= last,
        of_its_ledger=lambda m, position, last, lowest: (last[0], 0) <= position < last,
        the_first_unasked=lambda m, position, last, lowest: position < last or position == lowest,
    )
    def invalid(self, position: Position, last: Position, lowest: Position) -> bool:
        return FIRST <= position < last

    @also(
        invalid,
        absent=lambda m, position, first, last, inclusive: first <= position <= last,
        never_inclusive=lambda m, position, first, last, inclusive: first <= position < last,
        without_the_first=lambda m, position, first, last, inclusive: (
            first < position <= last if inclusive else first < position < last
        ),
    )
    def in_removal(self, position: Position, first: Position, last: Position, inclusive: bool) -> bool:
        return first <= position <= last if inclusive else first <= position < last

    def invalidate(self, cache: int, ledger: int, entry: int) -> None:
        """The slowest cursor has come to a position: what is before it goes."""
        last = ledger, entry
        entries = self.caches[cache].entries
        lowest = min(entries, default=last)
        self.remove_all([e for e in entries.values() if self.invalid(e.position, last, lowest)])

    @rule(
        "EC-15",
        "A ledger that is dropped takes all of its entries along, and no others.",
        source="RangeEntryCacheImpl.invalidateAllEntries",
        look="the first entry of the next ledger",
        absent=lambda m, position, ledger: False,
        with_the_next_ones_first=lambda m, position, ledger: (ledger, 0) <= position <= (ledger + 1, 0),
        and_those_before=lambda m, position, ledger: position[0] <= ledger,
        but_its_first=lambda m, position, ledger: position[0] == ledger and position[1] > 0,
    )
    def of_ledger(self, position: Position, ledger: int) -> bool:
        return (ledger, 0) <= position < (ledger + 1, 0)

    @also(of_ledger, absent=lambda m: False)
    def forgets_running(self) -> bool:
        """Whether reads of the ledger that run can no longer be joined."""
        return True

    def trim(self, cache: int, ledger: int) -> None:
        """A ledger is dropped."""
        self.drop_ledger(self.caches[cache], ledger)

    def drop_ledger(self, cache: Cache, ledger: int) -> None:
        """Remove all of a ledger from a cache."""
        self.remove_all([e for e in cache.entries.values() if self.of_ledger(e.position, ledger)])
        if self.forgets_running():
            self.forget_ledger(cache, ledger)

    @rule(
        "EC-16",
        "Clearing removes everything, and answers with what it removed.",
        source="RangeCache.clear, PR 10225",
        look="the size before instead of the sum that was removed",
        absent=lambda m, entries: entries[:-1],
    )
    def cleared(self, entries: list[Cached]) -> list[Cached]:
        return entries

    @also(cleared, absent=lambda m: False)
    def forgets_all_running(self) -> bool:
        """Whether no read that runs can be joined any more."""
        return True

    def clear(self, cache: int) -> Removed:
        """Empty a cache."""
        if self.forgets_all_running():
            self.forget_ledger(self.caches[cache])
        return self.remove_all(self.cleared([*self.caches[cache].entries.values()]))

    @rule(
        "EC-18",
        "A topic that is closed clears its cache; what is inserted into it later counts, and leaves by the queue.",
        source="RangeEntryCacheManagerImpl.removeEntryCache",
        look="entries of a cache that no name leads to any more",
        absent=lambda m: False,
    )
    def clears_closed(self) -> bool:
        return True

    @also(clears_closed, absent=lambda m, cache: cache)
    def opened(self, cache: Cache) -> Cache:
        """The cache of a topic that is opened again."""
        return self.new_cache()

    def reopen(self, cache: int) -> None:
        """A topic is closed and opened again. Somebody may still hold its old cache."""
        left = self.caches[cache]
        if self.clears_closed():
            self.remove_all([*left.entries.values()])
            self.forget_ledger(left)
        self.left[cache] = left
        self.caches[cache] = self.opened(left)

    # ---- Passes

    @rule(
        "EC-02",
        "An entry that has left its cache stays in the queue; a pass that meets it drops it, and counts nothing.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="a blank head that is counted, or taken for what was removed",
        absent=lambda m, entry: [1, entry.size],
        as_an_entry=lambda m, entry: [1, 0],
    )
    def dropped(self, entry: Cached) -> Removed:
        return [0, 0]

    @rule(
        "EC-03",
        "A blank head does not stop a pass.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="the order of the tests: whether the entry is there comes before its age",
        absent=lambda m: True,
    )
    def stops_at_blank(self) -> bool:
        return False

    @rule(
        "EC-23",
        "The queue is one for all caches: a pass looks at its head, whichever topic that is of.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="a queue of each topic's own",
        absent=lambda m: next((e for c in m.caches for e in m.queue if e.cache is c), m.queue[0]),
        the_largest_cache_first=lambda m: max(m.queue, key=lambda e: e.cache.size),
    )
    def head(self) -> Cached:
        return self.queue[0]

    def take_from_head(
        self, stops: Callable[[Cached, Removed], bool], keeps: Callable[[Cached, bool], bool]
    ) -> Removed:
        """A pass: look at the head, and drop it, stop, requeue or remove it. Answers with what was removed.

        ``keeps`` is told whether the pass is on its first round of the queue.
        """
        removed = [0, 0]
        queued, visits = len(self.queue), 0
        while self.queue:
            if (visits := visits + 1) > (queued + 1) * (self.most_requeued + 3):
                raise Fault("RuntimeError")  # in a wrong way only: the pass would go round and round
            head = self.head()
            if head.blank:
                self.queue.remove(head)
                add(removed, self.dropped(head))
                if other := self.taken_for(head):
                    add(removed, self.remove_entry(other))
                if self.stops_at_blank():
                    break
            elif stops(head, removed):
                break
            elif keeps(head, visits <= queued):
                self.queue.remove(head)
                self.requeue(head)
                if self.ends_at_requeueing():
                    break
            else:
                self.queue.remove(head)
                add(removed, self.remove_entry(head))
        return removed

    @rule(
        "EC-20",
        "An entry has expired when it is older than the TTL: one exactly as old stays.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="the comparison with the threshold",
        absent=lambda m, entry, threshold: True,
        at_the_threshold=lambda m, entry, threshold: entry.stamp <= threshold,
    )
    def expired(self, entry: Cached, threshold: int) -> bool:
        return entry.stamp < threshold

    @rule(
        "EC-21",
        "A time pass ends at the first entry that has not expired.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="entries behind a young one",
        absent=lambda m, entry, threshold, removed: False,
        only_the_first_is_asked=lambda m, entry, threshold, removed: not (removed[0] or m.expired(entry, threshold)),
    )
    def stops_time_pass(self, entry: Cached, threshold: int, removed: Removed) -> bool:
        return not self.expired(entry, threshold)

    @rule(
        "EC-22",
        "A requeued entry goes to the tail with the time of now, no longer accessed, and requeued once more.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="each of the four; a time that is not renewed lets a pass go round",
        absent=lambda m: False,
    )
    def requeued_at_tail(self) -> bool:
        return True

    @also(requeued_at_tail, absent=lambda m, entry: entry.stamp)
    def renewed(self, entry: Cached) -> int:
        return self.now

    @also(requeued_at_tail, absent=lambda m, entry: entry.accessed)
    def still_accessed(self, entry: Cached) -> bool:
        return False

    @also(
        requeued_at_tail,
        absent=lambda m, entry: entry.requeued,
        only_for_reads=lambda m, entry: entry.requeued + (not (m.extends_accessed and entry.accessed)),
    )
    def requeued_once_more(self, entry: Cached) -> int:
        return entry.requeued + 1

    def requeue(self, entry: Cached) -> None:
        """Give an entry another turn."""
        entry.requeued = self.requeued_once_more(entry)
        entry.stamp = self.renewed(entry)
        entry.accessed = self.still_accessed(entry)
        self.place(entry, self.requeued_at_tail())

    @rule(
        "EC-24",
        "An entry is requeued if it was accessed and that extends its life, however often, or if reads are expected "
        "and it was requeued less often than is allowed; one counter counts both.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="the limit, which holds for expected reads alone; the counter, which is raised by both",
        absent=lambda m, entry: False,
        limited_for_both=lambda m, entry: (
            ((m.extends_accessed and entry.accessed) or m.has_expected_reads(entry)) and m.allowed(entry)
        ),
        unlimited_for_both=lambda m, entry: (m.extends_accessed and entry.accessed) or m.has_expected_reads(entry),
        accessed_only=lambda m, entry: m.extends_accessed and entry.accessed,
        reads_only=lambda m, entry: m.has_expected_reads(entry) and m.allowed(entry),
        access_always_extends=lambda m, entry: entry.accessed or (m.has_expected_reads(entry) and m.allowed(entry)),
    )
    def should_requeue(self, entry: Cached) -> bool:
        return (self.extends_accessed and entry.accessed) or (self.has_expected_reads(entry) and self.allowed(entry))

    @also(
        should_requeue,
        absent=lambda m, entry: True,
        once_more=lambda m, entry: entry.requeued <= m.most_requeued,
        once_less=lambda m, entry: entry.requeued + 1 < m.most_requeued,
    )
    def allowed(self, entry: Cached) -> bool:
        return entry.requeued < self.most_requeued

    @rule(
        "RC-02",
        "Reads are expected of an entry whose count is at least 1; without a count none are, though it is told among "
        "what is not to be evicted.",
        source="EntryReadCountHandlerImpl, PR 24623",
        look="a count of 0; an entry without a count",
        absent=lambda m, entry: False,
        at_zero_too=lambda m, entry: entry.reads is not None and entry.reads >= 0,
        without_a_count_too=lambda m, entry: entry.reads is None or entry.reads >= 1,
        from_two_on=lambda m, entry: entry.reads is not None and entry.reads >= 2,
        not_zero=lambda m, entry: bool(entry.reads),
    )
    def has_expected_reads(self, entry: Cached) -> bool:
        return entry.reads is not None and entry.reads >= 1

    @also(
        has_expected_reads,
        absent=lambda m, entry: False,
        counted_ones_alone=lambda m, entry: entry.reads is not None and entry.reads >= 1,
        all_with_a_count=lambda m, entry: entry.reads is None or entry.reads >= 0,
    )
    def told_as_pinned(self, entry: Cached) -> bool:
        """Whether an entry is told among what is not to be evicted."""
        return entry.reads is None or entry.reads >= 1

    @rule(
        "EC-32",
        "A size pass ends as soon as enough bytes are removed, before it looks at what the next entry deserves.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="the comparison; the order of the tests: enough comes before requeueing",
        absent=lambda m, entry, removed, asked: False,
        only_beyond=lambda m, entry, removed, asked: removed[1] > asked,
        after_requeueing=lambda m, entry, removed, asked: removed[1] >= asked and not m.should_requeue(entry),
        by_entries=lambda m, entry, removed, asked: removed[0] >= asked,
    )
    def stops_size_pass(self, entry: Cached, removed: Removed, asked: int) -> bool:
        return removed[1] >= asked

    @also(stops_size_pass, absent=lambda m, asked: False)
    def refuses(self, asked: int) -> bool:
        """A size pass has to be asked for something."""
        return asked <= 0

    @rule(
        "EC-33",
        "A size pass asks no entry's age.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="expired entries that lose their protection, young ones that are spared",
        absent=lambda m, entry: m.should_requeue(entry) and entry.stamp >= m.now - m.config.ttl,
        young_ones_are_kept=lambda m, entry: m.should_requeue(entry) or entry.stamp >= m.now,
    )
    def keeps_in_size_pass(self, entry: Cached) -> bool:
        return self.should_requeue(entry)

    @rule(
        "EC-34",
        "A size pass goes round the queue as often as it must: what it requeued it meets again.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="a pass that ends at the first requeued entry, or after one round",
        absent=lambda m: True,
    )
    def ends_at_requeueing(self) -> bool:
        return False

    @also(ends_at_requeueing, absent=lambda m, first_round: first_round)
    def spares(self, first_round: bool) -> bool:
        """Whether a size pass requeues on this round of the queue: the first, or a later one."""
        return True

    def evict_old(self, age: int) -> Removed:
        """A time pass: what is older goes."""
        return self.time_pass(self.now - age)

    def time_pass(self, threshold: int) -> Removed:
        """Remove from the head what was put there before a time."""
        return self.take_from_head(
            lambda head, removed: self.stops_time_pass(head, threshold, removed),
            lambda head, first_round: self.should_requeue(head),
        )

    def evict_size(self, asked: int) -> Removed:
        """A size pass: so many bytes go at least, if there are as many."""
        if self.refuses(asked):
            raise Fault("IllegalArgumentException")
        return self.size_pass(asked)

    def size_pass(self, asked: int) -> Removed:
        """Remove from the head until so many bytes are gone."""
        return self.take_from_head(
            lambda head, removed: self.stops_size_pass(head, removed, asked), self.kept_in_size_pass
        )

    def kept_in_size_pass(self, entry: Cached, first_round: bool) -> bool:
        """Whether a size pass requeues an entry."""
        return self.keeps_in_size_pass(entry) and self.spares(first_round)

    def pinned(self) -> Removed:
        """The entries, and their bytes, that are not to be evicted."""
        pinned = [entry for entry in self.queue if not entry.blank and self.told_as_pinned(entry)]
        return [len(pinned), sum(entry.size for entry in pinned)]

    # ---- The broker: when passes are made, and for how much

    @rule(
        "EC-30",
        "An insertion that leaves more than 98 % of the largest size has a size pass made soon, one at a time.",
        source="RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded",
        look="the comparison; what the percentage is of; a second pass that awaits its turn as well",
        absent=lambda m: False,
        at_the_trigger=lambda m: m.max_size is not None and m.total >= m.max_size * TRIGGER_PERCENT // 100,
        at_the_watermark=lambda m: m.max_size is not None and m.total > m.goal(),
        at_the_largest=lambda m: m.max_size is not None and m.total > m.max_size,
    )
    def triggers(self) -> bool:
        return self.max_size is not None and self.total > self.max_size * TRIGGER_PERCENT // 100

    @rule(
        "EC-31",
        "The pass is asked for what is above the watermark when it runs, if the trigger is still passed.",
        source="RangeEntryCacheManagerEvictionHandler",
        look="an amount that was worked out where the pass was ordered; what it is measured from",
        absent=lambda m: m.total,
        down_to_the_trigger=lambda m: m.total - (m.max_size or 0) * TRIGGER_PERCENT // 100,
        down_to_the_largest=lambda m: m.total - (m.max_size or 0),
    )
    def excess(self) -> int:
        return self.total - self.goal()

    @also(excess, absent=lambda m: m.max_size is not None)
    def still_triggers(self) -> bool:
        return self.triggers()

    def goal(self) -> int:
        """The size at the watermark."""
        return (self.max_size or 0) * self.watermark // 100

    def order_pass(self) -> None:
        """Have a pass made soon if one is due and none is ordered."""
        self.pass_awaits = self.pass_awaits or self.triggers()

    def background(self) -> int:
        """The pass that awaits its turn is made; answers how many there were."""
        if not self.pass_awaits:
            return 0
        self.pass_awaits = False
        self.relieve()
        return 1

    def relieve(self) -> None:
        """Make a size pass if one is needed."""
        if self.still_triggers() and self.excess() > 0:
            self.passes += self.counted_pass()
            self.size_pass(self.excess())

    @rule(
        "EC-38",
        "A scheduled run is a time pass, then a size pass if the trigger is still passed.",
        source="RangeEntryCacheManagerImpl.doCacheEviction",
        look="the order: what time removes need not be asked for again",
        absent=lambda m: (),
        size_first=lambda m: ("size", "time"),
        time_only=lambda m: ("time",),
        size_only=lambda m: ("size",),
    )
    def scheduled(self) -> tuple[str, ...]:
        return "time", "size"

    def run(self) -> None:
        """The scheduled run."""
        for kind in self.scheduled():
            if kind == "time":
                self.time_pass(self.now - self.config.ttl)
            else:
                self.relieve()

    @rule(
        "EC-40",
        "Counted are insertions, entries removed in whatever way, and size passes that had something to do.",
        source="RangeEntryCacheManagerImpl",
        look="removals that are no evictions; passes of time, which do not count",
        absent=lambda m: 0,
    )
    def counted_pass(self) -> int:
        return 1

    def counters(self) -> list[int]:
        """Insertions, removals, size passes."""
        return [self.inserted, self.evicted, self.passes]

    @rule(
        "EC-19",
        "A new largest size, or watermark, removes nothing by itself; the next pass goes by it. A cache that was "
        "opened at a largest size of 0 keeps nothing, then or later: its reads are the storage's, each on its own.",
        source="RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold",
        look="a pass inside of the setter; a trigger that was worked out once; a cache that is disabled, or no longer",
        absent=lambda m: True,
    )
    def acts_at_once(self) -> bool:
        return False

    @also(
        acts_at_once,
        absent=lambda m, cache: False,
        as_the_size_is_now=lambda m, cache: m.max_size == 0,
        until_it_is_raised=lambda m, cache: cache.disabled and m.max_size == 0,
    )
    def keeps_nothing(self, cache: Cache) -> bool:
        return cache.disabled

    def new_cache(self) -> Cache:
        """The cache of a topic that is opened."""
        return Cache(disabled=self.max_size == 0)

    def resize(self, size: int) -> None:
        """Set the largest size."""
        self.max_size = size
        if self.acts_at_once():
            self.relieve()

    def set_watermark(self, percent: int) -> None:
        """Set the watermark."""
        self.watermark = percent
        if self.acts_at_once():
            self.relieve()

    def requeues(self, n: int) -> None:
        """Set how often reads that are expected extend a life."""
        self.most_requeued = n

    def extend(self, on: int) -> None:
        """Set whether access extends a life."""
        self.extends_accessed = bool(on)

    def advance(self, n: int) -> None:
        """Time passes."""
        self.now += n

    def size_of_all(self) -> int:
        """The bytes of all caches, those that were left included."""
        return self.total

    def seen(self) -> tuple[list[list[int]], int]:
        """Entries and bytes of each cache, and the values that somebody holds a reference of."""
        return [[len(cache.entries), cache.size] for cache in self.caches], self.references


def low_bits(position: Position) -> Position:
    """A position with the low 32 bits of its ledger id, as one who has no room for more keeps it."""
    return position[0] & 0xFFFFFFFF, position[1]


def add(to: Removed, more: Removed) -> None:
    """Count more as removed."""
    to[0] += more[0]
    to[1] += more[1]
