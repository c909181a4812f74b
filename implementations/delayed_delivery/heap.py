"""Delayed delivery from a binary heap: every message under its exact time."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import ClassVar

from broker_tck.implementations.delayed_delivery.in_memory import NEVER, InMemoryTracker
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer2025
from broker_tck.implementations.interface import Position

BITS = 64
LOWEST = -1 << BITS - 1
MASK = (1 << BITS) - 1
BYTES = 64
"""What a triple takes: a number of three times 64 bits, and its place in the list."""


class TripleHeap:
    """A bag of (key, ledger, entry) in order. A triple is one number, so that triples sort as their numbers do."""

    def __init__(self) -> None:
        self._triples: list[int] = []

    @property
    def first(self) -> int:
        """The smallest key."""
        return self._triples[0] >> 2 * BITS if self._triples else NEVER

    @property
    def memory(self) -> int:
        """What the triples take."""
        return BYTES * len(self._triples)

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a copy, whether there is one already or not; always True.

        Raises ``ValueError`` for an id beyond 64 bits.
        """
        ledger, entry = ledger_id - LOWEST, entry_id - LOWEST
        if (ledger | entry) >> BITS:
            raise ValueError(f"{ledger_id}:{entry_id} does not fit {BITS} bits")
        heappush(self._triples, (key << BITS | ledger) << BITS | entry)
        return True

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first copies, at most so many, with keys up to ``last_key``."""
        taken: list[Position] = []
        while self.first <= last_key and len(taken) < max_copies:
            triple = heappop(self._triples)
            taken.append(((triple >> BITS & MASK) + LOWEST, (triple & MASK) + LOWEST))
        return taken

    def clear(self) -> None:
        """Remove everything."""
        self._triples = []


class IllegalReferenceCountException(Exception):
    """Memory was released more often than it was taken."""


class HeapTracker(InMemoryTracker):
    """Exact to the millisecond; a message that is added twice is held, counted and handed out twice.

    Its timer is the one of 2025, and it can be closed only once: profile ``heap`` is what the broker's class did.
    """

    profiles: ClassVar[tuple[str, ...]] = ("heap",)
    capabilities: ClassVar[dict[str, int]] = {"entry_id_bits": 63}
    index_class = TripleHeap
    timer_class = DeliveryTimer2025

    _released = False

    def _width(self, tick: int) -> int:
        return 1

    def close(self) -> None:
        """Disarm the timer and let go of the memory. A second time IllegalReferenceCountException: it is gone."""
        super().close()
        if self._released:
            raise IllegalReferenceCountException
        self._released = True
