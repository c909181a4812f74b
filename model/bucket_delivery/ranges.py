"""Which bucket lies over a ledger: a map from ranges, none of which meets another."""

from __future__ import annotations

from typing import NamedTuple

from broker_tck.model.bucket_delivery.bucket import Bucket, Range
from broker_tck.model.rules import Part, rule

Cut = tuple[int, int]
"""Where a range begins or ends: a ledger, and 0 for just before it, 1 for just behind it."""


class Piece(NamedTuple):
    """Where a bucket lies: from one cut to another."""

    low: Cut
    high: Cut
    bucket: Bucket

    @property
    def ledgers(self) -> Range:
        """Its ends, without a word on whether they belong to it."""
        return self.low[0], self.high[0]

    def meets(self, low: Cut, high: Cut) -> bool:
        """Whether it has something in common with what lies between two cuts."""
        return self.low < high and low < self.high


def cuts(ledgers: Range) -> tuple[Cut, Cut]:
    """Where a range begins and ends: both ends belong to it."""
    return (ledgers[0], 0), (ledgers[1], 1)


def piece_of(bucket: Bucket) -> Piece:
    """A bucket over the whole of its range."""
    return Piece(*cuts(bucket.ledgers), bucket)


class Placed(Part):
    """The buckets that are placed, in ascending order."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    @rule("BD-03", source="BucketDelayedDeliveryTracker")
    def over(self, ledger: int) -> Bucket | None:
        """A sealed bucket lies over all ledgers of its range, also those of which it holds nothing."""
        cut = ledger, 0
        for p in self.pieces:
            if p.low <= cut < p.high:
                return p.bucket
        return None

    def has(self, bucket: Bucket) -> bool:
        """Whether a bucket is placed, in part at least."""
        return any(p.bucket is bucket for p in self.pieces)

    def buckets(self) -> list[Bucket]:
        """The placed buckets."""
        return [p.bucket for p in self.pieces]

    def meeting(self, ledgers: Range) -> list[Piece]:
        """The pieces that lie in a range, in part at least."""
        low, high = cuts(ledgers)
        return [p for p in self.pieces if p.meets(low, high)]

    def put(self, bucket: Bucket) -> None:
        """Place a bucket over whatever lies in its range."""
        self.cut_out(*cuts(bucket.ledgers))
        self.pieces.append(piece_of(bucket))
        self.pieces.sort(key=lambda p: p.low)

    def cut_out(self, low: Cut, high: Cut) -> None:
        """Take out what lies between two cuts. Of a bucket that reaches beyond them, the rest stays."""
        left: list[Piece] = []
        for p in self.pieces:
            if not p.meets(low, high):
                left.append(p)
                continue
            if p.low < low:
                left.append(p._replace(high=low))
            if high < p.high:
                left.append(p._replace(low=high))
        self.pieces = left

    def remove(self, bucket: Bucket) -> None:
        """Take out a bucket, wherever it lies."""
        self.pieces = [p for p in self.pieces if p.bucket is not bucket]

    def discard(self, low: Cut, high: Cut) -> None:
        """Take out the piece that lies exactly between two cuts, whichever bucket it is of."""
        self.pieces = [p for p in self.pieces if (p.low, p.high) != (low, high)]
