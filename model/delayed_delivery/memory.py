"""The memory estimate of a tracker: a number that only has to be plausible."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule

BYTES = 24
"""What the model's own estimate gives for each copy: three numbers of 64 bits."""


class MemoryEstimate(Part):
    """What was estimated last, and whether the index grew or shrank since."""

    def __init__(self) -> None:
        self.seen = 0
        self.grew = self.shrank = False

    @rule("DD-29", source="InMemoryDelayedDeliveryTracker, PR 25990", needs="memory_estimate")
    def bytes_for(self, count: int) -> int:
        """The memory estimate is 0 if and only if nothing is held; it does not fall by adds nor rise by takes."""
        return BYTES * count

    def permits(self, seen: object, count: int) -> bool:
        """Whether an estimate for so many copies is plausible, given the one seen before."""
        if not isinstance(seen, int):
            return False
        if not count:
            return seen == 0
        fell, rose = seen < self.seen, seen > self.seen
        return seen > 0 and not (fell and not self.shrank) and not (rose and not self.grew)

    def follow(self, seen: int) -> None:
        """Take over an estimate."""
        self.seen = seen
        self.grew = self.shrank = False
