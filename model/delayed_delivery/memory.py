"""The memory estimate of a tracker: a number that only has to be plausible."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said

BYTES = 24
"""What the model's own estimate gives for each copy: three numbers of 64 bits."""


class MemoryEstimate(Part):
    """What was estimated last, and whether the index grew or shrank since."""

    def __init__(self) -> None:
        self.seen = 0
        self.grew = self.shrank = False

    @said(
        one_byte_too_many="Your tracker says that it takes memory while it holds nothing.",
        absent="Your tracker says that it takes no memory while it holds something.",
        never_falls="The memory estimate of your tracker never falls, also when messages leave.",
        falls_with_every_add="The memory estimate of your tracker falls with every message that is added.",
    )
    @rule(
        "DD-29",
        "The memory estimate is 0 if and only if nothing is held; it does not fall by adds nor rise by takes.",
        source="InMemoryDelayedDeliveryTracker, PR 25990",
        look="what is added to the running sum and what is taken off, where an entry set empties",
        needs="memory_estimate",
        absent=lambda e, count: 0,
        never_falls=lambda e, count: e.seen + BYTES * count,
        one_byte_too_many=lambda e, count: 1 + BYTES * count,
        falls_with_every_add=lambda e, count: max(1, 2**20 - count) if count else 0,
    )
    def bytes_for(self, count: int) -> int:
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
