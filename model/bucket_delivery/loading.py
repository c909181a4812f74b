"""How the segments of sealed buckets are loaded, one after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from broker_tck.model.bucket_delivery.maintenance import TRACKER
from broker_tck.model.bucket_delivery.sealing import OWN
from broker_tck.model.bucket_delivery.stored import (
    NOT_PERSISTED,
    OK,
    Bucket,
    Index,
    Promise,
    Segment,
    started,
)
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.bucket_delivery.tracker import Tracker


class Loading(Part):
    """Loads a bucket's segments one after another, each when the last message of the one before is next."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.placed = tracker.placed
        self.tails: dict[Any, Bucket] = {}
        """By the boundary at the end of the segment that was loaded last, the bucket whose next one is to be loaded."""
        self.load: Promise | None = None
        """The load that is under way, or has just ended."""

    def load_into_memory(self, bucket: Bucket, segment: Segment) -> None:
        """A segment's indexes may be handed out from now on; its last one has the next segment loaded."""
        self.tracker.share(segment)
        self.tails[self.boundary(segment[-1])] = bucket

    def boundary(self, index: Index) -> Any:
        """What the last index of a segment is known by in the queue."""
        return index

    def take_out(self, bucket: Bucket) -> None:
        """The bucket is placed no longer."""
        self.placed.remove(bucket)

    @rule("BD-29", source="follows from BD-02; PR 26280")
    def ending(self, index: Index, orphan: bool) -> Bucket | None:
        """Before the last message of a segment leaves the queue, even as an orphan, the next segment is loaded.

        It is loaded when that message is due and next to leave the queue, and no sooner.
        """
        bucket = self.tails.get(self.boundary(index))
        return bucket if bucket and self.placed.has(bucket) else None

    def goes_on(self, bucket: Bucket, index: Index) -> bool:
        """Whether the last message of what is loaded of a bucket can leave the queue: the next segment is there."""
        if bucket.merging or not bucket.created.settled:
            return False
        self.load = load = Promise()
        started(self.load_next(bucket, index)).then(partial(self.ends, load))
        return load.settled and (bool(load.outcome) or not self.placed.has(bucket))

    async def load_next(self, bucket: Bucket, index: Index) -> bool:
        """Load a bucket's next segment; whether that went well."""
        outcome, segments = OK, []
        if bucket.unloaded > 0:
            outcome, segments = await self.tracker.snapshots.read(bucket, bucket.current + 1, bucket.current + 1)
        well: bool = outcome == OK
        if well and self.has_effect(bucket):
            self.loaded(bucket, index, segments)
        elif not well and self.is_given_up(bucket, outcome):
            self.give_up(bucket)
        return well

    def ends(self, load: Promise, well: bool) -> None:
        """A load ends."""
        self.load_ended(load)
        load.settle(well)

    def load_ended(self, load: Promise) -> None:
        """A load has ended: messages that could not be handed out before may be now."""
        if load is self.load:
            self.tracker.timer.fire_at_once()
            if not self.tracker.available():
                self.tracker.timer.may_update(self.tracker.update)

    @rule("BD-46", source=OWN, needs="calls_under_way", when=lambda s, bucket: not s.placed.has(bucket))
    def has_effect(self, bucket: Bucket) -> bool:
        """If a bucket was merged, trimmed or cleared before its load ends, the load has no effect."""
        return self.placed.has(bucket)

    def loaded(self, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
        """A segment is there, or there is none left. ``index``: the boundary before it."""
        self.tails.pop(self.boundary(index), None)
        if segments:
            bucket.current += 1
            self.load_into_memory(bucket, segments[0])
        else:
            self.used_up(bucket)

    @rule("BD-21", source=TRACKER)
    def used_up(self, bucket: Bucket) -> None:
        """A bucket is deleted when the last message of its last segment is due and next to leave the queue."""
        self.take_out(bucket)
        self.tracker.delete(bucket)

    @rule("BD-20", source="ImmutableBucket, PR 19577; the second part follows from BD-45", when=lambda *_: True)
    def is_given_up(self, bucket: Bucket, outcome: int) -> bool:
        """If a load fails, it is repeated; if the snapshot is missing, the bucket is dropped with its messages."""
        return outcome != NOT_PERSISTED and self.placed.has(bucket)

    def give_up(self, bucket: Bucket) -> None:
        """The bucket is dropped: the messages that it has left are no longer held."""
        self.tracker.held.forget(bucket.held_behind(bucket.current))
        self.take_out(bucket)
        self.tracker.delete(bucket)
