"""Mutants that go wrong over a message that is added: taking or refusing it, its bucket, what it tells of the delay."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME, NEVER
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer
from broker_tck.implementations.mutants.delayed_delivery.parts import around_detector, around_index
from broker_tck.implementations.mutants.mutant import mutant


class NoSuchElementException(Exception):
    """The timer asked an index without messages for its first bucket (issue 25617)."""


# ---- Whether it is taken


@mutant(
    "DD-09",
    shows="A real bug of the heap, at the one time at which the answer changes.",
    source="apache/pulsar, InMemoryDelayedDeliveryTracker until 2.9; cf. issue 10169",
)
class HeapEqualityAccepted(HeapTracker):
    """A message whose time is the cut-off itself is taken."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, and have adds look at the time before the cut-off."""
        super().reset_tick_time(tick)
        self._window -= 1


@mutant("DD-09", shows="A real bug: two windows, one for adds and one for gets.", source="apache/pulsar PR 5498")
class RefusedOnlyOncePast(TimeBucketTracker):
    """A message within the tick is taken, though it is due: what is handed out early comes back at once."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, but not for adds."""
        super().reset_tick_time(tick)
        self._window = 0


@mutant(
    "DD-04",
    shows="A real bug: a setting that is read and not used.",
    source="apache/pulsar PR 16068, issue 10169",
    conditions=2,
)
class StrictSwitchIgnored(TimeBucketTracker):
    """In strict mode, too, the cut-off is a tick from now."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, as if not strict."""
        super().reset_tick_time(tick)
        if self._strict:
            self._window = self._early = tick


# ---- The bucket that it is filed in


@mutant(
    "DD-05",
    shows="A real bug that a user reported: a message before its time.",
    source="apache/pulsar PR 26012, issue 25996",
    conditions=2,
)
class StrictRoundedDown(TimeBucketTracker):
    """In strict mode a time is rounded down to its bucket, so it is handed out early."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._rounding = 0


# ---- Messages that are held already


@mutant(
    "DD-11",
    shows="A count beside an index, and an error once the two differ.",
    source="apache/pulsar PR 25681, issue 25617",
)
class DuplicateCounted(TimeBucketTracker):
    """A message that is in its bucket already is counted again; once all is drained, every call fails."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, and count it."""
        before = self._count
        taken = super().add_message(ledger_id, entry_id, deliver_at)
        self._count = before + taken
        return taken

    def _update_timer(self, now: int) -> None:
        if self._count and self._index.first == NEVER:
            raise NoSuchElementException
        super()._update_timer(now)


@mutant("DD-11", shows="The first entry of a container of a bitmap.", conditions=3, deep=True, inside=around_index)
class DuplicateCountedAtTheEdge(TimeBucketIndex):
    """A second add of an entry that begins a container of 65,536 is counted again."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position; the container of its entry is looked at as if it was new."""
        return super().add(key, ledger_id, entry_id) or (entry_id > 0 and entry_id % 65_536 == 0)


@mutant(
    "DD-30", shows="A shortcut for repeated calls that outlives a clear.", conditions=3, deep=True, inside=around_index
)
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


# ---- Messages that are added together


@mutant("DD-10", shows="A batch that does less than single adds do.", conditions=2, deep=True)
class BatchLeavesTheTimer(TimeBucketTracker):
    """Messages that are added together do not bring the timer up to date."""

    def _file(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int], now: int) -> None:
        self._delays.accepted_all(deliver_at, self._tick)
        for entry_id, at in zip(entry_ids, deliver_at, strict=True):
            key = min(at + self._rounding, LAST_TIME) & self._mask
            self._count += self._index.add(key, ledger_id, entry_id)


@mutant("DD-11", shows="A batch that counts what single adds do not.", conditions=2, deep=True)
class BatchCountsDuplicates(TimeBucketTracker):
    """Of messages that are added together, those that are held already are counted again."""

    def _file(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int], now: int) -> None:
        before = self._count
        super()._file(ledger_id, entry_ids, deliver_at, now)
        self._count = before + len(entry_ids)


# ---- Ids


@mutant(
    "DD-13",
    shows="Entry ids that come out of 32 bits with a sign.",
    source="apache/pulsar PR 25681 went to 32 bits",
    conditions=2,
    inside=around_index,
)
class EntryIdsSigned(TimeBucketIndex):
    """Entry ids from 2^31 on are handed out as negative numbers."""

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first positions, their entry ids read as signed numbers."""
        taken = super().take(last_key, max_copies)
        return [(ledger, entry - 2**32 if entry >= 2**31 else entry) for ledger, entry in taken]


# ---- What it tells of the delay


@mutant(
    "DD-15",
    shows="A real bug that shows only by a pause, many operations later.",
    source="apache/pulsar PR 17907",
    conditions=3,
    deep=True,
    inside=around_detector,
)
class RefusalKeepsTheDelayFixed(FixedDelayDetector):
    """A message that is not taken, as it is due or not delayed at all, does not end the fixed delay."""

    def refused(self) -> None:
        """A message was not taken."""
