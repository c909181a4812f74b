"""The timer of a bucket tracker: that of delayed delivery, which some events fire at once."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.model.parts import timer
from broker_tck.model.rules import rule


class Timer(timer.Timer):
    """A timer that can be told to fire at once. ``fired`` is called at each firing."""

    def __init__(self, now: int, fired: Callable[[], None]) -> None:
        super().__init__(now)
        self.fired = fired

    def ran(self) -> None:
        self.fired()

    @rule("BD-42", source="BucketDelayedDeliveryTracker; AbstractDelayedDeliveryTracker, PR 26012")
    def fire_at_once(self) -> None:
        """An add that was accepted, an answer that nothing is available, and a get bring the timer up to date; a
        refusal and a repeated add do not. The end of a load has it fire at once, in place of whatever was armed.
        """
        self.cancel()
        self.aim_at_nothing()
        self.arm_at(self.now)

    def aim_at_nothing(self) -> None:
        """Forget what was armed for."""
        self.target = None

    def arm_at(self, moment: int) -> None:
        """Arm for a moment, however soon after the last run."""
        self.timeout = moment
        self.armed.append(moment)
        self.armed.sort()
