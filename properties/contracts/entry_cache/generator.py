"""What a walk does next: operations chosen with the model's state in view.

Positions come from a small pool over three topics, so that they meet again. Passes are asked for what matters: the age
of the queue's head and one more or less, the size of its first entries and one byte beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.configs import REQUEUES
from broker_tck.properties.contracts.entry_cache.fills import Fills, Out
from broker_tck.properties.contracts.entry_cache.operations import (
    CACHES,
    Advance,
    AnyOperation,
    Background,
    Capabilities,
    Clear,
    Counters,
    EvictOld,
    EvictSize,
    Expect,
    Extend,
    Fill,
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
    Run,
    SizeOfAll,
    Spoil,
    Trim,
)
from broker_tck.properties.contracts.entry_cache.passes import LATEST, Passes
from broker_tck.properties.contracts.entry_cache.pools import (
    LARGEST_ENTRY,
    LAST_ID,
    MOST_SPANNED,
    expected_reads,
    positions,
    sizes,
)
from broker_tck.properties.contracts.entry_cache.reading_walk import Readers, drain_readers
from broker_tck.properties.engine.choices import Choices, weighted
from broker_tck.properties.engine.contract import Maker

READING = 3
"""In one walk of so many there are readers."""
AIMING = 12
"""One size of so many is the one with which the caches come to a limit."""


def makers(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    return kinds(model, choices, Entries(model, choices), Passes(model, choices), capabilities)


def kinds(
    model: EntryCaches, choices: Choices, entries: Entries, passes: Passes, capabilities: Capabilities
) -> list[Maker]:
    """The kinds of operations, out of these entries and passes."""
    free, pinned = Free(), Pinned()
    made = [
        Maker("put", (20, 30, 40), lambda: Put(*entries.key(), *entries.entry())),
        Maker("put_plain", (0, 5, 10), lambda: Put(*entries.key(), entries.size(), 0)),
        Maker("put_protected", (0, 5, 10), lambda: Put(*entries.key(), entries.size(), 1 + choices.below(3))),
        Maker("fill", (0,) * 8 + (2,), entries.fill),
        Maker("late", (0, 0, 1, 3), lambda: Late(*entries.key(), *entries.entry())),
        Maker("misput", (0, 0, 0, 1), lambda: Misput(*entries.key())),
        Maker("get", (4, 10, 20), lambda: Get(*entries.known())),
        Maker("hold", (0, 2, 6), lambda: Hold(*entries.known())),
        Maker("free", (2, 4), lambda: free),
        Maker("spoil", (0, 0, 0, 2), lambda: Spoil(*entries.known())),
        Maker("range", (0, 3, 6), entries.range),
        Maker("read", (4, 10, 20), lambda: Read(*entries.known())),
        Maker("expect", (0, 2, 5), lambda: Expect(*entries.known())),
        Maker("remove", (0, 1, 3), entries.remove),
        Maker("invalidate", (0, 0, 2, 4), entries.invalidate),
        Maker("trim", (0, 1, 2), entries.trim),
        Maker("clear", (0, 0, 1), lambda: Clear(entries.topic())),
        Maker("reopen", (0, 0, 1, 2), lambda: Reopen(entries.topic())),
        Maker("ttl", (5, 10, 20), passes.evict_old),
        Maker("size", (0, 5, 15), passes.evict_size),
        Maker("adv", (10, 20, 30), passes.advance),
        Maker("pinned", (0, 1, 3), lambda: pinned),
        Maker("requeues", (5, 10) if passes.often else (0, 0, 1), passes.requeues),
        Maker("extend", (0, 0, 1), lambda: Extend(choices.below(2))),
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
        self.pool = positions(choices, few=model.passes.most_requeued > max(REQUEUES))
        self.topics = weighted([(0, 4), (1, 1 + choices.below(3)), (2, choices.below(3))])
        self.sizes, self.reads = sizes(choices, model.manager.max_size), expected_reads(choices)
        self.fills = Fills(model, choices)

    def topic(self) -> int:
        """A topic."""
        return self.topics[self.below(len(self.topics))]

    def key(self) -> tuple[int, int, int]:
        """A topic and a position out of the pool."""
        return self.topic(), *self.pool[self.below(len(self.pool))]

    def somewhere(self) -> tuple[int, int, int]:
        """The same, or in the midst of what was inserted at once."""
        return self.fills.inside() if self.fills.last and self.below(2) else self.key()

    def known(self) -> tuple[int, int, int]:
        """A topic and a position, mostly of what was inserted."""
        stored = self.model.stored
        if self.fills.last and self.below(4) == 0:
            return self.fills.inside()
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
        caches = self.model.caches
        return caches.index(entry.cache) if entry.cache in caches else 0, entry.position

    def entry(self) -> tuple[int, int]:
        """A size and a read count."""
        return self.size(), self.reads[self.below(len(self.reads))]

    def size(self) -> int:
        """A size, now and then the one with which the caches come to a limit, or a byte beside it."""
        manager = self.model.manager
        if manager.max_size is not None and self.below(AIMING) == 0:
            limits = manager.max_size * 98 // 100, manager.max_size, manager.goal()
            left = limits[self.below(3)] - self.model.store.total + self.below(3) - 1
            if 0 <= left <= LARGEST_ENTRY:
                return left
        return self.sizes[self.below(len(self.sizes))]

    def fill(self) -> Fill | Out:
        """Many insertions, or all of the last of them out again, at once."""
        if self.fills.last and self.below(2):
            return self.fills.out()
        return self.fills.fill(self.key(), *self.entry())

    def range(self) -> Range:
        """A range, now and then the wrong way round: the rig refuses it."""
        cache, l1, e1 = self.somewhere()
        _, l2, e2 = self.somewhere()
        if self.fills.last and self.below(2):
            e2 = self.fills.page_end(e2)
        if l1 == l2 and abs(e1 - e2) > MOST_SPANNED:
            e2 = e1 + 2
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
        cache, ledger, entry = self.somewhere()
        at_page = self.fills.last and self.below(2)
        return Invalidate(cache, ledger, self.fills.page_end(entry) if at_page else entry)

    def trim(self) -> Trim:
        """A ledger."""
        cache, ledger, _ = self.somewhere()
        return Trim(cache, ledger - (self.below(4) == 0))


def drain(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: passes over what is left, readers let go, every cache is emptied."""
    if choices.below(2):
        for _ in range(3):
            yield Advance(min(model.config.ttl + 1, max(LATEST - model.now, 0)))
            yield EvictOld(model.config.ttl)
    yield from let_go(model)
    if choices.below(2) and model.store.total:
        yield EvictSize(model.store.total)
    yield SizeOfAll()
    for cache in range(CACHES):
        yield Clear(cache)
    yield EvictSize(max(model.store.total, 1))
    yield SizeOfAll()
    yield Counters()


def let_go(model: EntryCaches) -> Iterator[AnyOperation]:
    """Everybody lets go of what they hold."""
    while model.holds:
        yield Free()
    if model.readers:
        yield from drain_readers(model)


def ebb(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """Everything is taken out, in one of the ways in which entries leave."""
    yield from let_go(model)
    way = choices.below(5)
    if way == 0:
        yield EvictSize(max(model.store.total, 1))
    if way == 1:
        yield Advance(min(model.config.ttl + 1, max(LATEST - model.now, 0)))
        yield EvictOld(0)
        yield Advance(1)
        yield EvictOld(0)
    for cache in range(CACHES):
        yield (Clear(cache), Reopen(cache), Clear(cache), Clear(cache), Invalidate(cache, LAST_ID, LAST_ID))[way]
    yield SizeOfAll()
    yield Counters()
