"""What a bucket tracker does behind the scenes: it trims and merges sealed buckets, and recovers them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING

from broker_tck.model.bucket_delivery.parts import Piece, Selection, piece_of
from broker_tck.model.bucket_delivery.stored import (
    MISSING,
    NOT_PERSISTED,
    OK,
    UNREADABLE,
    About,
    Bucket,
    Index,
    Promise,
    Range,
    Segment,
    all_of,
    settled,
    started,
)
from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.bucket_delivery.tracker import Tracker

FAULTS = {
    NOT_PERSISTED: "BucketSnapshotPersistenceException",
    MISSING: "BucketNotExistException",
    UNREADABLE: "InvalidSnapshotException",
}
"""The exception that a recovery raises, by the reason why a bucket could not be read."""
TRACKER = "BucketDelayedDeliveryTracker"


# ---- Trimming and merging


class Maintenance(Part):
    """Trims and merges a tracker's buckets if a seal made too many. One chain of a trim and a merge runs at a time."""

    Selection = Selection

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.placed = tracker.placed
        self.selection = self.Selection()
        self.chain: Promise | None = None
        """Trim and merge under way; settles when both have ended, however that went."""

    @rule("BD-26", source=TRACKER, needs="maintenance")
    def too_many(self) -> bool:
        """There are too many buckets if there are more than the limit, and the limit is above 0."""
        return 0 < self.tracker.config.max_buckets < len(self.placed.pieces)

    @rule("BD-26", needs="maintenance calls_under_way")
    def busy(self) -> bool:
        """If a seal makes too many buckets, it starts a trim, then a merge if needed; one chain runs at a time."""
        return self.chain is not None and not self.chain.settled

    def after_seal(self) -> None:
        """A bucket was sealed."""
        if self.too_many() and not self.busy():
            self.chain = started(self.trim_and_merge())

    async def trim_and_merge(self) -> None:
        """Trim one bucket after another, then merge if there are still too many."""
        for victim in self.victims():
            if not await self.trim(victim):
                return
        if self.too_many():
            await self.merge()

    # ---- Trim

    @rule("BD-30", source=f"{TRACKER}, PRs 26240, 26309", needs="maintenance")
    def is_trimmed_at(self, ledgers: Range) -> bool:
        """A trim deletes a bucket if all of its ledgers are below that of the mark-delete position."""
        return self.tracker.is_orphan(ledgers[1])

    def victims(self) -> list[Piece]:
        """The places of the buckets that must be trimmed, in the order of trimming."""
        return [piece for piece in self.placed.pieces if self.is_trimmed_at(piece.ledgers)]

    async def trim(self, victim: Piece) -> bool:
        """Trim a bucket, if it must still be trimmed; answers whether the chain goes on."""
        await self.stored(victim.bucket)
        if not self.is_still_victim(victim.bucket):
            return True
        deleted: bool = await self.tracker.snapshots.delete(victim.bucket)
        if deleted:
            self.trimmed(victim)
        return self.goes_on_trimming(deleted)

    @rule("BD-30", needs="maintenance")
    def stored(self, victim: Bucket) -> Promise:
        """A trim deletes a bucket only after it is stored."""
        return victim.created

    @rule("BD-30", needs="maintenance calls_under_way")
    def is_still_victim(self, victim: Bucket) -> bool:
        """A trim spares a bucket that is gone by then, or no longer below that position."""
        return self.placed.has(victim) and self.is_trimmed_at(victim.ledgers)

    @rule("BD-30", needs="maintenance calls_under_way")
    def goes_on_trimming(self, deleted: bool) -> bool:
        """The first deletion that fails ends the chain."""
        return deleted

    @rule("BD-30", needs="maintenance")
    def trimmed(self, victim: Piece) -> None:
        """The tracker no longer holds the messages of a trimmed bucket."""
        if self.placed.has(victim.bucket):
            self.tracker.loading.take_out(victim.bucket)
            self.tracker.held.trimmed(victim.bucket)

    # ---- Merge

    async def merge(self) -> None:
        """Merge the chosen buckets: read all of them, then put one bucket in their place."""
        sources = self.selection.choose(self.placed.buckets())
        if not sources:
            return
        for source in sources:
            source.merging = True
        read = await self.read_sources(sources)
        if read is not None and self.can_commit(sources):
            await self.commit(sources, read)
        for source in sources:
            source.merging = False
        self.tracker.wake()

    async def read_sources(self, sources: Sequence[Bucket]) -> list[list[Segment]] | None:
        """The segments of each source; None if a source is not stored, or cannot be read."""
        if not all(await all_of([source.created for source in sources])):
            return None
        answers = await all_of([self.tracker.snapshots.read(source, *self.to_merge(source)) for source in sources])
        return [segments for outcome, segments in answers] if all(outcome == OK for outcome, _ in answers) else None

    @rule("BD-28", source=f"{TRACKER}, PR 26251", needs="maintenance")
    def to_merge(self, source: Bucket) -> tuple[int, int]:
        """A merge reads all segments of its sources."""
        return 1, source.last

    @rule("BD-47", needs="maintenance calls_under_way")
    def can_commit(self, sources: Sequence[Bucket]) -> bool:
        """A merge is given up if its sources are gone, or another bucket lies in their range."""
        there = self.placed.meeting((sources[0].ledgers[0], sources[-1].ledgers[1]))
        return len(there) == len(sources) and all(p.bucket is s for p, s in zip(there, sources, strict=True))

    async def commit(self, sources: Sequence[Bucket], read: list[list[Segment]]) -> None:
        """Put the merged bucket in the place of its sources. These are deleted, or stay as they are stored."""
        merged = Bucket((sources[0].ledgers[0], sources[-1].ledgers[1]), sources)
        indexes = self.merged_indexes(*(chain(*segments) for segments in read))
        self.tracker.sealing.place(merged, self.tracker.cutting.cut(indexes))
        await merged.created
        if self.replaces_sources(merged):
            await all_of([self.tracker.delete(source) for source in sources])
        else:
            self.keep(merged, sources)

    def keep(self, merged: Bucket, sources: Sequence[Bucket]) -> None:
        """The sources of a merge that failed stay stored, until a clear deletes them."""
        self.tracker.retired += sources

    @rule("BD-28", needs="maintenance")
    def merged_indexes(self, *sources: Iterable[Index]) -> Iterable[Index]:
        """The merged bucket has all messages of its sources, in their order, and lies over their whole range."""
        return merge(*sources)

    @rule("BD-28", needs="maintenance calls_under_way")
    def replaces_sources(self, merged: Bucket) -> bool:
        """A merge deletes its sources when the snapshot and the key of the merged bucket are stored."""
        return merged.keyed


# ---- Recovery


class Recovery(Part):
    """Recovers a tracker's buckets from the keys of the cursor. What it calls ends at once."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.placed = tracker.placed

    def recover(self, keys: Sequence[Range], failing: int) -> None:
        """Take over the buckets of the keys; the first ``failing`` reads fail. Fault if a bucket cannot be read."""
        snapshots = self.tracker.snapshots
        snapshots.recovering, snapshots.failing = True, failing
        useless = self.place_all(keys)
        read = self.read_all()
        self.raise_failures(read)
        self.drop(useless + self.take_over(read))
        self.tracker.held.recovered(self.placed.buckets())
        self.tracker.recovered()
        snapshots.recovering = False

    def drop(self, pieces: Iterable[Piece]) -> None:
        """Delete the buckets that are not used."""
        for piece in pieces:
            self.placed.discard(piece.low, piece.high)
            self.tracker.delete(piece.bucket)

    def place_all(self, keys: Sequence[Range]) -> list[Piece]:
        """Place the buckets of all keys that need a place; answers with those that are not used any more."""
        useless: list[Piece] = []
        for ledgers in self.in_order(keys):
            bucket = Bucket(ledgers)
            bucket.id = self.tracker.durable.keys[ledgers]
            bucket.keyed = bucket.was_recovered = True
            bucket.created = settled(True)
            useless += self.place_recovered(bucket)
        return useless

    @rule("BD-34", source=f"{TRACKER}, PR 25990")
    def in_order(self, keys: Sequence[Range]) -> Sequence[Range]:
        """The bucket that begins first is placed first, whatever the order of the keys; of equal ones, the longer."""
        return sorted(keys, key=lambda ledgers: (ledgers[0], -ledgers[1]))

    @rule("BD-34")
    def place_recovered(self, bucket: Bucket) -> list[Piece]:
        """Buckets are placed before any is read: a recovered one whose range meets a placed bucket is deleted."""
        if self.placed.meeting(bucket.ledgers):
            return [piece_of(bucket)]
        self.placed.put(bucket)
        return []

    def read_all(self) -> dict[Piece, tuple[int, Segment]]:
        """Read what each bucket has left."""
        return {piece: self.read_remains(piece.bucket) for piece in self.placed.pieces}

    def read_remains(self, bucket: Bucket) -> tuple[int, Segment]:
        """Read what a bucket has left; answers how that ended, and with the segment that is loaded."""
        outcome, about = self.tracker.snapshots.describe(bucket).outcome
        if outcome != OK:
            return outcome, []
        bucket.about = about
        bucket.current = self.first_segment(about)
        bucket.held = bucket.held_behind(bucket.current - 1)
        bucket.size = len(bucket.held)
        if not bucket.held:
            return OK, []
        outcome, loaded = self.tracker.snapshots.read(bucket, bucket.current, bucket.current).outcome
        return outcome, loaded[0] if outcome == OK else []

    @rule("BD-39", source="ImmutableBucket")
    def first_segment(self, about: Sequence[About]) -> int:
        """A recovery skips the first segments whose messages are all due; a bucket without others is deleted."""
        return 1 + sum(each.last_time <= self.tracker.cutoff() for each in about)

    @rule(
        "BD-35",
        source=f"{TRACKER}, PR 22735",
        when=lambda r, read: any(outcome == NOT_PERSISTED for outcome, _ in read.values()),
    )
    def raise_failures(self, read: dict[Piece, tuple[int, Segment]]) -> None:
        """If a recovery cannot read a snapshot that may be there, it fails as a whole and deletes nothing."""
        for outcome, _ in read.values():
            if outcome != OK and self.fails_recovery(outcome):
                raise Fault(FAULTS[outcome])

    @rule("BD-36", source=TRACKER)
    def fails_recovery(self, outcome: int) -> bool:
        """If a snapshot is missing or damaged, its bucket is dropped, and its key is removed."""
        return outcome == NOT_PERSISTED

    @rule("BD-37", source=TRACKER, when=lambda r, read: bool(read))
    def take_over(self, read: dict[Piece, tuple[int, Segment]]) -> list[Piece]:
        """A recovery loads one segment of each bucket; this and those behind it are held, wherever the cursor is."""
        for piece, (_, segment) in read.items():
            if segment:
                self.tracker.loading.load_into_memory(piece.bucket, segment)
        return [piece for piece, (_, segment) in read.items() if not segment]
