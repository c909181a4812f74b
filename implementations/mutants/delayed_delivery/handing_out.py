"""Mutants that go wrong as messages leave: when and in which order, what is forgotten, what the timer is told."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.timer import NO_TARGET, DeliveryTimer, DeliveryTimer2025
from broker_tck.implementations.interface import Position, Timeout
from broker_tck.implementations.mutants.delayed_delivery.parts import around_timer, in_heap
from broker_tck.implementations.mutants.mutant import mutant

# ---- When


@mutant("DD-19", shows="A real bug: a question without its side effect.", source="apache/pulsar PR 10078", conditions=2)
class NoLeavesTheTimer(TimeBucketTracker):
    """When nothing is available, the timer is not brought up to date: after a firing, nothing is armed any more."""

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now."""
        return self._index.first <= self._clock() + self._early


# ---- Which, and in which order


@mutant("DD-20", shows="A real bug of order, in an index that knows both orders.", source="apache/pulsar PR 7731")
class HandedOutInOrderOfTime(TimeBucketTracker):
    """Messages are handed out in the order of their buckets."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        now = self._clock()
        copies = self._index.take(now + self._early, max_messages)
        self._count -= len(copies)
        if self._index.first == NEVER:
            self._delays.reset()
        self._update_timer(now)
        return list(dict.fromkeys(copies))


@mutant("DD-28", shows="A count of positions taken for one of copies.", conditions=3)
class CountFallsByPositions(TimeBucketTracker):
    """A position that is handed out for two of its copies is taken off the count once."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        before = self._count
        handed_out = super().get_scheduled_messages(max_messages)
        self._count = before - len(handed_out)
        return handed_out


@mutant("DD-20", shows="A loop that fills up an answer from which copies were dropped.", conditions=3)
class HeapBudgetOfPositions(HeapTracker):
    """So many positions are handed out as were asked for, whatever number of copies that takes."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        handed_out = set(super().get_scheduled_messages(max_messages))
        while 0 < len(handed_out) < max_messages and (more := super().get_scheduled_messages(1)):
            handed_out.update(more)
        return sorted(handed_out)


# ---- What is forgotten


@mutant("DD-30", shows="A real bug: an operation that does nothing.", source="apache/pulsar issue 8689")
class ClearKeepsTheMessages(TimeBucketTracker):
    """Clear does nothing."""

    def clear(self) -> None:
        """Forget nothing."""


@mutant(
    "DD-30",
    shows="A real bug: a clear that tells what is due from what is not.",
    source="apache/pulsar issue 6403, PR 14740",
    conditions=2,
)
class HeapKeepsWhatIsDueOnClear(HeapTracker):
    """Clear keeps the messages that are due: when the consumers come back, they are delivered twice."""

    def clear(self) -> None:
        """Forget the messages that are not due."""
        kept = self._index.take(self._clock() + self._early, self._count)
        super().clear()
        for ledger_id, entry_id in kept:
            self._count += self._index.add(self._clock(), ledger_id, entry_id)


# ---- The time between two firings


@mutant(
    "DD-22",
    shows="A real bug: timeouts that follow on each other at once.",
    source="apache/pulsar PR 5498",
    conditions=2,
    inside=in_heap,
)
class HeapWithoutSpacing(DeliveryTimer2025):
    """A firing may follow on another within the tick."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, however soon that is."""
        super().aim(wake, now, 0)


@mutant(
    "DD-22",
    shows="A memory of the last firing that an empty index loses.",
    conditions=3,
    deep=True,
    inside=around_timer,
)
class LastRunForgottenWhenEmpty(DeliveryTimer):
    """When nothing is held any more, the last firing is forgotten: the next may follow on it within the tick."""

    def disarm(self) -> None:
        """Forget the timeout and the last firing."""
        super().disarm()
        self._last_run = None


# ---- Firing


@mutant(
    "DD-24",
    shows="A real bug: two timeouts, the older of which takes the newer for itself.",
    source="apache/pulsar PR 26012",
    conditions=3,
    inside=around_timer,
)
class StaleFiringForgetsTheNewer(DeliveryTimer):
    """A firing that was on its way when its timeout was cancelled makes the newer timeout be forgotten."""

    def _fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            self._timeout = None
            self.target = NO_TARGET
        return super()._fired(timeout)
