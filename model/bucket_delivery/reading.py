"""How messages are handed out, and segments loaded on the way."""

from __future__ import annotations

from abc import abstractmethod
from heapq import heappop
from typing import Any

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Position, Segment
from broker_tck.model.bucket_delivery.durable import NOT_PERSISTED, OK
from broker_tck.model.bucket_delivery.promise import Promise, settled
from broker_tck.model.bucket_delivery.sealing import Sealing
from broker_tck.model.rules import rule

NONE_LEFT: tuple[int, list[Segment]] = (OK, [])
"""What the load of a segment behind the last one comes to."""


class Reading(Sealing):
    """Hands out what is due. Where a loaded segment ends, the next one is loaded before its last message is given."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.load: Promise | None = None
        """The load that is under way, or has just ended."""

    def get(self, most: int) -> list[Position]:
        """Hand out what is due, so much at most."""
        if self.load is not None and not self.load.settled:
            return []
        self.load = None
        self.move_due()
        given = self.given(most)
        self.gave()
        return sorted({*given})

    @rule("BD-42", when=lambda t: t.timer.target is not None or t.held.count() > 0)
    def gave(self) -> None:
        """Messages were handed out, if there were any."""
        self.update_timer()

    def given(self, most: int) -> list[Position]:
        """What comes out of the shared queue."""
        given: list[Position] = []
        cutoff = self.cutoff()
        while len(given) < most and self.shared and self.comes_out(index := self.shared[0], cutoff):
            heappop(self.shared)  # in some release a load has put another one in front by now, which is lost
            position, over = index[1:], self.placed.over(index[1])
            if self.is_orphan(index[1]):
                self.held.orphaned(position, over)
            elif self.held.hands_out(index, over):
                self.held.handed_out(position, over)
                given.append(position)
        return given

    @rule("BD-19")
    def comes_out(self, index: Index, cutoff: int) -> bool:
        """Whether the first index leaves the queue: it is due, or an orphan, and the next segment is loaded."""
        orphan = self.is_orphan(index[1])
        bucket = self.ending(index, orphan)
        if index[0] > cutoff and (bucket or not orphan):
            return False
        return bucket is None or self.goes_on(bucket, index)

    @rule("BD-22", source="BucketDelayedDeliveryTracker, PR 25984")
    def is_orphan(self, ledger: int) -> bool:
        """Messages of ledgers below that of the mark-delete position are orphans: they are dropped, and not handed out."""
        first_live = self.durable.first_live
        return first_live is not None and ledger < first_live

    # ---- Loading

    @rule("BD-29", source="follows from BD-02; PR 26280")
    def ending(self, index: Index, orphan: bool) -> Bucket | None:
        """Where a segment ends, the next one is loaded before its last message leaves the queue, as an orphan too."""
        bucket = self.tails.get(self.boundary(index))
        return bucket if bucket and self.placed.has(bucket) else None

    def goes_on(self, bucket: Bucket, index: Index) -> bool:
        """Whether the last message of what is loaded of a bucket can leave the queue: the next segment is there."""
        if bucket.merging or not bucket.created.settled:
            return False
        self.load = load = Promise()
        self.load_next(bucket, index, load)
        return load.settled and (bool(load.outcome) or not self.placed.has(bucket))

    def load_next(self, bucket: Bucket, index: Index, load: Promise) -> None:
        """Load a bucket's next segment; settles with whether that went well."""
        next_one = bucket.current + 1
        read = settled(NONE_LEFT) if next_one > bucket.last else self.snapshots.read(bucket, next_one, next_one)

        def came(answer: tuple[int, list[Segment]]) -> None:
            outcome, segments = answer
            if outcome == OK:
                self.loaded(bucket, index, segments)
            else:
                self.not_loaded(bucket, outcome)
            load.settle(outcome == OK)
            if self.was_waited_for(load):
                self.timer.fire_at_once()

        read.then(came)

    def was_waited_for(self, load: Promise) -> bool:
        """Whether messages could not be handed out before a load had ended."""
        return load is self.load

    @rule(
        "BD-46",
        source="follows from BD-02; no report upstream is known",
        needs="calls_under_way",
        when=lambda t, bucket, index, segments: not t.placed.has(bucket),
    )
    def loaded(self, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
        """A load that ends when its bucket is placed no longer, as it was merged, trimmed or cleared, changes nothing."""
        if not self.placed.has(bucket):
            return
        self.tails.pop(self.boundary(index), None)
        if segments:
            bucket.current += 1
            self.load_into_memory(bucket, segments[0])
        else:
            self.used_up(bucket)

    @rule("BD-21", source="BucketDelayedDeliveryTracker")
    def used_up(self, bucket: Bucket) -> None:
        """A bucket is deleted when the last message of its last segment is due and next to leave the queue."""
        self.take_out(bucket)
        self.delete(bucket)

    @rule("BD-20", source="ImmutableBucket, PR 19577; the second part follows from BD-45")
    def not_loaded(self, bucket: Bucket, outcome: int) -> None:
        """A segment that cannot be loaded is asked for again; where its snapshot is not there, the bucket is dropped,
        and what it has left is held no longer.
        """
        if outcome != NOT_PERSISTED and self.placed.has(bucket):
            self.held.forget(bucket.held_behind(bucket.current))
            self.take_away(bucket)
            self.delete(bucket)

    @abstractmethod
    def delete(self, bucket: Bucket) -> Promise:
        """Delete a bucket's snapshot and key."""
