"""What the broker's entry cache has otherwise before 4.2: each cache evicts for itself, and no reads are counted."""

from __future__ import annotations

from typing import Any

from broker_tck.implementations.entry_cache.released_caches import (
    CACHES,
    ENTRY,
    RANGES,
    JavaCache,
    JavaCaches,
    RangeCaches,
    field,
    nanoseconds,
)
from broker_tck.implementations.entry_cache.released_values import Payload
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    ExpectedReads,
    LedgerHandle,
    ReadAnswered,
    ReadCount,
)
from broker_tck.implementations.jvm.errors import translating


class CachesAlone(RangeCaches):
    """Makes the caches of a broker, whose policy takes from the largest."""

    def load(self) -> None:
        """Load what later releases do not have."""
        self.entry = self.loader.named(ENTRY).create
        self.policy = self.loader.named(CACHES + "EntryCacheDefaultEvictionPolicy")()
        self.entries = field(self.loader.named(RANGES), "entries")
        self.cache = CacheAlone

    def __call__(self, config: EntryCacheConfig, clock: Clock, _execute: Execute) -> JavaCaches:
        """Make those of one broker."""
        return CachesOfPolicy(self, config, clock)

    def entry_of(self, value: Entry) -> Any:
        """A value of the kit's, for Java to keep."""
        value.retain()
        payload = Payload(self.values, value).java()
        entry = self.entry(self.position(*value.position), payload)
        payload.release()
        return entry

    def free(self, weak: Any) -> None:
        """A value was freed. If that was not Java's doing, Java has one reference less."""
        entry = weak.get()
        if entry is not None and entry.refCnt():
            entry.release()


@translating
class CacheAlone(JavaCache):
    """A RangeEntryCacheImpl that is told with a read whether its answer is to be cached."""

    _kind: CachesAlone

    def _inserted(self, position: Any, entry: Any) -> bool:
        return bool(self._map.put(position, entry))

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        self._ready()
        return int(self._kind.entries.get(self._map).size())

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Answer a reader, out of the cache and the storage."""
        self._ready()
        reader = self._ledgers.reader(answered, "ReadEntriesCallback")
        self.java.asyncReadEntry(self._ledgers.handle(handle), first, last, expected() > 0, reader, None)
        self._caches.around.drain()


@translating
class CachesOfPolicy(JavaCaches):
    """The caches of a broker, of which each evicts for itself."""

    kind: CachesAlone

    def share(self, _config: EntryCacheConfig) -> tuple[Any, ...]:
        """Nothing: no queue, and Java knows how sizes are told."""
        return ()

    def new_read_count(self, _expected: int) -> ReadCount | None:
        """Reads are not counted."""
        return None

    def in_order(self) -> list[Any]:
        """The caches of the topics that are open, by their names."""
        return [self._caches[topic].java for topic in sorted(self._caches)]

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """A time pass over each cache; answers with entries and bytes."""
        self.ready()
        threshold = nanoseconds(timestamp)
        return self.counted(lambda: [java.invalidateEntriesBeforeTimestamp(threshold) for java in self.in_order()])

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass, as the policy shares it out; answers with entries and bytes."""
        self.ready()
        caches = self.kind.loader.jpype.java.util.ArrayList(self.in_order())
        return self.counted(lambda: self.kind.policy.doEviction(caches, size))
