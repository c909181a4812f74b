"""Entry caches: how the caches of a broker's topics behave, over one queue of removal, and their readers.

Read it from top to bottom. A method under ``@rule`` is a clause: its docstring is the rule, its body says the same in
code. The methods named as operations are flows: they say which clauses apply, and in which order. The whole has parts,
each with rules and state of its own: ``entries`` are stored in caches and in the queue, ``eviction`` takes them out,
``topics`` have ledgers and cursors. ``reads`` says how a read goes, ``readers`` who makes it, ``read_limit`` when it
begins, ``answers`` what the storage's answer is taken for, ``short_answers`` what follows if that lacks entries, and
``retained`` what readers hold. ``overlapping`` says what calls may do between the steps of others. Rules without a
clause are in ``without_clause``. The clauses that each release of the broker replaces are in ``releases``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from broker_tck.model.entry_cache.answers import Answers
from broker_tck.model.entry_cache.entries import (
    Cache,
    Cached,
    Clock,
    Config,
    Count,
    Lookup,
    Position,
    ReadCounts,
    Removed,
    Store,
)
from broker_tck.model.entry_cache.eviction import Manager, Passes
from broker_tck.model.entry_cache.overlapping import Call, Calls, Did, Getting, Passing, Putting, Removing, Steps
from broker_tck.model.entry_cache.read_limit import ReadLimit
from broker_tck.model.entry_cache.readers import CLOSED, SINGLE, WAITS, PendingReads, Reader, lefts
from broker_tck.model.entry_cache.reads import Reads
from broker_tck.model.entry_cache.retained import Retained
from broker_tck.model.entry_cache.topics import Cursors, Ledgers, size_of
from broker_tck.model.entry_cache.without_clause import WITHOUT_CLAUSE
from broker_tck.model.reference import UNDEFINED, Allowed, Fault, Reference
from broker_tck.model.rules import Rule, rule

CACHES = 3
"""Number of topics, each with a cache."""
FIRST_OF_CROWD = 10
"""The name of the first cursor of a crowd: the names before it are those of single ones."""
ORDINARY = (
    *("put", "fill", "late", "misput", "get", "hold", "spoil", "range", "remove", "invalidate", "trim", "clear"),
    *("reopen", "evict_old", "evict_size", "background", "run", "counters", "resize", "set_watermark", "requeues"),
    *("extend", "append", "write", "cursor", "uncursor", "crowd", "fetch", "fetch_one", "fetch_many", "complete"),
    *("short", "fail", "storage", "done", "replay", "share", "timeouts", "advance"),
)
"""Operations that do nothing while calls are under way."""
NOWHERE: Position = (0, 0)
"""The position of what stands for nothing. It may be that of an entry, too."""
BUSY = "busy"
"""The answer of an ordinary operation while calls are under way."""
MANAGER = "RangeEntryCacheManagerImpl"


class EntryCaches(Reference):
    """Entry caches as PIP-430 has them: a queue for all topics, and reads still expected that keep an entry longer."""

    PROFILE = "ideal"
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE
    ReadCounts = ReadCounts
    Store = Store
    Lookup = Lookup
    Manager = Manager
    Passes = Passes
    Cursors = Cursors
    PendingReads = PendingReads
    ReadLimit = ReadLimit
    Answers = Answers
    Retained = Retained
    Reads = Reads
    Putting = Putting
    Getting = Getting
    Removing = Removing
    Passing = Passing

    def __init__(self, config: Config) -> None:
        self.config = config
        self.clock = Clock()
        self.read_counts = self.ReadCounts()
        self.store = self.Store(self.clock, self.read_counts)
        self.lookup = self.Lookup()
        self.manager = self.Manager(config)
        self.caches = [self.manager.new_cache() for _ in range(CACHES)]
        self.left: list[Cache | None] = [None] * CACHES
        """The cache that each topic had before, which somebody may still insert into."""
        self.passes = self.Passes(config, self.store, self.caches)
        self.stored: dict[tuple[int, Position], Cached] = {}
        """What was inserted last under each key."""
        self.holds: deque[Cached] = deque()
        self.ledgers = Ledgers()
        self.cursors = [self.Cursors(config, self.now) for _ in self.caches]
        self.crowds = [0] * CACHES
        """Number of cursors of each topic's crowd."""
        self.readers = 0
        self.returned: dict[int, Reader] = {}
        """Readers who hold entries, by number."""
        self.pending_reads = self.PendingReads()
        self.read_limit = self.ReadLimit(config)
        self.answers = self.Answers()
        self.retained = self.Retained(self.store, self.read_counts)
        self.reads = self.Reads(self)
        self.steps = Steps()
        self.under_way: dict[int, Call] = {}
        """The calls that were begun and have not ended, by thread."""

    @property
    def now(self) -> int:
        """The time."""
        return self.clock.now

    # ---- Inserting

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool:
        """Insert an entry into the cache of a topic; answers whether it was."""
        inserted = self.insert(self.caches[cache], (ledger, entry), size, self.read_counts.new(expected))
        if inserted:
            self.stored[cache, (ledger, entry)] = inserted
        return inserted is not None

    def late(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> bool | None:
        """Insert into the cache that the topic had before it was reopened; no answer if it was not."""
        left = self.left[cache]
        if left is None:
            return None
        return self.insert(left, (ledger, entry), size, self.read_counts.new(expected)) is not None

    def fill(
        self,
        cache: int,
        ledger: int,
        entry: int,
        n: int,
        across: int,
        step: int,
        size: int,
        apart: int,
        expected: int,
        turns: int,
    ) -> int:
        """Insert many entries, one after the other; answers how many were inserted."""
        return sum(
            self.put(cache, ledger + i % across, entry + i // across * step, size + i * apart, expected - i % turns)
            for i in range(n)
        )

    @rule("EC-06", source="RangeCache.put", when=lambda m, cache, ledger, entry: True)
    def misput(self, cache: int, ledger: int, entry: int) -> bool:
        """If a value's position is not its key, the value is refused with an error, and nothing changes."""
        raise Fault("IllegalArgumentException")

    def insert(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry; answers with it, or nothing if it was refused."""
        return self.insert_entry(Cached(cache, position, size, count, self.clock.now))

    def insert_entry(self, entry: Cached) -> Cached | None:
        """Insert an entry, unless its cache is disabled; answers with it, or nothing if it was refused."""
        return None if self.manager.keeps_nothing(entry.cache) else self.enter(entry)

    def enter(self, entry: Cached) -> Cached | None:
        """Store an entry, unless it is refused, and order a pass if it is one too many."""
        if not self.store.enter(entry):
            return None
        self.manager.order_pass(self.store.total)
        return entry

    def append(self, topic: int, ledger: int) -> bool | None:
        """Add the next entry of a ledger; answers whether it was inserted, or None if it must not be cached."""
        entry = self.ledgers.write(topic, ledger, 1)
        cursors = self.cursors[topic]
        cursors.advance_to(self.now)
        if not cursors.caches_added():
            return None
        return self.put(topic, ledger, entry, size_of(entry), cursors.start_on_add())

    def write(self, topic: int, ledger: int, n: int) -> None:
        """A ledger has n entries more, which were written before all this."""
        self.ledgers.write(topic, ledger, n)

    # ---- Reading what is cached

    @rule("EC-11", source="RangeCacheEntryWrapper, PR 24623", when=lambda m, entry, alone: not entry.accessed)
    def touch(self, entry: Cached, alone: bool) -> None:
        """Reading an entry marks it as accessed and does not move it; removing or refusing it does not mark it."""
        entry.accessed = True

    def looked_up(self, cache: Cache, position: Position, alone: bool) -> Cached | None:
        """The entry of a position that is read, alone or in a range; none if it cannot be handed out."""
        entry = self.lookup.find(cache, position)
        if entry is None:
            return None
        self.touch(entry, alone)
        return entry if self.lookup.hands_out(entry) else None

    def get(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry, and let go of it; ``hit`` or ``miss``."""
        return "hit" if self.looked_up(self.caches[cache], (ledger, entry), alone=True) else "miss"

    def hold(self, cache: int, ledger: int, entry: int) -> str:
        """Read an entry and keep it."""
        found = self.looked_up(self.caches[cache], (ledger, entry), alone=True)
        if found:
            found.references += 1
            self.holds.append(found)
        return "hit" if found else "miss"

    def free(self) -> bool:
        """Let go of the value that is held longest; answers whether there was one."""
        if not self.holds:
            return False
        self.store.release(self.holds.popleft(), 1)
        return True

    def spoil(self, cache: int, ledger: int, entry: int) -> bool:
        """Let go of a value once too often, if only the cache holds it; answers whether it was."""
        there = self.caches[cache].entries.get((ledger, entry))
        if there is None or there.references != 1 or there is not self.stored.get((cache, there.position)):
            return False
        self.store.release(there, 1)
        return True

    def range(self, cache: int, l1: int, e1: int, l2: int, e2: int) -> list[list[int]]:
        """Read a range and let go of it; answers with the positions."""
        first, last = (l1, e1), (l2, e2)
        found = [e for e in self.caches[cache].entries.values() if self.lookup.within(e.position, first, last)]
        for entry in found:
            self.touch(entry, False)
        return [[*entry.position] for entry in self.lookup.in_order(found) if self.lookup.hands_out(entry)]

    def read(self, cache: int, ledger: int, entry: int) -> int | str:
        """A reader is done with the value that was stored last under a key; the count then, or ``none``."""
        return self.counted(cache, (ledger, entry), self.read_counts.read)

    def expect(self, cache: int, ledger: int, entry: int) -> int | str:
        """One more read of the value that was stored last under a key is expected; the count then, or ``none``."""
        return self.counted(cache, (ledger, entry), self.read_counts.expect)

    def counted(self, cache: int, position: Position, change: Callable[[Count], None]) -> int | str:
        """Change the count of the value that was stored last under a key."""
        entry = self.stored.get((cache, position))
        if entry is None or entry.expected_reads is None:
            return "none"
        change(entry.expected_reads)
        return entry.expected_reads.left

    # ---- Removing

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Removed:
        """Remove a range of one cache, with its last position or without."""
        first, last, inclusive = (l1, e1), (l2, e2), bool(last_inclusive)
        entries = self.caches[cache].entries.values()
        takes = self.lookup.in_removal
        return self.store.remove_all([e for e in entries if takes(e.position, first, last, inclusive)])

    def invalidate(self, cache: int, ledger: int, entry: int) -> None:
        """The slowest cursor has come to a position: what is before it goes."""
        last = ledger, entry
        entries = self.caches[cache].entries
        lowest = min(entries, default=last)
        self.store.remove_all([e for e in entries.values() if self.lookup.invalid(e.position, last, lowest)])

    def trim(self, cache: int, ledger: int) -> None:
        """A ledger is dropped."""
        self.drop_ledger(self.caches[cache], ledger)

    def drop_ledger(self, cache: Cache, ledger: int) -> None:
        """Remove all of a ledger from a cache, and forget the running reads of it."""
        self.store.remove_all([e for e in cache.entries.values() if self.lookup.of_ledger(e.position, ledger)])
        self.forget_dropped(cache, ledger)

    @rule("EC-15", needs="reads", when=lambda m, cache, ledger: m.pending_reads.runs(cache, ledger))
    def forget_dropped(self, cache: Cache, ledger: int) -> None:
        """Reads of a ledger that is dropped can no longer be joined."""
        self.pending_reads.forget(cache, ledger)

    def clear(self, cache: int) -> Removed:
        """Empty a cache."""
        self.forget_cleared(self.caches[cache])
        return self.empty(self.caches[cache])

    @rule("EC-16", source="RangeCache.clear, PR 10225", when=lambda m, cache: cache.entries)
    def empty(self, cache: Cache) -> Removed:
        """A clear removes everything, and answers with the entries and bytes that it removed."""
        return self.store.remove_all([*cache.entries.values()])

    @rule("EC-16", needs="reads", when=lambda m, cache: m.pending_reads.runs(cache))
    def forget_cleared(self, cache: Cache) -> None:
        """Reads of a cache that is emptied can no longer be joined."""
        self.pending_reads.forget(cache)

    def reopen(self, cache: int) -> None:
        """A topic is closed and opened again. Somebody may still hold its old cache."""
        left = self.caches[cache]
        self.close(left)
        self.left[cache] = left
        self.caches[cache] = self.manager.new_cache()

    @rule("EC-18", source=f"{MANAGER}.removeEntryCache", when=lambda m, cache: cache.entries)
    def close(self, cache: Cache) -> None:
        """A topic that is closed clears its cache; entries inserted into it later count, and leave by the queue."""
        self.store.remove_all([*cache.entries.values()])
        self.pending_reads.forget(cache)

    # ---- Passes

    def evict_old(self, age: int) -> Removed:
        """A time pass: what is older goes."""
        return self.passes.time_pass(self.now - age)

    def evict_size(self, asked: int) -> Removed:
        """A size pass: at least the bytes that are asked for go, if there are as many."""
        if self.passes.refuses(asked):
            raise Fault("IllegalArgumentException")
        return self.passes.size_pass(asked)

    def background(self) -> int:
        """The pass that awaits its turn is made; answers how many there were."""
        turns = self.manager.take_turns()
        for _ in range(turns):
            self.relieve()
        return turns

    def relieve(self) -> None:
        """Make a size pass if one is needed."""
        if asked := self.manager.asks_for(self.store.total):
            self.manager.count_pass()
            self.passes.size_pass(asked)

    @rule(
        "EC-38",
        source=f"{MANAGER}.doCacheEviction",
        needs="manager",
        when=lambda m: any(entry.stamp < m.now - m.config.ttl for entry in m.store.queue),
    )
    def run(self) -> None:
        """A scheduled run is a time pass, then a size pass if the trigger is still passed."""
        self.passes.time_pass(self.now - self.config.ttl)
        self.relieve()

    def pinned(self) -> Removed:
        """The entries, and their bytes, that are protected from eviction."""
        pinned = [entry for entry in self.store.queue if not entry.blank and self.passes.told_as_pinned(entry)]
        return [len(pinned), sum(entry.size for entry in pinned)]

    # ---- What is set

    @rule("EC-19", needs="manager", when=lambda m, size: m.store.total > size)
    def resize(self, size: int) -> None:
        """A new largest size or watermark removes nothing by itself; the next pass uses it."""
        self.manager.max_size = size

    def set_watermark(self, percent: int) -> None:
        """Set the watermark."""
        self.manager.watermark = percent

    def requeues(self, n: int) -> None:
        """Set how often expected reads extend a life."""
        self.passes.most_requeued = n

    def extend(self, on: int) -> None:
        """Set whether access extends a life."""
        self.passes.extends_accessed = bool(on)

    def advance(self, n: int) -> None:
        """Time passes."""
        self.clock.now += n

    # ---- Cursors

    def cursor(self, topic: int, name: int, ledger: int, entry: int, caching: int) -> None:
        """A cursor is added, or moves."""
        cursors = self.cursors[topic]
        before = cursors.active.slowest()
        cursors.move(str(name), (ledger, entry), bool(caching))
        self.moved(topic, before)

    def uncursor(self, topic: int, name: int) -> bool:
        """A cursor is removed; answers whether it was there."""
        cursors = self.cursors[topic]
        cursors.advance_to(self.now)
        before = cursors.active.slowest()
        if not cursors.remove(str(name)):
            return False
        self.moved(topic, before)
        return True

    def crowd(self, topic: int, ledger: int, entry: int, n: int, caching: int) -> None:
        """A crowd of cursors becomes n: those are added, or move, and what is more of it leaves."""
        before = self.crowds[topic]
        for i in range(n):
            self.cursor(topic, FIRST_OF_CROWD + i, ledger, entry, caching)
        for i in range(n, before):
            self.uncursor(topic, FIRST_OF_CROWD + i)
        self.crowds[topic] = n

    @rule(
        "RC-11",
        source="PIP-430",
        needs="reads",
        when=lambda m, topic, before: any(entry.expected_reads for entry in m.caches[topic].entries.values()),
    )
    def moved(self, topic: int, before: Position | None) -> None:
        """A cursor that comes, moves or leaves does not change the counts of cached entries."""
        cursors = self.cursors[topic]
        now = cursors.slowest(before)
        if not cursors.moves_invalidate() or now == before:
            return
        if now is not None:
            self.invalidate(topic, *now)
        else:
            self.invalidate_all(topic)

    @rule("EC-57", needs="reads")
    def invalidate_all(self, topic: int) -> None:
        """When the last cursor leaves, the cache is emptied."""
        self.clear(topic)

    # ---- Readers ask, and the storage answers

    def fetch(self, topic: int, cursor: int, ledger: int, first: int, n: int, again: int) -> list[list[Any]]:
        """A cursor reads n entries of a ledger."""
        self.reads.start(Reader(self.caches[topic], topic, cursor, ledger, first, first + n - 1, bool(again)))
        return self.reads.tell()

    def fetch_many(
        self, topic: int, cursor: int, ledger: int, first: int, n: int, times: int, apart: int
    ) -> list[list[Any]]:
        """Readers come one after the other, and read n entries each."""
        for i in range(times):
            begin = first + i * apart
            self.reads.start(Reader(self.caches[topic], topic, cursor, ledger, begin, begin + n - 1))
        return self.reads.tell()

    def fetch_one(self, topic: int, ledger: int, entry: int) -> list[list[Any]]:
        """An entry is read, for nobody's cursor."""
        self.reads.start(Reader(self.caches[topic], topic, SINGLE, ledger, entry, entry))
        return self.reads.tell()

    def complete(self, i: int) -> list[list[Any]] | Allowed:
        """A pending storage read completes. If a part of it was asked for, more may follow."""
        request = self.pending_reads.take(i)
        more = self.reads.short_answers.come_in_full(request) if request and not request.whole.failed else None
        return more or self.reads.tell()

    def short(self, i: int, n: int) -> list[list[Any]] | Allowed:
        """The storage answers a pending read with its first n entries; from now on it waits, and the ledger is slow."""
        self.pending_reads.mode = WAITS
        request = self.pending_reads.take(i)
        if request is None:
            return self.reads.tell()
        self.pending_reads.slow.add(request.order()[:2])
        if request.whole.failed:
            return self.reads.tell()
        return self.reads.short_answers.come_short(request, n % len(request.entries))

    def fail(self, i: int, kind: int) -> list[list[Any]] | Allowed:
        """A pending storage read fails."""
        request = self.pending_reads.take(i)
        if request and not request.whole.failed:
            if kind == CLOSED and request.whole.reopened and not request.reopened:
                return self.reads.short_answers.may_repeat(request)
            self.reads.not_come(request, kind)
        return self.reads.tell()

    def storage(self, mode: int) -> None:
        """Set how the storage answers: it waits for an operation, completes at once, fails at once, or raises."""
        self.pending_reads.mode = mode

    def timeouts(self) -> list[list[Any]]:
        """The timer: reads that have waited for too long fail."""
        for head in [*iter(lambda: self.read_limit.overdue(self.now), None)]:
            self.reads.fail(head)
        return self.reads.tell()

    # ---- Readers have entries, and let go of them

    def reader(self, i: int) -> Reader | None:
        """A reader that has returned entries, by its place among them."""
        numbers = sorted(self.returned)
        return self.returned[numbers[i % len(numbers)]] if numbers else None

    def done(self, i: int) -> list[list[Any]]:
        """A reader lets go of what it was given."""
        if reader := self.reader(i):
            del self.returned[reader.number]
            for entry in reader.listed():
                self.reads.free(entry)
        return self.reads.tell()

    def replay(self, i: int) -> list[Any]:
        """A reader has what it was given put back, and holds it still; answers with the counts."""
        reader = self.reader(i)
        entries = reader.listed() if reader else []
        for entry in entries:
            if entry.count:
                self.read_counts.replayed(entry.count)
        return lefts(entries)

    def share(self, i: int) -> list[Any]:
        """A reader retains what it was given, and releases it; answers with the counts."""
        reader = self.reader(i)
        entries = reader.listed() if reader else []
        for entry in entries:
            self.read_counts.pass_by(entry.count, "released")
        return lefts(entries)

    # ---- Calls that overlap

    def begin(self, thread: int, call: Callable[[Calls], Call]) -> bool:
        """Begin a call; a thread that is in another does nothing. Nothing of the call is done before its first step."""
        if thread in self.under_way:
            return False
        if not self.under_way:
            vars(self).update(dict.fromkeys(ORDINARY, lambda *arguments: BUSY))
        self.under_way[thread] = call(Calls(self))
        return True

    def step(self, thread: int) -> Allowed | None:
        """Go on with the call of a thread, if it is in one."""
        call = self.under_way.get(thread)
        if call is None:
            return None

        def follow(did: Did) -> None:
            call.follow(did)
            if did[0] == "ends":
                self.end(thread)
            for other in self.under_way.values():
                other.notice()

        return Allowed(call.permits, follow, call.example(), call.says())

    def end(self, thread: int) -> None:
        """A call has ended."""
        del self.under_way[thread]
        if not self.under_way:
            for name in ORDINARY:
                del vars(self)[name]

    def sizes_are_exact(self) -> bool:
        """Whether no insertion, and no removal but by passes, is under way."""
        return not any(call.CHANGES_SIZES for call in self.under_way.values())

    def let_go(self) -> None:
        """Forget what was inserted, and the positions of what has left its cache: its place stands for nothing."""
        self.stored.clear()
        for entry in self.store.queue:
            if entry.blank and not entry.references:
                entry.position = NOWHERE

    # ---- What is told, and what is seen

    def counters(self) -> list[int]:
        """Insertions, removals, size passes."""
        return [self.store.inserted, self.store.evicted, self.manager.passes]

    def permits(self) -> int:
        """The bytes that are left of the limit."""
        return self.read_limit.remaining

    def hits(self) -> list[int]:
        """Entries and bytes that were cached, entries and bytes that were not."""
        return [*self.answers.hits_and_misses]

    def size_of_all(self) -> int | Allowed:
        """The bytes of all caches: they may be anything for a moment, unless only passes are under way."""
        if self.sizes_are_exact():
            return self.total_shown()
        return Allowed(lambda got: True, lambda got: None, self.store.total, "a number that may be off for a moment")

    @rule("EC-17", source="RangeCacheRemovalQueue, PR 24623", needs="steps")
    def total_shown(self) -> int:
        """A pass lowers a cache's size at each removal, and the broker's size at its end."""
        return self.store.total + sum(removed[1] for removed in self.steps.passing)

    def become(self, other: EntryCaches) -> None:
        """Go on with the state of another model."""
        vars(self).update(vars(other))
        self.reads.model = self

    def seen(self) -> tuple[Any, ...]:
        """Entries and bytes of each cache, and the values that somebody holds a reference of."""
        a, b, c = self.caches  # written out, as it is asked after each operation
        if self.under_way and not self.sizes_are_exact():
            return [[len(cache.entries), UNDEFINED] for cache in (a, b, c)], UNDEFINED
        sizes = [[len(a.entries), a.size], [len(b.entries), b.size], [len(c.entries), c.size]]
        if self.under_way:
            return sizes, UNDEFINED
        open_ones = self.retained.failed or self.reads.short_answers.other
        return sizes, self.reads.short_answers.references() if open_ones else self.store.references
