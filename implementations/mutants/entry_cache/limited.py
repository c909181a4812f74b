"""Mutants of the limit of reads in flight."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_tck.implementations.entry_cache.reads import CacheReads, ReadLimiter
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, TopicCache
from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCacheConfig,
    Execute,
    LedgerHandle,
    ReadAnswered,
)
from broker_tck.implementations.mutants.entry_cache.around import around_cache, around_limiter, around_reads
from broker_tck.implementations.mutants.mutant import mutant


@mutant("EC-55", inside=around_limiter, conditions=2)
class WaitingTakeNothing(ReadLimiter):
    """Lets a read that had to wait go without taking its permits."""

    def release(self, permits: int) -> None:
        """Give permits back."""
        self.remaining += permits
        while self._waiting and self.remaining >= self._waiting[0][0]:
            self._waiting.popleft()[2](True)
        super().release(0)


@mutant("EC-55", inside=around_limiter, conditions=2)
class NoOvertaking(ReadLimiter):
    """Has every read wait behind those that wait already."""

    def acquire(self, permits: int, go: Callable[[bool], None]) -> None:
        """Take permits."""
        held = self.remaining if self._waiting else 0
        self.remaining -= held
        super().acquire(permits, go)
        self.remaining += held


@mutant("EC-55", inside=around_limiter, conditions=2)
class TimerIsLate(ReadLimiter):
    """Refuses reads by the timer only beyond their time."""

    def time_out(self) -> None:
        """Refuse those who have waited for too long."""
        self._timeout += self._timeout > 0
        super().time_out()
        self._timeout -= self._timeout > 0


@mutant("EC-55", inside=around_reads, conditions=2, deep=True)
class PermitsBackAtTheFirst(CacheReads):
    """Gives permits back as soon as the first returned entry is freed."""

    def giving_back(self, permits: int, answered: ReadAnswered) -> ReadAnswered:
        """An answer that gives permits back."""
        limiter = self.limiter
        assert limiter is not None

        def answer(result: Sequence[Entry] | Exception) -> None:
            if isinstance(result, Exception):
                limiter.release(permits)
            else:
                result[0].on_freed(lambda: limiter.release(permits))
            answered(result)

        return answer


@mutant("EC-55", inside=around_reads)
class NoOverhead(CacheReads):
    """Takes permits for the bytes of the entries alone."""

    def estimate(self, handle: LedgerHandle) -> int:
        """The bytes that an entry is estimated to hold."""
        return super().estimate(handle) - 64


@mutant("EC-55", source="PR 23901", inside=around_cache, conditions=2)
class SinglesUnlimited(TopicCache):
    """Does not limit single reads."""

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """Answer a single reader."""
        limiter, self.reads.limiter = self.reads.limiter, None
        super().read_entry(handle, entry, answered)
        self.reads.limiter = limiter


@mutant("EC-55", source="PR 26296", conditions=2)
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
