"""What threads may call at the same time, in steps as the model of overlapping calls has them.

Sizes and references are promised at rest. That a read marks its entry is a hint: it may come late, but must not fall on
another entry.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import msgspec

from broker_tck.model.entry_cache.entries import Cache, Cached
from broker_tck.model.entry_cache.overlapping import LOOKS, Call, Getting, Passing, Putting, Removing
from broker_tck.model.entry_cache.releases import LargestFirst
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import (
    CACHES,
    Advance,
    Capabilities,
    Clear,
    Config,
    EvictOld,
    EvictSize,
    Get,
    Invalidate,
    Pinned,
    Put,
    Remove,
    Trim,
)
from broker_tck.properties.engine.concurrent import Concurrent, Hint, Word
from broker_tck.properties.engine.operation import Operation

LARGEST = 100_000
"""The bytes of an entry, at most."""
MOST_REQUEUED = 5
IN_STEPS = (Put, Get, Remove, Invalidate, Trim, Clear, EvictOld, EvictSize)


class Overlapping:
    """A call on a thread of the model."""

    def __init__(self, model: EntryCaches, operation: Operation, thread: int) -> None:
        model.begin(thread, operation.on)
        self.call, self.go_on = model.under_way[thread], model.step
        self.thread = thread

    def words(self) -> list[Word]:
        """What its next step may do. A pass may also look, which gives it the queue; a read marks once."""
        call = self.call
        if call.blocked() or (isinstance(call, Getting) and call.marked):
            return []
        looks = [LOOKS] if isinstance(call, Passing) and not call.going_on else []
        return [(*did,) for did in [*call.choices(), *looks] if did[0] != "ends"]

    def step(self, word: Word) -> None:
        """Do that."""
        allowed = self.go_on(self.thread)
        assert allowed
        allowed.follow([*word])

    def ends(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        allowed = self.call.permits(["ends", result])
        if allowed:
            self.step(("ends", result))
        return allowed

    def says(self) -> str:
        """What it may do now."""
        return self.call.says()


def rest(model: EntryCaches, _: Sequence[Operation]) -> Iterator[Operation]:
    """Passes over a queue and clears take out what is left, so that all that was stored counts."""
    yield Pinned()
    if not isinstance(model.passes, LargestFirst):
        yield from (Advance(model.config.ttl + 1), EvictOld(model.config.ttl))
    yield from map(Clear, range(CACHES))


def fits(operation: Operation, model: EntryCaches, _: Capabilities) -> bool:
    """Whether a pass goes over a queue, as the model has it in steps, and an entry is so small that many fit."""
    if isinstance(operation, EvictOld | EvictSize):
        return not isinstance(model.passes, LargestFirst) and (isinstance(operation, EvictOld) or operation.bytes > 0)
    return not isinstance(operation, Put) or operation.size <= LARGEST


def happens(operation: Operation) -> bool:
    """Whether a ledger belongs to one cache, as in a broker: a late read may otherwise find another cache's entry."""
    return not isinstance(operation, Put) or operation.ledger % CACHES == operation.cache


def plain(config: Config) -> Config:
    """A configuration without a limit: the broker orders no pass itself. Passes end soon."""
    return msgspec.structs.replace(
        config, max_size=None, max_requeue_count=min(config.max_requeue_count, MOST_REQUEUED)
    )


def fingerprint(model: EntryCaches) -> Hashable:
    """What is cached and queued, and how far each call is."""
    return fingerprint_with(model, sorted(model.under_way.items()))


def fingerprint_with(model: EntryCaches, calls: Sequence[tuple[int, Call]]) -> Hashable:
    """What is cached and queued, and how far each of these calls is.

    An entry, or a closed cache, is identified by the place where it is met first.
    """
    numbers: dict[Cached, int] = {}
    places: dict[Cache, int] = {cache: i for i, cache in enumerate(model.caches)}

    def of(entry: Cached) -> Hashable:
        cache = places.setdefault(entry.cache, len(places))
        state = entry.accessed, entry.blank, entry.requeued, entry.stamp, entry.reads, entry.references
        return cache, entry.position, entry.size, state, numbers.setdefault(entry, len(numbers))

    def of_call(call: Any) -> Hashable:
        match call:
            case Putting():
                handed = getattr(call, "handed", False)
                state: Hashable = (
                    call.entry and of(call.entry),
                    call.entry in model.steps.unqueued,
                    call.was_refused,
                    handed,
                )
            case Getting():
                state = call.was, call.marked, call.owes_mark()
            case Removing():
                state = (*call.removed, *(of(entry) for entry in call.due if entry.cached))
            case Passing():
                state = (*call.removed, call.going_on, call.stopped, call.visits, call.queued)
        return type(call), state

    queue = tuple(map(of, model.store.queue))
    caches = tuple((cache.size, tuple(map(of, cache.entries.values()))) for cache in model.caches)
    return queue, caches, tuple((thread, of_call(call)) for thread, call in calls)


def unmarked(model: EntryCaches) -> list[int]:
    """The places in the queue of the entries that a stray mark would make accessed."""
    return [i for i, entry in enumerate(model.store.queue) if not entry.blank and not entry.accessed]


def mark(model: EntryCaches, place: int) -> None:
    """Mark an entry that nobody has read."""
    model.store.queue[place].accessed = True


CONCURRENT = Concurrent(
    fills=(Put,),
    before=(Put, Get, Advance),
    calls=(Put, Put, Get, Get, *IN_STEPS),
    rest=rest,
    steps=dict.fromkeys(IN_STEPS, Overlapping),
    fingerprint=fingerprint,
    hint=Hint("EC-11", unmarked, mark),
    fits=fits,
    happens=happens,
    config=plain,
)
