"""What a walk does next: operations chosen with the model's state in view.

Positions come from a small pool over three topics, so that they meet again. Passes are asked for what matters: the age
of the queue's head and one more or less, the size of its first entries and one byte beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import (
    CACHES,
    Advance,
    AnyOperation,
    Background,
    Capabilities,
    Clear,
    Config,
    Counters,
    EvictOld,
    EvictSize,
    Expect,
    Extend,
    Free,
    Get,
    Hold,
    Invalidate,
    Late,
    Misput,
    Pinned,
    Put,
    Range,
    Read,
    Remove,
    Reopen,
    Requeues,
    Resize,
    Run,
    SetWatermark,
    SizeOfAll,
    Spoil,
    Trim,
)
from broker_tck.properties.contracts.entry_cache.reading_walk import (
    GRACES,
    LIMITS,
    QUEUES,
    TIMEOUTS,
    Readers,
    drain_readers,
)
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker

REQUEUES = (0, 1, 1, 1, 2, 2, 3)
"""A limit of five shows nothing that three does not, and in longer traces."""
TTLS = (0, 1, 10, 50, 50, 1_000)
LARGEST = (None, None, 0, 30, 60, 100, 300, 500, 1_000, 3_000)
WATERMARKS = (0, 50, 80, 90, 90, 90, 97, 98, 99, 100)
SIZES = ((10_000, 20_000), (0, 1, 10, 100), (10,), (1, 2, 3), (0, 10, 10, 10), (1, 10, 100, 1_000), (40, 50, 30))
READS = ((1,), (0, 1), (0, 1, 2), (0, 1, 3, 7), (-1, 0, 1, 2), (2, 3))
LEDGER_BASES = (1, 1, 1, 0, 7, 2**31 - 2, 2**32 - 1, 2**62)
ENTRY_BASES = (0, 0, 0, 0, 60, 126, 2**31 - 3, 2**32 - 3)
READING = 3
"""In one walk of so many there are readers."""


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk."""
    requeues, extend, ttl = one_of(choices, REQUEUES), choices.below(2) == 1, one_of(choices, TTLS)
    largest, watermark = one_of(choices, LARGEST), one_of(choices, WATERMARKS)
    config = Config(requeues, extend, ttl, largest if capabilities.manager else None, watermark)
    return with_reads(config, choices) if capabilities.reads else config


def with_reads(config: Config, choices: Choices) -> Config:
    """The same, for readers as well."""
    return structs.replace(
        config,
        by_read_count=choices.below(4) > 0,
        grace=one_of(choices, GRACES),
        max_reads_in_flight=one_of(choices, LIMITS),
        acquire_timeout=one_of(choices, TIMEOUTS),
        acquire_queue=one_of(choices, QUEUES),
    )


def makers(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    return kinds(model, choices, Entries(model, choices), Passes(model, choices), capabilities)


def kinds(
    model: EntryCaches, choices: Choices, entries: Entries, passes: Passes, capabilities: Capabilities
) -> list[Maker]:
    """The kinds of operations, out of these entries and passes."""
    free, pinned = Free(), Pinned()
    made = [
        Maker("put", (20, 30, 40), entries.put),
        Maker("put_plain", (0, 5, 10), entries.put_plain),
        Maker("put_protected", (0, 5, 10), entries.put_protected),
        Maker("late", (0, 0, 1, 3), entries.late),
        Maker("misput", (0, 0, 0, 1), entries.misput),
        Maker("get", (4, 10, 20), entries.get),
        Maker("hold", (0, 2, 6), entries.hold),
        Maker("free", (2, 4), lambda: free),
        Maker("spoil", (0, 0, 0, 2), entries.spoil),
        Maker("range", (0, 3, 6), entries.range),
        Maker("read", (4, 10, 20), entries.read),
        Maker("expect", (0, 2, 5), entries.expect),
        Maker("remove", (0, 1, 3), entries.remove),
        Maker("invalidate", (0, 0, 2, 4), entries.invalidate),
        Maker("trim", (0, 1, 2), entries.trim),
        Maker("clear", (0, 0, 1), entries.clear),
        Maker("reopen", (0, 0, 1, 2), entries.reopen),
        Maker("ttl", (5, 10, 20), passes.evict_old),
        Maker("size", (0, 5, 15), passes.evict_size),
        Maker("adv", (10, 20, 30), passes.advance),
        Maker("pinned", (0, 1, 3), lambda: pinned),
        Maker("requeues", (0, 0, 1), passes.requeues),
        Maker("extend", (0, 0, 1), passes.extend),
        *of_manager(model, passes),
    ]
    if capabilities.reads:
        reading = choices.below(READING) == 0
        made += Readers(model, choices, entries.topics, entries.pool, reading).makers()
    return made


def of_manager(model: EntryCaches, passes: Passes) -> list[Maker]:
    """The kinds of operations that ask a broker to decide itself when a pass is due."""
    background, run, total, counters = Background(), Run(), SizeOfAll(), Counters()
    often = model.manager.max_size is not None
    return [
        Maker("background", (2, 10, 20) if often else (0, 1), lambda: background),
        Maker("run", (0, 3, 8), lambda: run),
        Maker("total", (2, 5), lambda: total),
        Maker("counters", (1, 2), lambda: counters),
        Maker("resize", (0, 0, 1, 2) if often else (0, 0, 0, 1), passes.resize),
        Maker("watermark", (0, 0, 1, 2) if often else (0, 0, 0, 1), passes.watermark),
    ]


class Entries:
    """Positions, sizes and read counts of one walk."""

    def __init__(self, model: EntryCaches, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        base, ledger = one_of(choices, ENTRY_BASES), one_of(choices, LEDGER_BASES)
        ledgers, size = one_of(choices, (1, 1, 2, 3)), one_of(choices, (2, 4, 8, 12))
        self.pool = [(ledger + i % ledgers, base + i // ledgers) for i in range(size)]
        self.topics = weighted([(0, 4), (1, 1 + choices.below(3)), (2, choices.below(3))])
        self.sizes, self.reads = one_of(choices, SIZES), one_of(choices, READS)

    def key(self) -> tuple[int, int, int]:
        """A topic and a position out of the pool."""
        below = self.below
        return self.topics[below(len(self.topics))], *self.pool[below(len(self.pool))]

    def known(self) -> tuple[int, int, int]:
        """A topic and a position, mostly of what was inserted."""
        stored = self.model.stored
        if not stored or self.below(8) == 0:
            return self.key()
        cache, position = self.place()
        return cache, *position

    def place(self) -> tuple[int, Position]:
        """The topic and position of an entry in the queue."""
        queue = self.model.store.queue
        if not queue:
            return self.topics[0], self.pool[0]
        entry = queue[self.below(min(len(queue), 8))]
        cache = next((i for i, c in enumerate(self.model.caches) if c is entry.cache), 0)
        return cache, entry.position

    def entry(self) -> tuple[int, int]:
        """A size and a read count."""
        return self.sizes[self.below(len(self.sizes))], self.reads[self.below(len(self.reads))]

    def put(self) -> Put:
        """An insertion."""
        return Put(*self.key(), *self.entry())

    def put_plain(self) -> Put:
        """An insertion that nothing speaks for."""
        return Put(*self.key(), self.entry()[0], 0)

    def put_protected(self) -> Put:
        """An insertion of which reads are expected."""
        return Put(*self.key(), self.entry()[0], 1 + self.below(3))

    def late(self) -> Late:
        """An insertion into a topic's old cache."""
        return Late(*self.key(), *self.entry())

    def misput(self) -> Misput:
        """An insertion under a wrong key."""
        return Misput(*self.key())

    def get(self) -> Get:
        """A read."""
        return Get(*self.known())

    def hold(self) -> Hold:
        """A read of a value that is kept."""
        return Hold(*self.known())

    def spoil(self) -> Spoil:
        """A release too many."""
        return Spoil(*self.known())

    def read(self) -> Read:
        """A reader is done."""
        return Read(*self.known())

    def expect(self) -> Expect:
        """One more read is expected."""
        return Expect(*self.known())

    def range(self) -> Range:
        """A range, now and then the wrong way round: the rig refuses it."""
        cache, l1, e1 = self.key()
        _, l2, e2 = self.key()
        if (l2, e2) < (l1, e1) and self.below(8):
            l1, e1, l2, e2 = l2, e2, l1, e1
        return Range(cache, l1, e1, l2, e2)

    def remove(self) -> Remove:
        """A range to remove."""
        range_ = self.range()
        return Remove(range_.cache, range_.l1, range_.e1, range_.l2, range_.e2, self.below(2))

    def invalidate(self) -> Invalidate:
        """What is before a position, now and then before all."""
        if self.below(12) == 0:
            return Invalidate(self.topics[0], -1, self.below(2) - 1)
        return Invalidate(*self.key())

    def trim(self) -> Trim:
        """A ledger."""
        cache, ledger, _ = self.key()
        return Trim(cache, ledger - (self.below(4) == 0))

    def clear(self) -> Clear:
        """A cache."""
        return Clear(self.topics[self.below(len(self.topics))])

    def reopen(self) -> Reopen:
        """A topic."""
        return Reopen(self.topics[self.below(len(self.topics))])


class Passes:
    """How time moves in one walk, and what passes are asked for."""

    def __init__(self, model: EntryCaches, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        ttl = model.config.ttl
        self.steps = (0, 1, 1, 2, 10, ttl, ttl + 1, max(ttl - 1, 0))

    def advance(self) -> Advance:
        """A step of time."""
        return Advance(self.steps[self.below(len(self.steps))])

    def evict_old(self) -> EvictOld:
        """A time pass, by the age of an entry near the head and one more or less, or by the TTL."""
        queue = self.model.store.queue
        if not queue or self.below(6) == 0:
            return EvictOld(self.model.config.ttl)
        age = self.model.now - queue[self.below(min(len(queue), 4))].stamp
        return EvictOld(max(age + self.below(3) - 1, 0))

    def evict_size(self) -> EvictSize:
        """A size pass, by the first entries of the queue and one byte more or less, by all, or by nothing."""
        kind, total = self.below(16), self.model.store.total
        if kind == 0:
            return EvictSize(-self.below(2))
        if kind < 4:
            return EvictSize(max(total // 2 if kind == 1 else total + kind - 2, 1))
        queue = self.model.store.queue
        sizes = [queue[i].size for i in range(min(len(queue), 1 + self.below(4)))]
        return EvictSize(max(sum(sizes) + self.below(3) - 1, 1))

    def requeues(self) -> Requeues:
        """Another limit."""
        return Requeues(REQUEUES[self.below(len(REQUEUES))])

    def extend(self) -> Extend:
        """Another way with what was accessed."""
        return Extend(self.below(2))

    def resize(self) -> Resize:
        """Another largest size."""
        sizes = [size for size in LARGEST if size is not None]
        return Resize(sizes[self.below(len(sizes))])

    def watermark(self) -> SetWatermark:
        """Another watermark."""
        return SetWatermark(WATERMARKS[self.below(len(WATERMARKS))])


def drain(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: passes over what is left, readers let go, every cache is emptied."""
    if choices.below(2):
        for _ in range(3):
            yield Advance(model.config.ttl + 1)
            yield EvictOld(model.config.ttl)
    while model.holds:
        yield Free()
    if model.readers:
        yield from drain_readers(model)
    if choices.below(2) and model.store.total:
        yield EvictSize(model.store.total)
    yield SizeOfAll()
    for cache in range(CACHES):
        yield Clear(cache)
    yield EvictSize(max(model.store.total, 1))
    yield SizeOfAll()
    yield Counters()
