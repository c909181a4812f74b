"""How a read goes: from the request over the cache and the storage to the answer, and until its entries are freed.

A read takes from the cache what is there and asks the storage for the rest. What was asked stays pending until it is
completed or fails; everything that follows from it happens there and then, in the order in which the readers came. An
entry that a reader was given is an object of its own, which shares its count with the entry in the cache.
"""

from __future__ import annotations

from typing import Any, Protocol

from broker_tck.model.entry_cache import read_limit, topics
from broker_tck.model.entry_cache.answers import Answers
from broker_tck.model.entry_cache.entries import Cached, Count
from broker_tck.model.entry_cache.ledgers import size_of
from broker_tck.model.entry_cache.pending_reads import BROKEN, CLOSED, COMPLETES, FAILS, RAISES
from broker_tck.model.entry_cache.read_limit import ReadLimit
from broker_tck.model.entry_cache.readers import SINGLE, Reader, Request, Returned, Run, lefts, runs
from broker_tck.model.entry_cache.topics import Topics
from broker_tck.model.rules import rule


class Config(topics.Config, read_limit.Config, Protocol):
    """What a trace configures."""


class Reading(Topics):
    """Topics whose entries are read, within a limit."""

    ReadLimit = ReadLimit
    Answers = Answers

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.read_limit = self.ReadLimit(config)
        self.answers = self.Answers()
        self.readers = 0
        self.returned: dict[int, Reader] = {}
        """Readers who hold entries, by number."""
        self.told: list[list[Any]] = []
        """What happened since it was told last."""
        self.evaluated = 0
        """How often it was asked for a start value since then."""

    # ---- A read begins

    def start_read(self, reader: Reader) -> None:
        """Read as soon as there are permits."""
        self.readers += 1
        reader.number = self.readers
        if not self.read_limit.is_limited(reader) or self.takes_permits(reader):
            self.perform(reader)
        elif not self.read_limit.wait(reader, self.now):
            self.fail_reader(reader)

    def takes_permits(self, reader: Reader) -> bool:
        """A reader takes permits for what it is estimated to hold; answers whether they were there."""
        average = self.ledgers.average(reader.topic, reader.ledger)
        reader.permits = len(reader.entries) * self.read_limit.estimate(reader, average)
        return self.read_limit.take(reader)

    def perform(self, reader: Reader) -> None:
        """Take what is cached and ask for the rest."""
        ids = reader.entries
        looked = ((e, self.looked_up(reader.cache, (reader.ledger, e), len(ids) == 1)) for e in ids)
        found = {entry: cached for entry, cached in looked if cached}
        asked = self.answers.missing(reader, found)
        used = [c for entry, c in found.items() if not any(first <= entry <= last for first, last in asked)]
        self.answers.tally_hit(len(used), sum(cached.size for cached in used))
        for cached in used:
            self.take_cached(reader, cached)
        reader.partial = bool(used)
        self.await_all(reader, asked)

    def await_all(self, reader: Reader, asked: list[Run]) -> None:
        """Ask for some runs; the reader is answered when all of them have come, and not before."""
        reader.awaited += 1
        for run in asked:
            self.join_or_ask(reader, run)
        self.part_came(reader)

    def join_or_ask(self, reader: Reader, run: Run) -> None:
        """Listen for the reads that run, and read what they leave."""
        joined, left = self.pending_reads.join(reader, run, self.manager.keeps_nothing(reader.cache))
        parts = runs(left)
        reader.awaited += joined + len(parts)
        for part in parts:
            if joined:
                self.read_left(reader, part)
            else:
                self.ask(Request(reader, part))

    @rule("EC-50", needs="reads")
    def read_left(self, reader: Reader, part: Run) -> None:
        """What other reads leave missing is read, from the cache too if it has come there since."""
        self.perform(reader.part(part))

    # ---- The storage is asked, and answers

    def ask(self, request: Request) -> None:
        """Ask the storage, which may have an answer at once."""
        mode = self.pending_reads.admit(request)
        self.told.append(["asks", *request.order()[:4]])
        if mode == COMPLETES:
            self.come(request)
        elif mode == FAILS:
            self.not_come(request, BROKEN)
        elif mode == RAISES:
            self.raised(request)
        else:
            self.pending_reads.begin(request)

    def come(self, request: Request) -> None:
        """A storage read completes: the cache is populated, then the listeners are told."""
        self.settle(request)
        start = self.started(request)
        counts = self.counts_from(request, start)
        if self.answers.populates(start):
            for entry, count in counts.items():
                self.insert(request.cache, (request.ledger, entry), size_of(entry), count)
        self.answers.tally_missed(len(counts), sum(map(size_of, counts)))
        self.deliver(request, counts)

    @rule(
        "EC-53",
        source="PendingReadsManager, PR 23958",
        needs="reads",
        when=lambda m, request: any(reader.again for reader, *_ in request.listeners),
    )
    def settle(self, request: Request) -> None:
        """A storage read that has come can no longer be joined, before the first of its listeners is told."""
        self.pending_reads.forget(request)

    @rule("RC-04", source="PIP-430", needs="ranks reads", when=lambda m, request: request.creator.cursor != SINGLE)
    def started(self, request: Request) -> int:
        """Ask for the start value, now that the storage answers; a disabled cache has no use for it."""
        if self.manager.keeps_nothing(request.cache):
            return 0
        readers = self.answers.determining(request)
        self.evaluated += sum(reader.cursor != SINGLE for reader in readers)
        return sum(self.start_of(reader) for reader in readers)

    @rule("EC-47", needs="reads", when=lambda m, request, start: start > 0 and request.first < request.last)
    def counts_from(self, request: Request, start: int) -> dict[int, Count | None]:
        """The counts of the entries that have come: each has one of its own."""
        return {entry: self.read_counts.new(start) for entry in request.entries}

    @rule("EC-51", needs="reads", when=lambda m, request, counts: len(request.listeners) > 1)
    def deliver(self, request: Request, counts: dict[int, Count | None]) -> None:
        """Give every listener its part, in the order in which they came."""
        for reader, first, last in [*request.listeners]:
            for entry, count in counts.items():
                if self.answers.in_part(entry, first, last):
                    self.hand_over(reader, entry, count)
            self.part_came(reader)

    # ---- The storage fails

    def not_come(self, request: Request, kind: int) -> None:
        """A storage read fails."""
        pending = self.pending_reads
        if kind == CLOSED and pending.reopens(request):
            request.reopened = True
            pending.forget_ledger(request.cache, request.ledger)
            self.ask(request)
            return
        self.settle(request)
        if pending.forgets_at(kind):
            pending.forget_ledger(request.cache, request.ledger)
        for reader, *_ in [*request.listeners]:
            reader.failed = True
            self.part_came(reader)

    @rule("EC-54", needs="reads")
    def raised(self, request: Request) -> None:
        """If the storage raises instead of taking a request, the ledger leaves the cache, and the read fails."""
        self.drop_ledger(request.cache, request.ledger)
        self.not_come(request, BROKEN)

    # ---- Readers are answered

    @rule("EC-48", source="RangeEntryCacheImpl, PR 24623", needs="reads", when=lambda m, reader, cached: cached.counter)
    def take_cached(self, reader: Reader, cached: Cached) -> None:
        """The entry in the cache and the one that is returned share a count, so that the reader's release lowers it."""
        self.hand_over(reader, cached.position[1], cached.counter)

    def hand_over(self, reader: Reader, number: int, count: Count | None) -> None:
        """A reader has an entry, with a reference of its own."""
        self.store.references += 1
        self.obtain(reader, Returned(number, count))

    def obtain(self, reader: Reader, entry: Returned) -> None:
        """A reader has an entry, which it may have from elsewhere already."""
        entry.reader = reader
        if entry.entry in reader.got:
            self.discard([entry])
        else:
            reader.got[entry.entry] = entry

    def part_came(self, reader: Reader) -> None:
        """A part of what a reader awaits has come, or failed. With the last one it is answered."""
        reader.awaited -= 1
        if reader.awaited:
            return
        if not reader.failed:
            self.answer(reader)
        elif reader.partial:
            self.read_again(reader)
        else:
            self.give_up(reader)

    @rule("EC-45", needs="reads")
    def read_again(self, reader: Reader) -> None:
        """If a missing part fails, what was obtained is released, and the whole range is read from the storage."""
        self.discard(reader.take_all())
        reader.failed = reader.partial = False
        self.await_all(reader, [(reader.first, reader.last)])

    def give_up(self, reader: Reader) -> None:
        """A part has failed, and nothing else is tried."""
        self.discard(reader.take_all())
        self.fail_reader(reader)

    def answer(self, reader: Reader) -> None:
        """A reader is given what it asked for, in the order of the entries."""
        if reader.within:
            for entry in reader.got.values():
                self.obtain(reader.within, entry)
            self.part_came(reader.within)
            return
        entries = reader.listed()
        reader.left = len(entries)
        self.returned[reader.number] = reader
        for entry in entries:
            self.read_counts.pass_by(entry.count, "answered")
        self.told.append(["answers", reader.number, [e.entry for e in entries], lefts(entries)])
        self.once_more(reader)

    def fail_reader(self, reader: Reader) -> None:
        """A reader is told that it failed."""
        if reader.within:
            reader.within.failed = True
            self.part_came(reader.within)
            return
        self.give_permits_back(reader)
        self.told.append(["fails", reader.number])
        self.once_more(reader)

    def once_more(self, reader: Reader) -> None:
        """A reader does the same again, if it is one that does, before it returns."""
        if reader.again:
            run = reader.first, reader.last
            cache = self.caches[reader.topic]
            self.start_read(Reader(cache, reader.topic, reader.cursor, reader.ledger, run, again=False))

    # ---- Readers let go

    @rule(
        "RC-07",
        source="EntryImpl, PR 24623",
        needs="reads",
        when=lambda m, entries: any(entry.count for entry in entries),
    )
    def discard(self, entries: list[Returned]) -> None:
        """An entry that was read and discarded counts as read as well."""
        for entry in entries:
            self.free_returned(entry)

    def free_returned(self, entry: Returned) -> None:
        """An entry that was returned is freed, and with the last one the reader's permits are."""
        self.store.references -= 1
        self.read_counts.pass_by(entry.count, "freed")
        reader = entry.reader
        if reader and reader.left:
            reader.left -= 1
            if self.read_limit.returns_permits(reader):
                self.give_permits_back(reader)

    # ---- Permits are given back

    def give_permits_back(self, reader: Reader) -> None:
        """Permits come back, and those who wait are served from the head on."""
        if not reader.permits:
            return
        self.read_limit.give_back(reader)
        while head := self.read_limit.serve(self.now):
            if head.permits:
                self.perform(head)
            else:
                self.fail_reader(head)
