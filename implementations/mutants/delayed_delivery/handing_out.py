"""Mutants that go wrong over messages that leave: when they are due, which ones, in which order, what is forgotten."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Position
from broker_tck.implementations.mutants.delayed_delivery.parts import around_detector
from broker_tck.implementations.mutants.mutant import mutant

# ---- When


@mutant("DD-06", source="apache/pulsar PR 26188", conditions=2)
class DueFromTheStartOfABucket(TimeBucketTracker):
    """A bucket is due when its first time is within the tick, so messages are handed out, refused, and filed again."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        super().reset_tick_time(tick)
        self._early = self._window


@mutant("DD-06", conditions=3)
class NeverDueAfterItsKey(TimeBucketTracker):
    """With a tick lowered below the width of a bucket, the bucket is due at its key, which is early."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        super().reset_tick_time(tick)
        self._early = max(0, self._early)


@mutant("DD-19", source="apache/pulsar PR 10078", conditions=2)
class NoLeavesTheTimer(TimeBucketTracker):
    """When nothing is available, the timer is not brought up to date: after a firing, nothing is armed any more."""

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now."""
        return self._index.first <= self._clock() + self._early


# ---- Which, and in which order


@mutant("DD-20", source="apache/pulsar PR 7731")
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


@mutant("DD-20", conditions=2)
class GetOfNothingLeavesTheTimer(TimeBucketTracker):
    """A get that hands out nothing returns before the timer is brought up to date."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        if max_messages > 0 and self._index.first <= self._clock() + self._early:
            return super().get_scheduled_messages(max_messages)
        if self._index.first == NEVER:
            self._delays.reset()
        return []


@mutant("DD-28", conditions=3)
class CountFallsByPositions(TimeBucketTracker):
    """A position that is handed out for two of its copies is taken off the count once."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        before = self._count
        handed_out = super().get_scheduled_messages(max_messages)
        self._count = before - len(handed_out)
        return handed_out


@mutant("DD-20", conditions=3)
class HeapBudgetOfPositions(HeapTracker):
    """So many positions are handed out as were asked for, whatever number of copies that takes."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        handed_out = set(super().get_scheduled_messages(max_messages))
        while 0 < len(handed_out) < max_messages and (more := super().get_scheduled_messages(1)):
            handed_out.update(more)
        return sorted(handed_out)


# ---- What is forgotten


@mutant("DD-30", source="apache/pulsar issue 8689")
class ClearKeepsTheMessages(TimeBucketTracker):
    """Clear does nothing."""

    def clear(self) -> None:
        """Forget nothing."""


@mutant("DD-30", source="apache/pulsar issue 6403, PR 14740", conditions=2)
class HeapKeepsWhatIsDueOnClear(HeapTracker):
    """Clear keeps the messages that are due: when the consumers come back, they are delivered twice."""

    def clear(self) -> None:
        """Forget the messages that are not due."""
        kept = self._index.take(self._clock() + self._early, self._count)
        super().clear()
        for ledger_id, entry_id in kept:
            self._count += self._index.add(self._clock(), ledger_id, entry_id)


@mutant("DD-30", conditions=2)
class ClearDisarms(TimeBucketTracker):
    """Clear brings the timer up to date."""

    def clear(self) -> None:
        """Forget every message, and the timeout."""
        super().clear()
        self._update_timer(self._clock())


@mutant("DD-16", conditions=3)
class ClearStartsTheDetectionAnew(TimeBucketTracker):
    """Clear forgets what is known of the delays."""

    def clear(self) -> None:
        """Forget every message and every delay."""
        super().clear()
        self._delays.reset()


@mutant("DD-16", conditions=4, deep=True, inside=around_detector)
class HighestSurvivesTheDrain(FixedDelayDetector):
    """When all is handed out, the highest time so far is kept: a later message seems to step back."""

    def reset(self) -> None:
        """Start anew, but for the highest time."""
        highest = getattr(self, "_highest", 0)
        super().reset()
        self._highest = highest


# ---- Pausing


@mutant("DD-17", conditions=2)
class PauseOneTooLate(TimeBucketTracker):
    """Deliveries pause when more messages are held than the lookahead says."""

    def should_pause_all_deliveries(self) -> bool:
        """Whether the dispatcher is to stop reading."""
        return self._count != self._lookahead and super().should_pause_all_deliveries()


@mutant("DD-17", conditions=3)
class PauseAsksForAvailabilityFirst(TimeBucketTracker):
    """Whether deliveries pause is asked of the index first, which brings the timer up to date each time."""

    def should_pause_all_deliveries(self) -> bool:
        """Whether the dispatcher is to stop reading."""
        return not self.has_message_available() and super().should_pause_all_deliveries()
