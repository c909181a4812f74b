"""Known mistakes: the timer of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.negative_acks.timer import NackTimer
from broker_tck.properties.mistakes.book import instead, of

of(NackTimer.arms_from_idle, look="a timer that polls; one that stays armed, or unarmed, after a firing")(
    instead("absent", "A nack does not arm your tracker's idle timer; it has to.", lambda t: False),
)
of(NackTimer.is_sooner, look="the check whether a timer is pending, without a look at its deadline")(
    instead(
        "absent",
        "A nack that is due sooner leaves your tracker's timer as it is; it has to arm it again.",
        lambda t, deadline: False,
    ),
)
of(NackTimer.restarts, look="a countdown that every nack restarts")(
    instead(
        "absent", "Every nack postpones your tracker's timer; a pending deadline has to stay.", lambda t, deadline: True
    ),
)
of(NackTimer.heeds_cancelled, look="a firing that was on its way when the tracker was closed, or its timer re-armed")(
    instead(
        "absent",
        "A timeout that was cancelled, and fires all the same, has your tracker emit; it has to do nothing.",
        lambda t: t.cancelled,
    ),
)
