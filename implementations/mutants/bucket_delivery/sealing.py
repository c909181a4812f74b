"""Mutants that go wrong as messages are added: what is sealed, how it is cut, and how it is stored."""

from __future__ import annotations

from heapq import heappush

from broker_tck.implementations.bucket_delivery.pulsar_5_0 import PulsarBuckets50
from broker_tck.implementations.bucket_delivery.pulsar_bucket import ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_cutting import Cutter, Indexes, Pieces
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future
from broker_tck.implementations.bucket_delivery.pulsar_members import Index
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Call, Persistence
from broker_tck.implementations.interface import DelayedIndex, Position
from broker_tck.implementations.mutants.bucket_delivery.parts import around_cutter, around_members, around_persistence
from broker_tck.implementations.mutants.mutant import mutant

# ---- Add


@mutant("BD-04", source="apache/pulsar PR 26230", conditions=2)
class HeldThoughDue(PulsarBuckets50):
    """A message that is held is taken, due or not: the dispatcher skips it, and its segment may not be loaded."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        return self.contains_message(ledger_id, entry_id) or super().add_message(ledger_id, entry_id, deliver_at)


@mutant("BD-04", source="apache/pulsar PR 26251", conditions=2, inside=around_members)
class RefusedStaysHeld(Index):
    """A message that is refused stays in the index: it is counted for ever."""

    def refused(self, ledger: int, entry: int) -> None:
        """Leave it in."""


@mutant("BD-05", conditions=2)
class RepeatedIsQueuedAgain(PulsarBuckets50):
    """A message that is held is queued once more."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        held = self.contains_message(ledger_id, entry_id)
        taken = super().add_message(ledger_id, entry_id, deliver_at)
        if held and taken:
            self._track(ledger_id, entry_id, deliver_at)
        return taken


@mutant("BD-06", source="apache/pulsar PR 25371", conditions=2)
class LateLedgerGrows(PulsarBuckets50):
    """A ledger below the last one of the growing bucket joins it."""

    def _enqueue(self, ledger: int, entry: int, at: int, is_covered: bool) -> None:
        growing = self._growing
        if is_covered or ledger >= growing.last:
            super()._enqueue(ledger, entry, at, is_covered)
        else:
            heappush(growing.queue, (at, ledger, entry))
            growing.first = min(ledger, growing.first)


# ---- Seal


@mutant("BD-08")
class SealsOnItsLastLedger(PulsarBuckets50):
    """The growing bucket is sealed by a further message of its last ledger, too."""

    def _is_to_be_sealed(self, ledger: int) -> bool:
        return super()._is_to_be_sealed(ledger + 1)


@mutant("BD-08")
class SealsAboveTheMinimum(PulsarBuckets50):
    """The growing bucket has to hold more than the minimum, as the text of the setting says."""

    def _is_to_be_sealed(self, ledger: int) -> bool:
        return len(self._growing.queue) > self._min_index_count and super()._is_to_be_sealed(ledger)


@mutant("BD-08")
class TriggerIsSealedToo(PulsarBuckets50):
    """The message that makes the growing bucket sealed is sealed with it."""

    def _track(self, ledger: int, entry: int, at: int) -> None:
        is_covered = self._placed.get(ledger) is not None
        is_to_be_sealed = not is_covered and self._is_to_be_sealed(ledger)
        self._enqueue(ledger, entry, at, is_covered)
        if is_to_be_sealed:
            self._seal()
            if self._max_buckets > 0 and len(self._placed) > self._max_buckets:
                self._maintain()
        self._members.accepted(ledger, entry)
        self._update_timer()


@mutant("BD-07", conditions=2)
class RangeGoesOn(PulsarBuckets50):
    """The growing bucket keeps the beginning of its range when it is sealed."""

    def _seal(self) -> None:
        first = self._growing.first
        super()._seal()
        self._growing.first = first


@mutant("BD-11")
class FirstSegmentIsForgotten(PulsarBuckets50):
    """The first segment of a sealed bucket is not in memory."""

    def _build(self, indexes: Indexes, first: int, last: int) -> tuple[ImmutableBucket, Position]:
        shared = [*self._shared]
        built = super()._build(indexes, first, last)
        self._shared[:] = shared
        return built


@mutant("BD-11", conditions=2)
class AllSegmentsStayInMemory(PulsarBuckets50):
    """All segments of a sealed bucket are in memory, not just the first."""

    def _seal(self) -> None:
        queue = [*self._growing.queue]
        before = [*self._shared]
        super()._seal()
        added = {index for index in self._shared if index not in before}
        for index in queue:
            if index not in added:
                heappush(self._shared, index)


# ---- Cut


@mutant("BD-12", inside=around_cutter)
class StepIncludesItsEnd(Cutter):
    """A segment reaches from its first time to a time step later, that time included."""

    def _ends(self, segment: list[DelayedIndex], following: DelayedIndex | None, limit: int) -> bool:
        return super()._ends(segment, following, limit + 1)


@mutant("BD-12", inside=around_cutter)
class StepEndsTooSoon(Cutter):
    """The last millisecond of a time step is of the next segment."""

    def _ends(self, segment: list[DelayedIndex], following: DelayedIndex | None, limit: int) -> bool:
        return super()._ends(segment, following, limit - 1)


@mutant("BD-12", inside=around_cutter)
class StepFromTheIndexBefore(Cutter):
    """A segment goes on as long as each index is less than a time step behind the one before."""

    def _ends(self, segment: list[DelayedIndex], following: DelayedIndex | None, limit: int) -> bool:
        return super()._ends(segment, following, segment[-1][0] + self.time_step - 1)


@mutant("BD-12", source="apache/pulsar PR 19706", inside=around_cutter)
class OneIndexTooMany(Cutter):
    """A segment has one index more than the limit allows."""

    def _ends(self, segment: list[DelayedIndex], following: DelayedIndex | None, limit: int) -> bool:
        return super()._ends(segment[1:], following, limit)


@mutant("BD-13", conditions=2, inside=around_cutter)
class MinimumIsNotReset(Cutter):
    """A snapshot says of each segment that it begins where the first one does."""

    def _close(self, segment: list[DelayedIndex], pieces: Pieces) -> None:
        super()._close(segment, pieces)
        first = pieces.segments[0][0][0]
        pieces.metadata[-1] = pieces.metadata[-1]._replace(min_schedule_timestamp=first)


# ---- Store


@mutant("BD-15", inside=around_persistence)
class ThreeAttempts(Persistence):
    """What was not persisted is tried three times in all."""

    retries = 2


@mutant("BD-16", source="apache/pulsar PR 19577", conditions=2)
class LosesWhatIsNotStored(PulsarBuckets50):
    """When a bucket could not be stored, its segments behind the first are lost."""

    def _give_up(self, bucket: ImmutableBucket, tail: Position) -> None:
        bucket.unstored = ()
        super()._give_up(bucket, tail)


@mutant("BD-16", conditions=2)
class UnstoredStaysPlaced(PulsarBuckets50):
    """When a bucket could not be stored, it stays where it is, with all its segments loaded."""

    def _give_up(self, bucket: ImmutableBucket, tail: Position) -> None:
        placed = self._placed.entries()
        super()._give_up(bucket, tail)
        for span, each in placed:
            self._placed.put(span, each)


@mutant("BD-17", source="apache/pulsar PR 22802", conditions=2)
class KeyRemovedFirst(PulsarBuckets50):
    """The key of a bucket is removed before its snapshot: a crash in between leaves a snapshot that nobody knows."""

    def _delete(self, bucket: ImmutableBucket) -> Future[None]:
        number = bucket.known_number()
        removed = self._persistence.remove_key(bucket.key)
        return self._noting(bucket, removed.then_compose(lambda _: self._persistence.delete(number)))


@mutant("BD-17", source="apache/pulsar PR 19901", conditions=2, inside=around_persistence)
class KeysAtTheSameTime(Persistence):
    """Key updates do not wait for each other."""

    def _in_turn(self, call: Call[None]) -> Future[None]:
        return self._updated(call)
