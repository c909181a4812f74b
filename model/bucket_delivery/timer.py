"""The timer of a bucket tracker: that of delayed delivery, which some events fire at once."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.model.parts import timer
from broker_tck.model.rules import rule
from broker_tck.model.said import said


class Timer(timer.Timer):
    """A timer that can be told to fire at once. ``fired`` is called at each firing."""

    def __init__(self, now: int, fired: Callable[[], None]) -> None:
        super().__init__(now)
        self.fired = fired

    def ran(self) -> None:
        self.fired()

    @said(
        beside_what_is_armed=(
            "The end of a load arms your tracker's timer beside what is armed already; it has to take its place."
        ),
        absent="The end of a load leaves your tracker's timer as it is; it has to have it fire at once.",
    )
    @rule(
        "BD-42",
        "An add that was accepted, an answer that nothing is available, and a get bring the timer up to date; a "
        "refusal and a repeated add do not. The end of a load has it fire at once, in place of whatever was armed.",
        source="BucketDelayedDeliveryTracker; AbstractDelayedDeliveryTracker, PR 26012",
        look="the first message in memory: its time is what the timer is armed for; a second timeout beside it",
        when=lambda t: True,
        absent=lambda t: None,
        beside_what_is_armed=lambda t: t.arm_at(t.now),
    )
    def fire_at_once(self) -> None:
        """Arm for this moment."""
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
