"""Known mistakes of the timer that take more than a clause."""

from __future__ import annotations

from bisect import insort

from broker_tck.model.parts.timer import Timer
from broker_tck.properties.mistakes.book import mistake


@mistake(
    "DD-21",
    "stays armed when nothing is held",
    "Your tracker's timer stays armed when nothing is held; it has to be disarmed.",
)
class StaysArmed(Timer):
    """Nothing disarms it."""

    def disarm(self) -> None:
        """Leave the timeout alone."""


@mistake(
    "DD-21",
    "reaches as far ahead as an int of milliseconds",
    "Your tracker's timer reaches 2^31 - 1 ms ahead; it has to be armed for the first bucket, however far that is.",
)
class ReachesAnInt(Timer):
    """What is farther ahead is aimed at all the same."""

    def arm(self, wake: int, tick: int) -> None:
        """Arm for a moment, as far as the timer reaches."""
        self.target = wake
        self.timeout = min(self.moment(wake, tick), self.now + 2**31 - 1)
        insort(self.armed, self.timeout)


@mistake(
    "DD-23",
    "arms another without cancelling",
    "Your tracker arms another timeout without cancelling the one before; one may be armed at most.",
)
class KeepsReplaced(Timer):
    """What is replaced stays armed."""

    def replace(self, wake: int, tick: int) -> None:
        """Arm one more."""
        self.forget(wake)
        if not self.passed(wake):
            self.arm(wake, tick)


@mistake(
    "DD-23",
    "cancels only a later one",
    "Your tracker cancels a timeout only for a sooner one; one may be armed at most.",
)
class KeepsSooner(Timer):
    """What would fire sooner stays armed."""

    def replace(self, wake: int, tick: int) -> None:
        """Cancel what would fire later, and arm one more."""
        if self.timeout is not None and self.timeout >= wake:
            self.cancel()
        self.forget(wake)
        if not self.passed(wake):
            self.arm(wake, tick)


@mistake(
    "DD-24",
    "a cancelled timeout is heeded",
    "Your tracker asks for a read when a cancelled timeout fires; it has to ignore that.",
)
class HeedsCancelled(Timer):
    """A firing is a firing."""

    def stale(self) -> bool:
        """Run the callback."""
        if self.cancelled is None:
            return False
        self.fire(self.cancelled)
        return True


@mistake(
    "DD-24",
    "a cancelled timeout has the newer one forgotten",
    "A cancelled timeout that fires has your tracker forget the newer one; it has to be ignored.",
)
class ForgetsNewer(Timer):
    """Whatever fires is taken for the one that is held."""

    def stale(self) -> bool:
        """Forget what is armed."""
        if self.cancelled is not None:
            self.timeout = self.target = None
        return False
