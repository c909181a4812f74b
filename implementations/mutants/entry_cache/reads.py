"""Mutants of reads through a cache: which are joined, and which are limited."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.entry_cache.reads import CacheReads, ReadLimiter, Running
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, TopicCache
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    LedgerHandle,
    ReadAnswered,
)
from broker_tck.implementations.mutants.entry_cache.around import around_limiter, around_reads
from broker_tck.implementations.mutants.entry_cache.caches import of_topic
from broker_tck.implementations.mutants.mutant import mutant


@mutant(
    "EC-53",
    shows="A listener that calls back into the cache before it returns.",
    source="PR 23958",
    inside=around_reads,
    conditions=2,
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


@mutant("EC-55", shows="Permits that are given back without having been taken.", inside=around_limiter, conditions=2)
class WaitingTakeNothing(ReadLimiter):
    """Lets a read that had to wait go without taking its permits."""

    def release(self, permits: int) -> None:
        """Give permits back."""
        self.remaining += permits
        while self._waiting and self.remaining >= self._waiting[0][0]:
            self._waiting.popleft()[2](True)
        super().release(0)


@mutant(
    "EC-55",
    shows="A real bug: one of two kinds of reads has no limit.",
    source="PR 23901",
    inside=of_topic,
    conditions=2,
)
class SinglesUnlimited(TopicCache):
    """Does not limit single reads."""

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """Answer a single reader."""
        limiter, self.reads.limiter = self.reads.limiter, None
        super().read_entry(handle, entry, answered)
        self.reads.limiter = limiter


@mutant("EC-55", shows="A real bug: one setting switches off what another configures.", source="PR 26296", conditions=2)
class UnlimitedWithoutCache(RemovalQueue):
    """Limits nothing where the largest size is 0."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self._unlimited = config.max_size == 0 and self._limiter is not None
        self._limit = config.max_reads_in_flight
        if self._unlimited:
            self._limiter = None

    def get_remaining_permits(self) -> int:
        """The bytes that are left of the limit."""
        return self._limit if self._unlimited else super().get_remaining_permits()
