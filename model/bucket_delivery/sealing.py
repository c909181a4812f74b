"""How a bucket is sealed: cut into segments, placed, and stored."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush
from typing import Any

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Range, Segment
from broker_tck.model.bucket_delivery.holding import Holding
from broker_tck.model.rules import rule


class Sealing(Holding):
    """Seals the growing bucket before a message of a ledger above it."""

    def take(self, index: Index) -> None:
        ledger = index[1]
        covered = self.placed.over(ledger) is not None
        if self.mutable.seals(ledger, covered) or (not covered and self.crosses(ledger)):
            self.seal()
            covered = self.is_covered_by_now(ledger)
        self.keep(index, covered)

    def is_covered_by_now(self, ledger: int) -> bool:
        """Whether a sealed bucket lies over a ledger after a seal, which may have led to a merge."""
        return self.placed.over(ledger) is not None

    @rule("BD-41", source="follows from BD-02; no report upstream is known")
    def crosses(self, ledger: int) -> bool:
        """The growing bucket does not grow across a sealed one: it is sealed before, however little it holds."""
        grown = self.mutable.ledgers
        return grown is not None and grown[1] < ledger and bool(self.placed.meeting((grown[1], ledger)))

    def seal(self) -> None:
        """Make a sealed bucket of the growing one."""
        ledgers = self.mutable.ledgers
        indexes = self.worth_storing(self.mutable.drain())
        if ledgers is None or not indexes:
            return
        if self.keeps_in_memory(ledgers):
            self.share(indexes)
            return
        bucket = self.place(ledgers, self.cutting.cut(indexes))
        self.held.sealed(bucket)
        self.after_seal()

    @rule("BD-47", source="follows from BD-02; no report upstream is known", needs="maintenance")
    def keeps_in_memory(self, ledgers: Range) -> bool:
        """A range that meets a sealed bucket is not sealed: what it holds is kept in memory, and in no snapshot."""
        return bool(self.placed.meeting(ledgers))

    @rule("BD-11", source="BucketDelayedDeliveryTracker")
    def place(self, ledgers: Range, segments: Sequence[Segment]) -> Bucket:
        """What is held of the growing bucket is sealed and stored, its first segment is loaded, and from then on it
        lies over its range.
        """
        bucket = Bucket(ledgers)
        bucket.about = [self.snapshots.about(segment) for segment in segments]
        bucket.size = sum(map(len, segments))
        bucket.held = {index[1:] for segment in segments for index in segment}
        self.placed.put(bucket)
        self.load_into_memory(bucket, segments[0])
        self.snapshots.write(bucket, segments, lambda: self.not_stored(bucket, segments))
        bucket.created.then(lambda stored: self.wake())
        return bucket

    @rule("BD-11")
    def worth_storing(self, indexes: Sequence[Index]) -> Sequence[Index]:
        """The indexes that are held, each for its own time."""
        return [index for index in indexes if self.held.hands_out(index, None)]

    def load_into_memory(self, bucket: Bucket, segment: Segment) -> None:
        """A segment's indexes may be handed out from now on; its last one has the next segment loaded."""
        self.share(segment)
        self.tails[self.boundary(segment[-1])] = bucket

    def boundary(self, index: Index) -> Any:
        """What the last index of a segment is known by in the queue."""
        return index

    def share(self, indexes: Sequence[Index]) -> None:
        """Put indexes into the shared queue."""
        for index in indexes:
            heappush(self.shared, index)

    @rule("BD-24", source="follows from BD-42; PR 26239", when=lambda t: t.available())
    def wake(self) -> None:
        """The end of a creation, or of a merge, fires the timer if something is due: it may have waited for that."""
        if self.available():
            self.timer.fire_at_once()

    @rule("BD-16", when=lambda t, bucket, segments: t.placed.has(bucket))
    def not_stored(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """A bucket could not be stored: if it is still there, what it holds is kept in memory."""
        bucket.current = bucket.last
        if self.placed.has(bucket):
            self.share_all(segments[1:])
            self.take_away(bucket)

    def share_all(self, segments: Sequence[Segment]) -> None:
        """Put all indexes of some segments into the shared queue."""
        for segment in segments:
            self.share(segment)

    def take_away(self, bucket: Bucket) -> None:
        """The bucket is placed no longer, and has no boundary."""
        self.take_out(bucket)
        self.forget_boundaries(bucket)

    def forget_boundaries(self, bucket: Bucket) -> None:
        """The bucket has no boundary."""
        self.tails = {boundary: there for boundary, there in self.tails.items() if there is not bucket}

    def take_out(self, bucket: Bucket) -> None:
        """The bucket is placed no longer."""
        self.placed.remove(bucket)

    def after_seal(self) -> None:
        """A bucket was sealed."""
