"""The broker's releases: each replaces the clauses of the specification in which it differs, and nothing else.

A release is a table: by the path of a clause, of a flow or of a part, what the release has in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, cast

from broker_tck.model.bucket_delivery.loading import Loading
from broker_tck.model.bucket_delivery.maintenance import Maintenance, Recovery
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
from broker_tck.model.bucket_delivery.sealing import Sealing
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import (
    NOT_PERSISTED,
    OK,
    UNREADABLE,
    Bucket,
    Index,
    Position,
    Promise,
    Segment,
    Snapshots,
    all_of,
    settled,
    started,
)
from broker_tck.model.bucket_delivery.tracker import LAST, Tracker
from broker_tck.model.java_collections import hash_order
from broker_tck.model.parts.timer import ReleasedTimer
from broker_tck.model.reference import Fault
from broker_tck.model.rules import replaced

LAST_ENTRY = 2**32 - 1
"""The entry id that bitmaps have, but never find: they are asked for a range, which ends at 2^32 then."""
BROKEN: tuple[str, ...] = ("BD-02", "BD-19", "BD-44", "BD-49", "BD-51")
"""The rules that every release breaks in more than its clauses."""


def tracker_with(clauses: dict[str, Any], base: type[Tracker] = Tracker) -> type[Tracker]:
    """A tracker that has its own methods or parts in some places."""
    return cast("type[Tracker]", replaced(base, clauses, f"{base.__name__} of a release"))


def hash_of(piece: Piece) -> int:
    """The hash of a range, as the broker's library has it."""
    (first, behind_first), (last, behind_last) = piece.low, piece.high
    low, high = folded(first), folded(last)
    return 31 * (~low if behind_first else low) + (~high if behind_last else high)


def folded(number: int) -> int:
    """The hash of a number of 64 bits."""
    return (number ^ number >> 32) % 2**32


def yes(*_: object) -> bool:
    """Always."""
    return True


def no(*_: object) -> bool:
    """Never."""
    return False


def neglected(bucket: Bucket) -> bool:
    """Whether a bucket could not be stored after the close. A caller that waits for it gets an error."""
    return bucket.created.settled and not bucket.created.outcome and bucket.unloaded > 0


def forget_boundaries(loading: Loading, bucket: Bucket) -> None:
    """The bucket has no boundary: nothing of it is loaded any more."""
    loading.tails = {boundary: there for boundary, there in loading.tails.items() if there is not bucket}


# ---- What every release has in place of a clause


def take(sealing: Sealing, index: Index, covered: bool) -> None:
    """After a seal, the tracker does not check whether a bucket that was merged then lies over the ledger."""
    if sealing.tracker.mutable.seals(index[1], covered) or (not covered and sealing.crosses(index[1])):
        sealing.seal()
    sealing.keep(index, covered)


def not_stored(sealing: Sealing, bucket: Bucket, segments: Sequence[Segment]) -> None:
    """The indexes that are not loaded go into memory. A closed tracker has none, and nothing changes."""
    if sealing.tracker.snapshots.closed and len(segments) > 1:
        return
    bucket.current = bucket.last
    for segment in segments[1:]:
        sealing.tracker.share(segment)
    sealing.tracker.loading.take_out(bucket)
    sealing.tracker.loading.tails.pop(boundary(sealing.tracker.loading, segments[0][-1]), None)


def boundary(_: Loading, index: Index) -> Position:
    """The end of a segment is known by its position."""
    return index[1:]


def begin_deletion(snapshots: Snapshots, bucket: Bucket) -> Promise:
    """A bucket without a snapshot is deleted by what its key leads to, which is the bucket's number from then on."""
    if bucket.id is None:
        bucket.id = snapshots.durable.keys.get(bucket.ledgers)
    return settled(False) if bucket.id is None else started(snapshots.delete_snapshot(bucket, bucket.id))


def best(selection: Selection, runs: Sequence[Sequence[Bucket]]) -> Sequence[Bucket]:
    """The fewest messages decide, then a next time sooner than the previous choice's; never a run of the last time."""
    chosen: Sequence[Bucket] = []
    fewest, soonest = None, LAST
    for run in runs:
        if fewest is None or messages(run) <= fewest:
            fewest, next_time = messages(run), min(map(selection.next_time, run))
            if next_time < soonest:
                soonest, chosen = next_time, run
    return chosen


def read_all(recovery: Recovery) -> dict[Piece, tuple[int, Segment]]:
    """What was read is gone through in the order of a hash map."""
    read = Recovery.read_all(recovery)
    return {piece: read[piece] for piece in hash_order([*read], hash_of, 1 << max(len(read) - 1, 0).bit_length())}


def read_remains(recovery: Recovery, bucket: Bucket) -> tuple[int, Segment]:
    """A recovery counts a position as often as there are segments that have it."""
    outcome, segment = Recovery.read_remains(recovery, bucket)
    bucket.size = sum(len(about.positions) for about in bucket.about[bucket.current - 1 :])
    return outcome, segment


EVERY_RELEASE: dict[str, Any] = {
    "timer.target": ReleasedTimer.target,
    "timer.earliest_at_first": ReleasedTimer.earliest_at_first,
    "timer.remembered": ReleasedTimer.remembered,
    "timer.also_allowed": ReleasedTimer.also_allowed,
    "timer.UPDATED_UNASKED": ReleasedTimer.UPDATED_UNASKED,
    "wake": lambda t: None,
    "has_closed": lambda t: all(bucket.created.settled for bucket in t.left),
    "sealing.take": take,
    "sealing.crosses": no,
    "sealing.keeps_in_memory": no,
    "sealing.not_stored": not_stored,
    "loading.boundary": boundary,
    "loading.load_ended": lambda loading, load: loading.tracker.timer.fire_at_once(),
    "loading.has_effect": yes,
    "loading.take_out": lambda loading, bucket: loading.placed.discard(*cuts(bucket.ledgers)),
    "loading.is_given_up": no,
    "snapshots.begin_deletion": begin_deletion,
    "snapshots.delete": lambda s, bucket: s.begin_deletion(bucket),
    "snapshots.has_key": yes,
    "maintenance.can_commit": yes,
    "maintenance.selection.best": best,
    "recovery.in_order": lambda r, keys: keys,
    "recovery.read_all": read_all,
    "recovery.read_remains": read_remains,
}


# ---- What 4.0.8 and 4.2.4 have in place of a clause


class HeldByBuckets(Held):
    """A number of its own, and the positions of each bucket that is placed: nothing keeps them together.

    ``positions`` are those that no sealed bucket has.
    """

    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        return True

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

    def came_out(self, position: Position, over: Bucket | None, orphan: bool) -> None:
        """Whatever is handed out is counted down, held or not."""
        held = self.contains(position, over)
        if held or not orphan:
            self.number -= 1
        if held and position in self.positions:
            self.positions.discard(position)
        elif held and over is not None:
            over.held.discard(position)
            over.size = max(over.size - 1, 0)

    def of_bucket(self, segments: Sequence[Segment], sources: Sequence[Bucket]) -> set[Position]:
        """A merged bucket has the positions of its sources, though its snapshot lacks what was loaded."""
        if sources:
            return {position for source in sources for position in source.held}
        positions = super().of_bucket(segments, sources)
        self.positions -= positions
        return positions

    def recovered(self, buckets: list[Bucket]) -> None:
        self.number = sum(bucket.size for bucket in buckets)

    def trimmed(self, bucket: Bucket) -> None:
        self.number -= bucket.size


async def clear_now(tracker: Tracker) -> None:
    """Take everything out, and wait for the deletions."""
    buckets = tracker.placed.buckets()
    tracker.placed.pieces = []
    deleted = [started(tracker.delete_when_created(bucket)) for bucket in buckets]
    tracker.empty_memory()
    await all_of(deleted)


async def read_sources(maintenance: Maintenance, sources: Sequence[Bucket]) -> list[list[Segment]] | None:
    """A merge is given up if all of a source is loaded."""
    await all_of([source.created for source in sources])
    return await Maintenance.read_sources(maintenance, sources) if all(s.unloaded > 0 for s in sources) else None


async def commit(maintenance: Maintenance, sources: Sequence[Bucket], read: list[list[Segment]]) -> None:
    """A merge ends when the merged bucket is placed."""
    started(Maintenance.commit(maintenance, sources, read))


def place_recovered(recovery: Recovery, bucket: Bucket) -> list[Piece]:
    """A bucket is placed over all that lies in its range; the buckets that it cuts are dropped."""
    low, high = cuts(bucket.ledgers)
    meeting = recovery.placed.meeting(bucket.ledgers)
    recovery.placed.put(bucket)
    return [p._replace(low=max(p.low, low), high=min(p.high, high)) for p in meeting]


def drop(recovery: Recovery, pieces: Iterable[Piece]) -> None:
    """Of those that lay in the same place, the last one is deleted."""
    Recovery.drop(recovery, [*{(p.low, p.high): p for p in pieces}.values()])


BEFORE_5 = EVERY_RELEASE | {
    "Held": HeldByBuckets,
    "delete": lambda t, bucket: t.snapshots.delete(bucket),
    "maintenance.to_merge": lambda m, source: (source.current + 1, source.last),
    "maintenance.read_sources": read_sources,
    "maintenance.commit": commit,
    "maintenance.replaces_sources": lambda m, merged: not neglected(merged),
    "recovery.place_recovered": place_recovered,
    "recovery.drop": drop,
    "recovery.fails_recovery": lambda r, outcome: outcome != OK,
}


# ---- 5.0.1


async def trim_50(maintenance: Maintenance, victim: Piece) -> bool:
    """A bucket that could not be stored after the close ends the chain."""
    await victim.bucket.created
    return not neglected(victim.bucket) and await Maintenance.trim(maintenance, victim)


def keep_50(maintenance: Maintenance, merged: Bucket, sources: Sequence[Bucket]) -> None:
    """The sources of a bucket that could not be stored after the close are forgotten."""
    if not neglected(merged):
        Maintenance.keep(maintenance, merged, sources)


def trimmed_50(maintenance: Maintenance, victim: Piece) -> None:
    """The piece is placed no longer. If the bucket was cut meanwhile, what is left of it stays."""
    maintenance.placed.discard(victim.low, victim.high)
    forget_boundaries(maintenance.tracker.loading, victim.bucket)
    maintenance.tracker.held.trimmed(victim.bucket)


def place_recovered_50(recovery: Recovery, bucket: Bucket) -> list[Piece]:
    """Of buckets that meet, one that encloses others is placed."""
    met = [p.bucket for p in recovery.placed.meeting(bucket.ledgers)]
    first, last = bucket.ledgers
    enclosed = [b for b in met if first <= b.ledgers[0] and b.ledgers[1] <= last]
    if enclosed or not met:
        recovery.placed.put(bucket)
    return [piece_of(b) for b in enclosed]


class TrackerOf50(Tracker):
    """A clear waits for the deletions under way."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.deletions: list[Promise] = []
        """Deletions under way."""

    def delete(self, bucket: Bucket) -> Promise:
        return self.under_way(Tracker.delete(self, bucket))

    def under_way(self, deleted: Promise) -> Promise:
        """Have the next clear wait for a deletion."""
        self.deletions = [each for each in [*self.deletions, deleted] if not each.settled]
        return deleted

    def clear(self) -> None:
        before = self.maintenance.chain or settled(True)
        self.maintenance.chain = started(self.clear_after(before))

    async def clear_after(self, chain: Promise) -> None:
        """Wait for the chain, the load and the deletions under way, even those that wait for a creation; then clear.

        If a bucket of the past has neither snapshot nor key, it and those behind it are forgotten, and what is in
        memory stays.
        """
        await chain
        under_way = [*self.deletions, *([self.loading.load] if self.loading.load else [])]
        await all_of([each for each in under_way if not each.settled])
        n = len(self.placed.pieces)
        buckets = [p.bucket for p in hash_order(self.placed.pieces, hash_of, 1 << (-(-4 * n // 3) - 1).bit_length())]
        self.placed.pieces = []
        deleted = [self.under_way(started(self.delete_when_created(bucket))) for bucket in buckets]
        retired, self.retired = self.retired, []
        for bucket in retired:
            if bucket.id is None and bucket.ledgers not in self.durable.keys:
                return
            deleted.append(self.delete(bucket))
        self.empty_memory()
        await all_of(deleted)


class Bucket50(BucketDelivery):
    """The released class of 5.0.1."""

    PROFILE = "bucket-5.0"
    BREAKS: ClassVar[tuple[str, ...]] = BROKEN
    Tracker = tracker_with(
        EVERY_RELEASE
        | {
            "held.hands_out": lambda h, index, over: h.contains(index[1:], over),
            "sealing.worth_storing": lambda s, indexes: indexes,
            "loading.ending": lambda loading, index, orphan: None if orphan else Loading.ending(loading, index, orphan),
            "maintenance.victims": lambda m: hash_order(Maintenance.victims(m), hash_of, 16),
            "maintenance.trim": trim_50,
            "maintenance.is_still_victim": lambda m, bucket: bool(bucket.created.outcome),
            "maintenance.trimmed": trimmed_50,
            "maintenance.replaces_sources": lambda m, bucket: bool(bucket.created.outcome),
            "maintenance.keep": keep_50,
            "recovery.place_recovered": place_recovered_50,
            "recovery.fails_recovery": lambda r, outcome: outcome in (NOT_PERSISTED, UNREADABLE),
        },
        TrackerOf50,
    )


# ---- 4.2.4


def clear_42(tracker: Tracker) -> None:
    """A clear waits until the trim or merge under way has ended."""
    before = tracker.maintenance.chain or settled(True)

    async def clear_after() -> None:
        await before
        await clear_now(tracker)

    tracker.maintenance.chain = started(clear_after())


def update_timer_42(tracker: Tracker) -> None:
    """Below zero, the count has a timer cancelled that is armed for a message, and no other."""
    if tracker.held.count() >= 0:
        Tracker.update_timer(tracker)
    elif tracker.timer.target is not None and tracker.timer.timeout is not None:
        tracker.timer.disarm()


def trimmed_42(maintenance: Maintenance, victim: Piece) -> None:
    """The bucket that lies in the same place by then is taken out. A bucket in two pieces is counted down for each."""
    maintenance.placed.cut_out(victim.low, victim.high)
    forget_boundaries(maintenance.tracker.loading, victim.bucket)
    maintenance.tracker.held.trimmed(victim.bucket)


def choose_42(selection: Selection, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
    """Nothing is merged if some bucket has one segment left."""
    try:
        return Selection.choose(selection, buckets)
    except IndexError:
        return []


class Bucket42(BucketDelivery):
    """The released class of 4.2.4."""

    PROFILE = "bucket-4.2"
    BREAKS: ClassVar[tuple[str, ...]] = BROKEN
    Tracker = tracker_with(
        BEFORE_5
        | {
            "Held": replaced(HeldByBuckets, {"refused": lambda h, position, over: None}, "HeldOf42"),
            "clear": clear_42,
            "update_timer": update_timer_42,
            "loading.ending": lambda loading, index, orphan: None if orphan else Loading.ending(loading, index, orphan),
            "maintenance.victims": lambda m: hash_order(Maintenance.victims(m), hash_of, 16),
            "maintenance.stored": lambda m, victim: settled(True),
            "maintenance.is_still_victim": yes,
            "maintenance.trimmed": trimmed_42,
            "maintenance.selection.widest": lambda s, n: MOST_MERGED if n > MOST_MERGED else 0,
            "maintenance.selection.choose": choose_42,
            "maintenance.selection.next_time": lambda s, bucket: bucket.about[bucket.current + 1].first_time,
        }
    )


# ---- 4.0.8


def clear_2025(tracker: Tracker) -> None:
    """A clear waits for nothing, and the buckets hold nothing from then on."""
    for bucket in tracker.placed.buckets():
        bucket.held = set()
    started(clear_now(tracker))


def refuses_2025(tracker: Tracker, position: Position, at: int) -> bool:
    """What is held is never refused."""
    held = tracker.held.contains(position, tracker.placed.over(position[0]))
    return not held and Tracker.refuses(tracker, position, at)


def next_time_2025(tracker: Tracker) -> int:
    """Without a message in memory it is an error to ask for the next time."""
    if not (tracker.shared or tracker.mutable.queue):
        raise Fault("IllegalArgumentException")
    return Tracker.next_time(tracker)


def update_timer_2025(tracker: Tracker) -> None:
    """A count below zero is taken for messages."""
    tracker.timer.update(tracker.next_time() if tracker.held.count() else None, tracker.tick.tick)


def takes_2025(mutable: Mutable, ledger: int, covered: bool) -> bool:
    """A ledger inside its range that no bucket has is an error; one below it is kept in memory."""
    if covered or mutable.ledgers is None or ledger >= mutable.ledgers[1]:
        return not covered
    if ledger >= mutable.ledgers[0]:
        raise Fault("IllegalArgumentException")
    return False


def after_seal_2025(maintenance: Maintenance) -> None:
    """Nothing is trimmed, and one set of buckets is merged beside another."""
    if maintenance.too_many() and not maintenance.busy():
        maintenance.chain = started(maintenance.merge())


def widest_2025(_: Selection, n: int) -> int:
    """It is an error to choose of too few buckets."""
    if n <= MOST_MERGED:
        raise Fault("IllegalArgumentException")
    return MOST_MERGED


def next_time_of_2025(_: Selection, bucket: Bucket) -> int:
    """The time compared is that of the segment behind the next, without which it is an error."""
    if bucket.unloaded < 2:
        raise Fault("ArrayIndexOutOfBoundsException" if bucket.was_recovered else "IndexOutOfBoundsException")
    return bucket.about[bucket.current + 1].first_time


class Bucket2025(BucketDelivery):
    """The released class of 4.0.8: it does not trim, and does not know orphans."""

    PROFILE = "bucket-2025"
    BREAKS: ClassVar[tuple[str, ...]] = BROKEN
    NOT_APPLICABLE: ClassVar[tuple[str, ...]] = ("BD-30",)
    Tracker = tracker_with(
        BEFORE_5
        | {
            "clear": clear_2025,
            "refuses": refuses_2025,
            "is_orphan": no,
            "next_time": next_time_2025,
            "update_timer": update_timer_2025,
            "timer.passed": lambda t, wake: wake < t.reading(),
            "timer.forget": lambda t, wake: Timer.forget(t, wake) if wake is None else None,
            "mutable.takes": takes_2025,
            "maintenance.busy": no,
            "maintenance.after_seal": after_seal_2025,
            "maintenance.selection.widest": widest_2025,
            "maintenance.selection.is_eligible": lambda s, bucket: bucket.unloaded > 0 and not bucket.merging,
            "maintenance.selection.next_time": next_time_of_2025,
        }
    )


PROFILES = {m.PROFILE: m for m in (BucketDelivery, Bucket50, Bucket42, Bucket2025)}
"""Every profile of the contract; the first is the default."""
