"""The timer of a tracker: its clock, and the timeout that wakes the dispatcher. Times are in milliseconds."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Self

from broker_tck.model.reference import Allowed, either
from broker_tck.model.rules import Part, rule

TRACKER = "AbstractDelayedDeliveryTracker"


class Timer(Part):
    """A clock, and at most one timeout on it. The tracker says for which moment it wants it.

    ``fired`` is called at each firing.
    """

    target: int | None = None
    """The moment for which the timer takes itself to be armed."""

    def __init__(self, now: int, fired: Callable[[], None] | None = None) -> None:
        self.now = now
        self.fired = fired
        self.armed: list[int] = []
        self.timeout: int | None = None
        self.cancelled: int | None = None
        """The timeout that was cancelled last."""
        self.last_run: int | None = None

    def reading(self) -> int:
        """The time at which the tracker looks."""
        return self.now

    # ---- Arming

    @rule("DD-21", source=f"{TRACKER}, PR 26012", when=lambda t, wake, tick: wake is None and t.timeout is not None)
    def update(self, wake: int | None, tick: int) -> None:
        """The timer is armed for the moment when the first bucket becomes due; if nothing is held, it is disarmed."""
        if wake is None:
            if self.timeout is not None:
                self.disarm()
        elif not self.settled(wake):
            self.replace(wake, tick)

    def disarm(self) -> None:
        """Nothing is held any more."""
        self.cancel()
        self.forget(None)

    @rule("DD-21")
    def settled(self, wake: int) -> bool:
        """A timer that is armed for that moment is left alone."""
        return wake == self.target

    @rule("DD-23", source=TRACKER, when=lambda t, wake, tick: t.timeout in t.armed)
    def replace(self, wake: int, tick: int) -> None:
        """At most one timeout is armed: the old one is cancelled first."""
        self.cancel()
        self.forget(wake)
        if not self.passed(wake):
            self.arm(wake, tick)

    def cancel(self) -> None:
        """Cancel the timeout that is held, if it is still armed."""
        if self.timeout in self.armed:
            self.armed.remove(self.timeout)
            self.cancelled = self.timeout

    @rule("DD-21", when=lambda t, wake: t.timeout is not None)
    def forget(self, wake: int | None) -> None:
        """A cancelled timeout is forgotten: it does not count as armed."""
        self.timeout = self.target = None

    @rule("DD-21")
    def passed(self, wake: int) -> bool:
        """No timeout is armed for a moment that is now or has passed."""
        return wake <= self.reading()

    def arm(self, wake: int, tick: int) -> None:
        """Arm for a moment, but not too soon after the last run."""
        self.target = wake
        self.timeout = self.moment(wake, tick)
        insort(self.armed, self.timeout)

    def moment(self, wake: int, tick: int) -> int:
        """When a timeout fires that is armed for a moment."""
        earliest = self.earliest_at_first(tick) if self.last_run is None else self.earliest(self.last_run, tick)
        return max(wake, earliest)

    @rule("DD-22", source=f"{TRACKER}, PR 5498")
    def earliest(self, last_run: int, tick: int) -> int:
        """The timer fires at least a tick after its last run."""
        return last_run + tick

    @rule("DD-22", when=lambda t, tick: t.now < tick)
    def earliest_at_first(self, tick: int) -> int:
        """The first firing need not wait."""
        return self.reading()

    # ---- Firing

    def fires_within(self, ms: int) -> bool:
        """Whether a timeout fires in the next milliseconds."""
        return bool(self.armed) and self.armed[0] <= self.now + ms

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

    @rule("DD-24", source=f"{TRACKER}, PR 26012")
    def fire(self, deadline: int) -> None:
        """A firing asks for a read and forgets its own timeout."""
        self.ran()
        if deadline == self.timeout:
            self.timeout = self.target = None
        if self.fired:
            self.fired()

    def ran(self) -> None:
        """Remember the time of this run."""
        self.last_run = self.reading()

    @rule("DD-24", when=lambda t: t.cancelled is not None)
    def stale(self) -> bool:
        """If a cancelled timeout fires nevertheless, the tracker ignores it."""
        return False

    def close(self) -> None:
        """Cancel the timeout and let go of it."""
        self.cancel()
        self.timeout = self.target = None


class WallTimer(Timer):
    """A timer that is told times of a wall clock, which may be set, and waits by a clock that never jumps.

    The times of armed timeouts are shown as the wall clock will show them if it is not set again.
    """

    def __init__(self, now: int, fired: Callable[[], None] | None = None) -> None:
        super().__init__(now, fired)
        self.jumped = 0
        """By how much the clock was set in all."""
        self.kept: int | None = None
        """The last run as it was noted, even if it has lain ahead of the wall clock."""
        self.steady: int | None = None
        """The last run by the clock that never jumps, as the wall clock would show it now."""
        self.was_ahead = False
        """Whether the last run has lain ahead of the wall clock."""
        self.others: list[int] = []
        """The other times for which the tracker may have armed the timeout that was armed last."""

    @rule("DD-37", source=f"{TRACKER}; PR 25310 tells of clocks that are apart", needs="jumps", when=lambda t: t.jumped)
    def reading(self) -> int:
        """The tracker goes by the clock as it is, even if it was set: a message is off by the step at most."""
        return self.now

    def jump(self, by: int) -> None:
        """Set the clock. What is armed waits as long as before."""
        self.now += by
        self.jumped += by
        self.armed = [at + by for at in self.armed]
        if self.timeout is not None:
            self.timeout += by
        if self.steady is not None:
            self.steady += by
        self.was_ahead |= self.last_run is not None and self.last_run > self.now

    def ran(self) -> None:
        super().ran()
        self.kept, self.steady, self.was_ahead = self.last_run, self.last_run, False

    def moment(self, wake: int, tick: int) -> int:
        if self.last_run is not None:
            self.last_run = self.remembered(self.last_run)
        moment = super().moment(wake, tick)
        others = {max(wake, other) for other in self.also_allowed(tick)}
        self.others = sorted(others - {moment})
        return moment

    @rule(
        "DD-38",
        source="no report upstream is known",
        needs="jumps",
        when=lambda t, last_run: last_run > t.reading(),
    )
    def remembered(self, last_run: int) -> int | None:
        """A last run ahead of the clock does not count when the timer is armed: nothing waits for the old time."""
        return last_run if last_run <= self.reading() else None

    def also_allowed(self, tick: int) -> list[int]:
        """The earliest times for trackers that know the last run in another way.

        A tracker that looks at the clock more often has forgotten a run that lay ahead for a while. One that forgets
        nothing has a run that lies ahead no longer. One that has the clock that never jumps knows how long ago it was.
        """
        if self.steady == self.last_run and not self.was_ahead:
            return []
        forgotten = [self.reading()] if self.was_ahead else []
        known = [run for run in (self.steady, self.kept) if run is not None and run <= self.reading()]
        return [*forgotten, *(run + tick for run in known)]

    def shown(self) -> list[int] | Allowed:
        """The times of all armed timeouts. Of those that the last one may have, the subject chooses."""
        if not self.others or self.timeout not in self.armed:
            return self.armed
        others = [at for at in self.armed if at != self.timeout]
        choices = {at: sorted([*others, at]) for at in (self.timeout, *self.others)}
        return Allowed([*choices.values()].__contains__, self.follow, self.armed, str([*choices.values()]))

    def follow(self, armed: list[int]) -> None:
        """Take over the times of a subject."""
        self.timeout = next(at for at in (self.timeout, *self.others) if at in armed)
        self.armed, self.others = armed, []


class TrackerTimer(WallTimer):
    """A timer that its tracker must bring up to date in some calls, and may bring up to date in others, unasked.

    ``update`` says how the tracker brings a timer up to date. If it may have done so, the subject shows whether it has.
    """

    UPDATED_UNASKED: ClassVar[bool] = True
    """Whether the tracker may bring it up to date in calls that need not."""

    def __init__(self, now: int, fired: Callable[[], None] | None = None) -> None:
        super().__init__(now, fired)
        self.updated: Self | None = None
        """The timer as it is if the tracker has brought it up to date in the last operation, unasked.

        A tracker that must bring it up to date forgets this.
        """

    def may_update(self, update: Callable[[Self], None]) -> None:
        """The tracker may bring the timer up to date."""
        if self.UPDATED_UNASKED:
            self.updated = self.copy()
            update(self.updated)

    def advance_and_may_update(self, ms: int, update: Callable[[Self], None]) -> list[int] | Allowed:
        """Move the clock; the tracker may bring the timer up to date at each firing. Answers as :meth:`advance`."""
        updated = self.copy() if self.UPDATED_UNASKED and self.fires_within(ms) else None
        fired = self.advance(ms)
        if updated is None:
            return fired
        also = updated.advance_and_update(ms, update)
        if also == fired:
            self.updated = updated
            return fired
        return either(fired, also, partial(self.become, updated), f"{fired} or {also}")

    def advance_and_update(self, ms: int, update: Callable[[Self], None]) -> list[int]:
        """Move the clock; the tracker brings the timer up to date at each firing. Answers as :meth:`advance`."""
        fired, until = list[int](), self.now + ms
        while self.fires_within(until - self.now):
            fired += self.advance(max(self.armed[0] - self.now, 0))
            update(self)
        self.advance(until - self.now)
        return fired

    def allowed(self, start: int) -> list[int] | Allowed:
        """The times of all armed timeouts: as they are, or brought up to date. ``start``: when the trace began."""
        shown, updated, self.updated = self.shown(), self.updated, None
        if updated is None or updated.armed == self.armed:
            return shown
        says = f"{self.told(start)} or {updated.told(start)}"
        return either(shown, updated.shown(), partial(self.become, updated), says)

    def told(self, start: int) -> str:
        """The times of all armed timeouts in words, from the start."""
        return f"[{', '.join(f'{at - start:+} ms' for at in self.armed)}]"

    def copy(self) -> Self:
        """A timer in the same state."""
        timer = object.__new__(type(self))
        vars(timer).update(vars(self), armed=[*self.armed], updated=None)
        return timer

    def become(self, other: Self) -> None:
        """Go on in the state of another timer."""
        vars(self).update(vars(other))


class BegunAtZero(Timer):
    """The timer of the released classes. It begins as if it had run at time 0 and were armed for time 0."""

    target = 0

    def earliest_at_first(self, tick: int) -> int:
        return tick


class ReleasedTimer(BegunAtZero, TrackerTimer):
    """A timer that keeps its distance from the last run, even from one that lies ahead of the clock."""

    UPDATED_UNASKED = False

    def remembered(self, last_run: int) -> int:
        return last_run

    def also_allowed(self, tick: int) -> list[int]:
        return []
