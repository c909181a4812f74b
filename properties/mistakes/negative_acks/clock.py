"""Known mistakes in the clocks of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, Clock
from broker_tck.properties.mistakes.book import instead, mistake, of

of(Clock.reading, look="which clock is read where an item is added, and where a firing selects")(
    instead(
        "absent",
        "Your tracker reads instants from a clock that never jumps; they come from the wall clock.",
        lambda c: c.now // MS * c.scale,
    ),
)


@mistake(
    "NA-26",
    "after a jump back the wall clock is read as it was",
    "After a jump back your tracker waits for its wall clock to catch up; it must read the clock as it is.",
)
class NeverGoesBack(Clock):
    """The latest reading counts."""

    def __init__(self, ms: int, scale: int) -> None:
        super().__init__(ms, scale)
        self.latest = ms * scale

    def reading(self) -> int:
        """The latest instant that was read."""
        self.latest = max(self.latest, super().reading())
        return self.latest
