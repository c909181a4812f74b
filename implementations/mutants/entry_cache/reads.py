"""Mutants of the reads through an entry cache: hits and misses, and what a read puts into the cache."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.entry_cache.reads import CacheReads, Reader, Running
from broker_tck.implementations.entry_cache.removal_queue import TopicCache
from broker_tck.implementations.interface import (
    Entry,
    ExpectedReads,
    LedgerHandle,
    ReadAnswered,
    ReadCount,
)
from broker_tck.implementations.mutants.entry_cache.around import around_cache, around_reads
from broker_tck.implementations.mutants.mutant import mutant

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
