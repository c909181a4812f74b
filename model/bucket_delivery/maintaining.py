"""Behind the scenes: buckets of orphans are trimmed, neighbours merged, and everything cleared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import chain as chain_of
from typing import Any

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Range, Segment
from broker_tck.model.bucket_delivery.durable import OK
from broker_tck.model.bucket_delivery.promise import Promise, all_of
from broker_tck.model.bucket_delivery.ranges import Piece
from broker_tck.model.bucket_delivery.reading import Reading
from broker_tck.model.bucket_delivery.selection import Selection
from broker_tck.model.rules import rule


class Maintaining(Reading):
    """Trims and merges where a seal made too many buckets. There is one chain of such work at a time."""

    Selection = Selection

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.selection = self.Selection()
        self.chain: Promise | None = None
        """Trim, merge or clear under way; settles when it has ended, however that went."""
        self.retired: list[Bucket] = []
        """Buckets that are no longer placed, whose snapshots or keys could not be deleted."""

    @rule("BD-26", source="BucketDelayedDeliveryTracker", needs="maintenance")
    def too_many(self) -> bool:
        """A seal that makes more buckets than the limit starts a chain, unless one is under way: a trim, and if there
        are still too many then, one merge.
        """
        return 0 < self.config.max_buckets < len(self.placed.pieces)

    @rule("BD-26")
    def busy(self) -> bool:
        """Whether a chain is under way."""
        return self.chain is not None and not self.chain.settled

    def after_seal(self) -> None:
        if self.too_many() and not self.busy():
            self.chain = Promise()
            self.trim([*self.victims()], self.chain)

    # ---- Trim

    @rule("BD-30", source="BucketDelayedDeliveryTracker, PRs 26240, 26309", needs="maintenance")
    def is_trimmed_at(self, ledgers: Range) -> bool:
        """A trim deletes the buckets all of whose ledgers are below the mark-delete position's, one after another; the
        first failure ends the chain.
        """
        return self.is_orphan(ledgers[1])

    def victims(self) -> list[Piece]:
        """Where buckets lie that are to be trimmed, in the order in which that is done."""
        return [piece for piece in self.placed.pieces if self.is_trimmed_at(piece.ledgers)]

    def trim(self, victims: list[Piece], chain: Promise) -> None:
        """Trim one bucket after another, then go on to the merge."""
        if not victims:
            self.after_trim(chain)
            return
        victim, *others = victims
        self.stored(victim.bucket).then(lambda _: self.trim_one(victim, others, chain))

    @rule("BD-30")
    def stored(self, victim: Bucket) -> Promise:
        """What a trim waits for before it deletes a bucket."""
        return victim.created

    def trim_one(self, victim: Piece, others: list[Piece], chain: Promise) -> None:
        """Trim a bucket, if that is still to be done."""
        if not self.is_still_victim(victim.bucket):
            self.trim(others, chain)
            return

        def done(deleted: bool) -> None:
            if deleted:
                self.trimmed(victim)
            if self.goes_on_trimming(deleted):
                self.trim(others, chain)
            else:
                chain.settle(False)

        self.snapshots.delete(victim.bucket).then(done)

    @rule("BD-30")
    def is_still_victim(self, victim: Bucket) -> bool:
        """Whether a bucket is still to be trimmed, now that it is stored and those before it are trimmed."""
        return self.placed.has(victim) and self.is_trimmed_at(victim.ledgers)

    @rule("BD-30")
    def goes_on_trimming(self, deleted: bool) -> bool:
        """Whether a trim goes on after a deletion."""
        return deleted

    @rule("BD-30")
    def trimmed(self, victim: Piece) -> None:
        """A bucket of orphans was deleted."""
        bucket = victim.bucket
        if self.placed.has(bucket):
            self.take_away(bucket)
            self.held.trimmed(bucket)

    def after_trim(self, chain: Promise) -> None:
        """Merge, if there are still too many buckets."""
        if self.too_many():
            self.merge(chain)
        else:
            chain.settle(True)

    # ---- Merge

    def merge(self, chain: Promise) -> None:
        """Merge what is chosen: read all of it, then put one bucket in its place."""
        sources = self.selection.choose(self.placed.buckets())
        if not sources:
            chain.settle(True)
            return
        for source in sources:
            source.merging = True
        created = all_of([source.created for source in sources])
        created.then(lambda stored: self.read_sources(sources, stored, chain))

    def read_sources(self, sources: Sequence[Bucket], stored: list[bool], chain: Promise) -> None:
        """Read all segments of all sources."""
        if not all(stored):
            self.give_up(sources, chain)
            return
        read = all_of([self.snapshots.read(source, *self.to_merge(source)) for source in sources])
        read.then(lambda answers: self.commit(sources, answers, chain))

    @rule("BD-28", source="BucketDelayedDeliveryTracker, PR 26251", needs="maintenance")
    def to_merge(self, source: Bucket) -> tuple[int, int]:
        """A merge reads all segments of its sources, puts a bucket of them over their range, and deletes them when that
        one's snapshot and key are stored.
        """
        return 1, source.last

    def commit(self, sources: Sequence[Bucket], answers: list[tuple[int, list[Segment]]], chain: Promise) -> None:
        """Put the merged bucket in the place of its sources."""
        if any(outcome != OK for outcome, _ in answers) or not self.can_commit(sources):
            self.give_up(sources, chain)
            return
        indexes = self.merged_indexes(*(chain_of.from_iterable(segments) for _, segments in answers))
        ledgers = sources[0].ledgers[0], sources[-1].ledgers[1]
        merged = self.place(ledgers, self.cutting.cut(indexes))
        merged.sources = sources
        self.held.merged(merged, [*sources])
        merged.created.then(lambda stored: self.merged(merged, sources, stored, chain))

    @rule("BD-28")
    def merged_indexes(self, *sources: Iterable[Index]) -> Iterable[Index]:
        """The indexes of all sources, each of which has its own in order."""
        return merge(*sources)

    @rule("BD-47")
    def can_commit(self, sources: Sequence[Bucket]) -> bool:
        """Whether the sources are still there, and nothing but them lies in their range."""
        there = self.placed.meeting((sources[0].ledgers[0], sources[-1].ledgers[1]))
        return len(there) == len(sources) and all(p.bucket is s for p, s in zip(there, sources, strict=True))

    def merged(self, merged: Bucket, sources: Sequence[Bucket], stored: bool, chain: Promise) -> None:
        """The merged bucket's creation has settled: its sources are deleted, or stay as they are stored."""
        if not self.replaces_sources(merged):
            self.retired += sources
            self.end_merge(sources, chain)
            return
        deleted = all_of([self.delete(source) for source in sources])
        deleted.then(lambda outcomes: self.end_merge(sources, chain))

    @rule("BD-28")
    def replaces_sources(self, merged: Bucket) -> bool:
        """Whether a merged bucket can be recovered, so that its sources can go."""
        return merged.keyed

    def give_up(self, sources: Sequence[Bucket], chain: Promise) -> None:
        """Nothing is merged."""
        self.end_merge(sources, chain)

    def end_merge(self, sources: Sequence[Bucket], chain: Promise) -> None:
        """The sources are as others again."""
        for source in sources:
            source.merging = False
        self.wake()
        chain.settle(True)

    def delete(self, bucket: Bucket) -> Promise:
        """Delete a bucket's snapshot and key; where that fails, the next clear tries again."""
        deleted = self.snapshots.delete(bucket)
        deleted.then(lambda well: None if well else self.retired.append(bucket))
        return deleted

    # ---- Clear

    @rule("BD-31", source="BucketDelayedDeliveryTracker, PRs 19801, 26401")
    def clear(self) -> None:
        """A clear forgets every message at once, and deletes each snapshot as soon as it is stored. What is under way
        changes nothing any more; the timer is left alone.
        """
        buckets = [*self.placed.buckets(), *self.retired]
        self.retired = []
        self.placed.pieces = []
        self.load = None
        for bucket in buckets:
            bucket.given_up = True
            self.delete_when_created(bucket)
        self.empty_memory()

    def delete_when_created(self, bucket: Bucket) -> Promise:
        """Delete a bucket's snapshot and key as soon as they are there."""
        deleted = Promise()
        bucket.created.then(lambda stored: self.delete(bucket).then(deleted.settle))
        return deleted

    def empty_memory(self) -> None:
        """Nothing is held any more."""
        self.shared = []
        self.mutable.clear()
        self.tails = {}
        self.held.clear()
