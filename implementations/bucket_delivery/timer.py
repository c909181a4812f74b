"""The timer of a bucket tracker: that of delayed delivery, which can also be told to fire at once."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, Timeout, Timer


class WakingTimer(DeliveryTimer):
    """Tells the tracker of each firing. Once closed, it arms nothing any more."""

    __slots__ = ("_closed", "_woken")

    def __init__(self, clock: Clock, timer: Timer, woken: Callable[[], None]) -> None:
        super().__init__(clock, timer)
        self._woken = woken
        self._closed = False

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
            self._woken()
        return asks
