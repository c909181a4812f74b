"""The broker's releases: each replaces the clauses of the specification in which it differs, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from broker_tck.model.bucket_delivery.parts import (
    MOST_MERGED,
    Held,
    Mutable,
    Piece,
    Selection,
    Timer,
    cuts,
    messages,
    piece_of,
)
from broker_tck.model.bucket_delivery.snapshots import Snapshots
from broker_tck.model.bucket_delivery.specification import LAST, BucketDelivery, Maintenance, Recovery, Tracker
from broker_tck.model.bucket_delivery.stored import (
    NOT_PERSISTED,
    OK,
    UNREADABLE,
    Bucket,
    Index,
    Position,
    Promise,
    Range,
    Segment,
    all_of,
    settled,
)
from broker_tck.model.java_collections import hash_order
from broker_tck.model.parts import timer
from broker_tck.model.reference import Fault

LAST_ENTRY = 2**32 - 1
"""The entry id that bitmaps have, but never find: they are asked for a range, which ends at 2^32 then."""
BROKEN: tuple[str, ...] = ("BD-02", "BD-19", "BD-44")
"""The rules that every release breaks in more than its clauses."""


def hash_of(piece: Piece) -> int:
    """The hash of a range, as the broker's library has it."""
    (first, behind_first), (last, behind_last) = piece.low, piece.high
    low, high = folded(first), folded(last)
    return 31 * (~low if behind_first else low) + (~high if behind_last else high)


def folded(number: int) -> int:
    """The hash of a number of 64 bits."""
    return (number ^ number >> 32) % 2**32


def neglected(bucket: Bucket) -> bool:
    """Whether a bucket could not be stored after the close. Whoever waited for it meets an error."""
    return bucket.created.settled and not bucket.created.outcome and bucket.unloaded > 0


def always(answer: bool) -> Any:
    """A clause that does not ask, and answers always the same."""
    return lambda *_: answer


yes, no = always(True), always(False)


# ---- What the tracker of several releases has in place of a clause


def take(tracker: Tracker, index: Index) -> None:
    """After a seal, nobody looks whether a bucket that was merged then lies over the ledger."""
    covered = tracker.placed.over(index[1]) is not None
    if tracker.mutable.seals(index[1], covered) or (not covered and tracker.crosses(index[1])):
        tracker.seal()
    tracker.keep(index, covered)


def boundary(_: Tracker, index: Index) -> Position:
    """The end of a segment is known by its position."""
    return index[1:]


def wake(tracker: Tracker) -> None:
    """The end of a creation, or of a merge, fires nothing."""


def not_stored(tracker: Tracker, bucket: Bucket, segments: Sequence[Segment]) -> None:
    """What is not loaded goes into memory. Of a tracker that has closed there is none, and all stays as it is."""
    if tracker.snapshots.closed and len(segments) > 1:
        return
    bucket.current = bucket.last
    tracker.share(*segments[1:])
    tracker.take_out(bucket)
    tracker.tails.pop(tracker.boundary(segments[0][-1]), None)


def not_for_orphans(tracker: Tracker, index: Index, orphan: bool) -> Bucket | None:
    """If an orphan ends a segment, the next one is not loaded."""
    return None if orphan else Tracker.ending(tracker, index, orphan)


def load_ended(tracker: Tracker, load: Promise) -> None:  # noqa: ARG001
    """The end of each load fires the timer, waited for or not."""
    tracker.timer.fire_at_once()


def loaded(tracker: Tracker, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
    """Whatever is loaded goes into memory."""
    tracker.tails.pop(tracker.boundary(index), None)
    if segments:
        bucket.current += 1
        tracker.load_into_memory(bucket, segments[0])
    else:
        tracker.used_up(bucket)


def take_out(tracker: Tracker, bucket: Bucket) -> None:
    """Whatever lies exactly in the range of the bucket is placed no longer."""
    tracker.placed.discard(*cuts(bucket.ledgers))


def delete(tracker: Tracker, bucket: Bucket) -> Promise:
    """Nobody tries a deletion again that failed."""
    return tracker.snapshots.delete(bucket)


def has_closed(tracker: Tracker) -> bool:
    """A close ends when all creations have settled."""
    return all(bucket.created.settled for bucket in tracker.left)


def clear_now(tracker: Tracker, chain: Promise, _: object = None) -> None:
    """Take everything out."""
    buckets = tracker.placed.buckets()
    tracker.placed.pieces = []
    deleted = [tracker.delete_when_created(bucket) for bucket in buckets]
    tracker.empty_memory()
    all_of(deleted).then(chain.settle)


# ---- What its parts have


def number_of(snapshots: Snapshots, bucket: Bucket) -> int | None:
    """The number of the snapshot that is deleted; None if there is none."""
    if bucket.id is None:
        bucket.id = snapshots.durable.keys.get(bucket.ledgers)
    return bucket.id


class SnapshotsByKey(Snapshots):
    """A bucket without a snapshot is deleted by what its key leads to, which is the bucket's number from then on."""

    def begin_deletion(self, bucket: Bucket) -> Promise:
        number = number_of(self, bucket)
        return settled(False) if number is None else self.delete_snapshot(bucket, number)

    def delete(self, bucket: Bucket) -> Promise:
        return self.begin_deletion(bucket)

    has_key = yes


class Timer42(timer.BegunAtZero, Timer):
    """Its numbers begin as 0."""


def best(selection: Selection, runs: Sequence[Sequence[Bucket]]) -> Sequence[Bucket]:
    """The fewest messages decide, then a next time that is sooner than that of the choice before.

    What becomes due at the last time that there is, is never chosen.
    """
    chosen: Sequence[Bucket] = []
    fewest, soonest = None, LAST
    for run in runs:
        if fewest is None or messages(run) <= fewest:
            fewest, next_time = messages(run), min(map(selection.next_time, run))
            if next_time < soonest:
                soonest, chosen = next_time, run
    return chosen


class HeldByBuckets(Held):
    """A number of its own, and the positions of each bucket that is placed: nothing keeps them together.

    ``positions`` are those that no sealed bucket has.
    """

    hands_out = yes

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def contains(self, position: Position, over: Bucket | None) -> bool:
        found = position in self.positions or (over is not None and position in over.held)
        return found and position[1] != LAST_ENTRY

    def count(self) -> int:
        return self.number

    def add(self, index: Index) -> None:
        super().add(index)
        self.number += 1

    def handed_out(self, position: Position, over: Bucket | None) -> None:
        self.number -= 1
        if not self.contains(position, over):
            return
        if position in self.positions:
            self.positions.discard(position)
        elif over is not None:
            over.held.discard(position)
            over.size = max(over.size - 1, 0)

    def orphaned(self, position: Position, over: Bucket | None) -> None:
        if self.contains(position, over):
            self.handed_out(position, over)

    def sealed(self, bucket: Bucket) -> None:
        self.positions -= bucket.held

    def merged(self, bucket: Bucket, sources: list[Bucket]) -> None:
        """It has the positions of its sources, but its size is that of its snapshot, which lacks what was loaded."""
        bucket.held = {position for source in sources for position in source.held}

    def recovered(self, buckets: list[Bucket]) -> None:
        self.number = sum(bucket.size for bucket in buckets)

    def trimmed(self, bucket: Bucket) -> None:
        self.number -= bucket.size

    def clear(self) -> None:
        super().clear()
        self.number = 0


def victims(maintenance: Maintenance) -> list[Piece]:
    """Buckets are trimmed in the order of a hash set."""
    return hash_order(Maintenance.victims(maintenance), hash_of, 16)


def to_merge(_: Maintenance, source: Bucket) -> tuple[int, int]:
    """What is loaded is not merged."""
    return source.current + 1, source.last


def read_sources(maintenance: Maintenance, sources: Sequence[Bucket], stored: list[bool], chain: Promise) -> None:
    """A merge is given up if all of a source is loaded."""
    ready = [well and source.unloaded > 0 for well, source in zip(stored, sources, strict=True)]
    Maintenance.read_sources(maintenance, sources, ready, chain)


def commit(
    maintenance: Maintenance, sources: Sequence[Bucket], answers: list[tuple[int, list[Segment]]], chain: Promise
) -> None:
    """A merge ends when the merged bucket is placed."""
    Maintenance.commit(maintenance, sources, answers, chain)
    maintenance.end_merge(sources, chain)


def merged_at_once(maintenance: Maintenance, merged: Bucket, sources: Sequence[Bucket], *_: Any, **__: Any) -> None:
    """Nobody waits for the deletion of the sources."""
    if not neglected(merged) and maintenance.replaces_sources(merged):
        for source in sources:
            maintenance.tracker.delete(source)


def in_order(_: Recovery, keys: Sequence[Range]) -> Sequence[Range]:
    """Buckets are recovered in the order of their keys."""
    return keys


def read_all(recovery: Recovery) -> dict[Piece, tuple[int, Segment]]:
    """What was read is gone through in the order of a hash map."""
    read = Recovery.read_all(recovery)
    return {piece: read[piece] for piece in hash_order([*read], hash_of, 1 << max(len(read) - 1, 0).bit_length())}


def read_remains(recovery: Recovery, bucket: Bucket) -> tuple[int, Segment]:
    """A recovery counts a position as often as there are segments that have it."""
    outcome, segment = Recovery.read_remains(recovery, bucket)
    bucket.size = sum(len(about.positions) for about in bucket.about[bucket.current - 1 :])
    return outcome, segment


class ClippingRecovery(Recovery):
    """A bucket is placed over whatever lies in its range. Whatever cannot be read has the recovery fail."""

    in_order = in_order
    read_all = read_all
    read_remains = read_remains

    def place_recovered(self, bucket: Bucket) -> list[Piece]:
        low, high = cuts(bucket.ledgers)
        clipped = [p._replace(low=max(p.low, low), high=min(p.high, high)) for p in self.placed.meeting(bucket.ledgers)]
        self.placed.put(bucket)
        return clipped

    def drop(self, pieces: Iterable[Piece]) -> None:
        """Of those that lay in the same place, the last one is deleted."""
        Recovery.drop(self, [*{(p.low, p.high): p for p in pieces}.values()])

    def fails_recovery(self, outcome: int) -> bool:
        return outcome != OK


# ---- 5.0.1


class HeldWithoutTimes(Held):
    """It knows no times: an index from before a refusal is as good as the one accepted later."""

    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        return self.contains(index[1:], over)


class Selection50(Selection):
    """A next time has to be sooner than that of the choice before."""

    best = best


class Maintenance50(Maintenance):
    """Nobody looks what has become of a bucket while its snapshot was written, read or deleted."""

    Selection = Selection50
    victims = victims
    can_commit = yes

    def trim_one(self, victim: Piece, others: list[Piece], chain: Promise) -> None:
        if neglected(victim.bucket):
            chain.settle(False)
        else:
            Maintenance.trim_one(self, victim, others, chain)

    def is_still_victim(self, victim: Bucket) -> bool:
        return bool(victim.created.outcome)

    def trimmed(self, victim: Piece) -> None:
        """The piece is placed no longer. If the bucket was cut meanwhile, what is left of it stays."""
        self.placed.discard(victim.low, victim.high)
        self.tracker.forget_boundaries(victim.bucket)
        self.tracker.held.trimmed(victim.bucket)

    def replaces_sources(self, merged: Bucket) -> bool:
        return bool(merged.created.outcome)

    def merged(self, merged: Bucket, sources: Sequence[Bucket], stored: bool, chain: Promise) -> None:
        if neglected(merged):
            self.end_merge(sources, chain)
        else:
            Maintenance.merged(self, merged, sources, stored, chain)


class Recovery50(Recovery):
    """Of buckets that meet, one that encloses others is placed. What cannot be read has the recovery fail."""

    in_order = in_order
    read_all = read_all
    read_remains = read_remains

    def place_recovered(self, bucket: Bucket) -> list[Piece]:
        met = [p.bucket for p in self.placed.meeting(bucket.ledgers)]
        first, last = bucket.ledgers
        enclosed = [b for b in met if first <= b.ledgers[0] and b.ledgers[1] <= last]
        if enclosed or not met:
            self.placed.put(bucket)
        return [piece_of(b) for b in enclosed]

    def fails_recovery(self, outcome: int) -> bool:
        return outcome in (NOT_PERSISTED, UNREADABLE)


class Tracker50(Tracker):
    """The tracker of 5.0.1."""

    Timer = Timer42
    Snapshots = SnapshotsByKey
    Held = HeldWithoutTimes
    Maintenance = Maintenance50
    Recovery = Recovery50
    take = take
    crosses = no
    keeps_in_memory = no
    boundary = boundary
    wake = wake
    not_stored = not_stored
    ending = not_for_orphans
    load_ended = load_ended
    loaded = loaded
    take_out = take_out
    is_given_up = no
    has_closed = has_closed

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.deletions: list[Promise] = []
        """Deletions under way."""

    def worth_storing(self, indexes: Sequence[Index]) -> Sequence[Index]:
        return indexes

    def delete(self, bucket: Bucket) -> Promise:
        return self.under_way(Tracker.delete(self, bucket))

    def under_way(self, deleted: Promise) -> Promise:
        """Have the next clear wait for a deletion."""
        self.deletions = [each for each in [*self.deletions, deleted] if not each.settled]
        return deleted

    def clear(self) -> None:
        before, self.maintenance.chain = self.maintenance.chain, Promise()
        (before or settled(True)).then(partial(self.clear_after_calls, self.maintenance.chain))

    def clear_after_calls(self, chain: Promise, _: bool) -> None:
        """Wait for the load and the deletions under way, even those that wait for a creation, then clear."""
        under_way = [*self.deletions, *([self.load] if self.load else [])]
        all_of([each for each in under_way if not each.settled]).then(partial(self.clear_now, chain))

    def clear_now(self, chain: Promise, _: object) -> None:
        """Take everything out, except what is in memory if a bucket of the past has neither snapshot nor key.

        If there is such a bucket, it and those behind it are forgotten.
        """
        n = len(self.placed.pieces)
        buckets = [p.bucket for p in hash_order(self.placed.pieces, hash_of, 1 << (-(-4 * n // 3) - 1).bit_length())]
        self.placed.pieces = []
        deleted = [self.under_way(self.delete_when_created(bucket)) for bucket in buckets]
        retired, self.retired = self.retired, []
        for bucket in retired:
            if number_of(self.snapshots, bucket) is None:
                chain.settle(False)
                return
            deleted.append(self.delete(bucket))
        self.empty_memory()
        all_of(deleted).then(chain.settle)


class Bucket50(BucketDelivery):
    """The released class of 5.0.1."""

    PROFILE = "bucket-5.0"
    BREAKS: ClassVar[tuple[str, ...]] = BROKEN
    Tracker = Tracker50


# ---- 4.2.4


class Held42(HeldByBuckets):
    """What it refuses stays held."""

    def refused(self, position: Position, over: Bucket | None) -> None:
        pass


class Selection42(Selection):
    """Of five buckets or more some are merged, and the time compared is that of the segment behind the next."""

    best = best

    def widest(self, n: int) -> int:
        return MOST_MERGED if n > MOST_MERGED else 0

    def choose(self, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
        try:
            return super().choose(buckets)
        except IndexError:
            return []

    def next_time(self, bucket: Bucket) -> int:
        return bucket.about[bucket.current + 1].first_time


class Maintenance42(Maintenance):
    """A trim waits for nothing, and takes out whatever lies there; a merge leaves out what is loaded."""

    Selection = Selection42
    victims = victims
    can_commit = yes
    to_merge = to_merge
    read_sources = read_sources
    commit = commit
    merged = merged_at_once
    replaces_sources = yes
    is_still_victim = yes

    def stored(self, victim: Bucket) -> Promise:
        return settled(True)

    def trimmed(self, victim: Piece) -> None:
        """Whatever lies in the same place by then is taken out. A bucket in two pieces is counted down for each."""
        self.placed.cut_out(victim.low, victim.high)
        self.tracker.forget_boundaries(victim.bucket)
        self.tracker.held.trimmed(victim.bucket)


class Tracker42(Tracker):
    """The tracker of 4.2.4, which has no index of its own."""

    Timer = Timer42
    Snapshots = SnapshotsByKey
    Held = Held42
    Maintenance = Maintenance42
    Recovery = ClippingRecovery
    take = take
    crosses = no
    keeps_in_memory = no
    boundary = boundary
    wake = wake
    not_stored = not_stored
    ending = not_for_orphans
    load_ended = load_ended
    loaded = loaded
    take_out = take_out
    is_given_up = no
    delete = delete
    has_closed = has_closed

    def update_timer(self) -> None:
        """Below zero, the count has a timer cancelled that is armed for a message, and no other."""
        if self.held.count() >= 0:
            Tracker.update_timer(self)
        elif self.timer.target is not None and self.timer.timeout is not None:
            self.timer.disarm()

    def clear(self) -> None:
        before, self.maintenance.chain = self.maintenance.chain, Promise()
        (before or settled(True)).then(partial(clear_now, self, self.maintenance.chain))


class Bucket42(BucketDelivery):
    """The released class of 4.2.4."""

    PROFILE = "bucket-4.2"
    BREAKS: ClassVar[tuple[str, ...]] = BROKEN
    Tracker = Tracker42


# ---- 4.0.8


class Timer2025(timer.BegunAtZero, Timer):
    """It takes a message of this very moment for one to come, and forgets a timeout only if nothing is held."""

    def passed(self, wake: int) -> bool:
        return wake < self.now

    def forget(self, wake: int | None) -> None:
        if wake is None:
            super().forget(wake)


class Mutable2025(Mutable):
    """A ledger inside its range that no bucket has is an error; one below it is kept in memory."""

    def takes(self, ledger: int, covered: bool) -> bool:
        if covered or self.ledgers is None or ledger >= self.ledgers[1]:
            return not covered
        if ledger >= self.ledgers[0]:
            raise Fault("IllegalArgumentException")
        return False


class Selection2025(Selection):
    """It passes over what is being merged. Too few buckets, or one that has one segment left, is an error."""

    best = best

    def widest(self, n: int) -> int:
        if n <= MOST_MERGED:
            raise Fault("IllegalArgumentException")
        return MOST_MERGED

    def is_eligible(self, bucket: Bucket) -> bool:
        return bucket.unloaded > 0 and not bucket.merging

    def next_time(self, bucket: Bucket) -> int:
        if bucket.unloaded < 2:
            raise Fault("ArrayIndexOutOfBoundsException" if bucket.was_recovered else "IndexOutOfBoundsException")
        return bucket.about[bucket.current + 1].first_time


class Maintenance2025(Maintenance):
    """It trims nothing, and merges one set of buckets beside another."""

    Selection = Selection2025
    busy = no
    can_commit = yes
    to_merge = to_merge
    read_sources = read_sources
    commit = commit
    merged = merged_at_once
    replaces_sources = yes

    def after_seal(self) -> None:
        if self.too_many() and not self.busy():
            self.chain = Promise()
            self.merge(self.chain)


class Tracker2025(Tracker):
    """The tracker of 4.0.8, which knows no orphans."""

    Timer = Timer2025
    Held = HeldByBuckets
    Mutable = Mutable2025
    Snapshots = SnapshotsByKey
    Maintenance = Maintenance2025
    Recovery = ClippingRecovery
    take = take
    crosses = no
    keeps_in_memory = no
    boundary = boundary
    wake = wake
    not_stored = not_stored
    load_ended = load_ended
    loaded = loaded
    take_out = take_out
    is_given_up = no
    delete = delete
    has_closed = has_closed
    is_orphan = no

    def refuses(self, position: Position, at: int) -> bool:
        held = self.held.contains(position, self.placed.over(position[0]))
        return not held and Tracker.refuses(self, position, at)

    def next_time(self) -> int:
        if not (self.shared or self.mutable.queue):
            raise Fault("IllegalArgumentException")
        return Tracker.next_time(self)

    def update_timer(self) -> None:
        self.timer.update(self.next_time() if self.held.count() else None, self.tick.tick)

    def clear(self) -> None:
        for bucket in self.placed.buckets():
            bucket.held = set()
        clear_now(self, Promise())


class Bucket2025(BucketDelivery):
    """The released class of 4.0.8: it neither trims nor knows orphans."""

    PROFILE = "bucket-2025"
    BREAKS: ClassVar[tuple[str, ...]] = BROKEN
    MOOT: ClassVar[tuple[str, ...]] = ("BD-30",)
    Tracker = Tracker2025


PROFILES = {m.PROFILE: m for m in (BucketDelivery, Bucket50, Bucket42, Bucket2025)}
"""Every profile of the contract; the first is the default."""
