"""Reads through the entry caches: hits, storage, joined reads, the limit of reads in flight, and who counts as reader.

The class :class:`Reads` is the part of the specification ``entry-cache`` that answers readers. A topic has ledgers, in
which every entry is stored, and active cursors, as contract ``active-cursors`` specifies them. A read takes from the
cache what is there and asks the storage for the rest. What was asked stays pending until it is completed or fails;
everything that follows from it happens there and then, in the order in which the readers came.

An entry that a reader was given is an object of its own, which shares its count with the entry in the cache.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, Protocol

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.model.entry_cache.entries import Cache, Cached, Count, Position
from broker_tck.model.entry_cache.readers import Reader, Request, Returned, Run
from broker_tck.model.reference import Reference
from broker_tck.model.rules import Rule, also, informative, law, rule

OVERHEAD = 64
"""Bytes that the limiter takes for each entry beside its own."""
UNKNOWN_SIZE = 10_240
"""Bytes that it takes for an entry of a ledger of which nothing is known."""
ENTRY_SIZES = (10, 30, 20, 40)
"""Of the stored entries, by entry id, over and over."""
WAITS, COMPLETES, FAILS, RAISES = range(4)
"""What the storage does when it is asked: waits to be told, completes at once, fails at once, raises."""
BUSY, BROKEN, CLOSED = range(3)
"""How a storage read fails: too many requests, anything else, the ledger's handle was closed."""
SINGLE = -1
"""In place of a cursor: a read of a single entry, which is not a cursor's."""


class Config(Protocol):
    """What a trace configures."""

    @property
    def by_read_count(self) -> bool: ...
    @property
    def grace(self) -> int: ...
    @property
    def max_reads_in_flight(self) -> int: ...
    @property
    def acquire_timeout(self) -> int: ...
    @property
    def acquire_queue(self) -> int: ...


class CursorsConfig(NamedTuple):
    """What the cursors of a topic are configured with."""

    clock: int
    grace: int


class Reads(Reference):
    """How readers are answered."""

    UNEMBODIED: ClassVar[tuple[Rule, ...]] = (
        law(
            "EC-P17",
            "What is left of the limit of reads in flight is never below 0, and is all of it when nobody reads.",
            source="follows from EC-55",
            look="permits that are given back twice, or never: after failures, with the last entry, from the queue",
        ),
        informative(
            "RC-10",
            "An entry that is put back before it is released keeps its protection all the while.",
            source="PIP-430, Key_Shared look-ahead",
            why="it is RC-06 and RC-09 once more, in either order",
        ),
        informative(
            "RC-12",
            "A batch of messages is one entry, with one count.",
            source="EntryReadCountHandlerImpl, PR 24623",
            why="what is in an entry is not seen here",
        ),
        informative(
            "RC-14",
            "Counts change atomically, and a pass asks for one once a visit.",
            source="EntryReadCountHandlerImpl, PR 24623",
            why="calls come one at a time; between the steps of a pass see IL-12",
        ),
        informative(
            "RC-13",
            "An entry of a topic with one cursor, read at once, lives two TTL where access extends, else one.",
            source="follows from EC-24 and RC-03",
            why="it is those two once more",
        ),
    )

    config: Config
    now: int
    references: int
    caches: list[Cache]
    stored: dict[tuple[int, Position], Cached]

    def start_reading(self) -> None:
        """Nothing has been read yet."""
        self.readers = 0
        self.requests = 0
        self.pending: list[Request] = []
        self.running: list[Request] = []
        """Those that can be joined."""
        self.returned: dict[int, Reader] = {}
        """Readers who hold entries, by number."""
        self.storage_mode = WAITS
        self.written: dict[tuple[int, int], int] = {}
        """How many entries each ledger of a topic has."""
        of_cursors = CursorsConfig(self.now, self.config.grace if self.config.by_read_count else 0)
        self.cursors = [ActiveCursors(of_cursors) for _ in self.caches]
        self.caching: set[tuple[int, int]] = set()
        """The cursors, with their topics, whose reads are to be cached where reads are not counted."""
        self.remaining = self.config.max_reads_in_flight
        self.waiting: deque[Reader] = deque()
        self.hits_and_misses = [0, 0, 0, 0]
        self.told: list[list[Any]] = []
        self.evaluated = 0

    # ---- What is needed of the caches

    @abstractmethod
    def insert(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Put an entry into a cache; none where it is refused."""

    @abstractmethod
    def keeps_nothing(self, cache: Cache) -> bool:
        """Whether a cache is a disabled one."""

    @abstractmethod
    def counted_from(self, expected: int) -> int | None:
        """What a count starts with."""

    @abstractmethod
    def after_read(self, count: int) -> int:
        """What a count is after a read."""

    @abstractmethod
    def after_increment(self, count: int) -> int:
        """What it is when one more read is expected."""

    @abstractmethod
    def looked_up(self, cache: Cache, position: Position, alone: bool) -> Cached | None:
        """The entry of a position that can be handed out, marked as it is read alone or in a range."""

    @abstractmethod
    def remove_all(self, entries: list[Cached]) -> list[int]:
        """Take entries out of their caches."""

    @abstractmethod
    def clear(self, cache: int) -> list[int]:
        """Empty a cache."""

    @abstractmethod
    def invalidate(self, cache: int, ledger: int, entry: int) -> None:
        """Remove what is before a position."""

    # ---- The ledger: entries are added

    @also(
        ActiveCursors.caches,
        absent=lambda m, cursors: cursors.size() > 0,
        at_the_grace_time_as_well=lambda m, cursors: (
            cursors.caches() or (m.config.by_read_count and m.now - cursors.grace.since <= m.config.grace)
        ),
        in_grace_alone=lambda m, cursors: m.now - cursors.grace.since < cursors.config.grace,
        whether_counted_or_not=lambda m, cursors: cursors.caches() or m.now - cursors.grace.since < m.config.grace,
        always=lambda m, cursors: True,
    )
    def caches_added(self, cursors: ActiveCursors) -> bool:
        """Whether an added entry is to be cached."""
        return cursors.caches()

    @also(caches_added, absent=lambda m, cursors, before: before)
    def graced_from(self, cursors: ActiveCursors, before: int) -> int:
        """From when the grace time is counted now that a cursor was removed, by what it was before."""
        return cursors.grace.since

    @rule(
        "RC-03",
        "The count of an added entry starts with the number of active cursors, wherever they are; with 0 where reads "
        "are not counted.",
        source="PIP-430",
        look="cursors that are behind, or ahead",
        absent=lambda m, cursors: 0,
        whether_counted_or_not=lambda m, cursors: cursors.size(),
        one_for_all=lambda m, cursors: min(cursors.size(), 1) if m.config.by_read_count else 0,
        one_at_least=lambda m, cursors: max(cursors.size(), 1) if m.config.by_read_count else 0,
    )
    def start_on_add(self, cursors: ActiveCursors) -> int:
        return cursors.size() if self.config.by_read_count else 0

    def append(self, topic: int, ledger: int) -> bool | None:
        """Add the next entry of a ledger; answers whether it was inserted, with nothing where it is not to be."""
        entry = self.written.get((topic, ledger), 0)
        self.written[topic, ledger] = entry + 1
        cursors = self.cursors_now(topic)
        if not self.caches_added(cursors):
            return None
        count = self.new_count(self.start_on_add(cursors))
        inserted = self.insert(self.caches[topic], (ledger, entry), size_of(entry), count)
        if inserted:
            self.stored[topic, (ledger, entry)] = inserted
        return inserted is not None

    def write(self, topic: int, ledger: int, n: int) -> None:
        """A ledger has n entries more, which were written before all this."""
        self.written[topic, ledger] = self.written.get((topic, ledger), 0) + n

    def new_count(self, expected: int) -> Count | None:
        """A count, if reads are expected."""
        left = self.counted_from(expected)
        return None if left is None else Count(left)

    # ---- Cursors

    @rule(
        "EC-56",
        "Where reads are counted, cursors that move or leave invalidate nothing.",
        source="PR 26511",
        look="entries that the slowest cursor has read",
        absent=lambda m: True,
    )
    def moves_invalidate(self) -> bool:
        return not self.config.by_read_count

    @rule(
        "EC-57",
        "Where they are not, what is before the slowest position goes when it changes; without a cursor, all goes.",
        source="PRs 12045, 16054, 17273",
        look="the least of all positions, not that of any cursor; the last cursor that leaves",
        absent=lambda m, cursors, before: before,
        of_the_first_cursor=lambda m, cursors, before: next(iter(cursors.tracked.values()), None),
        of_the_fastest_cursor=lambda m, cursors, before: max(cursors.tracked.values(), default=None),
    )
    def slowest(self, cursors: ActiveCursors, before: Position | None) -> Position | None:
        """The slowest position now, by what it was before."""
        return cursors.slowest()

    @also(slowest, absent=lambda m: False)
    def clears_without_cursor(self) -> bool:
        return True

    @rule(
        "RC-11",
        "A cursor that comes, moves or leaves does not change the counts of what is cached.",
        source="PIP-430",
        look="counts that are corrected; only the time and the limit of requeueing take such entries away",
        absent=lambda m, left: left - 1,
    )
    def left_by_cursor(self, left: int) -> int:
        """What the count of a cached entry is when a cursor leaves."""
        return left

    @also(left_by_cursor, absent=lambda m, left: left + 1)
    def met_by_cursor(self, left: int) -> int:
        """What the count of a cached entry is when a cursor comes."""
        return left

    def cursor(self, topic: int, name: int, ledger: int, entry: int, caching: int) -> None:
        """A cursor is added, or moves."""
        cursors = self.cursors[topic]
        before = cursors.slowest()
        if cursors.get(str(name)) is None:
            self.correct(topic, self.met_by_cursor)
            cursors.add(str(name), (ledger, entry))
        else:
            cursors.update(str(name), (ledger, entry))
        (self.caching.add if caching else self.caching.discard)((topic, name))
        self.moved(topic, before)

    def uncursor(self, topic: int, name: int) -> bool:
        """A cursor is removed; answers whether it was there."""
        cursors = self.cursors_now(topic)
        before, since = cursors.slowest(), cursors.grace.since
        if not cursors.remove(str(name)):
            return False
        cursors.grace.since = self.graced_from(cursors, since)
        self.caching.discard((topic, name))
        self.correct(topic, self.left_by_cursor)
        self.moved(topic, before)
        return True

    def cursors_now(self, topic: int) -> ActiveCursors:
        """The cursors of a topic, which are told what time it is."""
        cursors = self.cursors[topic]
        cursors.advance(self.now - cursors.now)
        return cursors

    def correct(self, topic: int, corrected: Callable[[int], int]) -> None:
        """Change the counts of what is cached."""
        for entry in self.caches[topic].entries.values():
            if entry.counter is not None:
                entry.counter.left = corrected(entry.counter.left)

    def moved(self, topic: int, before: Position | None) -> None:
        """What a cursor's move, or a cursor that leaves, does to the cache."""
        now = self.slowest(self.cursors[topic], before)
        if not self.moves_invalidate() or now == before:
            return
        if now is not None:
            self.invalidate(topic, *now)
        elif self.clears_without_cursor():
            self.clear(topic)

    # ---- A read begins

    def fetch(self, topic: int, cursor: int, ledger: int, first: int, n: int, again: int) -> list[list[Any]]:
        """A cursor reads n entries of a ledger."""
        self.start_read(Reader(self.caches[topic], topic, cursor, ledger, (first, first + n - 1), bool(again)))
        return self.tell()

    def fetch_one(self, topic: int, ledger: int, entry: int) -> list[list[Any]]:
        """An entry is read, for nobody's cursor."""
        self.start_read(Reader(self.caches[topic], topic, SINGLE, ledger, (entry, entry), again=False))
        return self.tell()

    def start_read(self, reader: Reader) -> None:
        """Read as soon as there are permits."""
        self.readers += 1
        reader.number = self.readers
        if not self.is_limited(reader):
            self.perform(reader)
            return
        reader.permits = (reader.last - reader.first + 1) * self.estimate(reader)
        if self.fits(reader.permits) and not self.waits_behind():
            self.remaining -= reader.permits
            self.perform(reader)
        elif self.has_room():
            reader.since = self.now
            self.waiting.append(reader)
        else:
            reader.permits = 0
            self.fail_reader(reader)

    @rule(
        "EC-55",
        "Where a limit is set, a read takes permits for the bytes that it is estimated to hold, cursors' and single "
        "reads, hits and misses alike, and gives them back when the last entry that it returned is freed. An entry is "
        "taken to have the average size of its ledger and 64 bytes more; where nothing is known of that, the average "
        "of what was cached, and 10 KiB at least. What does not fit waits in a queue, unless that is full; what fits "
        "overtakes it. As permits come back the queue is served from its head, as far as it fits or has waited for "
        "longer than it may; a timer has those fail that have waited for as long as they may.",
        source="InflightReadsLimiter, PR 23901",
        look="permits that are counted twice or lost; reads that are not limited; the head of the queue, and its time",
        absent=lambda m, reader: False,
        not_without_cache=lambda m, reader: m.config.max_reads_in_flight > 0 and not m.keeps_nothing(reader.cache),
        cursors_only=lambda m, reader: m.config.max_reads_in_flight > 0 and reader.cursor != SINGLE,
        misses_only=lambda m, reader: (
            m.config.max_reads_in_flight > 0
            and not all((reader.ledger, e) in reader.cache.entries for e in range(reader.first, reader.last + 1))
        ),
    )
    def is_limited(self, reader: Reader) -> bool:
        return self.config.max_reads_in_flight > 0

    @also(is_limited, absent=lambda m, permits: m.remaining > permits, however_many=lambda m, permits: m.remaining > 0)
    def fits(self, permits: int) -> bool:
        return self.remaining >= permits

    @also(is_limited, absent=lambda m: bool(m.waiting))
    def waits_behind(self) -> bool:
        """Whether a read that would fit waits for those that came before: a small one overtakes."""
        return False

    @also(
        is_limited,
        absent=lambda m: True,
        one_more=lambda m: len(m.waiting) <= m.config.acquire_queue,
        nobody_waits=lambda m: False,
    )
    def has_room(self) -> bool:
        """Whether one more can wait; a read that cannot is refused at once."""
        return len(self.waiting) < self.config.acquire_queue

    @also(
        is_limited,
        absent=lambda m, reader: 1,
        without_overhead=lambda m, reader: m.average(reader),
        always_unknown=lambda m, reader: UNKNOWN_SIZE + OVERHEAD,
    )
    def estimate(self, reader: Reader) -> int:
        """What an entry is estimated to hold, in bytes."""
        return self.average(reader) + OVERHEAD

    @also(is_limited, absent=lambda m, reader: UNKNOWN_SIZE, added_alone=lambda m, reader: m.average_added(reader))
    def unknown(self, reader: Reader) -> int:
        """The size to take for an entry of a ledger of which nothing is known."""
        return max(self.average_added(reader), UNKNOWN_SIZE)

    def average(self, reader: Reader) -> int:
        """The average size of a ledger's entries."""
        n = self.written.get((reader.topic, reader.ledger), 0)
        return size_of_all(n) // n if n else self.unknown(reader)

    def average_added(self, reader: Reader) -> int:
        """The average size of what the cache was given."""
        cache = reader.cache
        return cache.added_size // cache.added if cache.added else 0

    # ---- The cache is looked into

    @rule(
        "EC-45",
        "Of a range of which something is cached, the storage is asked for what is missing alone, once for each run.",
        source="RangeEntryCacheImpl, 2026",
        look="requests for what is cached already, for more than a run, for each entry",
        absent=lambda m, reader, there: [(reader.first, reader.last)],
        from_first_to_last=lambda m, reader, there: spanned(m.lacking(reader, there)),
        each_alone=lambda m, reader, there: [(entry, entry) for entry in m.lacking(reader, there)],
        whole_unless_all_is_there=lambda m, reader, there: (
            [(reader.first, reader.last)] if m.lacking(reader, there) else []
        ),
    )
    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        return runs(self.lacking(reader, there))

    @staticmethod
    def lacking(reader: Reader, there: Iterable[int]) -> list[int]:
        """The entries of a range that are not there."""
        return sorted({*range(reader.first, reader.last + 1)}.difference(there))

    @also(missing, absent=lambda m: False)
    def retries(self) -> bool:
        """Whether all is read from the storage where a missing part has failed."""
        return True

    @also(missing, absent=lambda m: True)
    def keeps_obtained(self) -> bool:
        """Whether that goes without releasing what was obtained before."""
        return False

    @rule(
        "EC-46",
        "Hits are counted by entries and bytes when the cache is searched, misses when a storage read completes.",
        source="RangeEntryCacheImpl",
        look="a range that is a hit in part is both; a failed read is no miss",
        absent=lambda m, entries, size: [0, 0],
        by_reads=lambda m, entries, size: [1 if entries else 0, size],
    )
    def hit(self, entries: int, size: int) -> list[int]:
        return [entries, size]

    @also(
        hit,
        absent=lambda m, entries, size: [0, 0],
        by_requests=lambda m, entries, size: [1, size],
    )
    def missed(self, entries: int, size: int) -> list[int]:
        return [entries, size]

    def perform(self, reader: Reader) -> None:
        """Take what is cached and ask for the rest."""
        ids = range(reader.first, reader.last + 1)
        looked = ((e, self.looked_up(reader.cache, (reader.ledger, e), len(ids) == 1)) for e in ids)
        found = {entry: cached for entry, cached in looked if cached}
        asked = self.missing(reader, found)
        used = [c for entry, c in found.items() if not any(first <= entry <= last for first, last in asked)]
        self.tally(0, self.hit(len(used), sum(cached.size for cached in used)))
        for cached in used:
            self.references += 1
            self.obtain(reader, Returned(cached.position[1], self.shared(cached.counter, True)))
        reader.partial = bool(used)
        self.await_all(reader, asked)

    def await_all(self, reader: Reader, asked: list[Run]) -> None:
        """Ask for some runs; the reader is answered when all of them have come, and not before."""
        reader.awaited += 1
        for run in asked:
            self.join_or_ask(reader, run)
        self.part_came(reader)

    def tally(self, where: int, counted: list[int]) -> None:
        """Count hits or misses, entries and bytes."""
        self.hits_and_misses[where] += counted[0]
        self.hits_and_misses[where + 1] += counted[1]

    def hits(self) -> list[int]:
        """Entries and bytes that were cached, entries and bytes that were not."""
        return [*self.hits_and_misses]

    # ---- Reads that run already are joined

    @rule(
        "EC-50",
        "A read joins those that run already in whatever part they overlap. What they leave of it is read as any other "
        "part of a ledger: out of the cache, then from the storage.",
        source="PendingReadsManager, PR 17241",
        look="the same range, a larger one, one that begins before, ends behind or lies inside; several of them",
        absent=lambda m, request, first, last: False,
        the_same_only=lambda m, request, first, last: (request.first, request.last) == (first, last),
        those_with_all_of_it=lambda m, request, first, last: request.first <= first and last <= request.last,
        none_that_begins_before=lambda m, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.first <= last
        ),
        none_that_ends_behind=lambda m, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.last <= last
        ),
        none_inside=lambda m, request, first, last: (
            request.first <= last and first <= request.last and not (first < request.first and request.last < last)
        ),
    )
    def joins(self, request: Request, first: int, last: int) -> bool:
        return request.first <= last and first <= request.last

    @also(joins, absent=lambda m, request, reader: request.ledger == reader.ledger)
    def of_its_cache(self, request: Request, reader: Reader) -> bool:
        """Whether a read is one of the same cache and ledger. What a disabled cache reads cannot be joined."""
        same = request.ledger == reader.ledger and request.cache is reader.cache
        return same and not self.keeps_nothing(reader.cache)

    @also(joins, absent=lambda m: False)
    def looks_again(self) -> bool:
        """Whether what is left is looked for in the cache, which matters where the reader passed the cache over."""
        return True

    def join_or_ask(self, reader: Reader, run: Run) -> None:
        """Listen for the reads that run, and read what they leave."""
        first, last = run
        left = {*range(first, last + 1)}
        joined = [r for r in self.running if self.of_its_cache(r, reader) and self.joins(r, first, last)]
        for request in joined:
            request.listeners.append((reader, max(first, request.first), min(last, request.last)))
            left.difference_update(range(request.first, request.last + 1))
        parts = runs(sorted(left))
        reader.awaited += len(joined) + len(parts)
        for part in parts:
            if joined and self.looks_again():
                self.read_part(reader, part)
            else:
                self.ask(Request(reader, part))

    def read_part(self, reader: Reader, part: Run) -> None:
        """Read a part for a reader."""
        other = Reader(reader.cache, reader.topic, reader.cursor, reader.ledger, part, again=False)
        other.within = reader
        self.perform(other)

    def ask(self, request: Request) -> None:
        """Ask the storage, which may have an answer at once where nothing else of the ledger is pending."""
        self.requests += 1
        request.number = self.requests
        self.told.append(["asks", *request.order()[:4]])
        alone = not any(other.order()[:2] == request.order()[:2] for other in self.pending)
        mode = self.storage_mode if alone else WAITS
        if not request.reopened:
            self.running.append(request)
        if not self.asks_at_answer():
            request.then = self.started(request)
        if mode == COMPLETES:
            self.come(request)
        elif mode == FAILS:
            self.not_come(request, BROKEN)
        elif mode == RAISES:
            self.raised(request)
        else:
            self.pending.append(request)
            self.pending.sort(key=Request.order)

    # ---- The storage answers

    def complete(self, i: int) -> list[list[Any]]:
        """A pending storage read completes."""
        if self.pending:
            self.come(self.pending.pop(i % len(self.pending)))
        return self.tell()

    def fail(self, i: int, kind: int) -> list[list[Any]]:
        """A pending storage read fails."""
        if self.pending:
            self.not_come(self.pending.pop(i % len(self.pending)), kind)
        return self.tell()

    def storage(self, mode: int) -> None:
        """From now on the storage waits to be told, completes at once, fails at once, raises."""
        self.storage_mode = mode

    @rule(
        "EC-53",
        "A storage read that has come can no longer be joined, before the first of its listeners is told.",
        source="PendingReadsManager, PR 23958",
        look="a listener that reads the same again before it returns",
        absent=lambda m: True,
    )
    def joinable_while_told(self) -> bool:
        return False

    @also(
        ActiveCursors.start,
        absent=lambda m, cursors, name: 1,
        without_the_reader=lambda m, cursors, name: max(cursors.count(name) - 1, 0),
        before_the_reader=lambda m, cursors, name: (
            1 + sum(at < cursors.tracked[name] for at in cursors.tracked.values()) if name in cursors.tracked else 0
        ),
        all_cursors=lambda m, cursors, name: cursors.size() if name in cursors.tracked else 0,
    )
    def rank(self, cursors: ActiveCursors, name: str) -> int:
        """What the count of an entry that a cursor read starts with."""
        return cursors.count(name)

    @also(rank, absent=lambda m: False)
    def asks_at_answer(self) -> bool:
        """Whether the readers are asked when the storage answers, not when it is asked."""
        return True

    @rule(
        "EC-52",
        "Only the reader that made a storage read determines the count; those that joined it are not asked.",
        source="PendingReadsManager",
        look="counts that are added up over the listeners",
        absent=lambda m, request: [reader for reader, *_ in request.listeners],
        the_last=lambda m, request: [request.listeners[-1][0]],
    )
    def determining(self, request: Request) -> list[Reader]:
        return [request.creator]

    @rule(
        "EC-49",
        "A read of a single entry expects no reads: it never populates the cache.",
        source="RangeEntryCacheImpl",
        look="the constant that it passes; a hit marks the entry and shares its count, as any other",
        absent=lambda m: 1,
    )
    def start_of_single(self) -> int:
        return 0

    @rule(
        "RC-05",
        "Where reads are not counted, what a cursor reads is expected once if that cursor is to have it cached.",
        source="RangeEntryCacheImpl, cacheReadEntry",
        look="the cursor's flag; the number of cursors, which does not matter then",
        absent=lambda m, reader: 0,
        whatever_the_flag=lambda m, reader: 1,
        by_rank=lambda m, reader: m.rank_of(reader),
    )
    def start_uncounted(self, reader: Reader) -> int:
        return int((reader.topic, reader.cursor) in self.caching)

    def start_of(self, reader: Reader) -> int:
        """What the expected reads of an entry start with, for this reader, now."""
        if reader.cursor == SINGLE:
            return self.start_of_single()
        return self.rank_of(reader) if self.config.by_read_count else self.start_uncounted(reader)

    def rank_of(self, reader: Reader) -> int:
        """The rank of a reader's cursor."""
        return self.rank(self.cursors[reader.topic], str(reader.cursor))

    @rule(
        "EC-47",
        "What the storage answered is cached if reads are expected, asked once for each answer, and not at all else.",
        source="RangeEntryCacheImpl, PR 24623",
        look="a question for each entry; entries that nobody is to read",
        absent=lambda m, start: False,
        always=lambda m, start: True,
        from_two_on=lambda m, start: start > 1,
    )
    def populates(self, start: int) -> bool:
        return start > 0

    @also(populates, absent=lambda m, request: request.last - request.first + 1)
    def evaluations(self, request: Request) -> int:
        """How often a reader is asked for the start value."""
        return 1

    @also(populates, absent=lambda m: False)
    def counts_each(self) -> bool:
        """Whether each of the entries has a count of its own."""
        return True

    @rule(
        "EC-48",
        "The entry in the cache and the one that is returned share a count, so that the reader's release lowers it.",
        source="RangeEntryCacheImpl, PR 24623",
        look="a count of its own on either side; one count for several entries",
        absent=lambda m, count, hit: None if count is None else Count(count.left),
        by_hits_alone=lambda m, count, hit: count if hit or count is None else Count(count.left),
        only_with_the_cache=lambda m, count, hit: None,
    )
    def shared(self, count: Count | None, hit: bool) -> Count | None:
        """The count that an entry has that is returned."""
        return count

    def started(self, request: Request) -> int:
        """Ask for the start value, which a disabled cache has no use for."""
        if self.keeps_nothing(request.cache):
            return 0
        readers = self.determining(request)
        self.evaluated += sum(self.evaluations(request) for reader in readers if reader.cursor != SINGLE)
        return sum(self.start_of(reader) for reader in readers)

    def come(self, request: Request) -> None:
        """A storage read completes: the cache is populated, then the listeners are told."""
        if not self.joinable_while_told():
            self.forget([request])
        start = self.started(request) if self.asks_at_answer() else request.then
        ids = range(request.first, request.last + 1)
        count = self.new_count(start)
        counts = {entry: self.new_count(start) if self.counts_each() else count for entry in ids}
        if self.populates(start):
            for entry in ids:
                self.insert(request.cache, (request.ledger, entry), size_of(entry), counts[entry])
        self.tally(2, self.missed(len(ids), sum(map(size_of, ids))))
        self.deliver(request, {entry: self.shared(count, False) for entry, count in counts.items()})
        self.forget([request])

    # ---- Listeners are told

    @rule(
        "EC-51",
        "A single listener is given the entries themselves; of several each has copies, cut to its range, and the "
        "entries are released without counting as read.",
        source="PendingReadsManager, PR 24623",
        look="entries that are released beside their copies; what a listener did not ask for; entries shared by two",
        absent=lambda m, listeners: listeners > 1,
    )
    def counts_originals(self, listeners: int) -> bool:
        """Whether the release of the entries themselves counts as a read."""
        return False

    @also(counts_originals, absent=lambda m, entry, first, last: True)
    def in_part(self, entry: int, first: int, last: int) -> bool:
        """Whether an entry is in the part that a listener is to have."""
        return first <= entry <= last

    def deliver(self, request: Request, counts: dict[int, Count | None]) -> None:
        """Give every listener its part, in the order in which they came."""
        listeners = [*request.listeners]
        for reader, first, last in listeners:
            for entry, count in counts.items():
                if self.in_part(entry, first, last):
                    self.references += 1
                    self.obtain(reader, Returned(entry, count))
            self.part_came(reader)
        for count in counts.values():
            if count is not None and self.counts_originals(len(listeners)):
                count.left = self.after_read(count.left)

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
            return
        got, reader.got = [*reader.got.values()], {}
        if reader.partial and self.retries():
            if not self.keeps_obtained():
                self.discard(got)
            reader.failed = reader.partial = False
            self.await_all(reader, [(reader.first, reader.last)])
            return
        self.discard(got)
        self.fail_reader(reader)

    def answer(self, reader: Reader) -> None:
        """A reader is given what it asked for, in the order of the entries."""
        if reader.within:
            for entry in reader.got.values():
                self.obtain(reader.within, entry)
            self.part_came(reader.within)
            return
        entries = [reader.got[entry] for entry in sorted(reader.got)]
        reader.left = len(entries)
        self.returned[reader.number] = reader
        for entry in entries:
            self.mark_read(entry, "answered")
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

    def tell(self) -> list[list[Any]]:
        """What happened: requests, answers, and how often it was asked for a start value."""
        told, self.told = sorted(self.told), []
        if self.evaluated:
            told.append(["counts", self.evaluated])
            self.evaluated = 0
        return told

    # ---- The storage fails

    @rule(
        "EC-54",
        "A storage read that fails, but for too many requests, has all running reads of its ledger forgotten; one that "
        "raises takes the cached entries of the ledger along; one whose handle was closed is made once more.",
        source="RangeEntryCacheImpl, 2026",
        look="reads that join what was asked of a broken ledger; which failures these are; a second try, and no third",
        absent=lambda m, kind: False,
        at_any_failure=lambda m, kind: True,
    )
    def forgets_at(self, kind: int) -> bool:
        return kind != BUSY

    @also(forgets_at, absent=lambda m: False)
    def drops_at_raise(self) -> bool:
        return True

    @also(forgets_at, absent=lambda m, request: False, every_time=lambda m, request: True)
    def reopens(self, request: Request) -> bool:
        """Whether a read whose handle was closed is made once more."""
        return not request.reopened

    def not_come(self, request: Request, kind: int) -> None:
        """A storage read fails."""
        if kind == CLOSED and self.reopens(request):
            request.reopened = True
            self.forget_ledger(request.cache, request.ledger)
            self.ask(request)
            return
        if not self.joinable_while_told():
            self.forget([request])
        if self.forgets_at(kind):
            self.forget_ledger(request.cache, request.ledger)
        for reader, *_ in [*request.listeners]:
            reader.failed = True
            self.part_came(reader)
        self.forget([request])

    def raised(self, request: Request) -> None:
        """The storage raises an exception instead of taking a request."""
        if self.drops_at_raise():
            self.drop_ledger(request.cache, request.ledger)
        self.not_come(request, BROKEN)

    @abstractmethod
    def drop_ledger(self, cache: Cache, ledger: int) -> None:
        """Remove the entries of a ledger, and forget the running reads of it."""

    def forget(self, requests: list[Request]) -> None:
        """These can no longer be joined."""
        self.running = [r for r in self.running if r not in requests]

    def forget_ledger(self, cache: Cache, ledger: int | None = None) -> None:
        """The running reads of a ledger, or of all, can no longer be joined."""
        if self.running:
            self.forget([r for r in self.running if r.cache is cache and ledger in (None, r.ledger)])

    # ---- Readers let go

    @rule(
        "RC-06",
        "A read is counted when the entry that was returned is freed, not when it is handed out, and once.",
        source="EntryImpl, PR 24623",
        look="a count that is lowered on the way out of the cache, or by every release",
        absent=lambda m, moment: False,
        when_handed_out=lambda m, moment: moment == "answered",
        by_every_release=lambda m, moment: moment in ("freed", "released"),
    )
    def counts_as_read(self, moment: str) -> bool:
        return moment == "freed"

    @rule(
        "RC-07",
        "An entry that was read and discarded counts as read as well.",
        source="EntryImpl, PR 24623",
        look="reads that fail in another part, and release what they had",
        absent=lambda m: False,
    )
    def discarded_counts(self) -> bool:
        return True

    @rule(
        "RC-09",
        "An entry that is put back to be replayed has one more read expected, if its reads are counted.",
        source="PIP-430",
        look="the count that cache and reader share",
        absent=lambda m, left: left,
    )
    def replayed(self, left: int) -> int:
        return self.after_increment(left)

    def done(self, i: int) -> list[list[Any]]:
        """A reader lets go of what it was given."""
        reader = self.reader(i)
        if reader:
            del self.returned[reader.number]
            for entry in [reader.got[e] for e in sorted(reader.got)]:
                self.free_returned(entry, counts=True)
        return self.tell()

    def replay(self, i: int) -> list[Any]:
        """A reader has what it was given put back, and holds it still; answers with the counts."""
        entries = self.entries(i)
        for entry in entries:
            if entry.count is not None:
                entry.count.left = self.replayed(entry.count.left)
        return lefts(entries)

    def share(self, i: int) -> list[Any]:
        """A reader retains what it was given, and releases it; answers with the counts."""
        entries = self.entries(i)
        for entry in entries:
            self.mark_read(entry, "released")
        return lefts(entries)

    def reader(self, i: int) -> Reader | None:
        """One of those who hold entries."""
        numbers = sorted(self.returned)
        return self.returned[numbers[i % len(numbers)]] if numbers else None

    def entries(self, i: int) -> list[Returned]:
        """What one of them was given."""
        reader = self.reader(i)
        return [reader.got[entry] for entry in sorted(reader.got)] if reader else []

    def discard(self, entries: list[Returned]) -> None:
        """Let go of what is not answered with."""
        for entry in entries:
            self.free_returned(entry, counts=entry.count is None or self.discarded_counts())

    def free_returned(self, entry: Returned, counts: bool) -> None:
        """An entry that was returned is freed."""
        self.references -= 1
        if counts:
            self.mark_read(entry, "freed")
        if entry.reader and entry.reader.left:
            entry.reader.left -= 1
            if self.returns_permits(entry.reader):
                self.give_permits_back(entry.reader)

    def mark_read(self, entry: Returned, moment: str) -> None:
        """Count a read, if this is the moment."""
        if entry.count is not None and self.counts_as_read(moment):
            entry.count.left = self.after_read(entry.count.left)

    # ---- Permits are given back

    @also(is_limited, absent=lambda m, reader: True)
    def returns_permits(self, reader: Reader) -> bool:
        """Whether permits are given back as an entry is freed: with the last one."""
        return not reader.left

    @also(is_limited, absent=lambda m, permits: 0)
    def taken_by_waiting(self, permits: int) -> int:
        """What a read that had to wait takes."""
        return permits

    @also(
        is_limited,
        absent=lambda m, age: False,
        at_the_time_as_well=lambda m, age: 0 < m.config.acquire_timeout <= age,
    )
    def too_late(self, age: int) -> bool:
        """Whether a read that does not fit fails, as permits come back, since it waited for too long."""
        return 0 < self.config.acquire_timeout < age

    @also(
        is_limited,
        absent=lambda m, age: False,
        beyond_the_time=lambda m, age: 0 < m.config.acquire_timeout < age,
    )
    def timed_out(self, age: int) -> bool:
        """Whether a read has waited for too long when the timer asks."""
        return 0 < self.config.acquire_timeout <= age

    @also(is_limited, absent=lambda m: len(m.waiting) > 1)
    def passes_over(self) -> bool:
        """Whether a head that does not fit lets the next one go first."""
        return False

    def give_permits_back(self, reader: Reader) -> None:
        """Permits come back, and those who wait are served from the head on."""
        if not reader.permits:
            return
        self.remaining += reader.permits
        reader.permits = 0
        while self.waiting:
            head = self.waiting[0]
            if self.remaining >= head.permits:
                self.waiting.popleft()
                self.remaining -= self.taken_by_waiting(head.permits)
                self.perform(head)
            elif self.too_late(self.now - head.since):
                self.refuse_head()
            elif self.passes_over() and self.remaining >= self.waiting[1].permits:
                self.waiting.rotate(-1)
            else:
                break

    def refuse_head(self) -> None:
        """The read that waits longest fails."""
        head = self.waiting.popleft()
        head.permits = 0
        self.fail_reader(head)

    def timeouts(self) -> list[list[Any]]:
        """The timer: reads that have waited for too long fail."""
        while self.waiting and self.timed_out(self.now - self.waiting[0].since):
            self.refuse_head()
        return self.tell()

    def permits(self) -> int:
        """The bytes that are left of the limit."""
        return self.remaining


def size_of(entry: int) -> int:
    """The bytes of a stored entry."""
    return ENTRY_SIZES[entry % len(ENTRY_SIZES)]


def size_of_all(n: int) -> int:
    """The bytes of the first n entries of a ledger."""
    rounds, rest = divmod(n, len(ENTRY_SIZES))
    return rounds * sum(ENTRY_SIZES) + sum(ENTRY_SIZES[:rest])


def runs(entries: Iterable[int]) -> list[Run]:
    """Entries in ascending order as runs without a gap, each as long as can be."""
    found: list[Run] = []
    for entry in entries:
        if found and found[-1][1] == entry - 1:
            found[-1] = found[-1][0], entry
        else:
            found.append((entry, entry))
    return found


def spanned(entries: list[int]) -> list[Run]:
    """Entries in ascending order as a single run, gaps included."""
    return [(entries[0], entries[-1])] if entries else []


def lefts(entries: Iterable[Returned]) -> list[int | None]:
    """The counts of entries; none where they are not counted."""
    return [entry.count.left if entry.count else None for entry in entries]
