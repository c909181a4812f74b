"""The bucket that grows: a range of ledgers that ascends, and what of it is in memory alone."""

from __future__ import annotations

from bisect import insort

from broker_tck.model.bucket_delivery.bucket import Index, Range
from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said


class Mutable(Part):
    """Indexes that no snapshot has. ``covered``: whether a sealed bucket lies over the ledger in question."""

    def __init__(self, least: int) -> None:
        self.least = least
        """So many indexes make a bucket."""
        self.ledgers: Range | None = None
        self.queue: list[Index] = []

    @said(
        absent="Your tracker's growing bucket takes a ledger below its last one; that has to be kept in memory.",
        inside_its_range=(
            "Your tracker's growing bucket takes a ledger inside its range that is below its last one; that has to "
            "be kept in memory."
        ),
        above_it_alone=(
            "Your tracker's growing bucket takes no more messages of its last ledger; they have to join it."
        ),
        whatever_lies_there=(
            "Your tracker's growing bucket takes a ledger over which a sealed bucket lies; that has to be kept in "
            "memory."
        ),
    )
    @rule(
        "BD-06",
        "A message joins the growing bucket if no sealed one lies over its ledger and its ledger is not below the last "
        "one; any other is kept in memory, and in no snapshot.",
        source="BucketDelayedDeliveryTracker, PR 25371",
        look="ledgers that come late: below the bucket, inside it, or under a sealed one",
        absent=lambda m, ledger, covered: True,
        inside_its_range=lambda m, ledger, covered: not covered and (m.ledgers is None or ledger >= m.ledgers[0]),
        above_it_alone=lambda m, ledger, covered: not covered and (m.ledgers is None or ledger > m.ledgers[1]),
        whatever_lies_there=lambda m, ledger, covered: m.ledgers is None or ledger >= m.ledgers[1],
    )
    def takes(self, ledger: int, covered: bool) -> bool:
        return not covered and (self.ledgers is None or ledger >= self.ledgers[1])

    @said(
        at_its_last_ledger=(
            "Your tracker seals its growing bucket within a ledger; only a ledger above it may seal it."
        ),
        one_more_needed="Your tracker seals its growing bucket one message too late.",
        one_less_needed="Your tracker seals its growing bucket one message too soon.",
        whatever_lies_there=(
            "A ledger over which a sealed bucket lies has your tracker seal its growing bucket; it may not."
        ),
        absent="Your tracker never seals its growing bucket for a ledger above it, however much it holds.",
    )
    @rule(
        "BD-08",
        "The first message of a ledger above the growing bucket has that sealed before, if it holds enough indexes in "
        "memory and no sealed bucket lies over that ledger.",
        source="BucketDelayedDeliveryTracker",
        look="the last ledger once more; the least number itself; what has become due no longer counts",
        absent=lambda m, ledger, covered: False,
        at_its_last_ledger=lambda m, ledger, covered: m.has_enough() and not covered and m.reaches(ledger),
        one_more_needed=lambda m, ledger, covered: len(m.queue) > m.least and not covered and m.is_below(ledger),
        one_less_needed=lambda m, ledger, covered: (
            len(m.queue) >= max(m.least - 1, 1) and not covered and m.is_below(ledger)
        ),
        whatever_lies_there=lambda m, ledger, covered: m.has_enough() and m.is_below(ledger),
    )
    def seals(self, ledger: int, covered: bool) -> bool:
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

    @said(
        strictly_before=(
            "What is due exactly at the cut-off stays in your tracker's growing bucket; it has to leave it."
        ),
        absent=(
            "What is due stays in your tracker's growing bucket; it has to leave it at each firing, and when "
            "messages are asked for."
        ),
    )
    @rule(
        "BD-09",
        "At each firing, and whenever messages are asked for, what is due leaves the growing bucket; its range stays.",
        source="BucketDelayedDeliveryTracker",
        look="a firing that moves nothing; what is sealed although it was due",
        absent=lambda m, cutoff: [],
        strictly_before=lambda m, cutoff: m.taken(cutoff - 1),
    )
    def due(self, cutoff: int) -> list[Index]:
        """Take out what is due."""
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

    @said(
        absent=(
            "After a seal your tracker's growing bucket goes on with the old range; the next message decides "
            "where it begins."
        ),
    )
    @rule(
        "BD-07",
        "After a seal the next message decides where the growing bucket begins, even below sealed ones.",
        source="BucketDelayedDeliveryTracker",
        look="a range that goes on from what was sealed",
        when=lambda m: m.ledgers is not None,
        absent=lambda m: None,
    )
    def begin_anew(self) -> None:
        """The next message decides where the range begins."""
        self.ledgers = None

    def clear(self) -> None:
        """Nothing is left, and nothing lies anywhere."""
        self.queue = []
        self.ledgers = None
