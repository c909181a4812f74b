"""Known mistakes in the clocks of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, Clock
from broker_tck.properties.mistakes.book import instead, of

of(Clock.reading, look="which clock is read where an item is added, and where a firing selects")(
    instead(
        "absent",
        "Your tracker reads instants from a clock that never jumps; they come from the wall clock.",
        lambda c: c.now // MS * c.scale,
    ),
)
