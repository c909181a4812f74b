"""Mutants that arm the wrong timeout, one too many, or none."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.heap import IllegalReferenceCountException
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.timer import NO_TARGET, DeliveryTimer, DeliveryTimer2025
from broker_tck.implementations.interface import Timeout
from broker_tck.implementations.mutants.delayed_delivery.parts import around_timer, in_heap
from broker_tck.implementations.mutants.mutant import mutant

# ---- What it aims at


@mutant("DD-33", source="InMemoryDelayedDeliveryTracker with PR 26188, seen by running it", conditions=3)
class AimsAtTheKey(TimeBucketTracker):
    """With a tick lowered below the width of a bucket, the timer fires before the bucket is due, and never again."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        super().reset_tick_time(tick)
        self._late = 0


@mutant("DD-33")
class AimsAtTheEndOfTheBucket(TimeBucketTracker):
    """The timer waits for the end of a bucket, though it is due a tick earlier."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        super().reset_tick_time(tick)
        self._late = self._slack


@mutant("DD-21", source="apache/pulsar PR 26012, issue 25996", conditions=3, deep=True, inside=around_timer)
class CancelledButAimedAt(DeliveryTimer):
    """A timeout that is cancelled is taken for armed when its bucket is the first again: nothing ever fires."""

    def _drop(self) -> None:
        target = self.target
        super()._drop()
        self.target = target


@mutant("DD-21", source="apache/pulsar PR 26012", inside=around_timer)
class ArmsForThisMoment(DeliveryTimer):
    """A first bucket that is due this very moment is armed for."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, be it now."""
        super().aim(wake, now - 1, tick)


@mutant("DD-21", conditions=2, inside=around_timer)
class NeverAimsLater(DeliveryTimer):
    """A timeout that is armed is never replaced by a later one: a firing finds nothing to hand out."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, unless something sooner is aimed at."""
        if self._timeout is None or wake < self.target:
            super().aim(wake, now, tick)


@mutant("DD-21")
class ArmedForNothing(TimeBucketTracker):
    """When the last message leaves, the timeout that was armed for it stays."""

    def _update_timer(self, now: int) -> None:
        if self._index.first != NEVER:
            super()._update_timer(now)


@mutant("DD-23", inside=around_timer)
class ReplacedNotCancelled(DeliveryTimer):
    """A timeout that is replaced is not cancelled: both fire."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake`` besides."""
        self._timeout = None
        super().aim(wake, now, tick)


# ---- The time between two firings


@mutant("DD-22", source="apache/pulsar PR 5498", conditions=2, inside=in_heap)
class HeapWithoutSpacing(DeliveryTimer2025):
    """A firing may follow on another within the tick."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, however soon that is."""
        super().aim(wake, now, 0)


@mutant("DD-22", conditions=3, deep=True, inside=around_timer)
class LastRunForgottenWhenEmpty(DeliveryTimer):
    """When nothing is held any more, the last firing is forgotten: the next may follow on it within the tick."""

    def disarm(self) -> None:
        """Forget the timeout and the last firing."""
        super().disarm()
        self._last_run = None


# ---- Firing


@mutant("DD-24", conditions=2, inside=around_timer)
class CancelledFiringReads(DeliveryTimer):
    """A firing that was on its way when its timeout was cancelled asks for a read."""

    def _fired(self, timeout: Timeout) -> bool:
        return super()._fired(timeout) or timeout.cancelled


@mutant("DD-24", source="apache/pulsar PR 26012", conditions=3, inside=around_timer)
class StaleFiringForgetsTheNewer(DeliveryTimer):
    """A firing that was on its way when its timeout was cancelled makes the newer timeout be forgotten."""

    def _fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            self._timeout = None
            self.target = NO_TARGET
        return super()._fired(timeout)


@mutant("DD-32", source="TripleLongPriorityQueue, seen by running it", conditions=2)
class ClosedTwiceThrows(TimeBucketTracker):
    """A second close lets go once more of what the first one let go of, and throws."""

    _closed = False

    def close(self) -> None:
        """Let go of what is held."""
        super().close()
        if self._closed:
            raise IllegalReferenceCountException
        self._closed = True


@mutant("DD-32", conditions=3, deep=True)
class CloseOfNothingLeavesTheTimer(TimeBucketTracker):
    """Close disarms only where something is held: after a clear, a timeout outlives its tracker."""

    def close(self) -> None:
        """Let go of what is held."""
        if self._index.first != NEVER:
            super().close()
