"""Delayed delivery from a binary heap: every message under its exact time, 24 bytes each."""

from __future__ import annotations

from array import array
from typing import ClassVar

from broker_tck.implementations.delayed_delivery.in_memory import NEVER, InMemoryTracker
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer2025
from broker_tck.implementations.interface import Position

WIDTH = 3
"""Words of a triple."""

MIN_BYTES = 16 * 8 * WIDTH
"""Minimum size of the array in bytes that is worth shrinking: that of 16 triples (DD-36)."""


class TripleHeap:
    """A bag of (key, ledger, entry) in order, as a binary min-heap in one flat array of signed 64-bit words.

    No object stands for a message. The children of the triple at word ``i`` are at ``2 * i + 3`` and ``2 * i + 6``.
    """

    def __init__(self) -> None:
        self._words: array[int] = array("q")

    @property
    def first(self) -> int:
        """The smallest key."""
        return self._words[0] if self._words else NEVER

    @property
    def memory(self) -> int:
        """What the array takes, to spare included; 0 when it is empty."""
        return self._words.__sizeof__() if self._words else 0

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a copy, whether there is one already or not; always True.

        Raises ``ValueError`` for an id beyond 64 bits.
        """
        words = self._words
        try:
            triple = array("q", (key, ledger_id, entry_id))
        except OverflowError as error:
            raise ValueError(f"{ledger_id}:{entry_id} does not fit 64 bits") from error
        hole = len(words)
        words.extend(triple)
        self._rise(hole, triple)
        return True

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first copies, at most so many, with keys up to ``last_key``."""
        taken: list[Position] = []
        while self.first <= last_key and len(taken) < max_copies:
            taken.append(self._pop())
        # Half empty: copy, as an array that loses a triple at a time never shrinks by itself.
        if MIN_BYTES < self._words.__sizeof__() > 2 * len(self._words) * self._words.itemsize:
            self._words = self._words[:]
        return taken

    def clear(self) -> None:
        """Remove everything."""
        self._words = array("q")

    def _pop(self) -> Position:
        words = self._words
        _, ledger_id, entry_id = words[:WIDTH]
        last = words[-WIDTH:]
        del words[-WIDTH:]
        if words:
            # To the bottom along the smaller children, then up: half the comparisons of stopping on the way down.
            self._rise(self._sink(), last)
        return ledger_id, entry_id

    def _sink(self) -> int:
        """Move the hole at the top to a leaf."""
        words = self._words
        size = len(words)
        hole, child = 0, WIDTH
        while child < size:
            right = child + WIDTH
            if right < size and words[right : right + WIDTH] < words[child:right]:
                child = right
            words[hole : hole + WIDTH] = words[child : child + WIDTH]
            hole, child = child, 2 * child + WIDTH
        return hole

    def _rise(self, hole: int, triple: array[int]) -> None:
        """Fill a hole with a triple, or with an ancestor that is greater."""
        words = self._words
        while hole:
            parent = (hole // WIDTH - 1) // 2 * WIDTH
            above = words[parent : parent + WIDTH]
            if above <= triple:
                break
            words[hole : hole + WIDTH] = above
            hole = parent
        words[hole : hole + WIDTH] = triple


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
