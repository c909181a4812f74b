"""What the tracker released with 4.2.4 does otherwise (profile ``bucket-4.2``): it has no index of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Position, Segment
from broker_tck.model.bucket_delivery.durable import OK
from broker_tck.model.bucket_delivery.promise import Promise, all_of, settled
from broker_tck.model.bucket_delivery.ranges import Piece, cuts
from broker_tck.model.bucket_delivery.released_50 import HeldWithoutTimes, Selection50, Tracker50
from broker_tck.model.bucket_delivery.selection import MOST_MERGED
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.tracker import Tracker

LAST_ENTRY = 2**32 - 1
"""The entry id that its bitmaps have, but never find: they are asked for a range, which ends at 2^32 then."""


class HeldByBuckets(HeldWithoutTimes):
    """A number of its own, and the positions of each bucket that is placed: nothing keeps them together.

    ``positions`` are those that no sealed bucket has.
    """

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

    def refused(self, position: Position, over: Bucket | None) -> None:
        pass

    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        return True

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


class SelectionBefore26242(Selection50):
    """Of five buckets or more some are merged, and the time compared is that of the segment behind the next."""

    def widest(self, n: int) -> int:
        return MOST_MERGED if n > MOST_MERGED else 0

    def choose(self, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
        try:
            return super().choose(buckets)
        except IndexError:
            return []

    def next_time(self, bucket: Bucket) -> int:
        return bucket.about[bucket.current + 1].first_time


class Tracker42(Tracker50):
    """As released with 4.2.4."""

    Held = HeldByBuckets
    Selection = SelectionBefore26242
    worth_storing = Tracker.worth_storing  # it keeps everything where nothing that was refused is known

    def delete(self, bucket: Bucket) -> Promise:
        return self.snapshots.delete(bucket)

    def update_timer(self) -> None:
        """Below zero, the count has a timer cancelled that is armed for a message, and no other."""
        if self.held.count() >= 0:
            super().update_timer()
        elif self.timer.timeout is not None:
            self.timer.disarm()

    # ---- Maintenance

    def stored(self, victim: Bucket) -> Promise:
        return settled(True)

    def trim_one(self, victim: Piece, others: list[Piece], chain: Promise) -> None:
        Tracker.trim_one(self, victim, others, chain)

    def is_still_victim(self, victim: Bucket) -> bool:
        return True

    def trimmed(self, victim: Piece) -> None:
        """Whatever lies in the same place by then is taken out. A bucket in two pieces is counted down for each."""
        self.placed.cut_out(victim.low, victim.high)
        self.tails = {position: there for position, there in self.tails.items() if there is not victim.bucket}
        self.held.trimmed(victim.bucket)

    def to_merge(self, source: Bucket) -> tuple[int, int]:
        return source.current + 1, source.last

    def read_sources(self, sources: Sequence[Bucket], stored: list[bool], chain: Promise) -> None:
        if any(source.unloaded == 0 for source in sources):
            self.give_up(sources, chain)
        else:
            super().read_sources(sources, stored, chain)

    def merged(self, merged: Bucket, sources: Sequence[Bucket], stored: bool, chain: Promise) -> None:
        if merged not in self.neglected and self.replaces_sources(merged):
            for source in sources:
                self.delete(source)

    def replaces_sources(self, merged: Bucket) -> bool:
        return True

    def commit(self, sources: Sequence[Bucket], answers: list[tuple[int, list[Segment]]], chain: Promise) -> None:
        super().commit(sources, answers, chain)
        self.end_merge(sources, chain)

    # ---- Clear

    def clear(self) -> None:
        before, chain = self.chain, Promise()
        self.chain = chain
        if before is None:
            self.clear_now(chain, None)
        else:
            before.then(lambda _: self.clear_now(chain, None))

    def clear_now(self, chain: Promise, _: object) -> None:
        buckets = self.placed.buckets()
        self.placed.pieces = []
        deleted = [self.delete_when_created(bucket) for bucket in buckets]
        self.empty_memory()
        all_of(deleted).then(chain.settle)

    # ---- Recovery

    def place_recovered(self, bucket: Bucket) -> list[Piece]:
        low, high = cuts(bucket.ledgers)
        clipped = [p._replace(low=max(p.low, low), high=min(p.high, high)) for p in self.placed.meeting(bucket.ledgers)]
        self.placed.put(bucket)
        return clipped

    def useless(self, pieces: list[Piece]) -> Iterable[Piece]:
        """Of those that lay in the same place, the last one."""
        return {(p.low, p.high): p for p in pieces}.values()

    def fails_recovery(self, outcome: int) -> bool:
        return outcome != OK


class Bucket42(BucketDelivery):
    """As released with 4.2.4."""

    PROFILE = "bucket-4.2"
    BREAKS: ClassVar[tuple[str, ...]] = ("BD-02", "BD-19", "BD-44")
    Tracker = Tracker42
