"""Mutants that go wrong by how much there is: many segments, many buckets, what differs, what is used up, lives."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.implementations.bucket_delivery.keys import KeyUpdates
from broker_tck.implementations.bucket_delivery.pulsar_5_0 import PulsarBuckets50
from broker_tck.implementations.bucket_delivery.pulsar_bucket import ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_cutting import Cutter, Pieces
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, called, completed, with_retries
from broker_tck.implementations.bucket_delivery.pulsar_members import Index
from broker_tck.implementations.bucket_delivery.pulsar_persistence import RETRIES, Call, Persistence, T
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    Position,
    Timer,
)
from broker_tck.implementations.mutants.bucket_delivery.parts import around_cutter, around_members, around_persistence
from broker_tck.implementations.mutants.mutant import mutant

MOST_SEGMENTS = 16
MOST_BUCKETS = 8

# ---- Many


@mutant("BD-21", conditions=3, deep=True)
class SixteenSegmentsAreAll(PulsarBuckets50):
    """A bucket is taken for finished when 16 segments of it were loaded: what is behind them is never loaded."""

    def _load_next(self, bucket: ImmutableBucket, position: Position) -> Future[None]:
        if bucket.loaded < MOST_SEGMENTS:
            return super()._load_next(bucket, position)
        self._end_of_load(bucket, position, None)
        self._timer.fire_now()
        return completed(None)


@mutant("BD-06", conditions=3, deep=True)
class EightBucketsAreLookedAt(PulsarBuckets50):
    """Whether a bucket lies over a ledger is asked of the first eight: what is of a later one joins the growing one."""

    def _track(self, ledger: int, entry: int, at: int) -> None:
        spans = [span for span, _ in self._placed.entries()][:MOST_BUCKETS]
        is_covered = any(span.lower[0] <= ledger <= span.upper[0] for span in spans)
        if not is_covered and self._is_to_be_sealed(ledger):
            self._seal()
            if self._max_buckets > 0 and len(self._placed) > self._max_buckets:
                self._maintain()
        self._enqueue(ledger, entry, at, is_covered)
        self._members.accepted(ledger, entry)
        self._update_timer()


# ---- Ledgers and times that differ


@mutant("BD-13", conditions=2, inside=around_cutter)
class PositionsOfTheFirstLedger(Cutter):
    """A snapshot says of a segment which positions it has of its first ledger, and of no others."""

    def _close(self, segment: list[DelayedIndex], pieces: Pieces) -> None:
        super()._close(segment, pieces)
        ledger, bits = next(iter(pieces.metadata[-1].delayed_index_bit_map.items()))
        pieces.metadata[-1] = pieces.metadata[-1]._replace(delayed_index_bit_map={ledger: bits})


@mutant("BD-13", conditions=2, inside=around_cutter)
class LastTimeIsTheEndOfTheStep(Cutter):
    """A snapshot says of a segment that it ends where its time step does, not with its last message."""

    def _close(self, segment: list[DelayedIndex], pieces: Pieces) -> None:
        super()._close(segment, pieces)
        end = min(segment[0][0] + max(self.time_step, 1) - 1, 2**63 - 1)
        pieces.metadata[-1] = pieces.metadata[-1]._replace(max_schedule_timestamp=end)


# ---- What is used up


@mutant("BD-15", conditions=3, inside=around_persistence)
class RetriesAreForAllCalls(Persistence):
    """Calls to the storage have three retries together, not three each: those that come later fail at once."""

    def __init__(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> None:
        super().__init__(storage, cursor)
        self._left = RETRIES

    def _asked(self, call: Call[T]) -> Future[T]:
        def counted(done: Callable[[T | Exception], None]) -> None:
            def ended(result: T | Exception) -> None:
                if isinstance(result, self.again) and self._left:
                    self._left -= 1
                done(result)

            call(ended)

        return with_retries(lambda: called(counted), self.again, self._left)


# ---- Lives


@mutant("BD-31", conditions=2)
class RangeOutlivesTheClear(PulsarBuckets50):
    """A clear leaves the range of the growing bucket: a lower ledger that comes then does not join it."""

    def _empty(self) -> None:
        first, last = self._growing.first, self._growing.last
        super()._empty()
        self._growing.first, self._growing.last = first, last


@mutant("BD-19", conditions=3, inside=around_members)
class HandedOutIsHeldForGood(Index):
    """A message that was handed out and is added again is taken for held, and never handed out again."""

    def __init__(self) -> None:
        super().__init__()
        self._handed_out: set[Position] = set()

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether it is in the set, or was."""
        return (ledger, entry) in self._handed_out or super().holds(ledger, entry)

    def popped(self, ledger: int, entry: int) -> bool:
        """Take it out, and keep it in mind."""
        popped = super().popped(ledger, entry)
        if popped:
            self._handed_out.add((ledger, entry))
        return popped

    def cleared(self) -> None:
        """Take out all."""
        super().cleared()
        self._handed_out.clear()


class RemovesByKey(KeyUpdates):
    """Removes a key wherever it leads."""

    def remove(self, key: str, number: int, done: Callable[[bool], None]) -> None:
        """Remove a key; tells whether that went well."""
        leads_to = self._calls.property_of(key)
        super().remove(key, number if leads_to is None else int(leads_to), done)


@mutant("BD-17", source="apache/pulsar PR 26401", conditions=4, deep=True)
class RemovesTheKeyOfItsHeir(BucketTracker):
    """The deletion of a bucket removes its key, though that leads to a later bucket of the same range by then."""

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        super().__init__(config, clock, timer, storage, cursor)
        vars(self._snapshots)["_keys"] = RemovesByKey(self._calls)
