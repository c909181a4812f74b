"""The timer of a tracker: its clock, and a timeout that is armed for the first bucket, moved, and fired."""

from __future__ import annotations

from bisect import insort
from typing import ClassVar

from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


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

    @said(
        absent="Your tracker arms its timer again though it is armed for that moment already.",
        only_if_sooner="Your tracker never arms its timer for a later moment; it has to follow the first bucket.",
        only_if_none_is_armed="Your tracker leaves an armed timer alone; it has to move it to the first bucket.",
        only_if_later="Your tracker never arms its timer for a sooner moment; it has to follow the first bucket.",
    )
    @rule(
        "DD-21",
        "A timer update arms for the first bucket, unless that is armed already or has passed; with nothing held it "
        "disarms; a timeout that is cancelled is forgotten.",
        source="AbstractDelayedDeliveryTracker, PR 26012",
        look="a target that outlives its timeout; a first bucket that is this very moment",
        absent=lambda t, wake: False,
        only_if_sooner=lambda t, wake: t.timeout is not None and t.target is not None and t.target <= wake,
        only_if_none_is_armed=lambda t, wake: t.timeout is not None,
        only_if_later=lambda t, wake: t.timeout is not None and t.target is not None and t.target >= wake,
    )
    def settled(self, wake: int) -> bool:
        return wake == self.target

    @said(
        not_at_this_moment=(
            "Your tracker arms its timer for this very moment; a bucket whose moment has come needs none."
        ),
        absent="Your tracker arms its timer for a moment that has passed.",
    )
    @also(settled, absent=lambda t, wake: False, not_at_this_moment=lambda t, wake: wake < t.now)
    def passed(self, wake: int) -> bool:
        return wake <= self.now

    @said(
        absent="Your tracker cancels a timeout and still takes it for armed.",
        unless_idle=(
            "Your tracker takes a cancelled timeout for armed where the moment of the first bucket has passed; it has "
            "to forget it."
        ),
    )
    @also(
        settled,
        when=lambda t, wake: t.timeout is not None,
        absent=lambda t, wake: False,
        unless_idle=lambda t, wake: wake is None or wake > t.now,
    )
    def forgets_cancelled(self, wake: int | None) -> bool:
        return True

    @said(
        absent="Your tracker's timer may fire again at once; after a run the next firing is at least a tick away.",
        without_the_tick="Your tracker's timer may fire again within a tick of its last run.",
        two_ticks="Your tracker's timer waits for two ticks after a run; one is right.",
        width_for_tick="After a run your tracker's timer waits for the width of a bucket; it has to wait for a tick.",
        from_now="Your tracker's timer waits for a tick from now on; it has to wait for a tick from its last run on.",
    )
    @rule(
        "DD-22",
        "After a run the next firing is at least a tick away; the first firing need not wait.",
        source="AbstractDelayedDeliveryTracker, PR 5498",
        look="the time of the last run, and the tick as it is when the timeout is armed; 0 for a run that never was",
        absent=lambda t, last_run, tick: 0,
        without_the_tick=lambda t, last_run, tick: last_run,
        two_ticks=lambda t, last_run, tick: last_run + 2 * tick,
        width_for_tick=lambda t, last_run, tick: last_run + (1 << tick.bit_length() >> 1),
        from_now=lambda t, last_run, tick: t.now + tick,
    )
    def earliest(self, last_run: int, tick: int) -> int:
        return last_run + tick

    @said(
        absent="Your tracker takes 0 for the last run of a timer that has not run yet; the first firing need not wait.",
    )
    @also(earliest, when=lambda t, tick: t.now < tick, absent=lambda t, tick: tick)
    def earliest_at_first(self, tick: int) -> int:
        """The same for the first firing."""
        return self.now

    @said(
        absent="Your tracker forgets when its timer ran last; the next firing has to be a tick later at least.",
        only_the_first="Your tracker remembers only the first run of its timer; the last one counts.",
    )
    @also(earliest, absent=lambda t: t.last_run, only_the_first=lambda t: t.now if t.last_run is None else t.last_run)
    def run_noted(self) -> int:
        return self.now

    @rule(
        "DD-23",
        "At most one timeout is armed.",
        source="AbstractDelayedDeliveryTracker",
        look="a timeout that is replaced without being cancelled",
        when=lambda t, wake, tick: t.timeout in t.armed,
    )
    def replace(self, wake: int, tick: int) -> None:
        """Arm for another moment, unless that has passed."""
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

    @rule(
        "DD-24",
        "A firing asks for a read and forgets its own timeout; it arms nothing itself; a cancelled timeout that fires "
        "all the same is ignored.",
        source="AbstractDelayedDeliveryTracker, PR 26012",
        look="a firing that was on its way when its timeout was cancelled",
        when=lambda t, deadline: True,
    )
    def fire(self, deadline: int) -> None:
        """Run a timeout's callback."""
        self.last_run = self.run_noted()
        if deadline == self.timeout:
            self.timeout = self.target = None
        self.ran()

    def ran(self) -> None:
        """A callback has run, of which a tracker may have more to say."""

    @also(fire, when=lambda t: t.cancelled is not None)
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
