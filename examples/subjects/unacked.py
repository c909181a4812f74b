"""Trackers of ack timeouts on two dictionaries, to copy from: one conforms, and one forgets what waits."""

from __future__ import annotations

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


class Tracker:
    """Keeps each message, and the number of ticks it still waits; then the time from which on it may come back."""

    contract: ClassVar = "ack-timeout"
    profiles: ClassVar = ("ack-timeout-spec",)
    capabilities: ClassVar = {"topics": False}

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        tick = min(config.tick, config.ack_timeout)
        self.tick = tick * MS
        self.ticks = -(-config.ack_timeout // tick)
        self.backoff = config.backoff or (0,)
        self.clock, self.timer, self.consumer = clocks.monotonic, timer, consumer
        self.received: dict[TrackedPosition, tuple[TrackedId, int]] = {}
        self.left: dict[TrackedPosition, int] = {}
        self.waiting: dict[TrackedPosition, int] = {}
        self.closed = False
        self.arm()

    def arm(self) -> None:
        """Arm the timer for the next tick."""
        self.timeout = self.timer.new_timeout(self.clock() + self.tick, self.fired)

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Track a message."""
        position = message_id[:3]
        if self.closed or position in self.left or position in self.waiting:
            return False
        self.received[position] = message_id, redelivery_count
        self.left[position] = self.ticks
        return True

    def remove(self, message_id: TrackedId) -> bool:
        """A message was acknowledged."""
        return self.drop(message_id[:3])

    def drop(self, position: TrackedPosition) -> bool:
        """Let go of a message, in whichever dictionary it is."""
        self.received.pop(position, None)
        return self.left.pop(position, None) is not None or self.waiting.pop(position, None) is not None

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """All messages up to one were acknowledged."""
        gone = [position for position in (*self.left, *self.waiting) if position <= message_id[:3]]
        return sum(map(self.drop, gone))

    def remove_topic_messages(self, topic: str) -> int:
        """A consumer of one topic leaves none."""
        return 0

    def clear(self) -> None:
        """Let go of everything."""
        self.received.clear()
        self.left.clear()
        self.waiting.clear()

    def size(self) -> int:
        """How many messages are tracked."""
        return len(self.left) + len(self.waiting)

    def close(self) -> None:
        """Disarm the timer and let go of everything, for good."""
        self.closed = True
        self.timeout.cancel()
        self.clear()

    def fired(self, timeout: Timeout) -> None:
        """A tick."""
        if timeout.cancelled:
            return
        self.arm()
        now = self.clock()
        for position in [position for position, ticks in self.left.items() if ticks == 0]:
            del self.left[position]
            count = self.received[position][1]
            self.waiting[position] = now + self.backoff[min(count, len(self.backoff) - 1)] * MS
        for position in self.left:
            self.left[position] -= 1
        back = [position for position, at in self.waiting.items() if at <= now]
        ids = set(back)
        for position in back:
            del self.waiting[position]
            ids.update((position[0], chunk, position[2]) for chunk in self.received.pop(position)[0].chunks)
        if ids:
            self.consumer.on_ack_timeout_send(ids)
            self.consumer.redeliver_unacknowledged_messages(ids)


class ForgetfulTracker(Tracker):
    """The same with one mistake: it looks for an acknowledged message only among those that have not timed out."""

    def remove(self, message_id: TrackedId) -> bool:
        """A message was acknowledged."""
        return message_id[:3] in self.left and super().remove(message_id)
