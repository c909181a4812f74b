"""The growing bucket: messages of ascending ledgers that no snapshot has yet."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.strays import Strays

NO_LEDGER = -1
"""In place of a ledger id, none of which is negative."""


class GrowingBucket:
    """Packed indexes, and the range of ledgers over which the bucket has grown."""

    __slots__ = ("first_ledger", "indexes", "joined", "last_ledger")

    def __init__(self) -> None:
        self.indexes = Strays()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.first_ledger = self.last_ledger = NO_LEDGER
        self.joined = NO_LEDGER
        """The ledger whose messages join without a look at the sealed buckets: none lies over it."""

    def __len__(self) -> int:
        return len(self.indexes)

    @property
    def ledgers(self) -> tuple[int, int] | None:
        """The first and the last ledger; None where the next message decides where the range begins."""
        return None if self.first_ledger == NO_LEDGER else (self.first_ledger, self.last_ledger)

    def join(self, ledger: int) -> None:
        """Let the messages of a ledger join, which is not below the last one."""
        if self.first_ledger == NO_LEDGER:
            self.first_ledger = ledger
        self.last_ledger = self.joined = ledger

    def doubt(self) -> None:
        """Have the next message look at the sealed buckets: another one was placed."""
        self.joined = NO_LEDGER

    def take_due(self, cutoff: int) -> Packed:
        """Take out what is due by a time in milliseconds. The range stays (BD-09)."""
        return self.indexes.take_until(cutoff)

    def drain(self) -> Packed:
        """Take out everything in ascending order, and begin anew."""
        self._begin_anew()
        return self.indexes.drain()

    def clear(self) -> None:
        """Remove everything, and begin anew."""
        self._begin_anew()
        self.indexes.clear()
