"""What the tracker released with 4.0.8 does otherwise (profile ``bucket-2025``): it neither trims nor knows orphans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from broker_tck.model.bucket_delivery.bucket import Bucket, Position
from broker_tck.model.bucket_delivery.index import Held
from broker_tck.model.bucket_delivery.mutable import Mutable
from broker_tck.model.bucket_delivery.promise import Promise
from broker_tck.model.bucket_delivery.released_42 import HeldByBuckets, SelectionBefore26242, Tracker42
from broker_tck.model.bucket_delivery.released_50 import Timer50
from broker_tck.model.bucket_delivery.selection import MOST_MERGED, Selection
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.model.reference import Fault


class Timer2025(Timer50):
    """It takes a message of this very moment for one to come, and forgets a timeout only where nothing is held."""

    def passed(self, wake: int) -> bool:
        return wake < self.now

    def forget(self, wake: int | None) -> None:
        if wake is None:
            super().forget(wake)

    def aim_at_nothing(self) -> None:
        pass


class Held2025(HeldByBuckets):
    """What it refuses is not held: of a position that is held, it accepts each add."""

    refused = Held.refused


class Mutable2025(Mutable):
    """A ledger inside its range that no bucket has is an error; one below it is kept in memory."""

    def takes(self, ledger: int, covered: bool) -> bool:
        if covered or self.ledgers is None or ledger >= self.ledgers[1]:
            return not covered
        if ledger >= self.ledgers[0]:
            raise Fault("IllegalArgumentException")
        return False


class Selection2025(SelectionBefore26242):
    """It passes over what is being merged. Too few buckets, or one that has one segment left, is an error."""

    def widest(self, n: int) -> int:
        if n <= MOST_MERGED:
            raise Fault("IllegalArgumentException")
        return MOST_MERGED

    def choose(self, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
        return Selection.choose(self, buckets)

    def is_eligible(self, bucket: Bucket) -> bool:
        return bucket.unloaded > 0 and not bucket.merging

    def next_time(self, bucket: Bucket) -> int:
        if bucket.unloaded < 2:
            raise Fault("ArrayIndexOutOfBoundsException" if bucket.was_recovered else "IndexOutOfBoundsException")
        return super().next_time(bucket)


class Tracker2025(Tracker42):
    """As released with 4.0.8."""

    Timer = Timer2025
    Held = Held2025
    Mutable = Mutable2025
    Selection = Selection2025
    ending = Tracker.ending  # where there are no orphans, and no trim, these decide nothing
    stored = Tracker.stored
    is_still_victim = Tracker.is_still_victim
    trimmed = Tracker.trimmed

    def after_seal(self) -> None:
        if self.too_many():
            self.merge(Promise())

    def refuses(self, position: Position, at: int) -> bool:
        return not self.held.contains(position, self.placed.over(position[0])) and super().refuses(position, at)

    def next_time(self) -> int:
        if not (self.shared or self.mutable.queue):
            raise Fault("IllegalArgumentException")
        return super().next_time()

    def update_timer(self) -> None:
        self.timer.update(self.next_time() if self.held.count() else None, self.tick.tick)

    def is_orphan(self, ledger: int) -> bool:
        return False

    def clear(self) -> None:
        for bucket in self.placed.buckets():
            bucket.held = set()
        self.clear_now(Promise(), None)


class Bucket2025(BucketDelivery):
    """As released with 4.0.8."""

    PROFILE = "bucket-2025"
    BREAKS: ClassVar[tuple[str, ...]] = ("BD-02", "BD-19", "BD-44")
    MOOT: ClassVar[tuple[str, ...]] = ("BD-30",)
    Tracker = Tracker2025
