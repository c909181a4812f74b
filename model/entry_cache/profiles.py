"""What the broker's versions do otherwise than the specification of the entry cache: a profile for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from broker_tck.model.entry_cache.answers import Answers
from broker_tck.model.entry_cache.entries import Cache, Cached, Count, Position, Removed, add
from broker_tck.model.entry_cache.lookup import Lookup
from broker_tck.model.entry_cache.manager import Manager
from broker_tck.model.entry_cache.passes import Passes
from broker_tck.model.entry_cache.read_counts import ReadCounts
from broker_tck.model.entry_cache.readers import Reader, Run
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.store import Store
from broker_tck.model.rules import Rule, informative, rule


class NoCounts(ReadCounts):
    """Nobody counts reads."""

    def counted_from(self, expected: int) -> int | None:
        return None


class FromALedgerOn(Lookup):
    """What is below every ledger that a broker makes is not invalidated."""

    FIRST = (-1, 0)


class WholeRanges(Answers):
    """A range is a hit as a whole or not at all."""

    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        return [(reader.first, reader.last)] if self.lacking(reader, there) else []


class BeforePip430(EntryCaches):
    """What all had in common before PIP-430."""

    ReadCounts = NoCounts
    Answers = WholeRanges
    Lookup = FromALedgerOn


class OneTurn(Passes):
    """Nothing is requeued."""

    def should_requeue(self, entry: Cached) -> bool:
        return False


class Queue(BeforePip430):
    """One queue of removal and no more, as it was just before PIP-430."""

    PROFILE = "queue"
    MOOT: ClassVar[tuple[str, ...]] = (
        "passes.allowed",
        "read_again",
        "EC-22",
        "EC-33",
        "EC-34",
        "EC-48",
        "EC-P12",
        "RC-02",
        "RC-06",
        "RC-07",
        "RC-08",
        "RC-09",
        "RC-11",
    )
    Passes = OneTurn


class StoreOf42(Store):
    """What somebody released once too often is removed, and never taken off the size.

    Its place in the queue stays as if it were cached, until a pass removes it once more, and counts nothing.
    """

    def counted(self, entry: Cached) -> Removed:
        return [1, entry.size] if entry.count else [0, 0]

    def blanks(self, entry: Cached) -> bool:
        return entry.count > 0


class Pip430(EntryCaches):
    """PIP-430 as released in 4.2: what was released once too often is kept in the queue, and in the size."""

    PROFILE = "pip-430"
    Store = StoreOf42
    Lookup = FromALedgerOn


class StoreOf2026(StoreOf42):
    """An insertion that is refused hands its read count to the entry that is there."""

    def taken_over(self) -> tuple[str, ...]:
        return ("counter",)

    def take_over(self, there: Cached, refused: Cached) -> None:
        """What was released once too often takes nothing over: nobody can hold it meanwhile."""
        if there.count:
            super().take_over(there, refused)


class Pip430In2026(Pip430):
    """PIP-430 as changed in 2026: an insertion that is refused hands its read count on."""

    PROFILE = "pip-430-2026"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P10", "EC-P12")
    Store = StoreOf2026


class CountsOf50(ReadCounts):
    """A count of 0 is one, and none is below 0."""

    def counted_from(self, expected: int) -> int | None:
        return expected if expected >= 0 else None

    def after_read(self, count: int) -> int:
        return max(count - 1, 0)


class OneRound(Passes):
    """A size pass requeues for one round of the queue."""

    def spares(self, first_round: bool) -> bool:
        return first_round


class Pip430In50(Pip430In2026):
    """PIP-430 as released in 5.0: counts stop at 0, and a size pass requeues for one round."""

    PROFILE = "pip-430-5.0"
    ReadCounts = CountsOf50
    Passes = OneRound


class CachedAlone(Store):
    """The queue is what is cached, in the order of insertion; nothing is decided by it."""

    def remove(self, entry: Cached) -> Removed:
        """Take an entry out of its cache, and out of the queue."""
        self.queue.remove(entry)
        return super().remove(entry)


class RefusingManager(Manager):
    """A manager who refuses what is too much."""

    @rule("EC-62", source="RangeEntryCacheManagerImpl.hasSpaceInCache")
    def has_space(self, total: int) -> bool:
        """An insertion has a pass made if the trigger is passed, and is refused while the largest size is reached."""
        return self.max_size is None or total < self.max_size


class Legacy(BeforePip430):
    """As before the queue: each topic's cache evicts its own lowest positions, the largest caches first."""

    PROFILE = "legacy"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P6", "EC-P7", "EC-P10", "topics")
    MOOT: ClassVar[tuple[str, ...]] = (
        *Queue.MOOT,
        "passes.stops_size_pass",
        "EC-02",
        "EC-03",
        "EC-21",
        "EC-23",
        "EC-24",
    )

    Store = CachedAlone
    Manager = RefusingManager

    manager: RefusingManager

    UNEMBODIED: ClassVar[tuple[Rule, ...]] = (
        *EntryCaches.UNEMBODIED,
        informative(
            "EC-64",
            "A pass can free less than it was asked for, where the caches that it takes from are small.",
            source="EntryCacheDefaultEvictionPolicy",
            why="it follows from EC-60",
        ),
    )

    @rule("EC-60", source="EntryCacheDefaultEvictionPolicy")
    def taken_from(self, caches: list[Cache], asked: int) -> list[tuple[Cache, int]]:
        """The largest caches that together hold half of all bytes give up theirs, each in proportion to its size; of
        equal ones those first whose names come first.
        """
        goal, taken = sum(cache.size for cache in caches) // 2, 0
        for number, cache in enumerate(caches, 1):
            taken += cache.size
            if taken >= goal:
                return self.shares(caches[:number], asked)
        return []

    @staticmethod
    def shares(caches: list[Cache], asked: int) -> list[tuple[Cache, int]]:
        """Each cache's share of what is asked for, in proportion to its size."""
        total = sum(cache.size for cache in caches)
        return [(cache, asked * cache.size // total) for cache in caches if total]

    @rule("EC-61", source="RangeCache.evictLeastAccessedEntries, before PR 24363")
    def victims(self, entries: list[Cached]) -> list[Cached]:
        """A cache evicts its lowest positions first, until so many bytes are gone at least."""
        return sorted(entries, key=lambda entry: entry.position)

    @rule("EC-63", source="RangeCache.evictLEntriesBeforeTimestamp, before PR 24363")
    def stops_at_young(self, entry: Cached, threshold: int) -> bool:
        """The age of entries is asked from the lowest position on, up to the first that is young."""
        return not self.passes.expired(entry, threshold)

    def insert_and_order(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Order a pass if one is due, then insert if there is space."""
        self.manager.order_pass(self.store.total)
        return self.enter(cache, position, size, count) if self.manager.has_space(self.store.total) else None

    def time_pass(self, threshold: int) -> Removed:
        """Remove old entries of each cache."""
        removed = [0, 0]
        for cache in self.caches:
            for entry in sorted(cache.entries.values(), key=lambda e: e.position):
                if self.stops_at_young(entry, threshold):
                    break
                add(removed, self.store.remove(entry))
        return removed

    def size_pass(self, asked: int) -> Removed:
        """Remove so many bytes, as the policy says."""
        removed = [0, 0]
        for cache, share in self.taken_from(sorted(self.caches, key=lambda c: -c.size), asked):
            gone = 0
            for entry in self.victims([*cache.entries.values()]) if share else []:
                if gone >= share:
                    break
                gone += entry.size
                add(removed, self.store.remove(entry))
        return removed


PROFILES = {m.PROFILE: m for m in (EntryCaches, Pip430, Pip430In2026, Pip430In50, Queue, Legacy)}
"""Every profile of the contract; the first is the default."""
