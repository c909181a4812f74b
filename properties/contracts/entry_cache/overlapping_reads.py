"""What threads may call of a cache that reads: readers come and let go, the storage answers or fails.

A call has an agenda: what it has still to do, one moment after the other. Other calls may come between any two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, cast

from msgspec import structs

from broker_tck.model.entry_cache.entries import Cached, Count
from broker_tck.model.entry_cache.read_limit import OVERHEAD, UNKNOWN_SIZE
from broker_tck.model.entry_cache.readers import CLOSED, SINGLE, Reader, Request, Returned, Run
from broker_tck.model.entry_cache.releases import listen
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.topics import size_of
from broker_tck.properties.contracts.entry_cache.operations import Capabilities, Config
from broker_tck.properties.contracts.entry_cache.reading import (
    Complete,
    Cursor,
    Done,
    Fail,
    Fetch,
    FetchOne,
    Hits,
    Permits,
)
from broker_tck.properties.engine.answers import agree
from broker_tck.properties.engine.concurrent import Concurrent, Word
from broker_tck.properties.engine.operation import Operation

Counts = Mapping[int, Count | None]
Agenda = Sequence[tuple[Any, ...]]
"""Each a method's name and its arguments."""
MOST_READ = 3
"""Maximum number of entries that are read at once."""
NEAR = 1
"""How far from others a read begins, at most."""
GOES_ON, HANDS_OVER, SERVES = ("goes on",), ("hands over",), ("serves",)


class ReadingCall:
    """A call under way. Its methods are what may be on its agenda; they answer with what comes next."""

    CHANGES_SIZES = True

    def __init__(self, model: EntryCaches, call: Any, thread: int) -> None:
        self.model, self.thread = model, thread
        self.reads = model.reads
        self.told: list[list[Any]] = []
        self.evaluated = 0
        self.request: Request | None = None
        """The storage's read that it ends."""
        self.served: list[Reader] = []
        """Those who have waited for permits that came back in this call, and go on in it, whenever that is."""
        model.under_way[thread] = self  # type: ignore[assignment]
        self.agenda = [*BEGINS[type(call)](self, call)]
        self.listen()

    def words(self) -> Sequence[Word]:
        """The next moment, if there is one. What follows from a storage's answer may be left to who asks just now."""
        hands_over = [HANDS_OVER] if self.agenda and self.request and self.asking() else []
        return [*([GOES_ON] if self.agenda else []), *hands_over, *([SERVES] if self.served else [])]

    def asking(self) -> ReadingCall | None:
        """The other call that has asked the storage for what this one ends, and does not wait for it yet."""
        calls = cast(Mapping[int, ReadingCall], self.model.under_way)
        others = (call for thread, call in calls.items() if thread != self.thread)
        return next((call for call in others if ("await_answer", self.request) in call.agenda), None)

    def step(self, word: Word) -> None:
        """The next moment comes, or is left to another call."""
        if word == HANDS_OVER:
            other = self.asking()
            assert other
            self.agenda, other.agenda = [], [*self.agenda, *other.agenda]
            return
        if word == SERVES:
            self.agenda = [*self.serve(self.served.pop(0)), *self.agenda]
            self.listen()
            return
        (name, *arguments), *later = self.agenda
        self.agenda = [*(getattr(self, name)(*arguments) or ()), *later]
        self.listen()

    def listen(self) -> None:
        """Note what was told."""
        self.told += self.reads.told
        self.evaluated += self.reads.evaluated
        self.reads.told, self.reads.evaluated = [], 0

    def ends(self, result: Any) -> bool:
        """Whether nothing is left to do, and nothing else was told."""
        ended = not self.agenda and not self.served and agree(self.answer(), result)
        if ended:
            del self.model.under_way[self.thread]
        return ended

    def answer(self) -> list[list[Any]]:
        """What was told, in order."""
        return sorted(self.told) + ([["counts", self.evaluated]] if self.evaluated else [])

    def says(self) -> str:
        """What was told."""
        return f"{self.answer()}" if not self.agenda and not self.served else "what follows from reads that go on"

    # ---- A read begins

    def fetch(self, call: Fetch) -> Agenda:
        """A cursor reads."""
        cache, last = self.model.caches[call.topic], call.first + call.n - 1
        return self.come(Reader(cache, call.topic, call.cursor, call.ledger, call.first, last))

    def fetch_one(self, call: FetchOne) -> Agenda:
        """A single entry is read."""
        cache = self.model.caches[call.topic]
        return self.come(Reader(cache, call.topic, SINGLE, call.ledger, call.entry, call.entry))

    def come(self, reader: Reader) -> Agenda:
        """A reader comes. It has its number from its begin on."""
        self.reads.arrive(reader)
        return [("acquire", reader)] if self.model.read_limit.is_limited(reader) else self.reading(reader)

    def acquire(self, reader: Reader) -> Agenda:
        """A reader takes its permits, or waits for them, or fails as too many wait."""
        if self.reads.takes_permits(reader):
            return self.reading(reader)
        return [] if self.model.read_limit.wait(reader, self.model.now) else self.given_up(reader)

    def serve(self, head: Reader) -> Agenda:
        """One who has waited has permits, or has waited for too long."""
        return self.reading(head) if head.permits else self.given_up(head)

    def reading(self, reader: Reader) -> Agenda:
        """A reader looks at each entry, one after the other."""
        found: dict[int, Cached] = {}
        return [("look", reader, entry, found) for entry in reader.entries]

    def look(self, reader: Reader, entry: int, found: dict[int, Cached]) -> Agenda:
        """A reader looks at an entry; with the last one he has what is cached, and awaits the rest."""
        if cached := self.model.looked_up(reader.cache, (reader.ledger, entry), reader.first == reader.last):
            found[entry] = cached
        return [] if entry < reader.last else self.awaiting(reader, self.reads.take_found(reader, found))

    def awaiting(self, reader: Reader, missing: Sequence[Run]) -> Agenda:
        """A reader awaits some runs."""
        reader.awaited = 1 + len(missing)
        return [*(("join_or_ask", reader, run) for run in missing), ("part_came", reader)]

    def join_or_ask(self, reader: Reader, run: Run) -> Agenda:
        """A reader joins a running read, or makes one."""
        found = self.model.pending_reads.overlapping(reader, run, disabled=False)
        if not found:
            return [("ask", self.reads.new_request(reader, run))]
        group, left = listen(reader, run, found)
        parts = (step for part in left for step in self.reading(group.part(part)))
        return [*parts, ("part_came", group)]

    def ask(self, request: Request) -> Agenda:
        """The storage is asked. If it answers before its answer is waited for, what follows from it comes first."""
        self.reads.ask(request)
        return [("await_answer", request)]

    def await_answer(self, request: Request) -> None:
        """From now on, what follows from the answer is up to who brings it."""

    # ---- Parts come, and readers are answered

    def part_came(self, reader: Reader) -> Agenda:
        """A part has come, or failed. With the last one the reader is answered, or reads all again, or gives up."""
        reader.awaited -= 1
        if reader.awaited:
            return []
        if not reader.failed:
            return self.answered(reader)
        came = reader.take_all()
        if reader.partial:
            reader.failed = reader.partial = False
            return [("discard", came), *self.awaiting(reader, [(reader.first, reader.last)])]
        return [*self.given_up(reader), ("discard", came)]

    def answered(self, reader: Reader) -> Agenda:
        """A reader has all that it asked for."""
        if reader.within is None:
            self.reads.answer(reader)
            return []
        for entry in reader.got.values():
            self.model.retained.obtain(reader.within, entry)
        return [("part_came", reader.within)]

    def given_up(self, reader: Reader) -> Agenda:
        """A reader fails."""
        if reader.within is None:
            self.served += self.reads.no_longer_waiting(reader)
            self.reads.refuse(reader)
            return []
        reader.within.failed = True
        return [("part_came", reader.within)]

    def discard(self, came: list[Returned]) -> None:
        """Entries are released unread."""
        self.model.retained.discard(came)

    # ---- The storage answers

    def complete(self, call: Complete) -> Agenda:
        """The storage answers a read."""
        return [("completed", call.i)]

    def completed(self, i: int) -> Agenda:
        """Which one is known."""
        self.request = self.model.pending_reads.take(i)
        return [("cache", self.request)] if self.request else []

    def cache(self, request: Request) -> Agenda:
        """Its entries are cached one after the other, then it ends."""
        start = self.reads.started(request)
        counts = self.reads.counts_from(request, start)
        cached = counts.items() if self.model.answers.populates(start) else ()
        return [*(("populate", request, entry, count) for entry, count in cached), ("settle", request, counts)]

    def populate(self, request: Request, entry: int, count: Count | None) -> None:
        """The cache gets an entry."""
        position = request.ledger, entry
        self.reads.populate(Cached(request.cache, position, size_of(entry), count, self.model.now))

    def settle(self, request: Request, counts: Counts) -> Agenda:
        """It can no longer be joined, and those who have joined it are told."""
        self.model.answers.missed(len(counts), sum(map(size_of, counts)))
        self.reads.settle(request)
        return [("deliver", *listener, counts) for listener in request.listeners]

    def deliver(self, reader: Reader, first: int, last: int, counts: Counts) -> Agenda:
        """One who has joined gets the entries."""
        for entry, count in counts.items():
            if self.model.answers.in_part(entry, first, last):
                self.model.retained.hand_over(reader, entry, count)
        return self.part_came(reader)

    # ---- The storage fails

    def fail(self, call: Fail) -> Agenda:
        """The storage fails a read."""
        return [("failed", call.i, call.kind)]

    def failed(self, i: int, kind: int) -> Agenda:
        """Which one is known; running reads of its ledger are forgotten, and it is repeated, or ends."""
        self.request = request = self.model.pending_reads.take(i)
        if request is None:
            return []
        if kind == CLOSED and self.model.pending_reads.reopens(request):
            request.reopened = True
            return [("forget", request), ("ask", request)]
        forgets = [("forget", request)] if self.model.pending_reads.forgets_at(kind) else []
        return [*forgets, ("give_up", request)]

    def forget(self, request: Request) -> None:
        """The reads of its ledger can no longer be joined."""
        self.model.pending_reads.forget(request.cache, request.ledger)

    def give_up(self, request: Request) -> Agenda:
        """It can no longer be joined, and those who have joined it are told."""
        self.reads.settle(request)
        return [("fall_short", reader) for reader, *_ in request.listeners]

    def fall_short(self, reader: Reader) -> Agenda:
        """One who has joined gets nothing."""
        reader.failed = True
        return self.part_came(reader)

    # ---- A reader lets go

    def done(self, call: Done) -> Agenda:
        """A reader lets go."""
        return [("let_go", call.i)]

    def let_go(self, i: int) -> Agenda:
        """Which one is known; it releases one entry after the other."""
        reader = self.model.reader(i)
        if reader is None:
            return []
        del self.model.returned[reader.number]
        return [("free", entry) for entry in reader.listed()]

    def free(self, entry: Returned) -> Agenda:
        """An entry is released. With the last one the reader's permits are, but its count is lowered before that."""
        reader = self.reads.freed(entry)
        return [("give_back", reader)] if reader and reader.permits else []

    def give_back(self, reader: Reader) -> None:
        """A reader's permits come back."""
        self.served += self.reads.no_longer_waiting(reader)


BEGINS: Mapping[type[Operation], Callable[[ReadingCall, Any], Agenda]] = {
    Fetch: ReadingCall.fetch,
    FetchOne: ReadingCall.fetch_one,
    Complete: ReadingCall.complete,
    Fail: ReadingCall.fail,
    Done: ReadingCall.done,
}


FIELDS: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    Reader: attrgetter("number", "first", "last", "awaited", "failed", "partial", "got", "within", "permits", "left"),
    Request: attrgetter("first", "last", "number", "reopened", "creator", "listeners"),
    Returned: attrgetter("entry", "count", "reader"),
    Cached: attrgetter("expected_reads"),
    Count: attrgetter("left"),
}
"""What may differ in objects that a call has to do with."""


class Shape:
    """Makes values comparable: instead of its identity, each object has a number, by its first place."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}

    def of(self, value: Any) -> Hashable:
        """A value without the identity of its objects."""
        kind = type(value)
        if kind in (list, tuple):
            return tuple(map(self.of, value))
        if kind is not dict and kind not in FIELDS:
            return cast(Hashable, value)
        if (number := self.numbers.get(id(value))) is not None:
            return number
        self.numbers[id(value)] = len(self.numbers)
        return (*value, *map(self.of, value.values())) if kind is dict else self.of(FIELDS[kind](value))


def fingerprint(model: EntryCaches) -> Hashable:
    """What is cached, read and held, how many readers have come, and what calls under way have still to do."""
    calls = cast(list[tuple[int, ReadingCall]], sorted(model.under_way.items()))
    told = str([(thread, call.told, call.evaluated) for thread, call in calls])
    left = [(call.agenda, call.request, call.served) for _, call in calls]
    pending = model.pending_reads
    limit = model.read_limit.remaining, [*model.read_limit.waiting]
    state = left, model.caches[0].entries, pending.running, pending.waiting, model.returned, limit
    return told, model.readers, *model.answers.hits_and_misses, Shape().of(state)


def rest(model: EntryCaches, operations: Sequence[Operation]) -> Iterator[Operation]:
    """The storage answers all, and everybody lets go. Those who wait then have their permits, and let go as well."""
    asking = [operation for operation in operations if isinstance(operation, ASKING)]
    yield from (Complete(0) for _ in (*asking, *asking))
    if model.config.max_reads_in_flight:
        for _ in asking:
            yield from (Done(0), Complete(0), Complete(0))
        yield Permits()
    yield from (Done(0) for _ in asking)
    yield Hits()


def fits(operation: Operation, model: EntryCaches, _: Capabilities) -> bool:
    """Whether a read is short, is not repeated by its reader, and begins where it may meet others."""
    if isinstance(operation, Fetch):
        return operation.n <= MOST_READ and not operation.again and is_near(model, operation.ledger, operation.first)
    return not isinstance(operation, FetchOne) or is_near(model, operation.ledger, operation.entry)


def is_near(model: EntryCaches, ledger: int, entry: int) -> bool:
    """Whether an entry is near to one of those that are read or cached, if there are any."""
    known = [*model.caches[0].entries, *((r.ledger, r.first) for r in model.pending_reads.running)]
    return not known or any(other == ledger and abs(entry - at) <= NEAR for other, at in known)


def happens(operation: Operation) -> bool:
    """Whether an operation is of the only topic."""
    return getattr(operation, "topic", 0) == 0


def counted(config: Config) -> Config:
    """A configuration in which reads are counted, with a limit only if that is enough for one entry."""
    limit = config.max_reads_in_flight if config.max_reads_in_flight >= UNKNOWN_SIZE + OVERHEAD else 0
    return structs.replace(config, max_size=None, max_reads_in_flight=limit, by_read_count=True)


ASKING = (Fetch, Fetch, FetchOne)
READS = Concurrent(
    opening=(Cursor(0, 0, 0, 0, 1), Cursor(0, 1, 0, 1, 1), Cursor(0, 2, 0, 2, 1)),
    threads=((2, 3), (2, 3), (3, 1)),
    fills=ASKING,
    before=(*ASKING, Complete, Done),
    calls=(*ASKING, *ASKING, Complete, Complete, Complete, Fail, Done),
    rest=rest,
    steps=dict.fromkeys(BEGINS, ReadingCall),
    fingerprint=fingerprint,
    fits=fits,
    happens=happens,
    config=counted,
)


# ---- Before 4.0.6


def is_aligned(operation: Operation, model: EntryCaches, capabilities: Capabilities) -> bool:
    """Whether a read is of one entry, so that it joins another one as a whole."""
    return fits(operation, model, capabilities) and (not isinstance(operation, Fetch) or operation.n == 1)


def unlimited(config: Config) -> Config:
    """A configuration without a limit, in which reads are counted."""
    return structs.replace(counted(config), max_reads_in_flight=0)


ALIGNED = replace(
    READS,
    fills=(Fetch,),
    before=(Fetch, Complete, Done),
    calls=(Fetch, Fetch, Fetch, Complete, Complete, Fail, Done),
    fits=is_aligned,
    config=unlimited,
)
"""The same of cursors that read one entry at a time: no profile says how a read joins a part of another one."""
