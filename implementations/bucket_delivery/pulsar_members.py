"""Which messages the broker's tracker takes for tracked, and how many: counted apart up to 4.2, in one index later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from broker_tck.implementations.bucket_delivery.pulsar_bucket import Bits, ImmutableBucket, MutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_ranges import RangeMap


class Members(Protocol):
    """What is tracked."""

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether a message is."""

    def count(self) -> int:
        """How many are."""

    def accepted(self, ledger: int, entry: int) -> None:
        """A message was added."""

    def refused(self, ledger: int, entry: int) -> None:
        """A message is dispatched now instead."""

    def sealed(self, ledger: int, entry: int) -> None:
        """A message of a growing bucket, or of one that is merged, is put into a new bucket."""

    def popped(self, ledger: int, entry: int) -> bool:
        """A message came to the head of the queue; answers whether it is to be handed out."""

    def orphaned(self, ledger: int, entry: int) -> None:
        """A message came to the head of the queue, but is acknowledged."""

    def recovered(self, buckets: Iterable[ImmutableBucket]) -> None:
        """Buckets were recovered; one that was cut is told for each part."""

    def trimmed(self, bucket: ImmutableBucket) -> None:
        """A bucket was taken out, as all of it is acknowledged."""

    def cleared(self) -> None:
        """All was forgotten."""


class BitsOfBuckets:
    """Each bucket has bits, and the count is a number of its own: nothing keeps these and the queues together."""

    def __init__(self, growing: MutableBucket, placed: RangeMap[ImmutableBucket]) -> None:
        self._growing = growing
        self._placed = placed
        self._count = 0

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether the growing bucket has it, or the one over its ledger."""
        if self._growing.bits.holds(ledger, entry):
            return True
        bucket = self._placed.get(ledger)
        return bucket is not None and bucket.bits.holds(ledger, entry)

    def count(self) -> int:
        """What was added, less what was popped."""
        return self._count

    def accepted(self, ledger: int, entry: int) -> None:
        """It is of the growing bucket, wherever it is queued."""
        self._growing.bits.add(ledger, entry)
        self._count += 1

    def refused(self, ledger: int, entry: int) -> None:
        """It stays."""

    def sealed(self, ledger: int, entry: int) -> None:
        """It leaves the growing bucket."""
        self._growing.bits.discard(ledger, entry)

    def popped(self, ledger: int, entry: int) -> bool:
        """Count it down, member or not."""
        self._forget(ledger, entry)
        self._count -= 1
        return True

    def orphaned(self, ledger: int, entry: int) -> None:
        """Count it down if it is a member."""
        if self._forget(ledger, entry):
            self._count -= 1

    def recovered(self, buckets: Iterable[ImmutableBucket]) -> None:
        """Count what they say that they have."""
        self._count = sum(bucket.messages for bucket in buckets)

    def trimmed(self, bucket: ImmutableBucket) -> None:
        """Count what it has left."""
        self._count -= bucket.messages

    def cleared(self) -> None:
        """Start anew."""
        self._count = 0

    def _forget(self, ledger: int, entry: int) -> bool:
        if self._growing.bits.discard(ledger, entry):
            return True
        bucket = self._placed.get(ledger)
        return bucket is not None and bucket.forget_bit(ledger, entry)


class Index:
    """One set of positions, whatever queue or bucket they are in."""

    def __init__(self) -> None:
        self._bits = Bits()

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether it is in the set."""
        return self._bits.holds(ledger, entry)

    def count(self) -> int:
        """How many are in the set."""
        return len(self._bits)

    def accepted(self, ledger: int, entry: int) -> None:
        """Put it in."""
        self._bits.add(ledger, entry)

    def refused(self, ledger: int, entry: int) -> None:
        """Take it out."""
        self._bits.discard(ledger, entry)

    def sealed(self, ledger: int, entry: int) -> None:
        """It stays."""

    def popped(self, ledger: int, entry: int) -> bool:
        """Take it out; what was not in is stale."""
        return self._bits.discard(ledger, entry)

    def orphaned(self, ledger: int, entry: int) -> None:
        """Take it out."""
        self._bits.discard(ledger, entry)

    def recovered(self, buckets: Iterable[ImmutableBucket]) -> None:
        """Put in what they have left."""
        for bucket in buckets:
            self._bits.add_all(bucket.bits.by_ledger)

    def trimmed(self, bucket: ImmutableBucket) -> None:
        """Take out all that it had."""
        self._bits.discard_all(bucket.bits.by_ledger)

    def cleared(self) -> None:
        """Take out all."""
        self._bits.clear()
