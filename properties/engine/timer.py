"""The timer of an adapter: it fires exactly at the deadline, when the adapter moves the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from broker_tck.properties.engine.answers import truth, whole


class Timeout:
    """An armed timeout; what it fires is called with the timeout itself."""

    __slots__ = ("__weakref__", "cancelled", "deadline", "fired", "timer")

    def __init__(self, timer: ManualTimer, deadline: int, fired: Callable[[Any], Any]) -> None:
        self.timer = timer
        self.deadline = deadline
        self.fired = fired
        self.cancelled = False

    def cancel(self) -> None:
        """Disarm."""
        if self in self.timer.live:
            self.timer.live.remove(self)
            self.timer.last_cancelled = self
        self.cancelled = True


ASKS = "what a firing answers"
MOST_FIRINGS = 10_000
"""A subject whose timer fires more often than this in one step of the clock never lets it move."""


LAST_TIME = 2**63 - 1
"""No time is later."""


def settable(by: int, now: int, armed: Iterable[int]) -> bool:
    """Whether a clock may be set by so much: it does not go below 0, and no deadline passes the last time."""
    return now + by >= 0 and max(armed, default=0) + by <= LAST_TIME


class ManualTimer:
    """A timer and the clock behind it, in a unit that the adapter chooses."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.live: list[Timeout] = []
        self.last_cancelled: Timeout | None = None

    def new_timeout(self, deadline: int, fired: Callable[[Any], Any]) -> Timeout:
        """Arm a timeout; TypeError if the deadline is no whole number."""
        timeout = Timeout(self, whole(deadline, "a deadline"), fired)
        self.live.append(timeout)
        return timeout

    def due(self, until: int) -> Timeout | None:
        """Disarm the earliest timeout that is due by a time, with the clock at its deadline; None if none is."""
        if not self.live:
            return None
        timeout = min(self.live, key=_deadline)
        if timeout.deadline > until:
            return None
        self.now = max(self.now, timeout.deadline)
        self.live.remove(timeout)
        return timeout

    def let_go(self) -> None:
        """Forget the timeout that was cancelled last, and all that it leads to."""
        self.last_cancelled = None

    def jump(self, by: int) -> None:
        """Set the clock. The timer waits by one that never jumps: its deadlines move along."""
        self.now += by
        for timeout in self.live:
            timeout.deadline += by


def _deadline(timeout: Timeout) -> int:
    return timeout.deadline


class DispatcherTimer(ManualTimer):
    """The timer of a tracker whose firings ask the dispatcher for a read. Milliseconds."""

    def advance(self, by: int) -> list[int]:
        """Move the clock; timers fire on the way. Answers the times at which a firing asked for a read."""
        until = self.now + by
        asked: list[int] = []
        fired = 0
        while timeout := self.due(until):
            if (fired := fired + 1) > MOST_FIRINGS:
                raise RuntimeError(f"the timer fired {MOST_FIRINGS} times in one step of the clock")
            if truth(timeout.fired(timeout), ASKS):
                asked.append(self.now)
        self.now = until
        return asked

    def stale(self) -> bool:
        """Let the timeout that was cancelled last fire all the same, and return whether it asked for a read."""
        return self.last_cancelled is not None and truth(self.last_cancelled.fired(self.last_cancelled), ASKS)

    def armed(self) -> list[int]:
        """The deadlines of all timeouts that are armed."""
        live = self.live
        if len(live) == 1:  # asked after each operation, and mostly so
            return [live[0].deadline]
        return sorted([timeout.deadline for timeout in live]) if live else []
