"""Mutants of the entry caches that are wrong only where calls overlap."""

from __future__ import annotations

from typing import Any

from broker_tck.implementations.interface import (
    LOOKS,
    MARKS,
    STOPS,
    WAITS,
    Entry,
    Position,
    Steps,
    removes,
    requeues,
)
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.removal_queue import give_back
from broker_tck.implementations.stepwise_queue import REQUEUES, StepwiseCache, StepwiseQueue, Wrapper


def in_queue(broken: type[StepwiseCache]) -> type[StepwiseQueue]:
    """The queue whose caches are broken."""
    return type("StepwiseQueue", (StepwiseQueue,), {"stepped_type": broken})


# ---- Insertions and removals


@mutant("IL-1", conditions=2, inside=in_queue)
class RemovedBeforeQueued(StepwiseCache):
    """Removes an entry whose insertion has not come to the queue yet."""

    def is_held(self, wrapper: Wrapper) -> bool:
        """Nothing is."""
        return False


@mutant("IL-1", source="issue 15707", conditions=3, inside=in_queue)
class SizeReadLate(StepwiseCache):
    """Counts an insertion by a size that it reads at its end, when the entry may be gone."""

    def count(self, wrapper: Wrapper, size: int) -> None:
        """Count by what the wrapper has now."""
        super().count(wrapper, wrapper.size)


@mutant("EC-12", source="issue 10433", conditions=3, inside=in_queue)
class RemovedTwice(StepwiseCache):
    """Removes what it found, though another removal has taken it since."""

    def remove_range_steps(self, first: Position, last: Position, last_inclusive: bool) -> Steps[tuple[int, int]]:
        """Remove a range; answers with entries and bytes."""
        entries = size = 0
        found = self.next_within(first, last, True, last_inclusive)
        while found:
            key, wrapper = found
            value, bytes_ = wrapper.value, wrapper.size
            yield LOOKS
            while wrapper.locked:
                yield WAITS
            self.wrappers.pop(key, None)
            wrapper.blank()
            if value is not None:
                give_back(value)
            entries += 1
            size += bytes_
            found = self.next_within(key, last, False, last_inclusive)
            yield removes(key)
        self.size -= size
        self.broker.removed(entries, size)
        return entries, size


@mutant("EC-12", source="PR 22789", conditions=4, deep=True, inside=in_queue)
class RemovedLateByKey(StepwiseCache):
    """Unmaps whatever is under the key of the wrapper that it found, and lets go of what the wrapper had."""

    def remove(self, key: Position, wrapper: Wrapper) -> int | None:
        """Unmap what is under a key; answers with the bytes."""
        if self.wrappers.pop(key, None) is None:
            return None
        value: Any = wrapper.value
        size = wrapper.size
        wrapper.blank()
        give_back(value)
        return size


@mutant("EC-16", source="PR 10225", conditions=2, inside=in_queue)
class AnswersWhatWasThere(StepwiseCache):
    """Answers a clear with entries and bytes as they were at its begin, and takes so much off the broker's size."""

    def clear_steps(self) -> Steps[tuple[int, int]]:
        """Remove everything; answers with what was there."""
        before = sum(wrapper.size for wrapper in self.wrappers.values())
        entries = len(self.wrappers)
        removed, size = yield from super().clear_steps()
        self.broker.removed(entries - removed, before - size)
        return entries, before


@mutant("IL-5", conditions=2, deep=True, inside=in_queue)
class EndsWhereOneIsGone(StepwiseCache):
    """Ends a removal at an entry that another removal has taken."""

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
            if removed is None:
                break
            entries += 1
            size += removed
            found = self.next_within(key, last, False, last_inclusive)
            yield removes(key)
        self.size -= size
        self.broker.removed(entries, size)
        return entries, size


# ---- Reads


@mutant("IL-3", conditions=2, inside=in_queue)
class TakenUnretained(StepwiseCache):
    """Hands out a value whether or not it could be retained."""

    def get_steps(self, position: Position) -> Steps[Entry | None]:
        """The value of a position."""
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
        if not value.retain() and self.wrappers.get(position) is wrapper:
            return None
        return value


@mutant("IL-4", conditions=5, deep=True, inside=in_queue)
class WhateverTheWrapperHas(StepwiseCache):
    """Hands out the value of the wrapper that was found, whatever key that is for by now."""

    def get_steps(self, position: Position) -> Steps[Entry | None]:
        """The value of a position."""
        wrapper = self.wrappers.get(position)
        if wrapper is None:
            return None
        yield LOOKS
        while wrapper.locked:
            yield WAITS
        value: Entry | None = wrapper.value
        if wrapper.key == position and wrapper.cache is self:
            wrapper.accessed = True
            yield MARKS
        return value if value is not None and value.retain() else None


# ---- Passes


@mutant("IL-2", source="PR 18076", conditions=3, deep=True)
class TakesTheFirstNow(StepwiseQueue):
    """Removes what is first in the queue, where the entry that it looked at is gone by then."""

    def pass_steps(self, before: float, wanted: float) -> Steps[tuple[int, int]]:
        """A pass."""
        while self.is_evicting():
            yield WAITS
        self.evicting = True
        entries = size = 0
        while self.queue:
            wrapper = self.queue[0]
            fate = self.fate(wrapper, before, wanted - size)
            yield LOOKS
            if wrapper.key is not None:
                fate = self.fate(wrapper, before, wanted - size)
            while self.queue and self.queue[0].key is None:
                wrapper = self.queue.popleft()
                self.free.append(wrapper)
            if fate is None or not self.queue:
                continue
            wrapper = self.queue[0]
            key = wrapper.key
            if fate is STOPS:
                yield STOPS
                break
            if fate is REQUEUES:
                self.requeue(wrapper)
                yield requeues(key)
                continue
            entries += 1
            size += self.evict(wrapper)
            yield removes(key)
            yield from self.take_out(wrapper)
        self.removed(entries, size)
        self.evicting = False
        return entries, size


@mutant("IL-2", conditions=2)
class JudgesWhenItLooks(StepwiseQueue):
    """Decides what becomes of an entry when it looks at it, not when it has its lock."""

    def pass_steps(self, before: float, wanted: float) -> Steps[tuple[int, int]]:
        """A pass."""
        while self.is_evicting():
            yield WAITS
        self.evicting = True
        entries = size = 0
        while self.queue:
            wrapper = self.queue[0]
            fate = self.fate(wrapper, before, wanted - size)
            yield LOOKS
            key = wrapper.key
            if key is not None and fate is STOPS:
                yield STOPS
                break
            if key is not None and fate is REQUEUES:
                self.requeue(wrapper)
                yield requeues(key)
                continue
            if key is not None:
                entries += 1
                size += self.evict(wrapper)
                yield removes(key)
            yield from self.take_out(wrapper)
        self.removed(entries, size)
        self.evicting = False
        return entries, size


@mutant("IL-2", conditions=2, deep=True)
class RecycledBeforePolled(StepwiseQueue):
    """Has a wrapper used again before it is out of the queue, so that it may be in there twice."""

    def take_out(self, wrapper: Wrapper) -> Steps[None]:
        """Take the head out of the queue, after it may be used again."""
        self.free.append(wrapper)
        yield LOOKS
        self.queue.popleft()


@mutant("IL-11", conditions=2)
class PassesSideBySide(StepwiseQueue):
    """Makes a pass while another is under way."""

    def is_evicting(self) -> bool:
        """No pass knows of another."""
        return False


@mutant("EC-17", conditions=2)
class TakenOffEntryByEntry(StepwiseQueue):
    """Takes what a pass removes off the broker's size at once, entry by entry."""

    def evict(self, wrapper: Wrapper) -> int:
        """Remove the entry of a wrapper from its cache; answers with its bytes."""
        size = super().evict(wrapper)
        self.size -= size
        return size

    def pass_steps(self, before: float, wanted: float) -> Steps[tuple[int, int]]:
        """A pass."""
        entries, size = yield from super().pass_steps(before, wanted)
        self.size += size
        return entries, size
