"""Mutants of the entry caches and of their reads that are wrong in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.implementations.entry_cache.reads import CacheReads, Reader, ReadLimiter, Running
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot, TopicCache
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    ExpectedReads,
    LedgerHandle,
    Position,
    ReadAnswered,
)
from broker_tck.properties.mistakes.implementations.locks import ReentrantLock
from broker_tck.properties.mistakes.implementations.mutant import mutant

PAGE_BITS = 6
"""Entries whose ids differ in so many low bits only are in one page."""


def broken(part: str) -> Callable[[type], type[RemovalQueue]]:
    """Makes the subject of which a class broke one part."""
    return lambda made: type(made.__name__, (RemovalQueue,), {part: made})


of_topic, around_reads = broken("cache_type"), broken("reads")


# ---- Reading and removing


@mutant("EC-09", shows="A comparison by identity, which only objects have.", source="PR 23903", inside=of_topic)
class SameInstanceOnly(TopicCache):
    """Finds an entry only by the very position that it was inserted with."""

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        slot = self.ledgers.get(position[0], {}).get(position[1])
        found = slot and slot.value and slot.value.position is position
        return super().get(position) if found else None


@mutant(
    "EC-10",
    shows="Pages of entries, of which the model has none.",
    source="RangeCache of 2026, which has pages of 64 entries",
    inside=of_topic,
)
class RangeEndsAtAnEmptyPage(TopicCache):
    """Entries are in pages of 64: a range ends at the first page after its first entry in which nothing is cached."""

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, as far as one page follows on another."""
        found: list[Entry] = []
        for value in super().get_range(first, last):
            one, other = found[-1].position if found else value.position, value.position
            if one[0] == other[0] and (other[1] >> PAGE_BITS) - (one[1] >> PAGE_BITS) > 1:
                value.release()
            else:
                found.append(value)
        return found


@mutant(
    "EC-12",
    shows="A leak that no answer shows, only the references of values.",
    source="PR 23955",
    inside=of_topic,
)
class RetainedForGood(TopicCache):
    """Retains a value to remove it, and does not let go of it."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps."""
        value = super().unmap(slot)
        value.retain()
        return value


# ---- Passes


@mutant("EC-P18", shows="A memo of an answer.", inside=of_topic)
class LastReadKept(TopicCache):
    """Keeps the value that was read last."""

    last: Entry | None = None

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        self.last = super().get(position)
        return self.last


@mutant(
    "EC-24", shows="A configuration that is ignored at the start, and heeded once it is set again.", source="PR 26627"
)
class SettingsAtStartIgnored(RemovalQueue):
    """Begins with the default settings of requeueing, whatever is configured."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self._most_requeued, self._extends_accessed = 5, True


@mutant("EC-30", shows="A flag that is never reset: the first pass is right, no other comes.")
class OnePassAndNoMore(RemovalQueue):
    """Goes on to believe that a pass is ordered."""

    def _run_ordered(self) -> None:
        self._relieve()


# ---- Reads through the cache


@mutant(
    "EC-53",
    shows="A listener that calls back into the cache before it returns.",
    source="PR 23958",
    inside=around_reads,
)
class JoinsWhatHasCome(CacheReads):
    """Lets a listener join, before it returns, the very read whose answer it is told."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Pass the values on."""
        self.running.setdefault(running.ledger, []).append(running)
        listeners, running.listeners = running.listeners, []
        told = Running(listeners[0][0], running.first, running.last)
        told.listeners = listeners
        super().deliver(told, values)
        self.answered(running)


@mutant("EC-59", shows="A deadlock of two threads.", source="apache/pulsar PR 26599, review", inside=around_reads)
class ReadersToldUnderALock(CacheReads):
    """Holds, while it tells readers, a lock that every read of the storage takes; its own thread may take it again."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.lock = ReentrantLock()

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Pass the values on, with the lock held."""
        with self.lock:
            super().completed(running, values)

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        """Listen or read, with the lock held."""
        with self.lock:
            super().join_or_read(reader, first, last)


@mutant("RC-06", shows="An answer that changes after it was given.", inside=around_reads)
class EmptiesAnswers(CacheReads):
    """Empties the list that a reader was answered with, so the reader has nothing to let go of, and frees no entry."""

    def read(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Read a range of a ledger."""

        def answer(result: Sequence[Entry] | Exception) -> None:
            answered(result)
            if isinstance(result, list):
                result.clear()

        super().read(handle, first, last, expected, answer)


class Generous(ReadLimiter):
    """Takes no more permits for a read than there are at all, when nobody else reads."""

    def __init__(self, limit: int, most_waiting: int, timeout: int, clock: Clock) -> None:
        super().__init__(limit, most_waiting, timeout, clock)
        self._limit = limit

    def acquire(self, permits: int, go: Callable[[bool], None]) -> None:
        """Take permits, below zero too."""
        if self.remaining == self._limit < permits:
            self.remaining -= permits
            go(True)
        else:
            super().acquire(permits, go)


@mutant("EC-55", shows="A request that can never be granted.", source="apache/pulsar PR 23524")
class LargerThanTheLimitGoes(RemovalQueue):
    """A read for more than the whole limit goes as soon as nobody else reads."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        if self._limiter:
            limit, queue = config.max_reads_in_flight, config.acquire_queue
            self._limiter = Generous(limit, queue, config.acquire_timeout, clock)
