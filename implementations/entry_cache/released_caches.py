"""The broker's own entry cache since 4.2: RangeEntryCacheImpl, its queue of removal, its reads and read counts.

What the broker has around it is in ``released_reads``, what earlier releases have otherwise in ``released_alone``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from broker_tck.implementations.entry_cache.released_reads import Kinds, Ledgers, Surroundings
from broker_tck.implementations.entry_cache.released_values import LEDGER, Inserted, JavaCount, Values, value_of
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    ExpectedReads,
    LedgerHandle,
    Position,
    ReadAnswered,
    ReadCount,
)
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.standins import of_class, of_interface, weakly

CACHES = LEDGER + "impl/cache/"
CACHE = CACHES + "RangeEntryCacheImpl"
QUEUE = CACHES + "RangeCacheRemovalQueue"
MANAGER = CACHES + "RangeEntryCacheManagerImpl"
ENTRY = LEDGER + "impl/EntryImpl"
RANGES = LEDGER + "util/RangeCache"
"""The cache of positions before 4.2."""
COUNT = LEDGER + "impl/EntryReadCountHandlerImpl"
HELD = (
    *(CACHES + name for name in ("RangeCache", "PendingReadsManager", "InflightReadsLimiter", "ReadEntryUtils")),
    *(CACHE, ENTRY, COUNT, RANGES),
)
"""The beginnings of the names of the classes under test. No release has all of them."""
UNLIMITED = 2**63 - 1
"""The bytes that a read may have."""
MILLISECOND = 10**6
"""In nanoseconds."""
LONG = 2**63


class RangeCaches:
    """Makes the caches of a broker out of RangeEntryCacheImpl."""

    def __init__(self, loader: Loader) -> None:
        """Load the classes."""
        tops = [name.replace("/", ".") for name in HELD if loader.has(name)]
        loader.hold([name for top in tops for name in classes_in(loader.place_of(top), (top,))])
        self.loader = loader
        self.position: Callable[[int, int], Any] = loader.named(LEDGER + "PositionFactory").create
        self.values = Values(loader, self.position)
        self.made = loader.named(CACHE)
        self.reads = Kinds(loader, self.values)
        self.manager = of_class(
            loader, MANAGER, ("getInflightReadsLimiter", "hasSpaceInCache", "entryAdded", "entriesRemoved")
        )
        self.counters = field(loader.named(MANAGER), "mlFactoryMBean")
        self._map = field(self.made, "entries")
        self._added = field(self.made, "totalAddedEntriesCount"), field(self.made, "totalAddedEntriesSize")
        self.load()

    def load(self) -> None:
        """Load what only releases with a queue of removal have."""
        loader = self.loader
        self.inside = loader.named(CACHES + "Inside")
        self.counts = loader.named(COUNT)
        self.length = loader.named(CACHES + "EntryLengthFunction").DEFAULT
        self.entry = loader.named(ENTRY).createWithRetainedDuplicate
        self.cache = InsertingCache if hasattr(loader.named(CACHES + "RangeCache"), "newInserter") else JavaCache
        self._count = field(loader.named(ENTRY), "readCountHandler")
        reads = (each for each in self.made.class_.getDeclaredMethods() if str(each.getName()) == "asyncReadEntry")
        longest = max(reads, key=lambda each: int(each.getParameterCount()))
        self.bounded = (UNLIMITED,) if int(longest.getParameterCount()) > 6 else ()
        """What a read is told of the bytes that it may have."""

    def __call__(self, config: EntryCacheConfig, clock: Clock, _execute: Execute) -> JavaCaches:
        """Make those of one broker."""
        return JavaCaches(self, config, clock)

    def map_of(self, java: Any) -> Any:
        """The RangeCache of a cache."""
        return self._map.get(java)

    def count_added(self, java: Any, size: int) -> None:
        """An entry was added to a cache."""
        for adder, more in zip(self._added, (1, size), strict=True):
            adder.get(java).add(more)

    def entry_of(self, value: Entry) -> Any:
        """A value of the kit's, for Java to keep: it counts as no read when it is freed."""
        value.retain()
        payload = Inserted(self.values, value).java()
        entry = self.entry(self.position(*value.position), payload, count_of(value), None)
        entry.setDecreaseReadCountOnRelease(value.counts_as_read)
        return entry

    def free(self, weak: Any) -> None:
        """A value was freed. If that was not Java's doing, Java has one reference less, and the count as it was."""
        entry = weak.get()
        if entry is not None and entry.refCnt():
            count = entry.getReadCountHandler()
            entry.release()
            self._count.set(entry, count)

    def taker(self, entry: Any) -> Any:
        """Has an entry that is cached already take the read count of another."""

        def accept(there: Any) -> None:
            there.updateExpectedReadCount(entry.getReadCountHandler())
            value_of(there).reads = count = value_of(entry).reads
            if count is not None:
                cast(JavaCount, count).entry = self.values.weak(there)

        return of_interface(self.loader, "java.util.function.Consumer", {"accept": accept})


@translating
class JavaCache:
    """A RangeEntryCacheImpl."""

    def __init__(self, caches: JavaCaches) -> None:
        self._caches, self._kind, self._ready = caches, caches.kind, caches.ready
        self._ledgers = Ledgers(caches.around)
        self.java = self._kind.made(caches.manager, self._ledgers.java, False, *caches.shared)
        self._map = self._kind.map_of(self.java)

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value: what Java has of it is no reader."""
        self._ready()
        entry = self._kind.entry_of(value)
        inserted = False
        try:
            inserted = self._inserted(self._kind.position(*position), entry)
        finally:
            if not inserted:
                entry.release()
        if inserted:
            self._kind.count_added(self.java, value.length)
            self._caches.cached(value, entry)
        return inserted

    def _inserted(self, position: Any, entry: Any) -> bool:
        return bool(self._map.put(position, entry, entry.getLength()))

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        self._ready()
        found = self._map.get(self._kind.position(*position))
        return None if found is None else retained(found)

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained."""
        self._ready()
        create = self._kind.position
        return [retained(found) for found in self._map.getRange(create(*first), create(*last))]

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range; answers with entries and bytes."""
        self._ready()
        create = self._kind.position
        return pair(self._map.removeRange(create(*first), create(*last), last_inclusive))

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        self._ready()
        self.java.invalidateEntries(self._kind.position(*last))

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        self._ready()
        self.java.invalidateAllEntries(ledger)

    def clear(self) -> tuple[int, int]:
        """Remove everything; answers with entries and bytes, as the broker is told."""
        self._ready()
        return self._caches.counted(self.java.clear)

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        self._ready()
        return int(self._kind.inside.entries(self._map))

    def get_size(self) -> int:
        """Their bytes."""
        self._ready()
        return int(self.java.getSize())

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Answer a reader, out of the cache and the storage."""
        self._ready()
        reader = self._ledgers.reader(answered, "ReadEntriesCallback")
        asked = self._ledgers.handle(handle), first, last, *self._kind.bounded
        self.java.asyncReadEntry(*asked, self._ledgers.expected(expected), reader, None)
        self._caches.around.drain()

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """The same of a single entry, of which no reads are expected."""
        self._ready()
        reader = self._ledgers.reader(answered, "ReadEntryCallback")
        position = self._kind.position(handle.ledger_id, entry)
        self.java.asyncReadEntry(self._ledgers.handle(handle), position, reader, None)
        self._caches.around.drain()


@translating
class InsertingCache(JavaCache):
    """The same of releases that insert by an inserter. What it refuses hands its read count to what is there."""

    def _inserted(self, position: Any, entry: Any) -> bool:
        inserter = self._map.newInserter()
        if inserter.put(position, entry, entry.getLength()):
            return True
        inserter.updateIfCached(position, self._kind.taker(entry))
        return False


@translating
class JavaCaches:
    """The caches of a broker over one RangeCacheRemovalQueue. Before each call Java is told the time."""

    def __init__(self, kind: RangeCaches, config: EntryCacheConfig, clock: Clock) -> None:
        self.kind, self._clock = kind, clock
        self._caches: dict[str, JavaCache] = {}
        self._made: list[JavaCache] = []
        """All of them: reads may go on in a cache that its topic has left."""
        self._kept: list[tuple[Any, Entry]] = []
        self.ready()
        self.around = Surroundings(kind.reads, config, self.ready, clock)
        self.removed = 0, 0
        """Entries and bytes of the removals that the broker was told of since they were counted last."""
        self.manager = kind.manager(
            {
                "getInflightReadsLimiter": weakly(self.limiter),
                "hasSpaceInCache": lambda: True,
                "entryAdded": lambda _: None,
                "entriesRemoved": weakly(self.note_removed),
            }
        )
        kind.counters.set(self.manager, self.around.counters)
        self.shared = self.share(config)
        """What else all caches are made with."""

    def share(self, config: EntryCacheConfig) -> tuple[Any, ...]:
        """The queue, and how sizes are told."""
        kind = self.kind
        self.queue = kind.inside.queue(config.max_requeue_count, config.extend_ttl_of_recently_accessed)
        return self.queue, kind.length

    def ready(self) -> None:
        """Tell Java the time."""
        now = self._clock()
        self.kind.loader.held.monotonic = nanoseconds(now)
        self.kind.loader.ready(now)

    # ---- What Java asks

    def limiter(self) -> Any:
        """The limit of reads in flight."""
        return self.around.limiter

    def note_removed(self, size: Any, entries: Any) -> None:
        """Entries were removed."""
        self.removed = self.removed[0] + int(entries), self.removed[1] + int(size)

    def counted(self, call: Callable[[], object]) -> tuple[int, int]:
        """Make a call; answers with the entries and bytes that it removed, as the broker is told."""
        self.removed = 0, 0
        call()
        return self.removed

    # ---- Values that are let go of too often, and those that are followed

    def cached(self, value: Entry, entry: Any) -> None:
        """A value of the kit's is cached. Whoever releases it once too often releases what Java has of it."""
        weak = self.kind.values.weak(entry)
        value.on_freed(partial(self.kind.free, weak))
        if value.reads is not None:
            cast(JavaCount, value.reads).entry = weak
        elif self.kind.cache is InsertingCache:
            self.around.uncounted.append(weak)
        if type(value.position[1]) is not int:  # of a plain number nobody asks what has become of it
            self._kept.append((weak, value))

    def collect_garbage(self) -> None:
        """Have Java let go of the values that nothing in it refers to."""
        self.kind.loader.jpype.java.lang.System.gc()
        self._kept = [(java, value) for java, value in self._kept if java.get() is not None]

    def get_entry_cache(self, topic: str) -> JavaCache:
        """The cache of a topic."""
        if topic not in self._caches:
            self._caches[topic] = self.kind.cache(self)
            self._made.append(self._caches[topic])
        return self._caches[topic]

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed."""
        self._caches.pop(topic).clear()

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, where the release makes one."""
        self.ready()
        java = self.kind.counts.maybeCreate(expected)
        return None if java is None else JavaCount(java, self.kind.loader.refuel)

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """A time pass; answers with entries and bytes."""
        self.ready()
        return pair(self.queue.evictLEntriesBeforeTimestamp(nanoseconds(timestamp)))

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass; answers with entries and bytes."""
        self.ready()
        return pair(self.queue.evictLeastAccessedEntries(size))

    def get_non_evictable_size(self) -> tuple[int, int]:
        """Entries and bytes of which reads are expected, or not counted."""
        self.ready()
        return pair(self.queue.getNonEvictableSize())

    def update_max_requeue_count(self, count: int) -> None:
        """Set how often reads that are expected have an entry requeued."""
        self.ready()
        self.queue.setMaxRequeueCountWhenHasExpectedReads(count)

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        """Set whether entries that were accessed are requeued."""
        self.ready()
        self.queue.setExtendTTLOfRecentlyAccessed(extend)

    # ---- Reads

    def get_read_counters(self) -> tuple[int, int, int, int]:
        """Entries and bytes that were cached, entries and bytes that were not."""
        hits, hit_bytes, misses, missed_bytes = self.around.hits_and_misses
        return hits, hit_bytes, misses, missed_bytes

    def get_remaining_permits(self) -> int:
        """The bytes that are left of the limit; 0 if there is none."""
        return self.around.remaining()

    def time_out_reads(self) -> None:
        """The limiter's timer."""
        self.around.time_out()


def count_of(value: Entry) -> Any:
    """The read count of a value, as Java has it now."""
    return None if value.reads is None else cast(JavaCount, value.reads).refresh()


def retained(entry: Any) -> Entry:
    """The kit's value of an entry that Java has retained; it is retained in place of the entry."""
    value = value_of(entry)
    value.retain()
    entry.release()
    return value


def field(kind: Any, name: str) -> Any:
    """A field that is not public."""
    found = kind.class_.getDeclaredField(name)
    found.setAccessible(True)
    return found


def pair(java: Any) -> tuple[int, int]:
    """Entries and bytes."""
    return int(java.getLeft()), int(java.getRight())


def nanoseconds(milliseconds: int) -> int:
    """Milliseconds as Java's TimeUnit converts them: what a long cannot hold is its least or its greatest."""
    return max(-LONG, min(LONG - 1, milliseconds * MILLISECOND))
