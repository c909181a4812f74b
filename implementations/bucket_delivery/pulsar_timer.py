"""When the broker's bucket tracker wants to be woken: its base class's timer, before and after pull request 26012."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.implementations.interface import Clock, Timeout, Timer

NOWHERE = -1


class WakeUp:
    """Holds one timeout at most. Times are in milliseconds."""

    def __init__(self, clock: Clock, timer: Timer, wakes: Callable[[], None]) -> None:
        """``wakes`` is called before the dispatcher is asked for a read."""
        self._clock = clock
        self._timer = timer
        self._wakes = wakes
        self._timeout: Timeout | None = None
        self._target = 0
        self._last_run = 0

    def update(self, count: int, next_time: Callable[[], int], tick: int) -> None:
        """Aim at the next time, and not sooner than a tick after the last run; a time that has come is let go."""
        if count == 0:
            self.cancel()
            return
        aim = next_time() if count > 0 else NOWHERE
        if aim == self._target:
            return
        self._drop()
        self._target = NOWHERE
        if aim > self._clock():
            self._arm(max(aim, self._last_run + tick))
            self._target = aim

    def fire_now(self) -> None:
        """Have it fire as soon as may be, and forget what it aimed at."""
        self._drop()
        self._target = NOWHERE
        self._arm(self._clock())

    def cancel(self) -> None:
        """Let go of the timeout, if one is held."""
        if self._timeout is not None:
            self._drop()
            self._target = NOWHERE

    def _drop(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None

    def _arm(self, deadline: int) -> None:
        self._timeout = self._timer.new_timeout(deadline, self._fired)

    def _fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            return False
        self._wakes()
        self._last_run = self._clock()
        self._forget(timeout)
        return True

    def _forget(self, fired: Timeout) -> None:
        if fired is self._timeout:
            self._timeout = None
            self._target = NOWHERE


class WakeUp2025(WakeUp):
    """Keeps a cancelled timeout and its target where it arms none anew, and takes them for armed later on."""

    def update(self, count: int, next_time: Callable[[], int], tick: int) -> None:
        """Aim at the next time, the present moment included. A count below zero is as good as any."""
        if count == 0:
            self.cancel()
            return
        aim = next_time()
        if aim == self._target:
            return
        if self._timeout is not None:
            self._timeout.cancel()
        if aim >= self._clock():
            self._arm(max(aim, self._last_run + tick))
            self._target = aim

    def fire_now(self) -> None:
        """Have it fire as soon as may be. What it aimed at stays."""
        if self._timeout is not None:
            self._timeout.cancel()
        self._arm(self._clock())

    def _forget(self, fired: Timeout) -> None:
        self._timeout = None
        self._target = NOWHERE
