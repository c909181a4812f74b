"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing and one, extreme settings."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.bucket_delivery.pulsar_5_0 import PulsarBuckets50
from broker_tck.implementations.bucket_delivery.pulsar_cutting import NO_LIMIT, Cutter
from broker_tck.implementations.bucket_delivery.pulsar_members import Index
from broker_tck.implementations.bucket_delivery.pulsar_merging import Buckets
from broker_tck.implementations.bucket_delivery.pulsar_timer import WakeUp
from broker_tck.implementations.interface import Clock, Position, Timer
from broker_tck.implementations.mutants.bucket_delivery.parts import around_cutter, around_members
from broker_tck.implementations.mutants.mutant import mutant

MAX_INT = 2**31 - 1
MAX_LONG = 2**63 - 1
LAST_ENTRY = 2**32 - 1

# ---- Widths


@mutant("BD-05", conditions=2, inside=around_members)
class HeldByTheLowBits(Index):
    """What is held is looked up by the low 32 bits of the ledger: its message counts as another ledger's."""

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether it is in the set, or one that looks alike."""
        return any(entry in bits for each, bits in self._bits.by_ledger.items() if (each ^ ledger) % 2**32 == 0)


@mutant("BD-25", conditions=2, deep=True, inside=around_members)
class LastEntryIsNoEntry(Index):
    """Entry 2^32 - 1, which is -1 in an int, is not taken into the index: it is accepted, and not held."""

    def accepted(self, ledger: int, entry: int) -> None:
        """Put it in, unless it is none."""
        if entry != LAST_ENTRY:
            super().accepted(ledger, entry)


@mutant("BD-12", conditions=2, deep=True, inside=around_cutter)
class StepIsAnInt(Cutter):
    """The time step is kept in 32 bits, signed: one of 2^31 ms, 25 days, or more cuts behind every message."""

    def __init__(self, time_step: int, max_indexes: int) -> None:
        super().__init__((time_step + 2**31) % 2**32 - 2**31, max_indexes)


# ---- Clocks


class ShortSighted(WakeUp):
    """Arms as far ahead as an int of milliseconds reaches."""

    def _arm(self, deadline: int) -> None:
        super()._arm(min(deadline, self._clock() + MAX_INT))


@mutant("DD-21", conditions=2)
class BucketDelayIsAnInt(PulsarBuckets50):
    """The timer is armed for 2^31 - 1 ms ahead at most, 24 days, and fires for nothing then."""

    def _no_timer(self, clock: Clock, timer: Timer) -> WakeUp:
        return ShortSighted(clock, timer, self._move_scheduled)


# ---- Nothing and one


@mutant("BD-12", inside=around_cutter)
class NoStepIsNoLimit(Cutter):
    """A time step of 0 is taken for none that was set: segments may be of any length."""

    def __init__(self, time_step: int, max_indexes: int) -> None:
        super().__init__(time_step or MAX_LONG, max_indexes)


@mutant("BD-12", inside=around_cutter)
class NoIndexesAreNoLimit(Cutter):
    """A limit of 0 indexes is taken for none that was set: segments may have any number."""

    def __init__(self, time_step: int, max_indexes: int) -> None:
        super().__init__(time_step, max_indexes or NO_LIMIT)


@mutant("BD-19", conditions=2)
class BucketNoBudgetIsNoLimit(PulsarBuckets50):
    """A get of 0 hands out everything that is due."""

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out what is due."""
        return super().get_scheduled_messages(max_messages or MAX_INT)


# ---- Settings


@mutant("BD-27", source="apache/pulsar issue 26241, PR 26242", conditions=3)
class AsManyAsAreMergedAreTooFew(PulsarBuckets50):
    """With four buckets or fewer nothing is merged: limits of 1 to 3 have no effect before the fifth."""

    def _choose(self, buckets: Buckets, width: int) -> Buckets:
        return super()._choose(buckets, width) if len(buckets) > width else ()


@mutant("BD-26", conditions=2)
class LimitOfOneIsNone(PulsarBuckets50):
    """A limit of one bucket is taken for no limit."""

    def _maintain(self) -> None:
        if self._max_buckets > 1:
            super()._maintain()


@mutant("BD-08", conditions=2)
class MinimumOfNothingNeverSeals(PulsarBuckets50):
    """A minimum of 0 indexes is taken for switched off: nothing is ever sealed."""

    def _is_to_be_sealed(self, ledger: int) -> bool:
        return self._min_index_count > 0 and super()._is_to_be_sealed(ledger)
