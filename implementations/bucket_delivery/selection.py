"""Which neighbours are merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from broker_tck.implementations.bucket_delivery.sealed import SealedBucket

MOST_MERGED = 4
"""So many buckets become one at most."""


def chosen(buckets: Iterable[SealedBucket]) -> Sequence[SealedBucket]:
    """The neighbours to be merged, of buckets by ascending ranges: as many as can be; none, if no two can (BD-27)."""
    stretches = [*_stretches(buckets)]
    for width in range(MOST_MERGED, 1, -1):
        if best := _best(stretches, width):
            return best
    return []


def _stretches(buckets: Iterable[SealedBucket]) -> Iterable[Sequence[SealedBucket]]:
    """Neighbours that can all be merged: each has a segment that is not loaded, and none is being merged."""
    stretch: list[SealedBucket] = []
    for bucket in buckets:
        if bucket.current < bucket.last and not bucket.merging:
            stretch.append(bucket)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _best(stretches: Iterable[Sequence[SealedBucket]], width: int) -> Sequence[SealedBucket]:
    """The best window of some width.

    One that has no more messages than those before it is better if its next segment is sooner than that of the choice
    before; where it is not, those behind it still have to have as few messages.
    """
    best: Sequence[SealedBucket] = []
    fewest: int | None = None
    soonest: int | None = None
    for stretch in stretches:
        for start in range(len(stretch) - width + 1):
            window = stretch[start : start + width]
            size = sum(bucket.size for bucket in window)
            if fewest is not None and size > fewest:
                continue
            fewest = size
            next_time = min(bucket.next_time for bucket in window)
            if soonest is None or next_time < soonest:
                soonest, best = next_time, window
    return best
