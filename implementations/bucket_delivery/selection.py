"""Which neighbours are merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from broker_tck.implementations.bucket_delivery.sealed import SealedBucket

MOST_MERGED = 4
"""Maximum number of buckets that become one."""


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
    """The run of some width with the fewest messages; of equal ones, the one that is due first."""
    runs = (each[start : start + width] for each in stretches for start in range(len(each) - width + 1))
    return min(runs, key=_rank, default=())


def _rank(run: Sequence[SealedBucket]) -> tuple[int, int]:
    """What decides between runs: the number of messages, then when the next segment is due."""
    return sum(bucket.size for bucket in run), min(bucket.next_time for bucket in run)
