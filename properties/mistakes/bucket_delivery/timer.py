"""Known mistakes: the timer of a bucket tracker: that of delayed delivery, which some events fire at once."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.timer import Timer
from broker_tck.properties.mistakes.book import instead, of

of(
    Timer.fire_at_once,
    look="the first message in memory: its time is what the timer is armed for; a second timeout beside it",
)(
    instead(
        "absent",
        "The end of a load leaves your tracker's timer as it is; it has to have it fire at once.",
        lambda t: None,
    ),
    instead(
        "beside what is armed",
        "The end of a load arms your tracker's timer beside what is armed already; it has to take its place.",
        lambda t: t.arm_at(t.now),
    ),
)
