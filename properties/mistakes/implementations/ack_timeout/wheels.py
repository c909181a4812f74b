"""Mutants of the tracker of ack timeouts: what a client was seen to do, and what a model cannot have."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.ack_timeout.timing_wheel import Kept, TimingWheel
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


@mutant("AT-64", shows="A wheel that skips at its tick what was acknowledged meanwhile.")
class AcknowledgedStayOnTheWheel(TimingWheel):
    """Leaves a message that was removed where it is, until its tick."""

    def _take_off(self, kept: Kept) -> None:
        pass

    def _due(self, filed: Iterable[Kept], now: int) -> Iterable[Kept]:
        return super()._due([kept for kept in filed if self._kept.get(kept.message[:3]) is kept], now)


@mutant("AT-05", shows="Messages in chunks of a topic that is left.")
class ChunksStayBehind(TimingWheel):
    """A topic that is left leaves its messages in chunks behind."""

    def remove_topic_messages(self, topic: str) -> int:
        """A topic was left; how many of its messages were tracked."""
        in_chunks = {position: kept for position, kept in self._kept.items() if kept.message.chunks}
        whole = super().remove_topic_messages(topic)
        left = {position: kept for position, kept in in_chunks.items() if position not in self._kept}
        self._kept.update(left)
        for kept in left.values():
            self._file(kept)
        return whole - len(left)
