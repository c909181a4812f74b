"""What the broker's versions do otherwise: a profile for each, which replaces the clauses in which it differs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, cast

from broker_tck.model.delayed_delivery.buckets import Buckets
from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.index import Copy, Index, Position
from broker_tck.model.delayed_delivery.memory import BYTES, MemoryEstimate
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.model.java_collections import LongHashOrder
from broker_tck.model.parts.timer import BegunAtZero


class WakingAtTheKey(Buckets):
    """Buckets at whose key the timer aims, due by then or not."""

    def wake(self, key: int) -> int:
        return key


class TimeBucket2026(DelayedDelivery):
    """The classes with the changes of PRs 25681, 26012 and 26188, as recorded: the timer aims at the key."""

    PROFILE = "timebucket-2026"
    ALIKE = True
    BREAKS: ClassVar[tuple[str, ...]] = ("DD-34",)
    Timer = BegunAtZero
    Buckets = WakingAtTheKey

    def count_after_close(self) -> int:
        return self.count()


class FixedDelayAnewByClear(FixedDelay):
    """A detection that a clear starts anew."""

    def starts_anew_on_clear(self) -> bool:
        return True


class TimeBucket50(TimeBucket2026):
    """The released class of 5.0.1: a clear starts the detection of a fixed delay anew, as a get of the last does."""

    PROFILE = "timebucket-5.0"
    ALIKE = True
    FixedDelay = FixedDelayAnewByClear


class DueAtTheKey(WakingAtTheKey):
    """Buckets that are handed out when their first time is due."""

    def due(self, key: int, now: int) -> bool:
        return key <= self.cutoff(now)


class TimeBucket50M1(TimeBucket2026):
    """The released class of 5.0.0-M1: without PR 26188, so a bucket is handed out when its first time is due."""

    PROFILE = "timebucket-5.0-M1"
    ALIKE = True
    BREAKS = ("DD-07", "DD-08")
    Buckets = DueAtTheKey


class RoundedDown(DueAtTheKey):
    """Buckets under which times are filed rounded down, strict or not."""

    def key(self, at: int) -> int:
        return at & -self.width


class TimerBefore26012(BegunAtZero):
    """A timer that takes a bucket of this very moment for one to come."""

    def passed(self, wake: int) -> bool:
        return wake < self.now


class ForgetfulTimer(TimerBefore26012):
    """It forgets a timeout that was cancelled only where nothing is held."""

    def forget(self, wake: int | None) -> None:
        if wake is None:
            super().forget(wake)


class TimeBucket404(TimeBucket2026):
    """The released classes of 4.0.4 and 4.0.5, after PR 24035 and before PR 24429 took the buckets out again.

    Times are rounded down, strict or not, and a cancelled timeout may be taken for armed.
    """

    PROFILE = "timebucket-4.0.4"
    ALIKE = True
    BREAKS = ("DD-07", "DD-08", "DD-34")
    Timer = ForgetfulTimer
    Buckets = RoundedDown


class LedgersByHash(set[Copy]):
    """A bucket that lists its ledgers as a hash table does; those that a get leaves empty go as it lists them."""

    def __init__(self) -> None:
        super().__init__()
        self.ledgers = LongHashOrder()
        self.shrank = False

    def add(self, copy: Copy, /) -> None:
        self.settle()
        self.ledgers.add(copy[0])
        super().add(copy)

    def difference_update(self, *copies: Iterable[object]) -> None:
        super().difference_update(*copies)
        self.shrank = True

    def settle(self) -> None:
        """Let go of the ledgers of which nothing is left."""
        if self.shrank:
            left = {copy[0] for copy in self}
            for ledger in LongHashOrder(ledger for ledger in self.ledgers if ledger not in left):
                self.ledgers.discard(ledger)
            self.shrank = False

    def listed(self) -> list[Copy]:
        """The copies by ledger as the table lists them, and by entry."""
        self.settle()
        place = {ledger: i for i, ledger in enumerate(self.ledgers)}
        return sorted(sorted(self), key=lambda copy: place[copy[0]])


class IndexByHash(Index):
    """An index whose buckets are taken as a hash table lists them."""

    BUCKET = LedgersByHash

    def taken(self, due: list[int], most: int) -> list[tuple[int, Copy]]:
        return [(key, copy) for key in due for copy in cast(LedgersByHash, self.held[key]).listed()][: max(most, 0)]


class TimeBucket401(TimeBucket404):
    """The released classes of 4.0.1 and 4.0.2, the first with buckets (PR 23611), before PR 24035.

    Which ledgers of a bucket are taken first is up to a hash table. It shows where a budget ends inside the bucket.
    Two ledgers that collide are listed as they came, so that the order of adds matters.
    """

    PROFILE = "timebucket-4.0.1"
    ALIKE = True
    MOOT = ("order",)
    Index = IndexByHash


class CountsAgain(Index):
    """An index that counts a repeated add again."""

    def counts_again(self) -> bool:
        return True


class AnyEstimate(MemoryEstimate):
    """An estimate that does not have to fit what is held."""

    def permits(self, seen: object, count: int) -> bool:
        return isinstance(seen, int) and seen >= 0


class TimeBucket2025(TimeBucket404):
    """The classes of 2025-09-20, as recorded: a repeated add is counted again."""

    PROFILE = "timebucket-2025"
    ALIKE = True
    MOOT = ("DD-29",)
    Index = CountsAgain
    MemoryEstimate = AnyEstimate


class ExactTimes(Buckets):
    """Buckets of a millisecond each, whatever the tick."""

    def width_of(self, tick: int) -> int:
        return 1


class EveryCopy(Index):
    """An index that keeps every copy."""

    def serial(self, position: Position, key: int) -> int:
        return self.adds


class AtLeastTheTriples(MemoryEstimate):
    """An estimate of the triples, and of what was allocated besides."""

    def permits(self, seen: object, count: int) -> bool:
        return isinstance(seen, int) and seen >= BYTES * count


class Heap(DelayedDelivery):
    """The classes before PR 23611, as recorded: a heap of triples, without buckets, that keeps every copy.

    A second close releases the heap's memory once more, which throws (seen on the released 3.0.7, 4.0.0 and 4.0.8).
    """

    PROFILE = "heap"
    ALIKE = True
    MOOT = ("DD-03", "DD-05", "DD-29", "DD-33")
    Timer = TimerBefore26012
    Buckets = ExactTimes
    Index = EveryCopy
    MemoryEstimate = AtLeastTheTriples

    def refuses_close(self) -> bool:
        return self.closed

    def count_after_close(self) -> int:
        return self.count()


PROFILES = {
    m.PROFILE: m
    for m in (
        DelayedDelivery,
        TimeBucket2026,
        TimeBucket50,
        TimeBucket50M1,
        TimeBucket2025,
        TimeBucket404,
        TimeBucket401,
        Heap,
    )
}
"""Every profile of the contract; the first is the default."""
