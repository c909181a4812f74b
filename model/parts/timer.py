"""The timer of a tracker: its clock, and a timeout that is armed for the first bucket, moved, and fired."""

from __future__ import annotations

from bisect import insort
from typing import ClassVar

from broker_tck.model.rules import Part, rule


class Timer(Part):
    """A clock in milliseconds, and at most one timeout. The tracker says when it wants to be woken."""

    AIM_AT_FIRST: ClassVar[int | None] = None
    """What it takes itself to be armed for at the start."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.armed: list[int] = []
        self.timeout: int | None = None
        self.target = self.AIM_AT_FIRST
        self.cancelled: int | None = None
        self.last_run: int | None = None

    @rule("DD-21", source="AbstractDelayedDeliveryTracker, PR 26012")
    def settled(self, wake: int) -> bool:
        """A timer update arms for the first bucket, unless that is armed already or has passed; with nothing held it
        disarms; a timeout that is cancelled is forgotten.
        """
        return wake == self.target

    @rule("DD-21")
    def passed(self, wake: int) -> bool:
        return wake <= self.now

    @rule("DD-21", when=lambda t, wake: t.timeout is not None)
    def forgets_cancelled(self, wake: int | None) -> bool:
        return True

    @rule("DD-22", source="AbstractDelayedDeliveryTracker, PR 5498")
    def earliest(self, last_run: int, tick: int) -> int:
        """After a run the next firing is at least a tick away; the first firing need not wait."""
        return last_run + tick

    @rule("DD-22", when=lambda t, tick: t.now < tick)
    def earliest_at_first(self, tick: int) -> int:
        """The same for the first firing."""
        return self.now

    @rule("DD-22")
    def run_noted(self) -> int:
        return self.now

    @rule("DD-23", source="AbstractDelayedDeliveryTracker", when=lambda t, wake, tick: t.timeout in t.armed)
    def replace(self, wake: int, tick: int) -> None:
        """At most one timeout is armed."""
        self.cancel()
        self.forget(wake)
        if not self.passed(wake):
            self.arm(wake, tick)

    def update(self, wake: int | None, tick: int) -> None:
        """Bring the timer up to date with when the first bucket wants to be looked at; None: nothing is held."""
        if wake is None:
            self.disarm()
        elif not self.settled(wake):
            self.replace(wake, tick)

    def disarm(self) -> None:
        """Nothing is held any more."""
        self.cancel()
        self.forget(None)

    def arm(self, wake: int, tick: int) -> None:
        """Arm for a moment, but not too soon after the last run."""
        self.target = wake
        self.timeout = self.moment(wake, tick)
        insort(self.armed, self.timeout)

    def moment(self, wake: int, tick: int) -> int:
        """When a timeout fires that is armed for a moment."""
        earliest = self.earliest_at_first(tick) if self.last_run is None else self.earliest(self.last_run, tick)
        return max(wake, earliest)

    def cancel(self) -> None:
        """Cancel the timeout that is held, if it is still armed."""
        if self.timeout in self.armed:
            self.armed.remove(self.timeout)
            self.cancelled = self.timeout

    def forget(self, wake: int | None) -> None:
        """Let go of the timeout that was cancelled, or has fired."""
        if self.forgets_cancelled(wake):
            self.timeout = self.target = None

    def close(self) -> None:
        """Cancel the timeout and let go of it."""
        self.cancel()
        self.timeout = self.target = None

    def advance(self, ms: int) -> list[int]:
        """Move the clock; timeouts fire on the way. Answers the times of the firings, each of which asks for a read."""
        fired, until = [], self.now + ms
        while self.armed and self.armed[0] <= until:
            deadline = self.armed.pop(0)
            self.now = max(self.now, deadline)
            self.fire(deadline)
            fired.append(self.now)
        self.now = until
        return fired

    @rule("DD-24", source="AbstractDelayedDeliveryTracker, PR 26012")
    def fire(self, deadline: int) -> None:
        """A firing asks for a read and forgets its own timeout; it arms nothing itself; a cancelled timeout that fires
        all the same is ignored.
        """
        self.last_run = self.run_noted()
        if deadline == self.timeout:
            self.timeout = self.target = None
        self.ran()

    def ran(self) -> None:
        """A callback has run, of which a tracker may have more to say."""

    @rule("DD-24", when=lambda t: t.cancelled is not None)
    def stale(self) -> bool:
        """The timeout that was cancelled last fires all the same; answers whether it asked for a read."""
        return False


class BegunAtZero(Timer):
    """The timer of the released classes, whose numbers begin as 0: as if it had run then, and were armed for then."""

    AIM_AT_FIRST = 0

    def earliest_at_first(self, tick: int) -> int:
        return tick

    def disarm(self) -> None:
        """Nothing is held any more; without a timeout, what it takes itself to be armed for stays."""
        if self.timeout is not None:
            super().disarm()
