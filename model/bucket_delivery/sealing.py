"""How added messages are kept, and how sealed buckets are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush
from itertools import chain
from typing import TYPE_CHECKING

from broker_tck.model.bucket_delivery.maintenance import TRACKER
from broker_tck.model.bucket_delivery.stored import (
    Bucket,
    Index,
    Range,
    Segment,
    started,
)
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.bucket_delivery.tracker import Tracker

OWN = "follows from BD-02; no report upstream is known"


class Sealing(Part):
    """Keeps added messages in the growing bucket or in the shared queue, and makes sealed buckets."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.placed = tracker.placed

    def take(self, index: Index, covered: bool) -> None:
        """Keep an index, after a seal if that is due. ``covered``: a sealed bucket lies there."""
        ledger = index[1]
        if self.tracker.mutable.seals(ledger, covered) or (not covered and self.crosses(ledger)):
            self.seal()
            covered = self.placed.over(ledger) is not None
        self.keep(index, covered)

    @rule("BD-41", source=OWN)
    def crosses(self, ledger: int) -> bool:
        """The growing bucket does not grow across a sealed one: it is sealed first, however few indexes it has."""
        grown = self.tracker.mutable.ledgers
        return grown is not None and grown[1] < ledger and bool(self.placed.meeting((grown[1], ledger)))

    def keep(self, index: Index, covered: bool) -> None:
        """Keep an index in the growing bucket, or in the shared queue."""
        if self.tracker.mutable.takes(index[1], covered):
            self.tracker.mutable.add(index)
        else:
            heappush(self.tracker.shared, index)

    def seal(self) -> None:
        """Make a sealed bucket of the growing one."""
        ledgers = self.tracker.mutable.ledgers
        indexes = self.worth_storing(self.tracker.mutable.drain())
        if ledgers is None or not indexes:
            return
        if self.keeps_in_memory(ledgers):
            self.tracker.share(indexes)
            return
        self.place(Bucket(ledgers), self.tracker.cutting.cut(indexes))
        self.tracker.maintenance.after_seal()

    @rule("BD-11")
    def worth_storing(self, indexes: Sequence[Index]) -> Sequence[Index]:
        """A seal stores only indexes whose message is held, and held for the index's time."""
        return [index for index in indexes if self.tracker.held.hands_out(index, None)]

    @rule(
        "BD-47",
        source=OWN,
        needs="maintenance calls_under_way",
        when=lambda s, ledgers: bool(s.placed.meeting(ledgers)),
    )
    def keeps_in_memory(self, ledgers: Range) -> bool:
        """If a range meets a sealed bucket, it is not sealed: its messages stay in memory, and in no snapshot."""
        return bool(self.placed.meeting(ledgers))

    @rule("BD-11", source=TRACKER)
    def place(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """From the seal on, the bucket lies over its range, and its first segment is loaded."""
        bucket.about = [self.tracker.snapshots.about(segment) for segment in segments]
        bucket.size = sum(map(len, segments))
        bucket.held = self.tracker.held.of_bucket(segments, bucket.sources)
        self.placed.put(bucket)
        self.tracker.loading.load_into_memory(bucket, segments[0])
        started(self.tracker.snapshots.write(bucket, segments, lambda: self.not_stored(bucket, segments)))
        bucket.created.then(lambda _: self.tracker.wake())

    @rule("BD-16", needs="calls_under_way", when=lambda s, bucket, segments: s.placed.has(bucket))
    def not_stored(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """If a bucket could not be stored, its messages stay in memory, in no bucket."""
        bucket.current = bucket.last
        if self.placed.has(bucket):
            self.tracker.share(chain(*segments[1:]))
            self.tracker.loading.take_out(bucket)
