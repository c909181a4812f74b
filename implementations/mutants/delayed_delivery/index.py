"""Mutants whose index of messages keeps, orders, counts or loses them wrongly."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import PAGE_BITS, SHELF_BYTES, TimeBucketIndex
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer
from broker_tck.implementations.mutants.delayed_delivery.parts import around_index
from broker_tck.implementations.mutants.mutant import mutant

HASH = 0b101
"""Ledgers in the order of their ids, exclusive-or this, are in none."""

SIGN = 1 << 31
"""The sign of a number of 32 bits."""


@mutant(
    "DD-20",
    shows="An order that only a hash table has.",
    source="apache/pulsar PR 24035",
    conditions=2,
    inside=around_index,
)
class LedgersInHashOrder(TimeBucketIndex):
    """The ledgers of a bucket are visited in the order of their hashes."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position by the hash of its ledger."""
        return super().add(key, ledger_id ^ HASH, entry_id)

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add positions one by one."""
        return sum(self.add(key, ledger_id, entry) for entry in range(first_entry, last_entry + 1))

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions by the hashes of their ledgers."""
        return [(ledger ^ HASH, entry) for ledger, entry in super().take(last_key, max_copies)]


@mutant(
    "DD-20", shows="Ledgers on two pages, of which the model has none.", conditions=3, deep=True, inside=around_index
)
class BudgetForEachPage(TimeBucketIndex):
    """Where the ledgers of a bucket lie on both sides of a multiple of 2^31, each side is granted the whole budget."""

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions."""
        self._budget, self._bucket = max_copies, NEVER
        return super().take(last_key, max_copies)

    def _take_first(self, count: int) -> list[int]:
        again, self._bucket = self.first == self._bucket, self.first
        return super()._take_first(self._budget if again else count)


@mutant(
    "DD-20",
    shows="A wrong order that shows only where a budget ends inside a ledger.",
    source="apache/pulsar PR 25681 went to 32 bits",
    conditions=3,
    deep=True,
    inside=around_index,
)
class EntryIdsInSignedOrder(TimeBucketIndex):
    """Entry ids of 32 bits are compared as signed numbers: where the budget ends inside a ledger, the wrong ones go."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position in signed order."""
        return super().add(key, ledger_id, entry_id ^ SIGN)

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add positions one by one."""
        return sum(self.add(key, ledger_id, entry) for entry in range(first_entry, last_entry + 1))

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions in signed order."""
        return [(ledger, entry ^ SIGN) for ledger, entry in super().take(last_key, max_copies)]


# ---- What stays, and what it takes


@mutant("DD-01", shows="A real bug: a container that outlives its content.", source="apache/pulsar PR 24460")
class EmptyBucketStays(TimeBucketTracker):
    """A bucket stays when its last message is taken: available, with nothing to hand out."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = _WithEmptyBuckets()

    def _update_timer(self, now: int) -> None:
        if self._count:
            super()._update_timer(now)
        else:
            self._timer.disarm()


class _WithEmptyBuckets(TimeBucketIndex):
    _emptied = NEVER

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        before = self.first = self._heap[0] >> PAGE_BITS if self._heap else NEVER
        taken = super().take(last_key, max_copies)
        if self.first != before:
            self._emptied = min(self._emptied, before)
        self.first = min(self.first, self._emptied)
        return taken

    def clear(self) -> None:
        super().clear()
        self._emptied = NEVER

    def _open(self, shelf: int, number: int) -> None:
        super()._open(shelf, number)
        self.first = min(self.first, self._emptied)


@mutant("DD-01", shows="The same, if more than a thousand buckets are emptied at once.", conditions=2, deep=True)
class EmptyBucketStaysOfAThousand(EmptyBucketStays):
    """Where more than a thousand buckets are emptied at once, the first of them stays."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = _WithEmptyBucketsOfAThousand()


class _WithEmptyBucketsOfAThousand(_WithEmptyBuckets):
    def take(self, last_key: int, max_copies: int) -> list[Position]:
        buckets, emptied = len(self._heap), self._emptied
        taken = super().take(last_key, max_copies)
        if buckets - len(self._heap) <= 1_000:
            self._emptied = emptied
            self.first = min(self._heap[0] >> PAGE_BITS if self._heap else NEVER, emptied)
        return taken


@mutant("DD-35", shows="The last entry of a container of a bitmap, at the end of a budget.", conditions=4, deep=True)
class EndOfAContainerStays(TimeBucketTracker):
    """A budget that ends with the last entry of a container of 65,536 hands it out but keeps it."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        before = self._index.first
        handed_out = super().get_scheduled_messages(max_messages)
        if handed_out and self._index.first == before and handed_out[-1][1] % 65_536 == 65_535:
            self._count += self._index.add(before, *handed_out[-1])
        return handed_out


@mutant(
    "DD-29",
    shows="A running sum that never comes back to 0.",
    source="apache/pulsar PR 25990 keeps a running sum",
    inside=around_index,
)
class MemoryOfEmptyBuckets(TimeBucketIndex):
    """What a bucket takes besides its messages is not given back with the last of them."""

    def _take_first(self, count: int) -> list[int]:
        before = len(self._shelves)
        taken = super()._take_first(count)
        self.memory += SHELF_BYTES * (before - len(self._shelves))
        return taken
