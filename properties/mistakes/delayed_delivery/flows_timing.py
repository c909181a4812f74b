"""Known mistakes of firings, ticks, clear and close that take more than a clause."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.buckets import Buckets
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.mistakes.book import mistake


class StopsAtFirings(DelayedDelivery):
    """The clock stops at each firing, where :meth:`fired` may do more, or swallow it."""

    def fired(self) -> bool:
        """Whether the firing asks for a read."""
        return True

    def advance(self, ms: int) -> list[int]:
        """Move the clock from firing to firing."""
        until, asked = self.timer.now + ms, []
        while self.timer.armed and self.timer.armed[0] <= until:
            times = super().advance(max(self.timer.armed[0] - self.timer.now, 0))
            asked += times if self.fired() else []
        return asked + super().advance(until - self.timer.now)


@mistake(
    "DD-24",
    "a firing asks for nothing",
    "Your tracker asks for nothing when its timer fires; it has to ask for a read.",
)
class FiringIsSilent(StopsAtFirings):
    """Nobody hears of a firing."""

    def fired(self) -> bool:
        """No."""
        return False


@mistake("DD-24", "a firing asks for a read while something is due")
class FiringLooksFirst(StopsAtFirings):
    """A firing for nothing is kept quiet."""

    def fired(self) -> bool:
        """While something is due."""
        return self.available()


@mistake("DD-24", "a firing brings the timer up to date")
class FiringUpdatesTimer(StopsAtFirings):
    """A firing arms the next timeout itself."""

    def fired(self) -> bool:
        """Update the timer."""
        self.update_timer()
        return True


@mistake(
    "DD-27",
    "a new tick brings the timer up to date",
    "A new tick moves your tracker's timer; it has to leave the timer alone.",
)
class TickUpdatesTimer(DelayedDelivery):
    """What is armed is armed anew by the new tick."""

    def reset_tick(self, tick: int) -> None:
        """Change the tick, and update the timer."""
        super().reset_tick(tick)
        self.update_timer()


@mistake(
    "DD-30", "a clear brings the timer up to date", "A clear disarms your tracker's timer; it has to leave it alone."
)
class ClearUpdatesTimer(DelayedDelivery):
    """Nothing is held, so nothing stays armed."""

    def clear(self) -> None:
        """Forget every message, and update the timer."""
        super().clear()
        self.update_timer()


@mistake(
    "DD-32", "the timer outlives its tracker", "Your tracker's timer stays armed after a close; it has to be disarmed."
)
class CloseLeavesTimer(DelayedDelivery):
    """Nothing is disarmed, where :meth:`disarms` does not say so."""

    def disarms(self) -> bool:
        """Whether to disarm."""
        return False

    def close(self) -> None:
        """End, with the timer armed or not."""
        armed = self.timer.armed.copy(), self.timer.timeout, self.timer.target
        leaves = not self.disarms()
        super().close()
        if leaves:
            self.timer.armed, self.timer.timeout, self.timer.target = armed


@mistake(
    "DD-32",
    "the timer is disarmed while something is held",
    "Your tracker leaves its timer armed when it is closed with nothing in it.",
)
class CloseOfNothingLeavesTimer(CloseLeavesTimer):
    """With nothing held there should be nothing to disarm."""

    def disarms(self) -> bool:
        """While something is held."""
        return bool(self.index.held)


@mistake(
    "DD-04",
    "a bucket's width for the tick",
    "Your tracker takes the width of a bucket for the tick where it finds the cut-off.",
)
class WidthForTick(Buckets):
    """What is due is reckoned by the width."""

    def cutoff(self, now: int) -> int:
        """A width ahead."""
        return now if self.strict else now + self.width


@mistake(
    "DD-27", "no less than a bucket's width", "Your tracker takes no tick that is smaller than the width of a bucket."
)
class NoLessThanWidth(Buckets):
    """The tick cannot be below the width of a bucket."""

    def reset(self, tick: int) -> None:
        """The larger of the two."""
        super().reset(max(tick, self.width))
