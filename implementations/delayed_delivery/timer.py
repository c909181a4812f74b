"""The timer of a delayed-delivery tracker: one timeout at most, aimed at the first bucket.

A tracker asks for an update after every call that may have changed its first bucket. Nothing happens while the timer
already aims there, so a tracker compares with :attr:`DeliveryTimer.target` itself and saves the call.
"""

from __future__ import annotations

from broker_tck.implementations.interface import Clock, Timeout, Timer

NO_TARGET = -1
"""The target of a timer without a target; no message is ever due then."""


class DeliveryTimer:
    """Arms a timeout for the moment a tracker is to be read (DD-21 to DD-24)."""

    __slots__ = ("_clock", "_last_run", "_timeout", "_timer", "target")

    def __init__(self, clock: Clock, timer: Timer) -> None:
        self._clock = clock
        self._timer = timer
        self._timeout: Timeout | None = None
        self._last_run: int | None = None
        self.target = NO_TARGET

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, which is not the target yet, and at least ``tick`` after the last firing (milliseconds).

        A time that has come is not aimed at: the dispatcher is behind, and polls when it has caught up (DD-21).
        A last firing that lies ahead is forgotten: the clock was set back since (DD-38).
        """
        self._drop()
        if self._last_run is not None and self._last_run > now:
            self._last_run = None
        if wake > now:
            self._arm(wake, tick)

    def disarm(self) -> None:
        """Forget the timeout, if one is held. Idempotent."""
        if self._timeout is not None:
            self._drop()

    def _arm(self, wake: int, tick: int) -> None:
        deadline = wake if self._last_run is None else max(wake, self._last_run + tick)
        self._timeout = self._timer.new_timeout(deadline, self._fired)
        self.target = wake

    def _drop(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None
        self.target = NO_TARGET

    def _fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            return False
        self._last_run = self._clock()
        if timeout is self._timeout:
            self._timeout = None
            self.target = NO_TARGET
        return True


class DeliveryTimer2025(DeliveryTimer):
    """The timer as it was until PR 26012, which a poll at the wrong moment could stop for good (issue 25996).

    Its numbers begin as 0: as if it had run then, and aimed there (DD-26).

    Aiming anew cancels the timeout but keeps its handle and its target, so a time that is not armed, because it has
    passed, leaves a target behind that is taken for armed later on.
    """

    __slots__ = ()

    def __init__(self, clock: Clock, timer: Timer) -> None:
        super().__init__(clock, timer)
        self._last_run = 0
        self.target = 0

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake`` as :meth:`DeliveryTimer.aim` does, the present moment included."""
        if self._timeout is not None:
            self._timeout.cancel()
        if wake >= now:
            self._arm(wake, tick)

    def _fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            return False
        self._last_run = self._clock()
        self._timeout = None
        self.target = NO_TARGET
        return True
