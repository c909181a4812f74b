"""What is due, and when the dispatcher is to be woken."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.timer import WakingTimer
from broker_tck.implementations.interface import BucketDeliveryConfig, Clock, Timer


class Schedule:
    """The clock, the tick and the timer of a tracker. Times are in milliseconds."""

    def __init__(self, config: BucketDeliveryConfig, clock: Clock, timer: Timer, memory: Memory) -> None:
        self._clock = clock
        self._memory = memory
        self._strict = config.strict
        self.timer = WakingTimer(clock, timer, self._woken)
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
        """Aim the timer at the first index, if anything is held."""
        if not self._memory.held.count:
            self.timer.disarm()
        elif (first := self._memory.first) != self.timer.target:
            self.timer.aim(first, self._clock(), self.tick)

    def wake(self) -> None:
        """What a boundary may have waited for has come: have the dispatcher read, if anything is due (BD-24)."""
        if self.available():
            self.timer.fire_at_once()

    def _woken(self) -> None:
        self._memory.move_due(self.cutoff())
