"""What the tracker released with 5.0.1 does otherwise (profile ``bucket-5.0``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Position, Range, Segment
from broker_tck.model.bucket_delivery.durable import NOT_PERSISTED, UNREADABLE
from broker_tck.model.bucket_delivery.index import Held
from broker_tck.model.bucket_delivery.promise import Promise, all_of, settled
from broker_tck.model.bucket_delivery.ranges import Piece, cuts, piece_of
from broker_tck.model.bucket_delivery.selection import Selection
from broker_tck.model.bucket_delivery.snapshots import Snapshots
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.timer import Timer
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.model.java_collections import hash_order
from broker_tck.model.parts import timer


def hash_of(piece: Piece) -> int:
    """The hash of a range, as the broker's library has it."""
    (first, behind_first), (last, behind_last) = piece.low, piece.high
    low, high = folded(first), folded(last)
    return 31 * (~low if behind_first else low) + (~high if behind_last else high)


def folded(number: int) -> int:
    """The hash of a number of 64 bits."""
    return (number ^ number >> 32) % 2**32


class SnapshotsByKey(Snapshots):
    """A bucket without a snapshot is deleted by what its key leads to, which is the bucket's number from then on."""

    def number_of(self, bucket: Bucket) -> int | None:
        if bucket.id is None:
            bucket.id = self.durable.keys.get(bucket.ledgers)
        return bucket.id

    def is_deleted_without_snapshot(self, bucket: Bucket) -> bool:
        return False

    def delete(self, bucket: Bucket) -> Promise:
        return self.begin_deletion(bucket)

    def has_key(self, bucket: Bucket) -> bool:
        return True


class HeldWithoutTimes(Held):
    """It knows no times: an index from before a refusal is as good as the one accepted later."""

    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        return self.contains(index[1:], over)


class Selection50(Selection):
    """What becomes due at the last time that there is, is never chosen."""

    BEFORE_A_CHOICE = 2**63 - 1


class Timer50(timer.BegunAtZero, Timer):
    """Its numbers begin as 0."""


class Tracker50(Tracker):
    """As released with 5.0.1."""

    Timer = Timer50
    Selection = Selection50
    Snapshots = SnapshotsByKey
    Held = HeldWithoutTimes

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.deletions: list[Promise] = []
        """Deletions under way."""
        self.neglected: list[Bucket] = []
        """Buckets that could not be stored after the close. Whoever waited for one of them meets an error."""

    def crosses(self, ledger: int) -> bool:
        return False

    def is_covered_by_now(self, ledger: int) -> bool:
        return False

    def boundary(self, index: Index) -> Position:
        return index[1:]

    def wake(self) -> None:
        pass

    def worth_storing(self, indexes: Sequence[Index]) -> Sequence[Index]:
        return indexes

    def keeps_in_memory(self, ledgers: Range) -> bool:
        return False

    def not_stored(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """What is not loaded goes into memory. Of a tracker that has closed there is none, and all stays as it is."""
        if self.snapshots.closed and len(segments) > 1:
            self.neglected.append(bucket)
            return
        bucket.current = bucket.last
        self.share_all(segments[1:])
        self.take_out(bucket)
        self.tails.pop(self.boundary(segments[0][-1]), None)

    def ending(self, index: Index, orphan: bool) -> Bucket | None:
        return None if orphan else super().ending(index, orphan)

    def was_waited_for(self, load: Promise) -> bool:
        return True

    def loaded(self, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
        self.tails.pop(self.boundary(index), None)
        if segments:
            bucket.current += 1
            self.load_into_memory(bucket, segments[0])
        else:
            self.used_up(bucket)

    def take_out(self, bucket: Bucket) -> None:
        self.placed.discard(*cuts(bucket.ledgers))

    def not_loaded(self, bucket: Bucket, outcome: int) -> None:
        pass

    # ---- Maintenance

    def victims(self) -> list[Piece]:
        return hash_order(super().victims(), hash_of, 16)

    def trim_one(self, victim: Piece, others: list[Piece], chain: Promise) -> None:
        if victim.bucket in self.neglected:
            chain.settle(False)
        else:
            super().trim_one(victim, others, chain)

    def is_still_victim(self, victim: Bucket) -> bool:
        return bool(victim.created.outcome)

    def trimmed(self, victim: Piece) -> None:
        """The piece is placed no longer. Where the bucket was cut meanwhile, what is left of it stays."""
        self.placed.discard(victim.low, victim.high)
        self.forget_boundaries(victim.bucket)
        self.held.trimmed(victim.bucket)

    def can_commit(self, sources: Sequence[Bucket]) -> bool:
        return True

    def replaces_sources(self, merged: Bucket) -> bool:
        return bool(merged.created.outcome)

    def merged(self, merged: Bucket, sources: Sequence[Bucket], stored: bool, chain: Promise) -> None:
        if merged in self.neglected:
            self.end_merge(sources, chain)
        else:
            super().merged(merged, sources, stored, chain)

    # ---- Clear

    def delete(self, bucket: Bucket) -> Promise:
        return self.under_way(super().delete(bucket))

    def under_way(self, deleted: Promise) -> Promise:
        """Have the next clear wait for a deletion."""
        self.deletions = [each for each in [*self.deletions, deleted] if not each.settled]
        return deleted

    def clear(self) -> None:
        before, self.chain = self.chain, Promise()
        (before or settled(True)).then(partial(self.clear_after_calls, self.chain))

    def clear_after_calls(self, chain: Promise, _: bool) -> None:
        """Wait for the load and the deletions under way, even those that wait for a creation, then clear."""
        under_way = [*self.deletions, *([self.load] if self.load else [])]
        all_of([each for each in under_way if not each.settled]).then(partial(self.clear_now, chain))

    def clear_now(self, chain: Promise, _: object) -> None:
        """Take everything out, but for what is in memory if a bucket of the past has neither snapshot nor key.

        Where there is such a bucket, it and those behind it are forgotten.
        """
        n = len(self.placed.pieces)
        buckets = [p.bucket for p in hash_order(self.placed.pieces, hash_of, 1 << (-(-4 * n // 3) - 1).bit_length())]
        self.placed.pieces = []
        deleted = [self.under_way(self.delete_when_created(bucket)) for bucket in buckets]
        retired, self.retired = self.retired, []
        for bucket in retired:
            if self.snapshots.number_of(bucket) is None:
                chain.settle(False)
                return
            deleted.append(self.delete(bucket))
        self.empty_memory()
        all_of(deleted).then(chain.settle)

    # ---- Recovery and end

    def in_order(self, keys: Sequence[Range]) -> Sequence[Range]:
        return keys

    def place_recovered(self, bucket: Bucket) -> list[Piece]:
        met = [p.bucket for p in self.placed.meeting(bucket.ledgers)]
        first, last = bucket.ledgers
        enclosed = [b for b in met if first <= b.ledgers[0] and b.ledgers[1] <= last]
        if enclosed or not met:
            self.placed.put(bucket)
        return [piece_of(b) for b in enclosed]

    def listed(self, pieces: Iterable[Piece]) -> Iterable[Piece]:
        found = [*pieces]
        return hash_order(found, hash_of, 1 << max(len(found) - 1, 0).bit_length())

    def read_remains(self, bucket: Bucket) -> tuple[int, Segment]:
        """It counts a position as often as there are segments that have it."""
        outcome, segment = super().read_remains(bucket)
        bucket.size = sum(len(about.positions) for about in bucket.about[bucket.current - 1 :])
        return outcome, segment

    def fails_recovery(self, outcome: int) -> bool:
        return outcome in (NOT_PERSISTED, UNREADABLE)

    def has_closed(self) -> bool:
        return all(bucket.created.settled for bucket in self.left)


class Bucket50(BucketDelivery):
    """As released with 5.0.1."""

    PROFILE = "bucket-5.0"
    BREAKS: ClassVar[tuple[str, ...]] = ("BD-02", "BD-19", "BD-44")
    Tracker = Tracker50
