"""When buckets are due, and for when the timer of a topic is armed."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME
from broker_tck.implementations.delayed_delivery.time_bucket import bucket_width
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, Timeout, Timer


class Buckets:
    """Time buckets as those of a tracker of one subscription; times in milliseconds."""

    __slots__ = ("mask", "rounding", "slack", "strict", "tick")

    def __init__(self, tick: int, strict: bool) -> None:
        """Derive the width from the tick; a later change of the tick leaves it as it is (DD-02, DD-03)."""
        width = bucket_width(tick)
        self.tick = tick
        self.strict = strict
        self.mask = -width
        self.rounding = width - 1 if strict else 0
        self.slack = 0 if strict else width - 1

    def key(self, deliver_at: int) -> int:
        """The bucket of a time (DD-05)."""
        return min(deliver_at + self.rounding, LAST_TIME) & self.mask

    def cutoff(self, now: int) -> int:
        """The last time that is not delayed (DD-04)."""
        return now if self.strict else now + self.tick

    def last_due(self, now: int) -> int:
        """The last key that is due (DD-06)."""
        return self.cutoff(now) - self.slack

    def last_woken(self, time: int) -> int:
        """The last key whose moment to wake had come by a time."""
        return time if self.strict else time + min(0, self.tick - self.slack)

    def wake(self, key: int) -> int:
        """When a bucket is due, or at its key if that is later (DD-33)."""
        return key if self.strict else max(key, key + self.slack - self.tick)


class TopicTimer(DeliveryTimer):
    """The timer of a tracker of one subscription, which calls the manager when it has fired."""

    __slots__ = ("_ran",)

    def __init__(self, clock: Clock, timer: Timer, ran: Callable[[], None]) -> None:
        super().__init__(clock, timer)
        self._ran = ran

    def _fired(self, timeout: Timeout) -> bool:
        if not super()._fired(timeout):
            return False
        self._ran()
        return True
