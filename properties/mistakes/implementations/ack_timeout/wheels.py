"""Mutants of the tracker of ack timeouts: what a client was seen to do, and what a model cannot have."""

from __future__ import annotations

from broker_tck.implementations.ack_timeout.timing_wheel import TimingWheel
from broker_tck.implementations.interface import (
    AckTimeoutConfig,
    AckTimeoutConsumer,
    AckTimer,
    Clocks,
    Timeout,
    TrackedId,
)
from broker_tck.properties.mistakes.implementations.locks import ReentrantLock
from broker_tck.properties.mistakes.implementations.mutant import mutant


@mutant("AT-33", shows="A deadlock of two threads, as in Java with a backoff.", source="PR 9552")
class WheelLockedWhileItCalls(TimingWheel):
    """Holds, while it calls, a lock that an add takes."""

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._lock = ReentrantLock()

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Track a message, with the lock held."""
        with self._lock:
            return super().add(message_id, redelivery_count)

    def _fired(self, timeout: Timeout) -> None:
        with self._lock:
            super()._fired(timeout)
