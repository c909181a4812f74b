"""Mutants of the reads through an entry cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_tck.implementations.entry_cache.reads import CacheReads, Reader, ReadLimiter, Running
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, TopicCache
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    ExpectedReads,
    LedgerHandle,
    ReadAnswered,
    ReadCount,
    ReadFailed,
)
from broker_tck.implementations.mutants.mutant import mutant


def around_reads(broken: type[CacheReads]) -> type[RemovalQueue]:
    """The removal queue with these reads."""

    class Broker(RemovalQueue):
        """A broker with broken reads."""

        reads = broken

    return Broker


def around_limiter(broken: type[ReadLimiter]) -> type[RemovalQueue]:
    """The removal queue with this limiter."""

    class Broker(RemovalQueue):
        """A broker with a broken limiter."""

        def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
            super().__init__(config, clock, execute)
            if self._limiter:
                limit, queue = config.max_reads_in_flight, config.acquire_queue
                self._limiter = broken(limit, queue, config.acquire_timeout, clock)

    return Broker


def around_cache(broken: type[TopicCache]) -> type[RemovalQueue]:
    """The removal queue with this kind of cache."""

    class Broker(RemovalQueue):
        """A broker with broken caches."""

        def get_entry_cache(self, topic: str) -> TopicCache:
            """The cache of a topic, made where there is none."""
            return self._caches.setdefault(topic, broken(self))

    return Broker


# ---- Hits and misses


@mutant("EC-45", inside=around_reads)
class AllOrNothing(CacheReads):
    """Reads a range as a whole, though a part of it is cached."""

    def usable(self, found: Sequence[Entry], first: int, last: int) -> Sequence[Entry]:
        """All, unless something is missing."""
        return found if len(found) == last - first + 1 else ()


@mutant("EC-45", inside=around_reads)
class FirstToLast(CacheReads):
    """Asks the storage once for everything between the first missing entry and the last."""

    def usable(self, found: Sequence[Entry], first: int, last: int) -> Sequence[Entry]:
        """What is before the first missing entry, and behind the last."""
        missing = {*range(first, last + 1)}.difference(value.position[1] for value in found)
        return [value for value in found if not missing or not min(missing) < value.position[1] < max(missing)]


@mutant("EC-45", inside=around_reads, conditions=2)
class KeepsObtained(CacheReads):
    """Does not release what it had when it reads everything from the storage after a failure."""

    def arrived(self, reader: Reader) -> None:
        """A part has come, or failed."""
        if reader.awaited == 1 and reader.failure and reader.hit:
            reader.entries = {}
        super().arrived(reader)


@mutant("EC-45", inside=around_reads, conditions=2)
class GivesUp(CacheReads):
    """Fails a reader of whom a part was cached, instead of reading everything from the storage."""

    def arrived(self, reader: Reader) -> None:
        """A part has come, or failed."""
        reader.hit = False
        super().arrived(reader)


@mutant("EC-46", inside=around_reads)
class MissesByRequest(CacheReads):
    """Counts a storage read as one miss, however many entries it has."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Pass the values on."""
        self.counters[2] -= len(values) - 1
        super().deliver(running, values)


# ---- Population and counts


@mutant("RC-04", inside=around_reads, conditions=2)
class CountsWhenAsked(CacheReads):
    """Asks how many reads are expected when it asks the storage, not when that answers."""

    def start(self, reader: Reader, first: int, last: int) -> None:
        """Start a storage read."""
        ask, known = reader.expected, reader.expected()
        reader.expected = lambda: known
        super().start(reader, first, last)
        reader.expected = ask


@mutant("EC-47", inside=around_reads)
class CountsForEachEntry(CacheReads):
    """Asks how many reads are expected once for each entry."""

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        for _ in values[1:]:
            running.expected()
        super().completed(running, values)


@mutant("EC-47", inside=around_reads, conditions=2)
class OneCountForAll(CacheReads):
    """Gives all entries of a storage read the same count."""

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        new_read_count, made = self.new_read_count, list[ReadCount | None]()

        def once(expected: int) -> ReadCount | None:
            made.append(made[0] if made else new_read_count(expected))
            return made[0]

        self.new_read_count = once
        super().completed(running, values)
        self.new_read_count = new_read_count


@mutant("EC-47", inside=around_reads)
class CachesWhatNobodyReads(CacheReads):
    """Caches what the storage answers, also where no reads are expected."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Pass the values on."""
        for value in values:
            self.populate(value)
        super().deliver(running, values)


@mutant("EC-48", inside=around_reads)
class CountOfItsOwn(CacheReads):
    """Gives the entry in the cache a count of its own."""

    def populate(self, value: Entry) -> None:
        """Put an entry into the cache."""
        shared = value.reads
        if shared is not None:
            value.reads = self.new_read_count(shared.get_expected_read_count())
        super().populate(value)
        value.reads = shared


@mutant("EC-49", inside=around_cache)
class SinglesPopulate(TopicCache):
    """Caches what is read by a single read."""

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """Answer a single reader."""
        self.reads.read(handle, entry, entry, lambda: 1, answered)


@mutant("RC-06", inside=around_reads)
class CountsAtAnswer(CacheReads):
    """Counts a read when the entry is handed out, not when it is freed."""

    def read(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Read a range."""

        def counted(answer: Sequence[Entry] | Exception) -> None:
            for value in () if isinstance(answer, Exception) else answer:
                if value.reads is not None:
                    value.reads.mark_read()
                value.counts_as_read = False
            answered(answer)

        super().read(handle, first, last, expected, counted)


@mutant("RC-07", inside=around_reads, conditions=2)
class DiscardedUncounted(CacheReads):
    """Does not count as read what it had when another part fails."""

    def arrived(self, reader: Reader) -> None:
        """A part has come, or failed."""
        if reader.awaited == 1 and reader.failure:
            for value in reader.entries.values():
                value.counts_as_read = False
        super().arrived(reader)


# ---- Joined reads


@mutant("EC-50", inside=around_reads)
class JoinsNone(CacheReads):
    """Asks the storage for what is being read already."""

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        """Start a storage read."""
        reader.awaited += 1
        self.start(reader, first, last)


@mutant("EC-50", inside=around_reads, conditions=3, deep=True)
class LeavesTheCacheOut(CacheReads):
    """Asks the storage for what the joined reads leave, though the cache may have it."""

    def read_rest(self, reader: Reader, first: int, last: int) -> None:
        """Start a storage read."""
        self.start(reader, first, last)


@mutant("EC-50", inside=around_reads, conditions=2)
class JoinsTheSame(CacheReads):
    """Joins a read of exactly the same range only."""

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        """Join, or start a storage read."""
        reader.awaited += 1
        for other in self.running.get(reader.handle.ledger_id, ()):
            if (other.first, other.last) == (first, last):
                other.listeners.append((reader, first, last))
                return
        self.start(reader, first, last)


@mutant("EC-51", inside=around_reads, conditions=2)
class OriginalsCountToo(CacheReads):
    """Counts the release of the entries themselves as a read, beside that of their copies."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Give several listeners copies."""
        super().deliver(running, values)
        if len(running.listeners) > 1:
            for value in values:
                if value.reads is not None:
                    value.reads.mark_read()


@mutant("EC-51", inside=around_reads, conditions=2)
class CopiesOfAll(CacheReads):
    """Gives each of several listeners all that was read."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Give several listeners copies."""
        running.listeners = [(reader, running.first, running.last) for reader, *_ in running.listeners]
        super().deliver(running, values)


@mutant("EC-52", inside=around_reads, conditions=2)
class AddsUpListeners(CacheReads):
    """Expects the reads of all listeners, added up."""

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        readers = [reader for reader, *_ in running.listeners]
        running.expected = lambda: sum(reader.expected() for reader in readers)
        super().completed(running, values)


@mutant("EC-53", source="PR 23958", inside=around_reads, conditions=2)
class JoinsWhatHasCome(CacheReads):
    """Lets a listener join, before it returns, the very read whose answer it is told."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Pass the values on."""
        self.running.setdefault(running.ledger, []).append(running)
        listeners, running.listeners = running.listeners, []
        told = Running(listeners[0][0], running.first, running.last)
        told.listeners = listeners
        super().deliver(told, values)
        self.answered(running)


@mutant("EC-54", inside=around_reads, conditions=2, deep=True)
class ForgetsAtAnyFailure(CacheReads):
    """Has the running reads of a ledger forgotten even though the storage was only busy."""

    def failed(self, running: Running, error: Exception) -> None:
        """The storage has failed."""
        self.forget(running.ledger)
        super().failed(running, error)


@mutant("EC-54", inside=around_reads, conditions=2, deep=True)
class RemembersAfterFailure(CacheReads):
    """Lets readers join what was asked of a ledger that is broken."""

    def failed(self, running: Running, error: Exception) -> None:
        """The storage has failed."""
        self.answered(running)
        for reader, *_ in running.listeners:
            reader.failure = error
            self.arrived(reader)


@mutant("EC-54", inside=around_reads, conditions=2)
class RaisingIsFailing(CacheReads):
    """Keeps the entries of a ledger whose storage raises."""

    def ask(self, running: Running, handle: LedgerHandle) -> None:
        """Ask the storage."""
        try:
            handle.read(running.first, running.last, self.listening(running, handle))
        except OSError as error:
            self.failed(running, ReadFailed(str(error)))


@mutant("EC-54", inside=around_reads, conditions=2)
class ClosedIsBroken(CacheReads):
    """Does not read once more where the ledger's handle was closed."""

    def ask(self, running: Running, handle: LedgerHandle) -> None:
        """Ask the storage."""
        running.reopened = True
        super().ask(running, handle)


@mutant("EC-15", inside=around_cache, conditions=2, deep=True)
class JoinsTheDropped(TopicCache):
    """Lets readers join what was asked of a ledger before it was dropped."""

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        running = self.reads.running.get(ledger)
        super().invalidate_all_entries(ledger)
        if running:
            self.reads.running[ledger] = running


@mutant("EC-16", inside=around_cache, conditions=2, deep=True)
class JoinsTheCleared(TopicCache):
    """Lets readers join what was asked for before the cache was cleared."""

    def clear(self) -> tuple[int, int]:
        """Remove everything."""
        running = {**self.reads.running}
        removed = super().clear()
        self.reads.running.update(running)
        return removed


# ---- The limit of reads in flight


@mutant("EC-55", inside=around_limiter, conditions=2)
class WaitingTakeNothing(ReadLimiter):
    """Lets a read that had to wait go without taking its permits."""

    def release(self, permits: int) -> None:
        """Give permits back."""
        self.remaining += permits
        while self._waiting and self.remaining >= self._waiting[0][0]:
            self._waiting.popleft()[2](True)
        super().release(0)


@mutant("EC-55", inside=around_limiter, conditions=2)
class NoOvertaking(ReadLimiter):
    """Has every read wait behind those that wait already."""

    def acquire(self, permits: int, go: Callable[[bool], None]) -> None:
        """Take permits."""
        held = self.remaining if self._waiting else 0
        self.remaining -= held
        super().acquire(permits, go)
        self.remaining += held


@mutant("EC-55", inside=around_limiter, conditions=2)
class TimerIsLate(ReadLimiter):
    """Refuses reads by the timer only beyond their time."""

    def time_out(self) -> None:
        """Refuse those who have waited for too long."""
        self._timeout += self._timeout > 0
        super().time_out()
        self._timeout -= self._timeout > 0


@mutant("EC-55", inside=around_reads, conditions=2, deep=True)
class PermitsBackAtTheFirst(CacheReads):
    """Gives permits back as soon as the first returned entry is freed."""

    def giving_back(self, permits: int, answered: ReadAnswered) -> ReadAnswered:
        """An answer that gives permits back."""
        limiter = self.limiter
        assert limiter is not None

        def answer(result: Sequence[Entry] | Exception) -> None:
            if isinstance(result, Exception):
                limiter.release(permits)
            else:
                result[0].on_freed(lambda: limiter.release(permits))
            answered(result)

        return answer


@mutant("EC-55", inside=around_reads)
class NoOverhead(CacheReads):
    """Takes permits for the bytes of the entries alone."""

    def estimate(self, handle: LedgerHandle) -> int:
        """The bytes that an entry is estimated to hold."""
        return super().estimate(handle) - 64


@mutant("EC-55", source="PR 23901", inside=around_cache, conditions=2)
class SinglesUnlimited(TopicCache):
    """Does not limit single reads."""

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """Answer a single reader."""
        limiter, self.reads.limiter = self.reads.limiter, None
        super().read_entry(handle, entry, answered)
        self.reads.limiter = limiter


@mutant("EC-55", source="PR 26296", conditions=2)
class UnlimitedWithoutCache(RemovalQueue):
    """Limits nothing where the largest size is 0."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self._unlimited = config.max_size == 0 and self._limiter is not None
        self._limit = config.max_reads_in_flight
        if self._unlimited:
            self._limiter = None

    def get_remaining_permits(self) -> int:
        """The bytes that are left of the limit."""
        return self._limit if self._unlimited else super().get_remaining_permits()
