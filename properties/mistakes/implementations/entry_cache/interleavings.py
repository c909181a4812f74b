"""Mutants of the entry caches that are wrong only where calls overlap."""

from __future__ import annotations

from typing import Any

from broker_tck.implementations.entry_cache.removal_queue import give_back
from broker_tck.implementations.entry_cache.stepwise_queue import StepwiseCache, StepwiseQueue, Wrapper
from broker_tck.implementations.interface import LOOKS, MARKS, WAITS, Entry, Position, Steps
from broker_tck.properties.mistakes.implementations.mutant import mutant


def in_queue(broken: type[StepwiseCache]) -> type[StepwiseQueue]:
    """The queue whose caches are broken."""
    return type("StepwiseQueue", (StepwiseQueue,), {"cache_type": broken})


# ---- Insertions and removals


@mutant("IL-1", shows="A size read after another call has emptied the wrapper.", source="issue 15707", inside=in_queue)
class SizeReadLate(StepwiseCache):
    """Counts an insertion by a size that it reads at its end, when the entry may be gone."""

    def count(self, wrapper: Wrapper, size: int) -> None:
        """Count by what the wrapper has now."""
        super().count(wrapper, wrapper.size)


@mutant("EC-12", shows="Two removals of one entry that are both answered.", source="issue 10433", inside=in_queue)
class RemovedTwice(StepwiseCache):
    """Removes what it found, though another removal has taken it since."""

    def remove(self, key: Position, wrapper: Wrapper) -> int | None:
        """Unmap a wrapper; answers with its bytes, of which none are left when it is gone."""
        return super().remove(key, wrapper) or 0


@mutant("EC-12", shows="A key that another entry has by the time it is removed.", source="PR 22789", inside=in_queue)
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


@mutant(
    "EC-16",
    shows="A total taken at the begin of a removal, in which others take part.",
    source="PR 10225",
    inside=in_queue,
)
class AnswersWhatWasThere(StepwiseCache):
    """Answers a clear with entries and bytes as they were at its begin, and takes so much off the broker's size."""

    def clear_steps(self) -> Steps[tuple[int, int]]:
        """Remove everything; answers with what is there now, as it is begun."""
        there = [wrapper.size for wrapper in self.wrappers.values() if not wrapper.locked]
        return self.answering(super().clear_steps(), len(there), sum(there))

    def answering(self, removal: Steps[tuple[int, int]], entries: int, size: int) -> Steps[tuple[int, int]]:
        """Make a removal, and answer otherwise than it does."""
        removed, removed_size = yield from removal
        self.broker.removed(entries - removed, size - removed_size)
        return entries, size


# ---- Reads


@mutant("IL-4", shows="A wrapper that is recycled between two steps of a read.", inside=in_queue)
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


@mutant("IL-2", shows="A look and a removal between which the head of the queue changes.", source="PR 18076")
class TakesTheFirstNow(StepwiseQueue):
    """Removes the first entry in the queue if the entry that it looked at is gone by then."""

    def judge_steps(self, before: float, wanted: float) -> Steps[tuple[Any, object]]:
        """Look at the head; where it is gone by then, what was to become of it becomes of the first that is left."""
        then = self.fate(self.queue[0], before, wanted)
        wrapper, fate = yield from super().judge_steps(before, wanted)
        first = next((other for other in self.queue if other.key is not None), None)
        if fate is not None or then is None or first is None:
            return wrapper, fate
        while self.queue[0] is not first:
            self.free.append(self.queue.popleft())
        return first, then


@mutant("IL-2", shows="An object in a pool while it is still in a queue.")
class RecycledBeforePolled(StepwiseQueue):
    """Has a wrapper used again before it is out of the queue, so that it may be in there twice."""

    def take_out(self, wrapper: Wrapper) -> Steps[None]:
        """Take the head out of the queue, after it may be used again."""
        self.free.append(wrapper)
        yield LOOKS
        self.queue.popleft()
