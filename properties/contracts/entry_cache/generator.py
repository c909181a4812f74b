"""What a walk does next: operations chosen with the model's state in view.

Positions come from a small pool over three topics, so that they meet again. Passes are asked for what matters: the age
of the queue's head and one more or less, the size of its first entries and one byte beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.entries import Entries
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
    Free,
    Get,
    Hold,
    Invalidate,
    Late,
    Misput,
    Pinned,
    Put,
    Read,
    Reopen,
    Run,
    SizeOfAll,
    Spoil,
)
from broker_tck.properties.contracts.entry_cache.passes import LATEST, Passes
from broker_tck.properties.contracts.entry_cache.pools import LAST_ID
from broker_tck.properties.contracts.entry_cache.reading_walk import Readers, drain_readers
from broker_tck.properties.contracts.entry_cache.threads import Threads, to_the_end
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.operation import Operation

READING = 3
"""In one walk of so many there are readers."""


def makers(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """What a subject is asked for. While calls are under way, each maker makes what there is to do then."""
    entries, passes = Entries(model, choices), Passes(model, choices)
    made = kinds(model, choices, entries, passes, capabilities)
    if not capabilities.steps:
        return made
    threads = Threads(model, choices, entries, passes, capabilities)

    def otherwise(make: Callable[[], Operation]) -> Callable[[], Operation]:
        return lambda: threads.during() if model.under_way else make()

    begin = Maker("begin", (0, 20, 60), threads.bout)
    return [Maker(maker.name, maker.weights, otherwise(maker.make)) for maker in [*made, begin]]


def kinds(
    model: EntryCaches, choices: Choices, entries: Entries, passes: Passes, capabilities: Capabilities
) -> list[Maker]:
    """The kinds of operations, but for calls that are begun."""
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


def drain(model: EntryCaches, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: calls come to their end, passes go over what is left, readers let go, caches are emptied."""
    if capabilities.steps:
        yield from to_the_end(model, choices)
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
    if capabilities.steps:
        yield from to_the_end(model, choices)
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
