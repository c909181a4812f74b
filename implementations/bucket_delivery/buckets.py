"""Sealed buckets, and which of them lies over a ledger."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from broker_tck.implementations.bucket_delivery.inventory import Inventory
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.promises import Promise
from broker_tck.implementations.interface import BUCKET_PROPERTY_PREFIX, DelayedIndex


@dataclass(eq=False, slots=True)
class SealedBucket:
    """A range of ledgers whose indexes are cut into segments and stored in a snapshot.

    Of its segments one was loaded last; those behind it are in the storage alone.
    """

    first_ledger: int
    last_ledger: int
    number: int | None = None
    """The number of its snapshot; None: it has none."""
    created: Promise[bool] = field(default_factory=Promise)
    """Whether the snapshot is stored; kept once its key was put, or could not be."""
    deletion: Promise[bool] | None = None
    """The deletion of snapshot and key that began last; whether both went well."""
    keyed: bool = False
    """Whether its key was put."""
    given_up: bool = False
    """Whether it was cleared, so that no key is put for it."""
    placed: bool = False
    """Whether it lies over its ledgers."""
    merging: bool = False
    boundary: DelayedIndex | None = None
    """The last index that was loaded; the next segment must be loaded before this leaves the queue."""
    first_times: array[int] = field(init=False)
    """Of each segment, in milliseconds."""
    current: int = field(init=False)
    """The segment that was loaded last, counted from 1."""
    first_current: int = field(init=False)
    """The segment that was loaded first."""
    size: int = field(init=False)
    """Number of messages that it had when it was made; a merge chooses by it."""
    inventory: Inventory = field(init=False)

    def describe(self, first_times: array[int], current: int, size: int, inventory: Inventory) -> None:
        """Say what it has, from the segment on that is loaded now."""
        self.first_times = first_times
        self.current = self.first_current = current
        self.size = size
        self.inventory = inventory

    @property
    def last(self) -> int:
        """The number of its last segment."""
        return len(self.first_times)

    @property
    def key(self) -> str:
        """The key of its property."""
        return f"{BUCKET_PROPERTY_PREFIX}_{self.first_ledger}_{self.last_ledger}"

    @property
    def next_time(self) -> int:
        """The first time of the next segment, of which there must be one; milliseconds."""
        return self.first_times[self.current]

    def go_on(self, segment: Packed) -> None:
        """The next segment was loaded."""
        self.current += 1
        self.inventory.loaded(self.current - self.first_current, segment)


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

    def meets(self, first: int, last: int) -> bool:
        """Whether a bucket lies over any ledger of a range, both ends included."""
        at = bisect_right(self._firsts, last) - 1
        return at >= 0 and self._buckets[at].last_ledger >= first

    def over(self, ledger: int) -> bool:
        """Whether a bucket lies over a ledger, even one of which it has no message (BD-03)."""
        return self.meets(ledger, ledger)

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
