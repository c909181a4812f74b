"""Mutants of the tracker of negative acks."""

from __future__ import annotations

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.negative_acks.parts import MS, emit
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker


class LaterFirst(SortedBucketsTracker):
    """The base of mutants that leave buckets which are due: it waits a millisecond at least, or would never end."""

    def _arm_for_first(self, now: int) -> None:
        first = self._buckets.first()
        if first is not None:
            self._arm(self._monotonic() + max(first - now, 1) * MS)


# ---- The timer


@mutant("NA-40", shows="A real bug: a timer that fires into a closed tracker.", source="PR 12469; client-cpp, PR 188")
class TimerOutlivesClose(SortedBucketsTracker):
    """Forgets at close to cancel the timer."""

    def close(self) -> None:
        """Forget everything but the timer."""
        self._timeout = None
        super().close()


# ---- Firing


@mutant(
    "NA-30",
    shows="A real bug of a walk over a tree from which it deletes; here in a sorted index.",
    source="client-go, PR 1410, B-10",
    conditions=2,
)
class SecondBucketSkipped(SortedBucketsTracker):
    """Takes the first bucket and the last, not those between, where several are due."""

    def _take(self, now: int) -> list[Position]:
        first = self._buckets.first()
        return super()._take(now if first is None or first > now else first)

    def _arm_for_first(self, now: int) -> None:
        first = self._buckets.first()
        super()._arm_for_first(now if first is None else min(now, first))


@mutant("NA-25", shows="A real bug: a call without content.", source="PR 20750")
class EmptySetCalledBack(SortedBucketsTracker):
    """Calls the application with no ids at all."""

    def _take(self, now: int) -> list[Position]:
        ids = super()._take(now)
        if not ids:
            self._consumer.on_negative_acks_send(ids)
        return ids


@mutant("NA-33", shows="Requests of any size, which only the observer of requests sees.")
class AllAtOnce(SortedBucketsTracker):
    """Requests everything at once."""

    def _fired(self, timeout: Timeout) -> None:
        if timeout is self._timeout:
            self._timeout = None
            now = self._wall()
            ids = self._take(now)
            self._arm_for_first(now)
            emit(self._consumer, ids, at_once=max(len(ids), 1))


@mutant("NA-35", shows="A real bug that shows only if the application throws.", source="PRs 15312, 23651, B-03")
class CalledBeforeTheTimerIsSettled(LaterFirst):
    """Calls and requests before it arms the timer anew, and believes it pending if that throws."""

    def _fired(self, timeout: Timeout) -> None:
        if timeout is self._timeout:
            now = self._wall()
            emit(self._consumer, self._take(now))
            self._timeout = None
            self._arm_for_first(now)


class ErrorCheckingLock:
    """A lock that says so where it would be waited for in vain."""

    def __init__(self) -> None:
        self.taken = False

    def __enter__(self) -> None:
        if self.taken:
            raise RuntimeError("deadlock: the lock is held by this very thread")
        self.taken = True

    def __exit__(self, *error: object) -> None:
        self.taken = False


@mutant("NA-35", shows="A deadlock, which no model can have.", source="PR 23651; client-cpp, PR 266, B-01, B-02")
class CalledUnderALock(SortedBucketsTracker):
    """Holds, while it calls, a lock that every operation takes."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._lock = ErrorCheckingLock()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, with the lock held."""
        with self._lock:
            super().add_message(message_id, redelivery_count)

    def _fired(self, timeout: Timeout) -> None:
        with self._lock:
            super()._fired(timeout)

    def close(self) -> None:
        """Close, with the lock held."""
        with self._lock:
            super().close()
