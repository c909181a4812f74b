"""How a read goes: from the request over the cache and the storage to the answer, and until its entries are freed.

A read takes from the cache what is there and asks the storage for the rest. What was asked stays pending until it is
completed or fails; everything that follows from it happens there and then, in the order in which the readers came. An
entry that a reader was given is an object of its own, which shares its count with the entry in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker_tck.model.entry_cache.entries import Cached, Count
from broker_tck.model.entry_cache.readers import (
    BROKEN,
    CLOSED,
    COMPLETES,
    FAILS,
    NOBODY,
    RAISES,
    SINGLE,
    Reader,
    Request,
    Returned,
    Run,
    runs,
)
from broker_tck.model.entry_cache.short_answers import ShortAnswers
from broker_tck.model.entry_cache.topics import size_of
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.entry_cache.specification import EntryCaches


class Reads(Part):
    """Reads of the entries of all topics, within a limit."""

    ShortAnswers = ShortAnswers

    def __init__(self, model: EntryCaches) -> None:
        self.model = model
        self.store = model.store
        self.retained = model.retained
        self.manager = model.manager
        self.read_counts = model.read_counts
        self.pending = model.pending_reads
        self.limit = model.read_limit
        self.answers = model.answers
        self.short_answers = self.ShortAnswers(self)
        self.told: list[list[Any]] = []
        """What happened since the last :meth:`tell`."""
        self.evaluated = 0
        """Number of times that a start value was asked for since then."""

    # ---- A read begins

    def start(self, reader: Reader) -> None:
        """A reader comes, and reads as soon as there are permits."""
        self.arrive(reader)
        self.admit(reader)

    def arrive(self, reader: Reader) -> None:
        """Readers are numbered as they come."""
        self.model.readers += 1
        reader.number = self.model.readers

    def admit(self, reader: Reader) -> None:
        """Read as soon as there are permits."""
        if not self.limit.is_limited(reader) or self.takes_permits(reader):
            self.perform(reader)
        elif not self.limit.wait(reader, self.model.now):
            self.fail(reader)

    def takes_permits(self, reader: Reader) -> bool:
        """A reader takes permits for what it is estimated to hold; answers whether they were there."""
        average = self.model.ledgers.average(reader.topic, reader.ledger)
        reader.permits = len(reader.entries) * self.limit.estimate(reader, average)
        return self.limit.take(reader)

    def perform(self, reader: Reader) -> None:
        """Take what is cached and ask for the rest."""
        ids = reader.entries
        looked = ((e, self.model.looked_up(reader.cache, (reader.ledger, e), len(ids) == 1)) for e in ids)
        self.await_all(reader, self.take_found(reader, {entry: cached for entry, cached in looked if cached}))

    def take_found(self, reader: Reader, found: dict[int, Cached]) -> list[Run]:
        """Take what was found in the cache, as far as it is not asked for; answers with what is."""
        asked = self.answers.missing(reader, found)
        used = [c for entry, c in found.items() if not any(first <= entry <= last for first, last in asked)]
        self.answers.hit(len(used), sum(cached.size for cached in used))
        for cached in used:
            self.retained.take_cached(reader, cached)
        reader.partial = bool(used)
        return asked

    def await_all(self, reader: Reader, asked: list[Run]) -> None:
        """Ask for some runs; the reader is answered when all of them have come, and not before."""
        reader.awaited += 1
        for run in asked:
            self.join_or_ask(reader, run)
        self.part_came(reader)

    @rule("EC-50", needs="reads")
    def join_or_ask(self, reader: Reader, run: Run) -> None:
        """A read joins all of them before it reads what they do not cover."""
        joined, left = self.pending.join(reader, run, self.manager.keeps_nothing(reader.cache))
        parts = runs(left)
        reader.awaited += joined + len(parts)
        for part in parts:
            if joined:
                self.read_left(reader, part)
            else:
                self.ask(self.new_request(reader, part))

    @rule("EC-50", needs="reads")
    def read_left(self, reader: Reader, part: Run) -> None:
        """The part that running reads do not cover is read from the cache, then from the storage."""
        self.perform(reader.part(part))

    # ---- The storage is asked, and answers

    def new_request(self, reader: Reader, run: Run) -> Request:
        """A read of the storage, which can be joined from now on."""
        request = Request(reader, run)
        self.pending.running.append(request)
        return request

    def ask(self, request: Request) -> None:
        """Ask the storage, which may have an answer at once."""
        mode = self.pending.admit(request)
        self.told.append(["asks", *request.order()[:4]])
        if mode == COMPLETES:
            self.come(request)
        elif mode == FAILS:
            self.not_come(request, BROKEN)
        elif mode == RAISES:
            self.raised(request)
        else:
            self.pending.begin(request)

    def come(self, request: Request) -> None:
        """A storage read completes: the cache is populated, then the listeners are told."""
        self.settle(request)
        start = self.started(request)
        counts = self.counts_from(request, start)
        if self.answers.populates(start):
            for entry, count in counts.items():
                self.populate(Cached(request.cache, (request.ledger, entry), size_of(entry), count, self.model.now))
        self.answers.missed(len(counts), sum(map(size_of, counts)))
        self.deliver(request, counts)

    def populate(self, entry: Cached) -> None:
        """The cache gets an entry of its own."""
        entry.from_storage = True
        if not self.model.insert_entry(entry) and entry.expected_reads and self.store.refusal_counts(entry):
            self.read_counts.read(entry.expected_reads)

    @rule(
        "EC-53",
        source="PendingReadsManager, PR 23958",
        needs="reads",
        when=lambda r, request: any(reader.again for reader, *_ in request.listeners),
    )
    def settle(self, request: Request) -> None:
        """A completed storage read cannot be joined any more, even before its first listener has the answer."""
        self.pending.settled(request)
        self.retained.keep(request, set())

    @rule("RC-04", source="PIP-430", needs="ranks reads", when=lambda r, request: request.creator.cursor != SINGLE)
    def started(self, request: Request) -> int:
        """The rank is asked for when the storage answers; a disabled cache does not ask for it."""
        if self.manager.keeps_nothing(request.cache):
            return 0
        readers = self.answers.determining(request)
        self.evaluated += sum(reader.cursor != SINGLE for reader in readers)
        return sum(self.start_of(reader) for reader in readers)

    @rule("EC-49", source="RangeEntryCacheImpl", needs="reads")
    def start_of(self, reader: Reader) -> int:
        """A read of a single entry expects no reads: it never populates the cache."""
        return NOBODY if reader.cursor == SINGLE else self.model.cursors[reader.topic].start_on_read(str(reader.cursor))

    @rule("EC-47", needs="reads", when=lambda r, request, start: start > 0 and request.first < request.last)
    def counts_from(self, request: Request, start: int) -> dict[int, Count | None]:
        """Each entry of an answer has a count of its own."""
        return {entry: self.read_counts.new(start) for entry in request.entries}

    @rule("EC-51", needs="reads", when=lambda r, request, counts: len(request.listeners) > 1)
    def deliver(self, request: Request, counts: dict[int, Count | None]) -> None:
        """A single listener gets the entries; several get copies, and the originals are freed without a read.

        Listeners are told in the order in which they came.
        """
        for reader, first, last in [*request.listeners]:
            for entry, count in counts.items():
                if self.answers.in_part(entry, first, last):
                    self.retained.hand_over(reader, entry, count)
            self.part_came(reader)

    # ---- The storage fails

    def not_come(self, request: Request, kind: int) -> None:
        """A storage read fails; one that was asked for in parts fails with any of them."""
        if kind == CLOSED and self.pending.reopens(request):
            self.repeat(request)
            return
        whole = request.whole
        whole.failed = True
        self.settle(whole)
        if self.pending.forgets_at(kind):
            self.pending.forget(whole.cache, whole.ledger)
        for reader, *_ in [*whole.listeners]:
            reader.failed = True
            self.part_came(reader)

    def repeat(self, request: Request) -> None:
        """A storage read is repeated."""
        whole = request.whole
        request.reopened = whole.reopened = True
        kept = self.kept_when_reopened(whole)
        again = request if kept == whole.came else whole
        self.retained.keep(whole, kept)
        self.pending.forget(whole.cache, whole.ledger)
        self.ask(again)

    @rule("EC-54", needs="reads", when=lambda r, request: request.came)
    def kept_when_reopened(self, request: Request) -> set[int]:
        """The repeated read asks for what has not come yet."""
        return request.came

    @rule("EC-54", needs="reads")
    def raised(self, request: Request) -> None:
        """If the storage raises in place of taking a request, its ledger leaves the cache, and the read fails."""
        self.model.drop_ledger(request.cache, request.ledger)
        self.not_come(request, BROKEN)

    # ---- Readers are answered

    def part_came(self, reader: Reader) -> None:
        """A part of what a reader awaits has come, or failed. With the last one it is answered."""
        reader.awaited -= 1
        if reader.failed:
            self.retained.failed[reader] = None
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
        """If a missing part fails, the entries obtained are released, and the whole range is read from the storage."""
        self.retained.release(reader)
        reader.failed = reader.partial = False
        self.await_all(reader, [(reader.first, reader.last)])

    def give_up(self, reader: Reader) -> None:
        """A part has failed, and nothing else is tried: the reader is told, and what came is released."""
        self.fail(reader)
        self.retained.release(reader)

    def answer(self, reader: Reader) -> None:
        """A reader is given what it asked for, in the order of the entries."""
        if reader.within:
            for entry in reader.got.values():
                self.retained.obtain(reader.within, entry)
            self.part_came(reader.within)
            return
        entries = reader.listed()
        reader.left = len(entries)
        self.model.returned[reader.number] = reader
        for entry in entries:
            self.read_counts.pass_by(entry.count, "answered")
        self.told.append(["answers", reader.number, [e.entry for e in entries], self.retained.counts(entries)])
        self.once_more(reader)

    def fail(self, reader: Reader) -> None:
        """A reader gets the answer that its read failed."""
        if reader.within:
            reader.within.failed = True
            self.part_came(reader.within)
            return
        self.give_permits_back(reader)
        self.refuse(reader)

    def refuse(self, reader: Reader) -> None:
        """A reader who has no permits is told that its read failed."""
        self.told.append(["fails", reader.number])
        self.once_more(reader)

    @rule("EC-59", source="PR 26599, review", needs="reads", when=lambda r, reader: reader.again)
    def once_more(self, reader: Reader) -> None:
        """While a reader is told, a read from any thread comes to its end: no lock is held that it takes."""
        if reader.again:
            cache = self.model.caches[reader.topic]
            self.start(Reader(cache, reader.topic, reader.cursor, reader.ledger, reader.first, reader.last))

    # ---- Readers let go

    def free(self, entry: Returned) -> None:
        """An entry that was returned is freed, and with the last one the reader's permits are."""
        if reader := self.freed(entry):
            self.give_permits_back(reader)

    def freed(self, entry: Returned) -> Reader | None:
        """An entry that was returned is freed; answers with its reader if that gives its permits back now."""
        self.retained.free(entry)
        reader = entry.reader
        if not reader or not reader.left:
            return None
        reader.left -= 1
        return reader if self.limit.returns_permits(reader) else None

    def give_permits_back(self, reader: Reader) -> None:
        """Permits come back, and those who wait are served."""
        for head in self.no_longer_waiting(reader):
            if head.permits:
                self.serve(head)
            else:
                self.fail(head)

    def no_longer_waiting(self, reader: Reader) -> list[Reader]:
        """Permits come back; answers with those who leave the queue, with permits, or without if it is too late."""
        if not reader.permits:
            return []
        self.limit.give_back(reader)
        return [*iter(lambda: self.limit.serve(self.model.now), None)]

    def serve(self, head: Reader) -> None:
        """One who waited for permits has them."""
        self.perform(head)

    # ---- What is told

    def tell(self) -> list[list[Any]]:
        """What happened since the last call: requests, answers, and how often a start value was asked for."""
        told, self.told = sorted(self.told), []
        if self.evaluated:
            told.append(["counts", self.evaluated])
            self.evaluated = 0
        return told
