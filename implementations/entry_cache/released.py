"""The broker's own entry cache: RangeCache, its queue of removal and its read counts, of any release that has them.

What RangeEntryCacheImpl does around a RangeCache is done here in its place: it cannot be made without a broker's
manager and ledger, and what it caches are duplicates of its own, whose references the kit could not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.interface import Clock, Entry, EntryCacheConfig, Execute, Position, ReadCount
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.standins import Answers, Handed, OwnAnswers
from broker_tck.implementations.jvm.subject import Kind, Line

LEDGER = "org/apache/bookkeeper/mledger/"
CACHE = LEDGER + "impl/cache/RangeCache"
QUEUE = CACHE + "RemovalQueue"
COUNT = LEDGER + "impl/EntryReadCountHandlerImpl"
HELD = (CACHE, QUEUE, CACHE + "EntryWrapper", CACHE + "RemovalCounters", COUNT)
FIRST = (-1, 0)
"""Where invalidateEntries begins."""
MILLISECOND = 10**6
"""In nanoseconds."""
LONG = 2**63


class RangeCaches:
    """Makes the caches of a broker out of RangeCache."""

    def __init__(self, loader: Loader, _release: Release) -> None:
        """Load the classes."""
        tops = [name.replace("/", ".") for name in HELD]
        loader.hold([name for top in tops for name in classes_in(loader.place_of(top), (top,))])
        self.loader = loader
        self.made = loader.named(CACHE)
        self.inside = loader.named(LEDGER + "impl/cache/Inside")
        self.counts = loader.named(COUNT)
        self.position: Callable[[int, int], Any] = loader.named(LEDGER + "PositionFactory").create
        self.answers = answers_of_entries(loader, self.position)
        self.entry = entries_of_java(loader)
        self.taker = takers_of_java(loader)
        self.cache = InsertingCache if hasattr(self.made, "newInserter") else JavaCache

    def __call__(self, config: EntryCacheConfig, clock: Clock, _execute: Execute) -> JavaCaches:
        """Make those of one broker."""
        return JavaCaches(self, config, clock)


def entries_of_java(loader: Loader) -> Callable[[Entry, Answers], Any]:
    """Makes a Java reference of a value of the kit's, to be handed over once; out of Java comes the value itself."""
    interface, proxy = loader.named(LEDGER + "ReferenceCountedEntry"), loader.jpype.JProxy
    return lambda value, answers: proxy(interface, dict=answers, inst=value, convert=True)


def answers_of_entries(loader: Loader, position: Callable[[int, int], Any]) -> Answers:
    """What a value of the kit's answers to Java.

    What the interface has as default methods is written out: they cannot be called on what is no class of Java's.
    """
    freed = loader.named("io/netty/util/IllegalReferenceCountException")

    def retain(value: Entry) -> None:
        if not value.retain():
            raise freed()

    def release(value: Entry) -> bool:
        value.release()
        return value.count == 0

    def count(value: Any) -> Any:
        return None if value.reads is None else value.reads.java

    return {
        "getLength": lambda value: value.length,
        "getPosition": lambda value: position(*value.position),
        "getLedgerId": lambda value: value.position[0],
        "getEntryId": lambda value: value.position[1],
        "matchesPosition": lambda value, other: other.compareTo(*value.position) == 0,
        "getReadCountHandler": count,
        "hasExpectedReads": lambda value: value.reads is not None and value.reads.java.hasExpectedReads(),
        "refCnt": lambda value: value.count,
        "retain": retain,
        "release": release,
    }


def takers_of_java(loader: Loader) -> Callable[[Entry], Any]:
    """Makes what hands the read count of a value to the value that Java passes it."""

    def accept(value: Entry, there: Entry) -> None:
        there.reads = value.reads

    proxy = loader.jpype.JProxy
    return lambda value: proxy("java.util.function.Consumer", dict={"accept": accept}, inst=value)


@translating
class JavaCount:
    """A read count of Java's, which no time matters to.

    Java's queue holds the values, and they their counts: one that led back to the queue would never be let go.
    """

    def __init__(self, java: Any, refuel: Callable[[], None]) -> None:
        self.java, self._refuel = java, refuel

    def get_expected_read_count(self) -> int:
        """The count now."""
        self._refuel()
        return int(self.java.getExpectedReadCount())

    def increment_expected_read_count(self) -> None:
        """One more read is expected."""
        self._refuel()
        self.java.incrementExpectedReadCount()

    def mark_read(self) -> None:
        """A reader is done."""
        self._refuel()
        self.java.markRead()


@translating
class JavaCache:
    """A RangeCache, and around it what RangeEntryCacheImpl does."""

    def __init__(self, kind: RangeCaches, ready: Callable[[], None], queue: Any, handed: Handed) -> None:
        self._kind, self._ready, self._handed = kind, ready, handed
        self._java = kind.made(queue)

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value. A RangeCache takes over the reference that it is handed, unless it refuses the value."""
        self._ready()
        value.retain()
        inserted = False
        try:
            inserted = self._inserted(self._kind.position(*position), value)
        finally:
            if not inserted:
                value.release()
        return inserted

    def _inserted(self, position: Any, value: Entry) -> bool:
        return bool(self._java.put(position, self._proxy(value), value.length))

    def _proxy(self, value: Entry) -> Any:
        if type(value.position[1]) is int:  # of a plain number nobody asks what has become of it
            return self._kind.entry(value, self._kind.answers)
        answers = OwnAnswers(self._kind.answers)
        proxy = self._kind.entry(value, answers)
        self._handed.note(proxy, answers)
        return proxy

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        self._ready()
        found: Entry | None = self._java.get(self._kind.position(*position))
        return found

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained."""
        self._ready()
        return list(self._java.getRange(self._kind.position(*first), self._kind.position(*last)))

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range; answers with entries and bytes."""
        self._ready()
        create = self._kind.position
        return pair(self._java.removeRange(create(*first), create(*last), last_inclusive))

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        if last >= FIRST:
            self.remove_range(FIRST, last, False)

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        self.remove_range((ledger, 0), ((ledger + 1 + LONG) % (2 * LONG) - LONG, 0), False)

    def clear(self) -> tuple[int, int]:
        """Remove everything; answers with entries and bytes."""
        self._ready()
        return pair(self._java.clear())

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        self._ready()
        return int(self._kind.inside.entries(self._java))

    def get_size(self) -> int:
        """Their bytes."""
        self._ready()
        return int(self._java.getSize())


@translating
class InsertingCache(JavaCache):
    """The same of releases that insert by an inserter. What it refuses hands its read count to what is there."""

    def __init__(self, kind: RangeCaches, ready: Callable[[], None], queue: Any, handed: Handed) -> None:
        super().__init__(kind, ready, queue, handed)
        self._inserter = self._java.newInserter()

    def _inserted(self, position: Any, value: Entry) -> bool:
        inserted = bool(self._inserter.put(position, self._proxy(value), value.length))
        if not inserted:
            self._inserter.updateIfCached(position, self._kind.taker(value))
        return inserted


@translating
class JavaCaches:
    """The caches of a broker over one RangeCacheRemovalQueue. Before each call Java is told the time."""

    def __init__(self, kind: RangeCaches, config: EntryCacheConfig, clock: Clock) -> None:
        self._kind, self._clock = kind, clock
        self._caches: dict[str, JavaCache] = {}
        self._handed = Handed(kind.loader)
        self._ready()
        self._queue = kind.inside.queue(config.max_requeue_count, config.extend_ttl_of_recently_accessed)

    def _ready(self) -> None:
        self._kind.loader.held.monotonic = nanoseconds(self._clock())
        self._kind.loader.refuel()

    def get_entry_cache(self, topic: str) -> JavaCache:
        """The cache of a topic."""
        if topic not in self._caches:
            self._caches[topic] = self._kind.cache(self._kind, self._ready, self._queue, self._handed)
        return self._caches[topic]

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed."""
        self._caches.pop(topic).clear()

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, where the release makes one."""
        self._ready()
        java = self._kind.counts.maybeCreate(expected)
        return None if java is None else JavaCount(java, self._kind.loader.refuel)

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """A time pass; answers with entries and bytes."""
        self._ready()
        return pair(self._queue.evictLEntriesBeforeTimestamp(nanoseconds(timestamp)))

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass; answers with entries and bytes."""
        self._ready()
        return pair(self._queue.evictLeastAccessedEntries(size))

    def get_non_evictable_size(self) -> tuple[int, int]:
        """Entries and bytes of which reads are expected, or not counted."""
        self._ready()
        return pair(self._queue.getNonEvictableSize())

    def update_max_requeue_count(self, count: int) -> None:
        """Set how often reads that are expected have an entry requeued."""
        self._ready()
        self._queue.setMaxRequeueCountWhenHasExpectedReads(count)

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        """Set whether entries that were accessed are requeued."""
        self._ready()
        self._queue.setExtendTTLOfRecentlyAccessed(extend)

    def collect_garbage(self) -> None:
        """Have Java let go of the values that nothing in it refers to."""
        self._handed.collect_garbage()


def pair(java: Any) -> tuple[int, int]:
    """Entries and bytes."""
    return int(java.getLeft()), int(java.getRight())


def nanoseconds(milliseconds: int) -> int:
    """Milliseconds as Java's TimeUnit converts them: what a long cannot hold is its least or its greatest."""
    return max(-LONG, min(LONG - 1, milliseconds * MILLISECOND))


WITHOUT = {"manager": False, "reads": False, "steps": False}
KINDS = (
    Kind(
        "range-cache",
        "entry-cache",
        "RangeCache",
        RangeCaches,
        (Line((4, 2), "pip-430", WITHOUT), Line((5, 0, 1), "pip-430-5.0", WITHOUT)),
        ("managed-ledger", *(name for name in OWN if name != "managed-ledger")),
    ),
)
