"""Known mistakes in the timer of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import Timer
from broker_tck.properties.mistakes.book import instead, of


def only_if_pending(t: Timer, deadline: int) -> None:
    """Leave an idle timer idle."""
    if t.deadline is not None:
        Timer.arm_for(t, deadline)


of(Timer.arm_for, look="a timer that polls; one that stays armed, or unarmed, after a firing")(
    instead(
        "absent",
        "A nack does not arm your tracker's idle timer; it must.",
        only_if_pending,
        was="timer.arms_from_idle: absent",
    ),
)
of(Timer.is_sooner, look="the check whether a timer is pending, without a look at its deadline")(
    instead(
        "absent",
        "A nack that is due sooner leaves your tracker's timer as it is; it must arm it again.",
        lambda t, deadline: False,
    ),
)
of(Timer.restarts, look="a countdown that every nack restarts")(
    instead(
        "absent", "Every nack postpones your tracker's timer; a pending deadline must stay.", lambda t, deadline: True
    ),
)
