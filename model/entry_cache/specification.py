"""The reference model of contract ``entry-cache``: the caches of a broker's topics, over one queue, and their readers.

The class :class:`EntryCaches` is the specification (profile ``ideal``). It stands on four: ``Caches`` are written, read
and removed from, a ``Broker`` has passes made over them, ``Topics`` have ledgers and cursors, and ``Reading`` says how
a read goes. Each has its operations, which are flows: the order of things. Its parts have the rules and the state of
one subject each; a short method with a rule above it is a clause: it decides one thing.

Times are of one clock that only goes forward, in milliseconds; sizes are in bytes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from broker_tck.model.entry_cache.readers import SINGLE, Reader, Returned, lefts
from broker_tck.model.entry_cache.reading import Config, Reading
from broker_tck.model.entry_cache.unembodied import OF_CACHES, OF_READS
from broker_tck.model.rules import Rule

__all__ = ["Config", "EntryCaches"]


class EntryCaches(Reading):
    """Entry caches as PIP-430 has them: a queue for all topics, and reads still expected that keep an entry longer."""

    PROFILE = "ideal"
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = (*OF_READS, *OF_CACHES)

    # ---- Readers ask, and the storage answers

    def fetch(self, topic: int, cursor: int, ledger: int, first: int, n: int, again: int) -> list[list[Any]]:
        """A cursor reads n entries of a ledger."""
        self.start_read(Reader(self.caches[topic], topic, cursor, ledger, (first, first + n - 1), bool(again)))
        return self.tell()

    def fetch_many(
        self, topic: int, cursor: int, ledger: int, first: int, n: int, times: int, apart: int
    ) -> list[list[Any]]:
        """So many readers read n entries each, one after the other."""
        for i in range(times):
            run = first + i * apart, first + i * apart + n - 1
            self.start_read(Reader(self.caches[topic], topic, cursor, ledger, run, again=False))
        return self.tell()

    def fetch_one(self, topic: int, ledger: int, entry: int) -> list[list[Any]]:
        """An entry is read, for nobody's cursor."""
        self.start_read(Reader(self.caches[topic], topic, SINGLE, ledger, (entry, entry), again=False))
        return self.tell()

    def complete(self, i: int) -> list[list[Any]]:
        """A pending storage read completes."""
        if request := self.pending_reads.take(i):
            self.come(request)
        return self.tell()

    def fail(self, i: int, kind: int) -> list[list[Any]]:
        """A pending storage read fails."""
        if request := self.pending_reads.take(i):
            self.not_come(request, kind)
        return self.tell()

    def storage(self, mode: int) -> None:
        """From now on the storage waits to be told, completes at once, fails at once, raises."""
        self.pending_reads.mode = mode

    # ---- Readers have entries, and let go of them

    def done(self, i: int) -> list[list[Any]]:
        """A reader lets go of what it was given."""
        reader = self.reader(i)
        if reader:
            del self.returned[reader.number]
            for entry in reader.listed():
                self.free_returned(entry)
        return self.tell()

    def replay(self, i: int) -> list[Any]:
        """A reader has what it was given put back, and holds it still; answers with the counts."""
        entries = self.entries(i)
        for entry in entries:
            self.read_counts.replay(entry.count)
        return lefts(entries)

    def share(self, i: int) -> list[Any]:
        """A reader retains what it was given, and releases it; answers with the counts."""
        entries = self.entries(i)
        for entry in entries:
            self.read_counts.pass_by(entry.count, "released")
        return lefts(entries)

    def reader(self, i: int) -> Reader | None:
        """One of those who hold entries."""
        numbers = sorted(self.returned)
        return self.returned[numbers[i % len(numbers)]] if numbers else None

    def entries(self, i: int) -> list[Returned]:
        """What one of them was given."""
        reader = self.reader(i)
        return reader.listed() if reader else []

    # ---- What is told

    def tell(self) -> list[list[Any]]:
        """What happened: requests, answers, and how often it was asked for a start value."""
        told, self.told = sorted(self.told), []
        if self.evaluated:
            told.append(["counts", self.evaluated])
            self.evaluated = 0
        return told

    def timeouts(self) -> list[list[Any]]:
        """The timer: reads that have waited for too long fail."""
        while head := self.read_limit.overdue(self.now):
            self.fail_reader(head)
        return self.tell()

    def permits(self) -> int:
        """The bytes that are left of the limit."""
        return self.read_limit.remaining

    def hits(self) -> list[int]:
        """Entries and bytes that were cached, entries and bytes that were not."""
        return [*self.answers.hits_and_misses]
