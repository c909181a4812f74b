"""When the growing bucket is sealed, and where a message goes."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.placing import Placing


class Sealing:
    """Takes messages into the growing bucket, which is sealed before one of a ledger above it."""

    def __init__(self, memory: Memory, placing: Placing, min_index_count: int, sealed: Callable[[], None]) -> None:
        """Tell ``sealed`` of each bucket that was placed. With ``min_index_count`` indexes it is sealed."""
        self._memory = memory
        self._placing = placing
        self._least = max(min_index_count, 1)
        self._sealed = sealed

    def take(self, at: int, ledger: int, entry: int) -> bool:
        """Keep an index that is not due, in memory alone if it does not join; whether a sealed bucket lies over it."""
        memory, growing = self._memory, self._memory.growing
        covered = memory.placed.over(ledger) is not None
        if not covered and self._is_sealed_before(ledger):
            self._seal()
            # A merge that ended meanwhile may have placed a bucket over a gap between its sources.
            covered = memory.placed.over(ledger) is not None
        if covered or ledger < growing.last_ledger:
            memory.shared.push(at, ledger, entry)
        else:
            growing.join(ledger)
            growing.indexes.push(at, ledger, entry)
        return covered

    def _is_sealed_before(self, ledger: int) -> bool:
        """Whether the growing bucket has enough, or must not grow across a sealed one (BD-08, BD-41)."""
        grown = self._memory.growing.ledgers
        if grown is None or grown[1] >= ledger:
            return False
        return len(self._memory.growing) >= self._least or self._memory.placed.meets(grown[1], ledger)

    def _seal(self) -> None:
        ledgers = self._memory.growing.ledgers
        indexes = self._memory.held.worth_storing(self._memory.growing.drain())
        if ledgers is None or not indexes:
            return
        if self._memory.placed.meets(*ledgers):
            # A merge has placed a bucket over it: two cannot lie there (BD-47).
            self._memory.shared.share(indexes)
            return
        self._placing.place(*ledgers, indexes)
        self._sealed()
