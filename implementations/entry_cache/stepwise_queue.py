"""Entry caches over one queue of removal, as threads run them: with locks, and calls that can be gone on with in steps.

The order of things is the broker's. An insertion holds the lock of its wrapper until the wrapper is in the queue; a
removal, and what a pass decides, is done under that lock; a pass holds the queue's monitor from its begin to its end.
A wrapper is used again for another entry once it was taken out of the queue. An ordinary call runs its steps at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, TypeVar

from sortedcontainers import SortedDict

from broker_tck.implementations.entry_cache.removal_queue import FIRST, RemovalQueue, give_back
from broker_tck.implementations.interface import (
    LOOKS,
    MAPS,
    MARKS,
    QUEUES,
    STOPS,
    WAITS,
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    IllegalArgumentException,
    Position,
    Steps,
    removes,
    requeues,
)

R = TypeVar("R")
REMOVES, REQUEUES = "removes", "requeues"


def at_once(steps: Steps[R]) -> R:
    """All steps of a call, one after another. RuntimeError if it waits for another call, which cannot go on."""
    while True:
        try:
            did = next(steps)
        except StopIteration as end:
            result: R = end.value
            return result
        if did is WAITS:
            raise RuntimeError("the call waits for another, which cannot go on")


def whole(name: str) -> Callable[..., Any]:
    """The ordinary call of one that has steps."""
    steps = f"{name}_steps"
    return lambda self, *arguments: at_once(getattr(self, steps)(*arguments))


@dataclass(eq=False, slots=True)
class Wrapper:
    """The place of an entry in the queue: of one after another. Without a key it is blank."""

    cache: StepwiseCache | None = None
    key: Position | None = None
    value: Entry | None = None
    size: int = 0
    stamp: int = 0
    requeued: int = 0
    accessed: bool = False
    locked: bool = False

    def wrap(self, cache: StepwiseCache, key: Position, value: Entry, stamp: int) -> None:
        """Stand for an entry from now on."""
        self.cache, self.key, self.value = cache, key, value
        self.size, self.stamp, self.requeued, self.accessed = value.length, stamp, 0, False

    def blank(self) -> None:
        """Stand for nothing."""
        self.cache = self.key = self.value = None
        self.size = self.stamp = self.requeued = 0


class StepwiseCache:
    """The cache of one topic: a sorted map of wrappers."""

    def __init__(self, broker: StepwiseQueue) -> None:
        self.broker = broker
        self.disabled = broker.max_size == 0
        self.wrappers: Any = SortedDict()
        self.size = 0

    # ---- In steps

    def put_steps(self, position: Position, value: Entry) -> Steps[bool]:
        """Insert a value, unless its position is cached. IllegalArgumentException for a value of another position."""
        if value.position != position:
            raise IllegalArgumentException(f"the value is of {value.position}, not of {position}")
        if self.disabled or position in self.wrappers:
            return False
        value.retain()
        wrapper = self.broker.new_wrapper()
        wrapper.wrap(self, position, value, self.broker.clock())
        size = wrapper.size
        wrapper.locked = True
        self.wrappers[position] = wrapper
        yield MAPS
        self.broker.queue.append(wrapper)
        wrapper.locked = False
        yield QUEUES
        self.count(wrapper, size)
        return True

    def get_steps(self, position: Position) -> Steps[Entry | None]:
        """The value of a position, retained."""
        wrapper = self.wrappers.get(position)
        if wrapper is None:
            return None
        yield LOOKS
        while wrapper.locked:
            yield WAITS
        if wrapper.key != position or wrapper.cache is not self:
            return None
        value: Entry = wrapper.value
        wrapper.accessed = True
        yield MARKS
        if not value.retain():
            return None
        yield LOOKS
        return value

    def remove_range_steps(self, first: Position, last: Position, last_inclusive: bool) -> Steps[tuple[int, int]]:
        """Remove a range; answers with entries and bytes."""
        entries = size = 0
        found = self.next_within(first, last, True, last_inclusive)
        yield LOOKS
        while found:
            key, wrapper = found
            while wrapper.locked:
                yield WAITS
            removed = self.remove(key, wrapper)
            found = self.next_within(key, last, False, last_inclusive)
            if removed is None:
                yield LOOKS
            else:
                entries += 1
                size += removed
                yield removes(key)
        self.size -= size
        self.broker.removed(entries, size)
        return entries, size

    def invalidate_entries_steps(self, last: Position) -> Steps[None]:
        """Remove what is before a position."""
        yield from self.remove_range_steps(FIRST, last, False)

    def invalidate_all_entries_steps(self, ledger: int) -> Steps[None]:
        """Remove all of a ledger."""
        yield from self.remove_range_steps((ledger, 0), (ledger + 1, 0), False)

    def clear_steps(self) -> Steps[tuple[int, int]]:
        """Remove everything; answers with entries and bytes."""
        if not self.wrappers:
            return 0, 0
        return (yield from self.remove_range_steps(self.wrappers.keys()[0], (2**64, 0), True))

    def count(self, wrapper: Wrapper, size: int) -> None:
        """Count what was inserted, as large as it was then: its wrapper may stand for something else by now."""
        self.size += size
        self.broker.inserted(size)
        if self.broker.size > self.broker.trigger:
            self.broker.order()

    def next_within(
        self, first: Position, last: Position, from_first: bool, last_inclusive: bool
    ) -> tuple[Position, Wrapper] | None:
        """The lowest position of a range that is mapped, and its wrapper."""
        for key in self.wrappers.irange(first, last, (from_first, last_inclusive)):
            return key, self.wrappers[key]
        return None

    def remove(self, key: Position, wrapper: Wrapper) -> int | None:
        """Unmap a wrapper that was found under a key, unless that is over; answers with the bytes."""
        mapped: Wrapper | None = self.wrappers.get(key)
        if mapped is not wrapper or wrapper.key != key:
            return None
        del self.wrappers[key]
        value, size = wrapper.value, wrapper.size
        wrapper.blank()
        assert value is not None
        give_back(value)
        return size

    # ---- At once

    put, get, remove_range, clear = whole("put"), whole("get"), whole("remove_range"), whole("clear")
    invalidate_entries, invalidate_all_entries = whole("invalidate_entries"), whole("invalidate_all_entries")

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained, in ascending order."""
        return [value for key in self.wrappers.irange(first, last) if (value := self.get(key))]

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""
        return len(self.wrappers)

    def get_size(self) -> int:
        """Their bytes."""
        return self.size


class StepwiseQueue(RemovalQueue):
    """The caches of a broker."""

    capabilities: ClassVar[dict[str, object]] = {"reads": False}
    cache_type: ClassVar[Any] = StepwiseCache

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self.free: list[Wrapper] = []
        self.evicting = False
        """Whether a pass holds the queue's monitor."""

    def new_wrapper(self) -> Wrapper:
        """A wrapper: one that was used before, if there is one."""
        return self.free.pop() if self.free else Wrapper()

    def evict_entries_before_timestamp_steps(self, timestamp: int) -> Steps[tuple[int, int]]:
        """Remove from the head what was put there before a time; answers with entries and bytes."""
        return self.pass_steps(timestamp, inf)

    def evict_least_accessed_entries_steps(self, size: int) -> Steps[tuple[int, int]]:
        """Remove from the head until this number of bytes is gone. IllegalArgumentException for 0 bytes."""
        if size <= 0:
            raise IllegalArgumentException(f"{size} bytes cannot be evicted")
        return self.pass_steps(inf, size)

    def pass_steps(self, before: float, wanted: float) -> Steps[tuple[int, int]]:
        """Look at the head, judge it under its lock, take it out of the queue, and use its wrapper again."""
        while self.evicting:
            yield WAITS
        self.evicting = True
        entries = size = 0
        while self.queue:
            wrapper, fate = yield from self.judge_steps(before, wanted - size)
            key = wrapper.key
            if fate is STOPS:
                yield STOPS
                break
            if fate is REQUEUES:
                self.requeue(wrapper)
                yield requeues(key)
                continue
            if fate is REMOVES:
                entries += 1
                size += self.evict(wrapper)
                yield removes(key)
            yield from self.take_out(wrapper)
        self.removed(entries, size)
        self.evicting = False
        return entries, size

    def judge_steps(self, before: float, wanted: float) -> Steps[tuple[Any, object]]:
        """Look at the head; answers with it and its fate."""
        wrapper = self.queue[0]
        yield LOOKS
        return wrapper, self.fate(wrapper, before, wanted)

    def fate(self, wrapper: Any, before: float, wanted: float) -> object:
        """The fate of a wrapper in a pass; None if it is blank."""
        if wrapper.key is None:
            return None
        if wrapper.stamp >= before or wanted <= 0:
            return STOPS
        return REQUEUES if self.requeues(wrapper) else REMOVES

    def take_out(self, wrapper: Wrapper) -> Steps[None]:
        """Take the head out of the queue, and then use it again."""
        self.queue.popleft()
        yield LOOKS
        self.free.append(wrapper)

    def evict(self, wrapper: Wrapper) -> int:
        """Remove the entry of a wrapper from its cache; answers with its bytes."""
        cache, key = wrapper.cache, wrapper.key
        assert cache is not None
        assert key is not None
        size = cache.remove(key, wrapper) or 0
        cache.size -= size
        return size

    def requeue(self, wrapper: Wrapper) -> None:
        """Put the head of the queue to its tail."""
        self.queue.append(self.queue.popleft())
        wrapper.stamp, wrapper.accessed = self.clock(), False
        wrapper.requeued += 1

    evict_entries_before_timestamp = whole("evict_entries_before_timestamp")
    evict_least_accessed_entries = whole("evict_least_accessed_entries")
