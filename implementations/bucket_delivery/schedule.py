"""When a tracker is read: what is due, and the timer that asks for it."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import BucketDeliveryConfig, Clock, Timeout, Timer


class Schedule(DeliveryTimer):
    """The clock, the tick and the timer of a tracker. Once closed, it arms nothing any more. Milliseconds."""

    __slots__ = ("_closed", "_memory", "_strict", "early", "tick")

    def __init__(self, config: BucketDeliveryConfig, clock: Clock, timer: Timer, memory: Memory) -> None:
        super().__init__(clock, timer)
        self._memory = memory
        self._strict = config.strict
        self._closed = False
        self.reset_tick(config.tick)

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        self.tick = tick
        self.early = 0 if self._strict else tick
        """How long before its time a message may be handed out."""

    def cutoff(self) -> int:
        """What is not after this is due."""
        return self._clock() + self.early

    def available(self) -> bool:
        """Whether a message may be handed out (BD-18)."""
        return self._memory.held.count > 0 and self._memory.first <= self.cutoff()

    def update(self) -> None:
        """Aim at the first index, if anything is held."""
        if not self._memory.held.count:
            self.disarm()
        elif (first := self._memory.first) != self.target:
            self.aim(first, self._clock(), self.tick)

    def wake(self) -> None:
        """What a boundary may have waited for has come: have the dispatcher read, if anything is due (BD-24)."""
        if self.available():
            self.fire_at_once()

    def fire_at_once(self) -> None:
        """Fire at this moment, whatever was armed; what it was armed for is forgotten (DD-25)."""
        if not self._closed:
            self._drop()
            self._timeout = self._timer.new_timeout(self._clock(), self._fired)

    def close(self) -> None:
        """Disarm for good."""
        self.disarm()
        self._closed = True

    def _fired(self, timeout: Timeout) -> bool:
        asks = super()._fired(timeout)
        if asks:
            self._memory.move_due(self.cutoff())
        return asks
