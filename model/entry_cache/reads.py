"""How a read goes: from the request over the cache and the storage to the answer, and until its entries are freed.

A read takes from the cache what is there and asks the storage for the rest. What was asked stays pending until it is
completed or fails; everything that follows from it happens there and then, in the order in which the readers came. An
entry that a reader was given is an object of its own, which shares its count with the entry in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

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
    lefts,
    runs,
)
from broker_tck.model.entry_cache.topics import size_of
from broker_tck.model.reference import UNDEFINED, Allowed, as_allowed, either
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.entry_cache.specification import EntryCaches


class Answers(Part):
    """What a read takes from the cache, what becomes of the storage's answer, and how both are counted."""

    def __init__(self) -> None:
        self.hits_and_misses = [0, 0, 0, 0]
        """Entries and bytes that were cached, entries and bytes that were not."""

    @rule("EC-45", source="RangeEntryCacheImpl, 2026", needs="reads")
    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        """If a range is cached in part, the storage is asked for missing entries only, once for each run, in order.

        No run waits for another, and the reader is answered when the last one has come or failed.
        """
        return runs(self.lacking(reader, there))

    @staticmethod
    def lacking(reader: Reader, there: Iterable[int]) -> list[int]:
        """The entries of a range that are not there."""
        return sorted({*reader.entries}.difference(there))

    @rule("EC-46", source="RangeEntryCacheImpl", needs="reads")
    def hit(self, entries: int, size: int) -> None:
        """Hits are counted, by entries and bytes, when the cache is searched."""
        self.tally(0, entries, size)

    @rule("EC-46", needs="reads")
    def missed(self, entries: int, size: int) -> None:
        """Misses are counted, by entries and bytes, when a storage read completes."""
        self.tally(2, entries, size)

    def tally(self, where: int, entries: int, size: int) -> None:
        """Count hits or misses."""
        self.hits_and_misses[where] += entries
        self.hits_and_misses[where + 1] += size

    @rule("EC-52", source="PendingReadsManager", needs="reads")
    def determining(self, request: Request) -> list[Reader]:
        """Only the reader that made a storage read determines the count; those that joined it are not asked."""
        return [request.creator]

    @rule("EC-47", source="RangeEntryCacheImpl, PR 24623", needs="reads")
    def populates(self, start: int) -> bool:
        """The storage's answer is cached only if reads are expected, its lowest entry first.

        The cache asks for expected reads once for each answer.
        """
        return start > 0

    @rule("EC-51", source="PendingReadsManager, PR 24623", needs="reads")
    def in_part(self, entry: int, first: int, last: int) -> bool:
        """Each of several listeners gets the entries of its own range."""
        return first <= entry <= last


class Reads(Part):
    """Reads of the entries of all topics, within a limit."""

    PARTS: ClassVar[str] = "parts of it"
    """What may be asked for in place of the whole rest, in words."""

    def __init__(self, model: EntryCaches) -> None:
        self.model = model
        self.store = model.store
        self.manager = model.manager
        self.read_counts = model.read_counts
        self.pending = model.pending_reads
        self.limit = model.read_limit
        self.answers = model.answers
        self.told: list[list[Any]] = []
        """What happened since the last :meth:`tell`."""
        self.failed: dict[Reader, None] = {}
        """Those of whom a part has failed, until they are told or read again. When they release what came is open."""
        self.other: EntryCaches | None = None
        """The model as it is if a read has failed, and not gone on: either way the storage is asked for the same.

        The values that are held tell which it is.
        """
        self.evaluated = 0
        """Number of times that a start value was asked for since then."""

    # ---- A read begins

    def start(self, reader: Reader) -> None:
        """A reader comes, and reads as soon as there are permits."""
        self.number(reader)
        self.admit(reader)

    def number(self, reader: Reader) -> None:
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
        found = {entry: cached for entry, cached in looked if cached}
        asked = self.answers.missing(reader, found)
        used = [c for entry, c in found.items() if not any(first <= entry <= last for first, last in asked)]
        self.answers.hit(len(used), sum(cached.size for cached in used))
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
        self.keep(request, set())

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
                    self.hand_over(reader, entry, count)
            self.part_came(reader)

    # ---- The storage answers in part

    @rule("EC-65", source="ReadEntryUtils, PR 25280", needs="reads")
    def come_short(self, request: Request, n: int) -> Allowed:
        """If the storage gives fewer entries, the read fails, or keeps them and asks for the rest.

        It may ask for parts of the rest, one after another or at the same time, but not again for an entry that is
        still to come. It ends when all entries have come, or when a part fails.
        """
        self.keep(request.whole, request.whole.came | {*request.entries[:n]})
        return self.or_fails(request.whole, self.rest(request.whole))

    def come_in_full(self, request: Request) -> Allowed | None:
        """A request is answered. If it was a part of a read, that may ask for more; with its last part it completes."""
        whole = request.whole
        if request is not whole:
            self.keep(whole, whole.came | {*request.entries})
            if self.pending.rest_of(whole):
                return self.rest(whole)
        if not self.pending.parts_of(whole):
            self.come(whole)
        return None

    def rest(self, whole: Request) -> Allowed:
        """The storage is asked for the rest, or for parts of it; perhaps for nothing while other parts are to come."""
        rest, waits = self.pending.rest_of(whole), bool(self.pending.parts_of(whole))
        asks = ["asks", *whole.order()[:2]]

        def permits(told: list[list[Any]]) -> bool:
            parts = [(first, last) for *does, first, last in told if does == asks]
            return len(parts) == len(told) and (waits or told != []) and self.are_parts(parts, rest)

        def follow(told: list[list[Any]]) -> None:
            self.go_on(whole, [(first, last) for *_, first, last in told])

        example = [[*asks, *run] for run in rest]
        return Allowed(permits, follow, example, f"{example}, or {self.PARTS}")

    def are_parts(self, parts: list[Run], rest: list[Run]) -> bool:
        """Whether some runs, in ascending order, are parts of the rest that do not overlap."""
        within = all(any(r[0] <= first <= last <= r[1] for r in rest) for first, last in parts)
        return within and all(one[1] < other[0] for one, other in pairwise(parts))

    def go_on(self, whole: Request, parts: list[Run]) -> None:
        """Ask for parts of the rest. All of it stays one read, which can be joined."""
        for run in parts:
            part = Request(whole.creator, run, whole)
            self.pending.admit(part)
            self.pending.begin(part)

    def or_fails(self, whole: Request, asks: Allowed) -> Allowed:
        """A read asks for something, or fails."""

        def permits(told: list[list[Any]]) -> bool:
            return asks.permits(told) or told == self.failing(whole)

        def follow(told: list[list[Any]]) -> None:
            if asks.permits(told):
                self.other = self.failed_alike(whole, told)
                asks.follow(told)

        return asks._replace(permits=permits, follow=follow, says=f"{asks.says}, or what follows if the read fails")

    def failed_alike(self, whole: Request, told: list[list[Any]]) -> EntryCaches | None:
        """The model after a failure of a read, if that tells the same; only one that reads again asks for something."""
        if told and not any(reader.partial for reader, *_ in whole.listeners):
            return None
        other, failed = deepcopy((self.model, whole))
        return other if other.reads.failing(failed) == told else None

    def failing(self, request: Request) -> list[list[Any]]:
        """What follows if the read fails: all that came is released."""
        self.not_come(request, BROKEN)
        return self.tell()

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
        self.keep(whole, kept)
        self.pending.forget(whole.cache, whole.ledger)
        self.ask(again)

    def may_repeat(self, request: Request) -> Allowed:
        """A part fails after another part of its read was repeated: it may be repeated as well, or the read fails."""
        asks = [["asks", *request.order()[:4]]]

        def follow(_: list[list[Any]]) -> None:
            self.not_come(request, CLOSED)
            self.tell()

        return self.or_fails(request.whole, Allowed(asks.__eq__, follow, asks, f"{asks}"))

    @rule("EC-54", needs="reads", when=lambda r, request: request.came)
    def kept_when_reopened(self, request: Request) -> set[int]:
        """The repeated read asks for what has not come yet."""
        return request.came

    def keep(self, request: Request, entries: set[int]) -> None:
        """Some entries of an answer in part are kept, the others released."""
        self.store.references += len(entries) - len(request.came)
        request.came = entries

    @rule("EC-54", needs="reads")
    def raised(self, request: Request) -> None:
        """If the storage raises in place of taking a request, its ledger leaves the cache, and the read fails."""
        self.model.drop_ledger(request.cache, request.ledger)
        self.not_come(request, BROKEN)

    # ---- Readers are answered

    @rule(
        "EC-48",
        source="RangeEntryCacheImpl, PR 24623",
        needs="reads",
        when=lambda r, reader, cached: cached.expected_reads,
    )
    def take_cached(self, reader: Reader, cached: Cached) -> None:
        """The cached entry and the returned one share a count, so the reader's release lowers it."""
        self.hand_over(reader, cached.position[1], cached.expected_reads)

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
        if reader.failed:
            self.failed[reader] = None
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
        self.release(reader)
        reader.failed = reader.partial = False
        self.await_all(reader, [(reader.first, reader.last)])

    def references(self) -> int | Allowed:
        """How many values are referred to. What came may be released when a part fails, or with the last part."""
        held = self.store.references
        released = held - sum(len(reader.got) for reader in self.failed)
        answer = either(held, released, self.release_early, f"{held} or {released}") if released < held else held
        if self.other is None:
            return answer
        other, self.other = self.other, None
        failed = other.reads.references()
        says = f"{as_allowed(answer).says or held}, or fewer if the read fails"
        return either(answer, failed, lambda: self.model.become(other), says)

    def release_early(self) -> None:
        """What came is released now."""
        self.discard([entry for reader in self.failed for entry in reader.take_all()])

    def give_up(self, reader: Reader) -> None:
        """A part has failed, and nothing else is tried: the reader is told, and what came is released."""
        self.fail(reader)
        self.release(reader)

    def release(self, reader: Reader) -> None:
        """A reader of whom a part has failed has nothing any longer."""
        del self.failed[reader]
        self.discard(reader.take_all())

    def answer(self, reader: Reader) -> None:
        """A reader is given what it asked for, in the order of the entries."""
        if reader.within:
            for entry in reader.got.values():
                self.obtain(reader.within, entry)
            self.part_came(reader.within)
            return
        entries = reader.listed()
        reader.left = len(entries)
        self.model.returned[reader.number] = reader
        for entry in entries:
            self.read_counts.pass_by(entry.count, "answered")
        self.told.append(["answers", reader.number, [e.entry for e in entries], self.counts(entries)])
        self.once_more(reader)

    def counts(self, entries: list[Returned]) -> list[Any]:
        """The counts of entries; anything for one that somebody shares who may have released it, or not."""
        open_ones = [entry.count for reader in self.failed for entry in reader.got.values() if entry.count]
        return [UNDEFINED if e.count in open_ones else left for e, left in zip(entries, lefts(entries), strict=True)]

    def fail(self, reader: Reader) -> None:
        """A reader gets the answer that its read failed."""
        if reader.within:
            reader.within.failed = True
            self.part_came(reader.within)
            return
        self.give_permits_back(reader)
        self.told.append(["fails", reader.number])
        self.once_more(reader)

    @rule("EC-59", source="PR 26599, review", needs="reads", when=lambda r, reader: reader.again)
    def once_more(self, reader: Reader) -> None:
        """While a reader is told, a read from any thread comes to its end: no lock is held that it takes."""
        if reader.again:
            cache = self.model.caches[reader.topic]
            self.start(Reader(cache, reader.topic, reader.cursor, reader.ledger, reader.first, reader.last))

    # ---- Readers let go

    @rule(
        "RC-07",
        source="EntryImpl, PR 24623",
        needs="reads",
        when=lambda r, entries: any(entry.count for entry in entries),
    )
    def discard(self, entries: list[Returned]) -> None:
        """An entry that was read and discarded counts as read."""
        for entry in entries:
            self.free(entry)

    def free(self, entry: Returned) -> None:
        """An entry that was returned is freed, and with the last one the reader's permits are."""
        self.store.references -= 1
        self.read_counts.pass_by(entry.count, "freed")
        reader = entry.reader
        if reader and reader.left:
            reader.left -= 1
            if self.limit.returns_permits(reader):
                self.give_permits_back(reader)

    def give_permits_back(self, reader: Reader) -> None:
        """Permits come back, and those who wait are served."""
        if not reader.permits:
            return
        self.limit.give_back(reader)
        for head in [*iter(lambda: self.limit.serve(self.model.now), None)]:
            if head.permits:
                self.serve(head)
            else:
                self.fail(head)

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
