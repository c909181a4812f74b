"""The timer of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said


class NackTimer(Part):
    """At most one timeout, which is moved for what is due sooner. It is told in nanoseconds when it is to fire."""

    def __init__(self, deadline: int | None) -> None:
        self.deadline = deadline
        self.lost: list[int] = []
        self.unsettled = False
        self.cancelled = False

    @said(
        absent="A nack does not arm your tracker's idle timer; it has to.",
    )
    @rule(
        "NA-22",
        "An idle timer is armed for the whole delay, not for the bucket; after a firing it is armed for the first "
        "bucket that is left, or not at all.",
        source="NegativeAcksTracker, PR 23600",
        look="a timer that polls; one that stays armed, or unarmed, after a firing",
        absent=lambda t: False,
    )
    def arms_from_idle(self) -> bool:
        return not self.unsettled

    @said(
        absent="A nack that is due sooner leaves your tracker's timer as it is; it has to arm it again.",
    )
    @rule(
        "NA-23",
        "An item that is due before the timer's deadline re-arms it.",
        source="the specification adds it; see B-26",
        look="the check whether a timer is pending, without a look at its deadline",
        absent=lambda t, deadline: False,
    )
    def is_sooner(self, deadline: int) -> bool:
        return self.deadline is not None and deadline < self.deadline

    @said(
        absent="Every nack postpones your tracker's timer; a pending deadline has to stay.",
    )
    @rule(
        "NA-24",
        "A nack never postpones a pending deadline.",
        source="client-cpp, since PR 266; forbidden by the specification",
        look="a countdown that every nack restarts",
        when=lambda t, deadline: t.deadline is not None and deadline > t.deadline,
        absent=lambda t, deadline: True,
    )
    def restarts(self, deadline: int) -> bool:
        return False

    def arm_for(self, deadline: int) -> None:
        """Arm for a nack, if that is needed."""
        if self.deadline is None:
            self.deadline = deadline if self.arms_from_idle() else None
        elif self.is_sooner(deadline) or self.restarts(deadline):
            self.move(deadline)

    def move(self, deadline: int) -> None:
        """Cancel the timeout, and arm another."""
        self.cancelled = True
        self.deadline = deadline

    def armed(self) -> list[int]:
        """The deadlines of all timeouts that are armed: the one that the tracker knows of, and those that it lost."""
        return self.lost if self.deadline is None else [self.deadline, *self.lost]

    def expire(self, deadline: int) -> None:
        """A timeout begins to fire; of one deadline, those that the tracker lost, which were armed before.

        The one that it knows of is taken for pending until it is settled.
        """
        if deadline in self.lost:
            self.lost.remove(deadline)
        else:
            self.deadline, self.unsettled = None, True

    def settle(self, deadline: int | None) -> None:
        """Arm for what a firing left. A timeout that is pending, as another one fired, is lost sight of."""
        if self.deadline is not None:
            self.lost.append(self.deadline)
        self.unsettled = False
        self.deadline = deadline

    def close(self) -> None:
        """Cancel the timeout that the tracker knows of."""
        self.cancelled = self.cancelled or self.deadline is not None
        self.deadline = None
        self.unsettled = False

    @said(
        absent="A timeout that was cancelled, and fires all the same, has your tracker emit; it has to do nothing.",
    )
    @rule(
        "NA-42",
        "A firing that comes too late, its timeout cancelled, does nothing.",
        source="NegativeAcksTracker; client-cpp, PRs 6272, 362",
        look="a firing that was on its way when the tracker was closed, or its timer re-armed",
        absent=lambda t: t.cancelled,
    )
    def heeds_cancelled(self) -> bool:
        return False
