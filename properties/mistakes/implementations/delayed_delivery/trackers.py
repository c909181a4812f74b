"""Broken trackers: what they do with messages that come one by one or together, and with settings."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME, NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timeout, Timer
from broker_tck.properties.mistakes.implementations.mutant import mutant

# ---- Real bugs


@mutant("DD-05", source="apache/pulsar PR 26012, issue 25996")
class StrictRoundedDown(TimeBucketTracker):
    """In strict mode a time is rounded down to its bucket, so it is handed out early."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._rounding = 0


class NoSuchElementException(Exception):
    """The timer asked an index without messages for its first bucket (issue 25617)."""


@mutant("DD-11", source="apache/pulsar PR 25681, issue 25617")
class DuplicateCounted(TimeBucketTracker):
    """A message that is in its bucket already is counted again; once all is drained, every call fails."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, and count it."""
        before = self._count
        taken = super().add_message(ledger_id, entry_id, deliver_at)
        self._count = before + taken
        return taken

    def _update_timer(self, now: int) -> None:
        if self._count and self._index.first == NEVER:
            raise NoSuchElementException
        super()._update_timer(now)


@mutant("DD-20", shows="An answer that changes after it was given.")
class HandsOutOneList(TimeBucketTracker):
    """Every get fills and hands out the same list, so the list that the last get handed out changes."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._given: list[Position] = []

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out what is due."""
        self._given[:] = super().get_scheduled_messages(max_messages)
        return self._given


@mutant("DD-20", shows="An answer that does not change before the next but one.")
class HandsOutTwoLists(HandsOutOneList):
    """Two lists are filled and handed out in turn, so a get changes what the last but one handed out."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._other: list[Position] = []

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out what is due."""
        self._given, self._other = self._other, self._given
        return super().get_scheduled_messages(max_messages)


# ---- Messages that are added together


@mutant("DD-10")
class BatchLeavesTheTimer(TimeBucketTracker):
    """Messages that are added together do not bring the timer up to date."""

    def _file(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int], now: int) -> None:
        self._delays.accepted_all(deliver_at, self._tick)
        for entry_id, at in zip(entry_ids, deliver_at, strict=True):
            self._count += self._index.add(self._key(at), ledger_id, entry_id)


@mutant("DD-11")
class BatchCountsDuplicates(TimeBucketTracker):
    """Of messages that are added together, those that are held already are counted again."""

    def _file(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int], now: int) -> None:
        before = self._count
        super()._file(ledger_id, entry_ids, deliver_at, now)
        self._count = before + len(entry_ids)


# ---- How much is taken off


@mutant("DD-28")
class CountFallsByPositions(TimeBucketTracker):
    """A position that is handed out for two of its copies is taken off the count once."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        before = self._count
        handed_out = super().get_scheduled_messages(max_messages)
        self._count = before - len(handed_out)
        return handed_out


@mutant("DD-30")
class ClearsAThousandBuckets(TimeBucketTracker):
    """A clear forgets the first thousand buckets, and leaves the others."""

    def clear(self) -> None:
        """Forget the messages of the first buckets."""
        for _ in range(1_000):
            self._count -= len(self._index.take(min(self._index.first, LAST_TIME), self._count))


@mutant("DD-35")
class EndOfAContainerStays(TimeBucketTracker):
    """A budget that ends with the last entry of a container of 65,536 hands it out but keeps it."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        before = self._index.first
        handed_out = super().get_scheduled_messages(max_messages)
        if handed_out and self._index.first == before and handed_out[-1][1] % 65_536 == 65_535:
            self._count += self._index.add(before, *handed_out[-1])
        return handed_out


# ---- What a close leaves


@mutant("DD-32", shows="A close that nobody has asked anything before.")
class PastTimeoutStays(TimeBucketTracker):
    """A close leaves a timeout armed if its time has passed, for example because the clock was set forwards."""

    def close(self) -> None:
        """Disarm what is ahead, and let go of everything."""
        if self._timer.target > self._clock():
            self._timer.disarm()
        self._index.clear()


# ---- Numbers in 32 bits


@mutant("DD-09")
class WindowIsAnInt(TimeBucketTracker):
    """The cut-off is reckoned with the low 32 bits of the tick, signed: from 2^31 on it lies before now, or is now."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, and the window in which messages are refused."""
        super().reset_tick_time(tick)
        if not self._strict:
            self._window = (tick + 2**31) % 2**32 - 2**31


@mutant("DD-21")
class LatenessIsAnInt(TimeBucketTracker):
    """With a tick so far below the width that a bucket is due 2^31 ms after its key or later, it is woken sooner."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, and how long after its key a bucket is due."""
        super().reset_tick_time(tick)
        self._late &= 2**31 - 1


# ---- What only many firings show


class PooledTimer(DeliveryTimer):
    """Takes its timeouts from a pool, to which only cancelled ones return."""

    _pool = 58

    def _arm(self, wake: int, tick: int) -> None:
        if self._pool:
            super()._arm(wake, tick)

    def _fired(self, timeout: Timeout) -> bool:
        self._pool -= 1
        return super()._fired(timeout)


@mutant("DD-41", shows="A timer that is armed no more after many firings.")
class FiredTimeoutsAreLost(TimeBucketTracker):
    """Of a pool of 58 timeouts each that fires is lost; after the last one nothing is armed."""

    timer_class = PooledTimer
