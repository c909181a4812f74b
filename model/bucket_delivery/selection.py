"""Which buckets are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from broker_tck.model.bucket_delivery.bucket import Bucket
from broker_tck.model.rules import Part, rule

MOST_MERGED = 4
"""So many buckets become one at most."""


class Selection(Part):
    """Chooses neighbours to be merged into one."""

    BEFORE_A_CHOICE: ClassVar[int | None] = None
    """The time that the first choice has to be sooner than; None: any time will do."""

    def choose(self, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
        """The buckets to be merged, of all by ascending ranges; empty: there are none."""
        for width in range(self.widest(len(buckets)), 1, -1):
            if chosen := self.best([buckets[i : i + width] for i in range(len(buckets) - width + 1)]):
                return chosen
        return []

    def best(self, windows: Sequence[Sequence[Bucket]]) -> Sequence[Bucket]:
        """The best of some windows of neighbours."""
        chosen: Sequence[Bucket] = []
        least, soonest = None, self.BEFORE_A_CHOICE
        for window in windows:
            if not all(map(self.is_eligible, window)):
                continue
            size = sum(bucket.size for bucket in window)
            if least is not None and size > least:
                continue
            least = size
            next_time = min(map(self.next_time, window))
            if soonest is None or next_time < soonest:
                soonest, chosen = next_time, window
        return chosen

    @rule(
        "BD-27",
        source="BucketDelayedDeliveryTracker, PR 26242",
        needs="maintenance",
        when=lambda s, bucket: bucket.unloaded == 0,
    )
    def is_eligible(self, bucket: Bucket) -> bool:
        """Up to four neighbours are merged, each of which has a segment that is not loaded: the fewest messages decide,
        then the next time, which has to be sooner than that of the choice before.
        """
        return bucket.unloaded > 0

    @rule("BD-27")
    def next_time(self, bucket: Bucket) -> int:
        return bucket.about[bucket.current].first_time

    @rule("BD-27")
    def widest(self, n: int) -> int:
        """How many are merged at most, of n."""
        return min(MOST_MERGED, n)
