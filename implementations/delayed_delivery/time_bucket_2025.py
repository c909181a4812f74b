"""The time-bucket tracker as it was in September 2025, with its faults: what profile ``timebucket-2025`` allows.

It is early by up to a bucket when strict, counts a message again that it holds already, and forgets to arm its timer.
"""

from __future__ import annotations

from typing import ClassVar

from sortedcontainers import SortedSet

from broker_tck.implementations.delayed_delivery.in_memory import NEVER, Index, InMemoryTracker
from broker_tck.implementations.delayed_delivery.time_bucket import bucket_width
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer2025
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer

COPY_BYTES = 24


class NoSuchElementException(Exception):
    """The timer asked an index without messages for its first bucket (issue 25617)."""


class SortedIndex:
    """A set of (key, position) as plain triples: any 64-bit entry id, and no attempt at being small."""

    def __init__(self) -> None:
        self._triples: SortedSet[tuple[int, int, int]] = SortedSet()

    @property
    def first(self) -> int:
        """The smallest key."""
        return self._triples[0][0] if self._triples else NEVER

    @property
    def memory(self) -> int:
        """Three 64-bit numbers a message."""
        return COPY_BYTES * len(self._triples)

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position. It is to be counted even if it was there, hence always True (DD-11's divergence)."""
        self._triples.add((key, ledger_id, entry_id))
        return True

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions by key, ledger and entry: at most so many, with keys up to ``last_key``."""
        taken: list[Position] = []
        while self.first <= last_key and len(taken) < max_copies:
            taken.append(self._triples.pop(0)[1:])
        return taken

    def clear(self) -> None:
        """Remove everything."""
        self._triples.clear()


class TimeBucket2025Tracker(InMemoryTracker):
    """Rounds times down, strict or not, and takes a bucket for due once its first time is."""

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-2025",)
    capabilities: ClassVar[dict[str, int]] = {"entry_id_bits": 63}

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        """Derive the width of a bucket from the tick."""
        width = bucket_width(config.tick)
        super().__init__(config, clock, DeliveryTimer2025(clock, timer), self._empty_index(), width=width)

    def _empty_index(self) -> Index:
        return SortedIndex()

    def _update_timer(self, now: int) -> None:
        if self._count > 0 and self._index.first == NEVER:
            raise NoSuchElementException
        super()._update_timer(now)
