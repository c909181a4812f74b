"""Which sealed bucket lies over a ledger."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from broker_tck.implementations.bucket_delivery.sealed import SealedBucket


class PlacedBuckets:
    """Buckets by ascending ranges of ledgers, none of which meets another; each is found by bisection."""

    __slots__ = ("_buckets", "_firsts")

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._buckets: list[SealedBucket] = []

    def __len__(self) -> int:
        return len(self._buckets)

    def __iter__(self) -> Iterator[SealedBucket]:
        return iter(self._buckets)

    def over(self, ledger: int) -> SealedBucket | None:
        """The bucket over a ledger, be it one of which it holds nothing (BD-03)."""
        at = bisect_right(self._firsts, ledger) - 1
        if at < 0 or self._buckets[at].last_ledger < ledger:
            return None
        return self._buckets[at]

    def meets(self, first: int, last: int) -> bool:
        """Whether a bucket lies over any ledger of a range, both ends included."""
        at = bisect_right(self._firsts, last) - 1
        return at >= 0 and self._buckets[at].last_ledger >= first

    def within(self, first: int, last: int) -> Sequence[SealedBucket]:
        """The buckets that meet a range."""
        start, end = bisect_right(self._firsts, first), bisect_right(self._firsts, last)
        if start and self._buckets[start - 1].last_ledger >= first:
            start -= 1
        return self._buckets[start:end]

    def below(self, ledger: int) -> Sequence[SealedBucket]:
        """The buckets all of whose ledgers are below one."""
        end = bisect_left(self._firsts, ledger)
        if end and self._buckets[end - 1].last_ledger >= ledger:
            end -= 1
        return self._buckets[:end]

    def put(self, bucket: SealedBucket) -> None:
        """Place a bucket. Its range must not meet another."""
        at = bisect_left(self._firsts, bucket.first_ledger)
        self._firsts.insert(at, bucket.first_ledger)
        self._buckets.insert(at, bucket)
        bucket.placed = True

    def remove(self, bucket: SealedBucket) -> None:
        """Take a bucket away, if it is placed."""
        if bucket.placed:
            at = bisect_left(self._firsts, bucket.first_ledger)
            del self._firsts[at], self._buckets[at]
            bucket.placed = False

    def clear(self) -> list[SealedBucket]:
        """Take all buckets away; gives them."""
        taken, self._buckets, self._firsts = self._buckets, [], []
        for bucket in taken:
            bucket.placed = False
        return taken
