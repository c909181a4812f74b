"""The broker's releases: each replaces the clauses of the specification in which it differs, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar

from broker_tck.model.entry_cache.answers import Answers
from broker_tck.model.entry_cache.entries import Cache, Cached, Lookup, ReadCounts, Removed, Store, add
from broker_tck.model.entry_cache.eviction import Manager, Passes
from broker_tck.model.entry_cache.overlapping import Did, Putting
from broker_tck.model.entry_cache.read_limit import ReadLimit
from broker_tck.model.entry_cache.readers import BROKEN, SINGLE, PendingReads, Reader, Request, Run, runs
from broker_tck.model.entry_cache.reads import Reads
from broker_tck.model.entry_cache.short_answers import ShortAnswers
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.java_collections import LEAST_BINS, hash_order
from broker_tck.model.rules import Rule, informative, rule

WITHOUT_REQUEUEING = (
    *("passes.allowed", "reads.read_again", "EC-22", "EC-33", "EC-34", "EC-48", "EC-P12"),
    *("RC-02", "RC-06", "RC-07", "RC-08", "RC-09", "RC-11"),
)
"""What decides nothing if nothing is requeued, and no reads are counted."""


# ---- What several releases have in place of a clause


class FromALedgerOn(Lookup):
    """What is below every ledger that a broker makes is not invalidated."""

    FIRST = (-1, 0)


class NoCounts(ReadCounts):
    """Nobody counts reads."""

    def counted_from(self, expected: int) -> int | None:
        return None


class WholeRanges(Answers):
    """A range is a hit as a whole or not at all."""

    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        return [(reader.first, reader.last)] if self.lacking(reader, there) else []


def counted_if_valid(_: Store, entry: Cached) -> Removed:
    """What somebody released once too often is never taken off the size."""
    return [1, entry.size] if entry.references else [0, 0]


def blanks_if_valid(_: Store, entry: Cached) -> None:
    """What somebody released once too often keeps its place in the queue, until a pass removes it once more."""
    entry.blank = entry.references > 0


def hands_count_on(store: Store, entry: Cached) -> bool:
    """A refused insertion hands its read count to the entry that is there, unless nobody can hold that."""
    there = entry.cache.entries.get(entry.position)
    if there and there.references:
        there.expected_reads = entry.expected_reads
    return Store.enter(store, entry)


# ---- The releases


def counts_if_read(_: Store, entry: Cached) -> bool:
    """What a read has brought counts as read once more when it leaves its cache."""
    return entry.from_storage


class LargestAlone(ReadLimit):
    """A read that is larger than the limit takes all of it, as soon as nobody else has any."""

    def fits(self, permits: int) -> bool:
        return self.remaining >= min(permits, self.config.max_reads_in_flight)

    def grant(self, reader: Reader) -> None:
        """A reader has what it needs, or all that there is."""
        reader.permits = min(reader.permits, self.config.max_reads_in_flight)
        super().grant(reader)


class Thrown(Exception):
    """The storage has raised in place of taking a request."""


def listen(reader: Reader, run: Run, found: list[Request]) -> tuple[Reader, list[Run]]:
    """Listen to one of some running reads; answers with who awaits all of the run, and what that read leaves.

    Of those that cover as much of its ends, it is the first.
    """
    first, last = run
    other = min(found, key=lambda r: (r.first > first, r.last < last))
    group, left = reader.part(run), runs(sorted({*range(first, last + 1)}.difference(other.entries)))
    other.listeners.append((group, max(first, other.first), min(last, other.last)))
    group.awaited = 2 + len(left)
    return group, left


class OneAfterAnother(ShortAnswers):
    """The rest is asked for in parts one after another, from the first on."""

    PARTS = "a part that it begins with"

    def are_parts(self, parts: list[Run], rest: list[Run]) -> bool:
        return super().are_parts(parts, rest) and len(parts) == 1 and parts[0][0] == rest[0][0]


class ReadsOfReleases(Reads):
    """What the storage raises goes up to who called, as it does in Java: nobody counts with it on the way."""

    ShortAnswers = OneAfterAnother

    def raised(self, request: Request) -> None:
        raise Thrown

    def admit(self, reader: Reader) -> None:
        """Read as soon as there are permits. If the storage raises, the reader is told, but its permits are lost."""
        try:
            super().admit(reader)
        except Thrown:
            self.model.drop_ledger(reader.cache, reader.ledger)
            reader.permits = 0
            self.fail(reader)

    def join_or_ask(self, reader: Reader, run: Run) -> None:
        """A read joins one of them, and reads what this one does not cover on either side: these fail together."""
        reader.awaited += 1
        found = self.pending.overlapping(reader, run, self.manager.keeps_nothing(reader.cache))
        if not found:
            self.ask(self.new_request(reader, run))
            return
        group, left = listen(reader, run, found)
        for part in left:
            self.read_left(group, part)
        self.part_came(group)

    def serve(self, head: Reader) -> None:
        """One who waited for permits has them. If the storage raises, nobody is told."""
        with suppress(Thrown):
            super().serve(head)

    def part_came(self, reader: Reader) -> None:
        """A part has come, or failed. If the storage raises when all is read again, nobody is told."""
        with suppress(Thrown):
            super().part_came(reader)

    def not_come(self, request: Request, kind: int) -> None:
        """A storage read fails; if the storage raises at the second try, as any other."""
        try:
            super().not_come(request, kind)
        except Thrown:
            super().not_come(request, BROKEN)


class ReadsInBatches(ReadsOfReleases):
    """Several entries are asked for in batches: a storage that raises has failed, and what came is asked for again."""

    def kept_when_reopened(self, request: Request) -> set[int]:
        return set()

    def raised(self, request: Request) -> None:
        if request.first == request.last:
            raise Thrown
        self.not_come(request, BROKEN)


class StoreOf42(Store):
    """A store that keeps what was released once too often."""

    counted = counted_if_valid
    blanks = blanks_if_valid
    removal_counts = refusal_counts = counts_if_read


class Pip430(EntryCaches):
    """PIP-430 as released in 4.2: what was released once too often is kept in the queue, and in the size."""

    PROFILE = "pip-430"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P17",)
    Store = StoreOf42
    Lookup = FromALedgerOn
    ReadLimit = LargestAlone
    Reads = ReadsOfReleases


class StoreOf2026(Store):
    """The same, and an insertion that is refused hands its read count on."""

    counted = counted_if_valid
    blanks = blanks_if_valid
    removal_counts = counts_if_read
    enter = hands_count_on


class HandingOn(Putting):
    """An insertion that hands its read count on before it ends, if it is refused."""

    handed = False

    @rule("IL-14", source="RangeEntryCacheImpl, an inserter's updateIfCached", needs="steps")
    def taker(self) -> Cached | None:
        """A refused insertion hands its read count on in a step of its own, to the entry that is there then."""
        there = self.cache.entries.get(self.position)
        return there if there and there.references else None

    def choices(self) -> list[Did]:
        choices = super().choices()
        if self.handed or ["ends", False] not in choices:
            return choices
        return [["hands"] if did[0] == "ends" else did for did in choices]

    def do(self, did: Did) -> None:
        if did != ["hands"]:
            super().do(did)
            return
        self.handed, there = True, self.taker()
        if there:
            there.expected_reads = self.model.read_counts.new(self.expected)


class Pip430In2026(EntryCaches):
    """PIP-430 as changed in 2026: an insertion that is refused hands its read count on."""

    PROFILE = "pip-430-2026"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P10", "EC-P12", "EC-P17")
    Store = StoreOf2026
    Putting = HandingOn
    Lookup = FromALedgerOn
    ReadLimit = LargestAlone
    Reads = ReadsOfReleases


class CountsOf50(ReadCounts):
    """A count of 0 is one, and none is below 0."""

    def counted_from(self, expected: int) -> int | None:
        return expected if expected >= 0 else None

    def after_read(self, count: int) -> int:
        return max(count - 1, 0)


class CachedFrom0On(Answers):
    """A count of 0 is one, so what a read brings is cached with it."""

    def populates(self, start: int) -> bool:
        return start >= 0


class OneRound(Passes):
    """A size pass requeues for one round of the queue."""

    def spares(self, entry: Cached, first_round: bool) -> bool:
        return first_round and self.keeps_in_size_pass(entry)


class Pip430In50(EntryCaches):
    """PIP-430 as released in 5.0: counts stop at 0, and a size pass requeues for one round."""

    PROFILE = "pip-430-5.0"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P10", "EC-P12", "EC-P17")
    Store = StoreOf2026
    Putting = HandingOn
    Lookup = FromALedgerOn
    ReadLimit = LargestAlone
    Reads = ReadsInBatches
    ReadCounts = CountsOf50
    Answers = CachedFrom0On
    Passes = OneRound


class OneTurn(Passes):
    """Nothing is requeued."""

    def should_requeue(self, entry: Cached) -> bool:
        return False


class Queue(EntryCaches):
    """One queue of removal and no more, as it was just before PIP-430."""

    PROFILE = "queue"
    NOT_APPLICABLE: ClassVar[tuple[str, ...]] = WITHOUT_REQUEUEING
    ReadCounts = NoCounts
    Answers = WholeRanges
    Lookup = FromALedgerOn
    Passes = OneTurn


class CachedAlone(Store):
    """The queue is what is cached, in the order of insertion; nothing is decided by it."""

    def remove(self, entry: Cached) -> Removed:
        """Take an entry out of its cache, and out of the queue unless a pass under way has taken it already."""
        with suppress(ValueError):
            self.queue.remove(entry)
        return super().remove(entry)


class RefusingManager(Manager):
    """A manager who refuses what is too much."""

    @rule("EC-62", source="RangeEntryCacheManagerImpl.hasSpaceInCache", needs="manager")
    def has_space(self, total: int) -> bool:
        """An insertion orders a pass if the trigger is passed, and is refused while the largest size is reached."""
        return self.max_size is None or total < self.max_size


class LargestFirst(Passes):
    """Each topic's cache evicts its own lowest positions, the largest caches first."""

    @rule("EC-63", source="RangeCache.evictLEntriesBeforeTimestamp, before PR 24363")
    def stops_at_young(self, entry: Cached, threshold: int) -> bool:
        """A pass checks ages from the lowest position on, up to the first young entry."""
        return not self.expired(entry, threshold)

    def time_pass(self, threshold: int) -> Removed:
        """Remove old entries of each cache."""
        removed = [0, 0]
        for cache in self.caches:
            for entry in sorted(cache.entries.values(), key=lambda e: e.position):
                if self.stops_at_young(entry, threshold):
                    break
                add(removed, self.store.remove(entry))
        return removed

    @rule("EC-60", source="EntryCacheDefaultEvictionPolicy")
    def taken_from(self, caches: list[Cache], asked: int) -> list[tuple[Cache, int]]:
        """The largest caches, with half of all bytes, give up bytes in proportion to their sizes; ties go by name."""
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
        """A cache evicts its lowest positions first, until at least the bytes asked for are gone."""
        return sorted(entries, key=lambda entry: entry.position)

    def size_pass(self, asked: int) -> Removed:
        """Remove as many bytes as are asked for, as the policy says."""
        removed = [0, 0]
        for cache, share in self.taken_from(sorted(self.caches, key=lambda c: -c.size), asked):
            gone = 0
            for entry in self.victims([*cache.entries.values()]) if share else []:
                if gone >= share:
                    break
                counts = self.store.remove(entry)
                gone += counts[1]
                add(removed, counts)
        return removed


class Legacy(EntryCaches):
    """As before the queue: each topic's cache evicts for itself, and an insertion is refused if there is no space."""

    PROFILE = "legacy"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P6", "EC-P7", "EC-P10", "topics")
    NOT_APPLICABLE: ClassVar[tuple[str, ...]] = (
        *WITHOUT_REQUEUEING,
        *("passes.stops_size_pass", "EC-02", "EC-03", "EC-21", "EC-23", "EC-24"),
    )
    ReadCounts = NoCounts
    Answers = WholeRanges
    Lookup = FromALedgerOn
    Store = CachedAlone
    Passes = LargestFirst
    Manager = RefusingManager
    manager: RefusingManager
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = (
        *EntryCaches.WITHOUT_CLAUSE,
        informative(
            "EC-64",
            "A pass can free less than it was asked for, if the caches that it takes from are small.",
            source="EntryCacheDefaultEvictionPolicy",
            why="it follows from EC-60",
        ),
    )

    def enter(self, entry: Cached) -> Cached | None:
        """Order a pass if one is due, then store the entry if there is space."""
        self.manager.order_pass(self.store.total)
        return entry if self.manager.has_space(self.store.total) and self.store.enter(entry) else None


class KeptAlone(CachedAlone):
    """A store that never takes off the size what was released once too often."""

    counted = counted_if_valid


class PassesOf40(LargestFirst):
    """Passes as the policy of 4.0 and the caches make them."""

    def expired(self, entry: Cached, threshold: int) -> bool:
        """An entry has expired if it is as old as the TTL; what was released once too often always has."""
        return entry.stamp <= threshold or not entry.references

    def taken_from(self, caches: list[Cache], asked: int) -> list[tuple[Cache, int]]:
        """The shares are fractions, rounded down last; from a single byte in all, nothing is taken."""
        goal, taken = sum(cache.size for cache in caches) // 2, 0
        chosen = []
        for cache in caches:
            if taken >= goal:
                break
            taken += cache.size
            chosen.append(cache)
        return [(cache, int(asked * (cache.size / taken))) for cache in chosen]


def folded(number: int) -> int:
    """``Long.hashCode``."""
    return number ^ number >> 32


class PendingReadsOf40(PendingReads):
    """Storage reads that are made once, whatever they fail with."""

    def overlapping(self, reader: Reader, run: Run, disabled: bool) -> list[Request]:
        """Those that are joined: the last in the order of Java's map comes first."""
        found = sorted(super().overlapping(reader, run, disabled), key=self.running.index)
        return hash_order(found, lambda r: 31 * folded(r.first) + folded(r.last), LEAST_BINS)[::-1]

    def forgets_at(self, kind: int) -> bool:
        return True

    def reopens(self, request: Request) -> bool:
        return False


class ReadsOf40(ReadsOfReleases):
    """Who reads is asked with the request whether reads are expected of the answer."""

    def arrive(self, reader: Reader) -> None:
        """Ask as a reader comes."""
        self.evaluated += reader.cursor != SINGLE
        reader.expected = self.start_of(reader)
        super().arrive(reader)

    def started(self, request: Request) -> int:
        return sum(reader.expected for reader in self.answers.determining(request))


class LegacyIn40(Legacy):
    """As released in 4.0 since 4.0.6, with its reads: a range is a hit as a whole, and no reads are counted."""

    PROFILE = "legacy-4.0"
    BREAKS: ClassVar[tuple[str, ...]] = ("EC-P4", "EC-P6", "EC-P7", "EC-P17", "topics")
    NOT_APPLICABLE: ClassVar[tuple[str, ...]] = (*Legacy.NOT_APPLICABLE, "reads.kept_when_reopened")
    Store = KeptAlone
    Passes = PassesOf40
    PendingReads = PendingReadsOf40
    ReadLimit = LargestAlone
    Reads = ReadsOf40


PROFILES = {m.PROFILE: m for m in (EntryCaches, Pip430, Pip430In2026, Pip430In50, Queue, Legacy, LegacyIn40)}
"""Every profile of the contract; the first is the default."""
