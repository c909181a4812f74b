"""A tracker of ack timeouts on a ring of ticks, whose timer runs only for ticks at which something comes back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from broker_tck.implementations.interface import (
    AckTimeoutConfig,
    AckTimeoutConsumer,
    AckTimer,
    Clocks,
    Timeout,
    TrackedId,
    TrackedPosition,
)

MS = 1_000_000
"""Nanoseconds in a millisecond."""
PARTITION = "-partition-"


class Kept:
    """A message that is tracked."""

    __slots__ = ("at", "count", "message", "timed_out")

    def __init__(self, message: TrackedId, count: int, at: int) -> None:
        self.message = message
        self.count = count
        self.at = at
        """The number of the tick with which it times out, or comes back."""
        self.timed_out = False


class TimingWheel:
    """Tracks messages by position, and by the number of the tick at which something becomes of them."""

    contract: ClassVar[str] = "ack-timeout"
    profiles: ClassVar[tuple[str, ...]] = ("ack-timeout-spec",)

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        tick = min(config.tick, config.ack_timeout)
        self._tick = tick * MS
        self._ticks = -(-config.ack_timeout // tick)
        self._backoff = tuple(config.backoff or ())
        self._clock, self._start, self._timer, self._consumer = clocks.monotonic, clocks.monotonic(), timer, consumer
        self._kept: dict[TrackedPosition, Kept] = {}
        self._ring: dict[int, dict[TrackedPosition, Kept]] = {}
        """The messages of each tick that has any."""
        self._timeout: Timeout | None = None
        self._armed = 0
        self._closed = False

    # ---- What is tracked

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Track a message that was redelivered so often before; whether it was not tracked yet."""
        position = message_id[:3]
        if self._closed or position in self._kept:
            return False
        kept = self._kept[position] = Kept(message_id, redelivery_count, self._now() + 1 + self._ticks)
        self._file(kept)
        self._arm_for(kept.at)
        return True

    def remove(self, message_id: TrackedId) -> bool:
        """A message was acknowledged; whether it was tracked."""
        return self._remove([message_id[:3]]) > 0

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """All messages up to one were acknowledged; how many of them were tracked."""
        last = message_id[:3]
        return self._remove([position for position in self._kept if position <= last])

    def remove_topic_messages(self, topic: str) -> int:
        """A topic was left; how many of its messages were tracked."""
        left = base(topic)
        return self._remove([position for position, kept in self._kept.items() if base(kept.message.topic) == left])

    def clear(self) -> None:
        """Let go of everything."""
        self._kept.clear()
        self._ring.clear()

    def size(self) -> int:
        """How many messages are tracked."""
        return len(self._kept)

    def close(self) -> None:
        """Disarm the timer and let go of everything, for good."""
        self.clear()
        self._closed = True
        if self._timeout:
            self._timeout.cancel()
            self._timeout = None

    def _remove(self, positions: Iterable[TrackedPosition]) -> int:
        gone = [self._kept.pop(position) for position in positions if position in self._kept]
        for kept in gone:
            self._take_off(kept)
        return len(gone)

    def _take_off(self, kept: Kept) -> None:
        """Take a message off the ring."""
        of_tick = self._ring[kept.at]
        del of_tick[kept.message[:3]]
        if not of_tick:
            del self._ring[kept.at]

    # ---- Ticks

    def _now(self) -> int:
        """The number of ticks that have passed."""
        return (self._clock() - self._start) // self._tick

    def _file(self, kept: Kept) -> None:
        self._ring.setdefault(kept.at, {})[kept.message[:3]] = kept

    def _arm_for(self, tick: int) -> None:
        """Have the timer fire at a tick, or sooner."""
        if self._timeout is None:
            self._armed = tick
            self._timeout = self._timer.new_timeout(self._start + tick * self._tick, self._fired)
        elif tick < self._armed:
            self._timeout.cancel()
            self._timeout = None
            self._arm_for(tick)

    def _fired(self, timeout: Timeout) -> None:
        if timeout is not self._timeout:
            return
        self._timeout = None
        now = self._armed
        back = [*self._due(self._ring.pop(now, {}).values(), now)]
        if self._ring:
            self._arm_for(min(self._ring))
        if back:
            ids = sorted({position for kept in back for position in positions_of(kept.message)})
            self._consumer.on_ack_timeout_send(ids)
            self._consumer.redeliver_unacknowledged_messages(ids)

    def _due(self, filed: Iterable[Kept], now: int) -> Iterable[Kept]:
        """Those that come back now; the others wait for their backoff."""
        for kept in filed:
            delay = 0 if kept.timed_out or not self._backoff else self._delay(kept.count)
            if delay == 0:
                del self._kept[kept.message[:3]]
                yield kept
            else:
                kept.timed_out, kept.at = True, now - (-delay // self._tick)
                self._file(kept)

    def _delay(self, count: int) -> int:
        """How long a message waits for its backoff, in nanoseconds."""
        return self._backoff[min(count, len(self._backoff) - 1)] * MS


def positions_of(message: TrackedId) -> list[TrackedPosition]:
    """The positions of a message: its own, and those of its chunks."""
    return [message[:3], *((message.ledger_id, entry, message.batch_index) for entry in message.chunks)]


def base(topic: str) -> str:
    """The name of the topic that a partition is of; of another topic its own name."""
    head, found, number = topic.rpartition(PARTITION)
    return head if found and number.isdigit() else topic
