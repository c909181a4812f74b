"""The broker's releases: each replaces the clauses of the specification in which it differs, and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from broker_tck.model.delayed_delivery.specification import (
    BYTES,
    Bucket,
    Buckets,
    DelayedDelivery,
    Index,
    MemoryEstimate,
    Placed,
    Position,
)
from broker_tck.model.java_collections import LongHashOrder
from broker_tck.model.parts.timer import BegunAtZero, ReleasedTimer
from broker_tck.model.reference import Fault

# ---- What several releases have in place of a clause


def at_the_key(_: Buckets, key: int) -> int:
    """The timer aims at the key of the first bucket, due by then or not."""
    return key


def due_by_its_first_time(buckets: Buckets, key: int, now: int) -> bool:
    """A bucket is handed out when its first time is due."""
    return key <= buckets.cutoff(now)


def rounded_down(buckets: Buckets, at: int) -> int:
    """A time is rounded down, strict or not."""
    return at & -buckets.width


def passed_before_now(timer: BegunAtZero, wake: int) -> bool:
    """A bucket of this very moment is one to come."""
    return wake < timer.reading()


def counts_on(model: DelayedDelivery) -> int:
    """A closed tracker shows the count as before."""
    return model.count()


class BucketsOf404(Buckets):
    """Rounded down, strict or not, and handed out when the first time is due."""

    key = rounded_down
    due = due_by_its_first_time
    wake = at_the_key


class TimerOf404(ReleasedTimer):
    """A timer that takes a bucket of this very moment for one to come, and forgets a cancelled timeout if empty."""

    passed = passed_before_now

    def forget(self, wake: int | None) -> None:
        if wake is None:
            super().forget(wake)


# ---- The releases


class BucketsOf2026(Buckets):
    """Buckets at whose key the timer aims."""

    wake = at_the_key


class TimeBucket2026(DelayedDelivery):
    """The classes with the changes of PRs 25681, 26012 and 26188, as recorded: the timer aims at the key."""

    PROFILE = "timebucket-2026"
    ALIKE = True
    BREAKS: ClassVar[tuple[str, ...]] = ("DD-34", "DD-39", "DD-41")
    Timer = ReleasedTimer
    Buckets = BucketsOf2026
    count_after_close = counts_on


class TimeBucket50(DelayedDelivery):
    """The released class of 5.0.1: a clear starts the detection of a fixed delay anew, as a get of the last does."""

    PROFILE = "timebucket-5.0"
    ALIKE = True
    BREAKS = ("DD-34", "DD-39", "DD-41")
    Timer = ReleasedTimer
    Buckets = BucketsOf2026
    count_after_close = counts_on

    def clear(self) -> None:
        DelayedDelivery.clear(self)
        self.fixed_delay.begin()


class BucketsOf50M1(Buckets):
    """Buckets that are handed out when their first time is due."""

    due = due_by_its_first_time
    wake = at_the_key


class TimeBucket50M1(DelayedDelivery):
    """The released class of 5.0.0-M1: without PR 26188, so a bucket is handed out when its first time is due."""

    PROFILE = "timebucket-5.0-M1"
    ALIKE = True
    BREAKS = ("DD-07", "DD-08", "DD-39")
    Timer = ReleasedTimer
    Buckets = BucketsOf50M1
    count_after_close = counts_on


class CountsAgain(Index):
    """An index that counts a repeated add again."""

    def put(self, position: Position, bucket: Bucket) -> bool:
        bucket[position] = 1
        return True


class AnyEstimate(MemoryEstimate):
    """An estimate that need not fit the number of copies."""

    def permits(self, seen: object, count: int) -> bool:
        return isinstance(seen, int) and seen >= 0


class TimeBucket2025(DelayedDelivery):
    """The classes of 2025-09-20, as recorded: as 4.0.4, except that a repeated add is counted again."""

    PROFILE = "timebucket-2025"
    ALIKE = True
    BREAKS = ("DD-07", "DD-08", "DD-34", "DD-39", "DD-41")
    NOT_APPLICABLE = ("DD-29",)
    Timer = TimerOf404
    Buckets = BucketsOf404
    Index = CountsAgain
    MemoryEstimate = AnyEstimate
    count_after_close = counts_on

    def update_timer(self) -> None:
        """It asks for the first bucket while it counts anything, held or not."""
        if self.count() and not self.index.held:
            raise Fault("NoSuchElementException")
        super().update_timer()


class TimeBucket404(DelayedDelivery):
    """The released classes of 4.0.4 and 4.0.5, after PR 24035 and before PR 24429 took the buckets out again.

    Times are rounded down, strict or not, and a cancelled timeout may be taken for armed.
    """

    PROFILE = "timebucket-4.0.4"
    ALIKE = True
    BREAKS = ("DD-07", "DD-08", "DD-34", "DD-39", "DD-41")
    Timer = TimerOf404
    Buckets = BucketsOf404
    count_after_close = counts_on


class LedgersByHash(Bucket):
    """A bucket that lists its ledgers as a hash table does; those that a get leaves empty go as it lists them."""

    def __init__(self) -> None:
        super().__init__()
        self.ledgers = LongHashOrder()
        self.shrank = False

    def __setitem__(self, position: Position, count: int) -> None:
        if position not in self:
            self.settle()
            self.ledgers.add(position[0])
        super().__setitem__(position, count)

    def __delitem__(self, position: Any) -> None:
        super().__delitem__(position)
        self.shrank = True

    def settle(self) -> None:
        """Let go of the ledgers of which nothing is left."""
        if self.shrank:
            left = {ledger for ledger, _ in self}
            for ledger in LongHashOrder(ledger for ledger in self.ledgers if ledger not in left):
                self.ledgers.discard(ledger)
            self.shrank = False

    def listed(self) -> list[Position]:
        """The positions by ledger as the table lists them, and by entry."""
        self.settle()
        place = {ledger: i for i, ledger in enumerate(self.ledgers)}
        return sorted(sorted(self), key=lambda position: place[position[0]])


class IndexByHash(Index):
    """An index whose buckets are taken as a hash table lists them."""

    BUCKET = LedgersByHash

    def taken(self, due: list[int], most: int) -> list[Placed]:
        return [(key, each) for key in due for each in cast(LedgersByHash, self.held[key]).listed()][: max(most, 0)]


class TimeBucket401(DelayedDelivery):
    """The released classes of 4.0.1 and 4.0.2, the first with buckets (PR 23611), before PR 24035.

    Which ledgers of a bucket are taken first is up to a hash table. It shows if a budget ends inside the bucket.
    Two ledgers that collide are listed as they came, so that the order of adds matters.
    """

    PROFILE = "timebucket-4.0.1"
    ALIKE = True
    BREAKS = ("DD-07", "DD-08", "DD-34", "DD-39", "DD-41")
    NOT_APPLICABLE = ("order",)
    Timer = TimerOf404
    Buckets = BucketsOf404
    Index = IndexByHash
    count_after_close = counts_on


class ExactTimes(Buckets):
    """Buckets of a millisecond each, whatever the tick."""

    def width_of(self, tick: int) -> int:
        return 1


class EveryCopy(Index):
    """An index that keeps every copy."""

    def put(self, position: Position, bucket: Bucket) -> bool:
        bucket[position] = bucket.get(position, 0) + 1
        return True


class AtLeastTheTriples(MemoryEstimate):
    """An estimate of the triples, and of what was allocated besides."""

    def permits(self, seen: object, count: int) -> bool:
        return isinstance(seen, int) and seen >= BYTES * count


class Heap(DelayedDelivery):
    """The classes before PR 23611, as recorded: a heap of triples, without buckets, that keeps every copy.

    A cancelled timeout may be taken for armed. A second close releases the heap's memory once more, which throws (seen
    on the released 3.0.7, 4.0.0 and 4.0.8).
    """

    PROFILE = "heap"
    ALIKE = True
    BREAKS = ("DD-39",)
    NOT_APPLICABLE = ("DD-03", "DD-05", "DD-29", "DD-33")
    Timer = TimerOf404
    Buckets = ExactTimes
    Index = EveryCopy
    MemoryEstimate = AtLeastTheTriples
    count_after_close = counts_on

    def close(self) -> None:
        if self.closed:
            raise Fault("IllegalReferenceCountException")
        DelayedDelivery.close(self)


PROFILES = {
    model.PROFILE: model
    for model in (
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
