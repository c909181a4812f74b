"""Mutants that go wrong by how much there is: full containers, arrays that shrink, long batches, further lives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.heap import WIDTH, HeapTracker, TripleHeap
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer
from broker_tck.implementations.mutants.delayed_delivery.parts import OneByOne, around_detector, around_index
from broker_tck.implementations.mutants.mutant import mutant

FULL_ARRAY = 4_096
"""A container of a roaring bitmap is an array up to so many entries, and a bitmap with more."""
CONTAINER_BITS = 16
PAGE = 1_000


# ---- Sizes


@mutant("DD-35", conditions=2, deep=True, inside=around_index)
class LostAsTheArrayIsFull(OneByOne):
    """The entry that turns the array of a container into a bitmap, the 4,097th, is counted and lost."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: defaultdict[tuple[int, int, int], int] = defaultdict(int)

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, unless its container is full."""
        container = key, ledger_id, entry_id >> CONTAINER_BITS
        if self._sizes[container] == FULL_ARRAY:
            self._sizes[container] += 1
            return True
        added = super().add(key, ledger_id, entry_id)
        self._sizes[container] += added
        return added

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions; containers that were drained begin anew."""
        taken = super().take(last_key, max_copies)
        self._sizes = defaultdict(int, {c: n for c, n in self._sizes.items() if c[0] >= self.first})
        return taken


@mutant("DD-20", conditions=2, deep=True)
class ThousandAtMost(TimeBucketTracker):
    """A get hands out 1,000 messages at most, the size of a page, however many were asked for."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out a page of what is due."""
        return super().get_scheduled_messages(min(max_messages, PAGE))


class ShrinkingHeap(TripleHeap):
    """A heap of a capacity that doubles, and is halved where three quarters are free: by copying all but the last."""

    least = 16

    def __init__(self) -> None:
        super().__init__()
        self._capacity = self.least

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a copy."""
        added = super().add(key, ledger_id, entry_id)
        while len(self._words) > WIDTH * self._capacity:
            self._capacity *= 2
        return added

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first copies, then shrink."""
        taken = super().take(last_key, max_copies)
        while self._capacity > self.least and 4 * len(self._words) < WIDTH * self._capacity:
            self._capacity //= 2
            del self._words[-WIDTH:]
        return taken

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self._capacity = self.least


@mutant("DD-35", conditions=3)
class HeapShrinksOneTooShort(HeapTracker):
    """The heap's array loses its last message each time that it shrinks."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = ShrinkingHeap()


# ---- Batches


@mutant("DD-35", conditions=2, deep=True)
class LastPageOfOneIsLost(TimeBucketTracker):
    """Messages that are added together are filed in pages of 1,000, and a single one that is left over is forgotten."""

    def _file(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int], now: int) -> None:
        super()._file(ledger_id, entry_ids[:PAGE], deliver_at[:PAGE], now)
        for start in range(PAGE, len(entry_ids) - 1, PAGE):
            page = slice(start, start + PAGE)
            super()._file(ledger_id, entry_ids[page], deliver_at[page], now)


@mutant("DD-11", conditions=3, inside=around_index)
class RunIsNewIfItsEndsAre(TimeBucketIndex):
    """Of a run of messages only the first and the last are looked up: where these are new, all are counted as new."""

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add the positions from one entry to another."""
        ends = self.add(key, ledger_id, first_entry) + self.add(key, ledger_id, last_entry)
        added = super().add_run(key, ledger_id, first_entry, last_entry)
        return last_entry - first_entry + 1 if ends == 2 else added + ends


# ---- Many


@mutant("DD-20", conditions=3, deep=True, inside=around_index)
class SeventeenLedgersAreHashed(OneByOne):
    """A bucket keeps up to 16 ledgers in order; more go into a hash table, and leave in the order of their hashes."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position."""
        added = super().add(key, ledger_id, entry_id)
        self._entries[key][ledger_id].add(entry_id)
        return added

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions, of a crowded bucket by the hashes of its ledgers."""
        taken: list[Position] = []
        while self.first <= last_key and len(taken) < max_copies:
            taken += self._take_of(self.first, max_copies - len(taken))
        return taken

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self._entries.clear()

    def _take_of(self, key: int, count: int) -> list[Position]:
        ledgers, memory = self._entries.pop(key), self.memory
        order = sorted(ledgers) if len(ledgers) <= 16 else sorted(ledgers, key=lambda ledger: (ledger % 64, ledger))
        positions = [(ledger, entry) for ledger in order for entry in sorted(ledgers[ledger])]
        super().take(key, len(positions))
        for ledger, entry in positions[count:]:
            self.add(key, ledger, entry)
        self.memory = min(self.memory, memory)
        return positions[:count]


class Wheel(OneByOne):
    """Buckets of one slot, as long as one of them is held, are the first of them."""

    slots = 512

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self._keys: dict[int, int] = {}

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position to the bucket that is in the slot."""
        slot = key // self._width % self.slots
        there = self._keys.get(slot, -1)
        if self.first <= there <= key:
            return super().add(there, ledger_id, entry_id)
        self._keys[slot] = key
        return super().add(key, ledger_id, entry_id)


@mutant("DD-06", source="wheels of 512 slots, as the broker's timer has", conditions=3, deep=True)
class WheelWithoutRounds(TimeBucketTracker):
    """Buckets are in a wheel of 512 slots, whose rounds nobody counts: the 512th after another one leaves with it."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = Wheel(-self._mask)


# ---- Second and third lives


@mutant("DD-16", conditions=4, deep=True, inside=around_detector)
class DetectionStartsAnewOnce(FixedDelayDetector):
    """The detection of a fixed delay starts anew when the index is empty for the first time, and never after."""

    _drained = 0

    def reset(self) -> None:
        """Start anew, if that has not been done before."""
        if self._drained <= 1:
            super().reset()
        self._drained = self._drained + 1


@mutant("DD-30", conditions=3, inside=around_index)
class ClearedSetIsUsedAgain(OneByOne):
    """A clear keeps the set of the last bucket, which has one from its second message on, for the next: unemptied."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[Position] = []

    def clear(self) -> None:
        """Remove everything, but keep the last bucket's set at hand."""
        positions: list[Position] = []
        while self.first < NEVER:
            positions = self.take(self.first, self.memory)
        super().clear()
        self._kept = positions if len(positions) > 1 else []

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, to the set that is at hand."""
        kept, self._kept = self._kept, []
        for position in kept:
            super().add(key, *position)
        return super().add(key, ledger_id, entry_id)
