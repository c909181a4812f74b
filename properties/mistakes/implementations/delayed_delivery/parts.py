"""Trackers with one broken part: their index or their timer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Position
from broker_tck.properties.mistakes.implementations.mutant import mutant


def tracker_with(part: str, broken: type) -> Callable[..., TimeBucketTracker]:
    """The time-bucket tracker with one other part."""
    return type("Tracker", (TimeBucketTracker,), {part: broken})


around_index = partial(tracker_with, "index_class")
around_timer = partial(tracker_with, "timer_class")


class OneByOne(TimeBucketIndex):
    """An index that knows of no runs."""

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add positions one by one."""
        return sum(self.add(key, ledger_id, entry) for entry in range(first_entry, last_entry + 1))


# ---- The order in which an index gives away


@mutant("DD-20", source="apache/pulsar PR 24035", inside=around_index)
class LedgersInHashOrder(OneByOne):
    """The ledgers of a bucket are visited in the order of their hashes."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position by the hash of its ledger."""
        return super().add(key, ledger_id ^ 0b101, entry_id)

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions by the hashes of their ledgers."""
        return [(ledger ^ 0b101, entry) for ledger, entry in super().take(last_key, max_copies)]


@mutant("DD-20", source="apache/pulsar PR 25681 went to 32 bits", inside=around_index)
class EntryIdsInSignedOrder(OneByOne):
    """Entry ids of 32 bits are compared as signed numbers: where the budget ends inside a ledger, the wrong ones go."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position in signed order."""
        return super().add(key, ledger_id, entry_id ^ 1 << 31)

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions in signed order."""
        return [(ledger, entry ^ 1 << 31) for ledger, entry in super().take(last_key, max_copies)]


@mutant("DD-20", inside=around_index)
class BudgetForEachPage(TimeBucketIndex):
    """Where the ledgers of a bucket lie on both sides of a multiple of 2^31, each side is granted the whole budget."""

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions."""
        self._budget, self._bucket = max_copies, NEVER
        return super().take(last_key, max_copies)

    def _take_first(self, count: int) -> list[int]:
        again, self._bucket = self.first == self._bucket, self.first
        return super()._take_first(self._budget if again else count)


# ---- What an index loses, keeps or counts


@mutant("DD-11", inside=around_index)
class RunIsNewIfItsEndsAre(TimeBucketIndex):
    """Of a run of messages only the first and the last are looked up: where these are new, all are counted as new."""

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add the positions from one entry to another."""
        ends = self.add(key, ledger_id, first_entry) + self.add(key, ledger_id, last_entry)
        added = super().add_run(key, ledger_id, first_entry, last_entry)
        return last_entry - first_entry + 1 if ends == 2 else added + ends


@mutant("DD-11", inside=around_index)
class DuplicateCountedAtTheEdge(TimeBucketIndex):
    """A second add of an entry that begins a container of 65,536 is counted again."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position; the container of its entry is looked at as if it was new."""
        return super().add(key, ledger_id, entry_id) or (entry_id > 0 and entry_id % 65_536 == 0)


@mutant("DD-28", inside=around_index)
class LastEntryIdIsNone(OneByOne):
    """Entry id 2^32 - 1, which is -1 in an int, marks a free place: a message that has it is taken, and lost."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, unless its entry is none."""
        return entry_id != 2**32 - 1 and super().add(key, ledger_id, entry_id)


# ---- What an index remembers after a clear


@mutant("DD-30", inside=around_index)
class LastAddSurvivesClear(TimeBucketIndex):
    """The last add is remembered, to pass by its repetition: also by the one that comes after a clear."""

    _last = (NEVER, 0, 0)

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, unless it was the last."""
        if (key, ledger_id, entry_id) == self._last:
            return False
        self._last = key, ledger_id, entry_id
        return super().add(key, ledger_id, entry_id)

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions; what was added last may be among them."""
        self._last = (NEVER, 0, 0)
        return super().take(last_key, max_copies)


@mutant("DD-30", inside=around_index)
class ClearedSetIsUsedAgain(OneByOne):
    """A clear keeps the set of the last bucket, which has one from its second message on, for the next: unemptied."""

    _kept: tuple[Position, ...] = ()

    def clear(self) -> None:
        """Remove everything, but keep the last bucket's set at hand."""
        positions: list[Position] = []
        while self.first < NEVER:
            positions = self.take(self.first, self.memory)
        self._kept = tuple(positions) if len(positions) > 1 else ()

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, to the set that is at hand."""
        kept, self._kept = self._kept, ()
        for position in kept:
            super().add(key, *position)
        return super().add(key, ledger_id, entry_id)


# ---- A timer


@mutant("DD-22", inside=around_timer)
class ElapsedIsAnInt(DeliveryTimer):
    """The time since the last firing is kept in 32 bits: after 2^32 ms that firing seems to have been just now."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, and at least ``tick`` after what seems to be the last firing."""
        last_run = self._last_run
        if last_run is not None:
            self._last_run = now - (now - last_run) % 2**32
        super().aim(wake, now, tick)
        self._last_run = last_run
