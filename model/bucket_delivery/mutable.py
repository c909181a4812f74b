"""The bucket that grows: a range of ledgers that ascends, and what of it is in memory alone."""

from __future__ import annotations

from bisect import insort

from broker_tck.model.bucket_delivery.bucket import Index, Range
from broker_tck.model.rules import Part, rule


class Mutable(Part):
    """Indexes that no snapshot has. ``covered``: whether a sealed bucket lies over the ledger in question."""

    def __init__(self, least: int) -> None:
        self.least = least
        """So many indexes make a bucket."""
        self.ledgers: Range | None = None
        self.queue: list[Index] = []

    @rule("BD-06", source="BucketDelayedDeliveryTracker, PR 25371")
    def takes(self, ledger: int, covered: bool) -> bool:
        """A message joins the growing bucket if no sealed one lies over its ledger and its ledger is not below the last
        one; any other is kept in memory, and in no snapshot.
        """
        return not covered and (self.ledgers is None or ledger >= self.ledgers[1])

    @rule("BD-08", source="BucketDelayedDeliveryTracker")
    def seals(self, ledger: int, covered: bool) -> bool:
        """The first message of a ledger above the growing bucket has that sealed before, if it holds enough indexes in
        memory and no sealed bucket lies over that ledger.
        """
        return self.has_enough() and not covered and self.is_below(ledger)

    def has_enough(self) -> bool:
        """Whether there are enough indexes for a bucket, which one needs in any case."""
        return len(self.queue) >= max(self.least, 1)

    def is_below(self, ledger: int) -> bool:
        """Whether all of its ledgers are below one."""
        return self.ledgers is None or self.ledgers[1] < ledger

    def reaches(self, ledger: int) -> bool:
        """Whether none of its ledgers is above one."""
        return self.ledgers is None or self.ledgers[1] <= ledger

    def add(self, index: Index) -> None:
        """One more index, of the last ledger or of one above."""
        ledger = index[1]
        self.ledgers = (self.ledgers[0] if self.ledgers else ledger, ledger)
        insort(self.queue, index)

    @rule("BD-09", source="BucketDelayedDeliveryTracker")
    def due(self, cutoff: int) -> list[Index]:
        """At each firing, and whenever messages are asked for, what is due leaves the growing bucket; its range stays."""
        return self.taken(cutoff)

    def taken(self, cutoff: int) -> list[Index]:
        """Take out what is to be delivered by then."""
        due = [index for index in self.queue if index[0] <= cutoff]
        del self.queue[: len(due)]
        return due

    def drain(self) -> list[Index]:
        """Take out everything, and begin anew."""
        drained, self.queue = self.queue, []
        self.begin_anew()
        return drained

    @rule("BD-07", source="BucketDelayedDeliveryTracker", when=lambda m: m.ledgers is not None)
    def begin_anew(self) -> None:
        """After a seal the next message decides where the growing bucket begins, even below sealed ones."""
        self.ledgers = None

    def clear(self) -> None:
        """Nothing is left, and nothing lies anywhere."""
        self.queue = []
        self.ledgers = None
