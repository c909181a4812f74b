"""Which buckets are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from broker_tck.model.bucket_delivery.bucket import Bucket
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        two_segments_needed="Your tracker merges only buckets with two segments that are not loaded; one is enough.",
    )
    @rule(
        "BD-27",
        "Up to four neighbours are merged, each of which has a segment that is not loaded: the fewest messages decide, "
        "then the next time, which has to be sooner than that of the choice before.",
        source="BucketDelayedDeliveryTracker, PR 26242",
        look="the time of the next segment, not of the one behind it; one unloaded segment; windows of three and two",
        needs="maintenance",
        when=lambda s, bucket: bucket.unloaded == 0,
        two_segments_needed=lambda s, bucket: bucket.unloaded > 1,
    )
    def is_eligible(self, bucket: Bucket) -> bool:
        """Whether a bucket can be merged."""
        return bucket.unloaded > 0

    @said(
        absent="Your tracker chooses what to merge without the time of the next segment.",
        of_what_is_loaded="Your tracker chooses what to merge by the segments that are loaded; the next ones decide.",
    )
    @also(
        is_eligible,
        absent=lambda s, bucket: 0,
        of_what_is_loaded=lambda s, bucket: bucket.about[bucket.current - 1].first_time,
    )
    def next_time(self, bucket: Bucket) -> int:
        return bucket.about[bucket.current].first_time

    @said(
        two="Your tracker merges two buckets at a time; it has to merge up to four.",
        three="Your tracker merges three buckets at most; it may be four.",
        absent="Your tracker merges nothing; up to four neighbours have to be merged.",
    )
    @also(is_eligible, absent=lambda s, n: 0, two=lambda s, n: min(2, n), three=lambda s, n: min(3, n))
    def widest(self, n: int) -> int:
        """How many are merged at most, of n."""
        return min(MOST_MERGED, n)
