"""The timer of a tracker of negative acks."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule


class NackTimer(Part):
    """At most one timeout, which is moved for what is due sooner. It is told in nanoseconds when it is to fire."""

    def __init__(self, deadline: int | None) -> None:
        self.deadline = deadline
        self.lost: list[int] = []
        self.unsettled = False
        self.cancelled = False

    @rule("NA-23", source="the specification adds it; see B-26")
    def is_sooner(self, deadline: int) -> bool:
        """An item that is due before the timer's deadline re-arms it."""
        return self.deadline is not None and deadline < self.deadline

    @rule(
        "NA-24",
        source="client-cpp, since PR 266; forbidden by the specification",
        when=lambda t, deadline: t.deadline is not None and deadline > t.deadline,
    )
    def restarts(self, deadline: int) -> bool:
        """A nack never postpones a pending deadline."""
        return False

    @rule("NA-22")
    def arm_for(self, deadline: int) -> None:
        """A nack arms an idle timer."""
        if self.deadline is None:
            self.deadline = None if self.unsettled else deadline
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
