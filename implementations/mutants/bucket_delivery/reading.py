"""Mutants that go wrong later: what is handed out, loaded, merged, trimmed, cleared and recovered."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.bucket_delivery.pulsar_5_0 import PulsarBuckets50
from broker_tck.implementations.bucket_delivery.pulsar_bucket import BitsByRange, ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, completed
from broker_tck.implementations.bucket_delivery.pulsar_members import Index
from broker_tck.implementations.bucket_delivery.pulsar_merging import Buckets
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Segments
from broker_tck.implementations.bucket_delivery.pulsar_ranges import Range
from broker_tck.implementations.interface import (
    BucketNotExistException,
    DelayedIndex,
    Done,
    IllegalArgumentException,
    Position,
)
from broker_tck.implementations.mutants.bucket_delivery.parts import around_members
from broker_tck.implementations.mutants.mutant import mutant

# ---- Hand out


@mutant("BD-10")
class PausesWhereAllIsHeld(PulsarBuckets50):
    """Deliveries pause while something is held and nothing is due, as with the tracker in memory."""

    def should_pause_all_deliveries(self) -> bool:
        """Whether the dispatcher is to stop reading."""
        return self._members.count() > 0 and not self.has_message_available()


@mutant("BD-18")
class GrowingIsNotAsked(PulsarBuckets50):
    """A message is available if one is due in the shared queue, whatever the growing bucket holds."""

    def has_message_available(self) -> bool:
        """Whether one is due."""
        if self._shared or not self._growing.queue:
            return super().has_message_available()
        self._update_timer()
        return False


@mutant("BD-18", source="apache/pulsar PR 26080", conditions=3)
class EmptyQueuesRaise(PulsarBuckets50):
    """Where something is held and nothing is in memory, whoever asks whether it is available gets an error."""

    def has_message_available(self) -> bool:
        """Whether one is due."""
        if self._members.count() > 0 and not self._shared and not self._growing.queue:
            raise IllegalArgumentException("no message is queued")
        return super().has_message_available()


@mutant("BD-19", source="apache/pulsar PR 26251", conditions=3, inside=around_members)
class PoppedIsHandedOut(Index):
    """What comes to the head of the queue is handed out, held or not."""

    def popped(self, ledger: int, entry: int) -> bool:
        """Take it out."""
        super().popped(ledger, entry)
        return True


@mutant("BD-22", source="apache/pulsar PR 25984")
class NothingIsOrphaned(PulsarBuckets50):
    """Nobody looks at the mark-delete position."""

    def _first_live(self) -> int:
        return -1


# ---- Load


@mutant("BD-20", source="apache/pulsar PR 19577", conditions=2)
class FailedLoadSkips(PulsarBuckets50):
    """A segment that could not be loaded counts as loaded: the next one is asked for."""

    def _load_next(self, bucket: ImmutableBucket, position: Position) -> Future[None]:
        segment = bucket.loaded + 1

        def ended(error: Exception | None) -> None:
            if error is not None:
                bucket.loaded = segment

        return super()._load_next(bucket, position).when_complete(ended)


@mutant("BD-20", conditions=2)
class FailedLoadForgetsTheTail(PulsarBuckets50):
    """Where a segment could not be loaded, nobody asks for it again."""

    def _load_next(self, bucket: ImmutableBucket, position: Position) -> Future[None]:
        def ended(error: Exception | None) -> None:
            if error is not None:
                self._tails.pop(position, None)

        return super()._load_next(bucket, position).when_complete(ended)


@mutant("BD-21", conditions=2)
class DeletedOnceLoaded(PulsarBuckets50):
    """A bucket is deleted as soon as its last segment is loaded: a crash loses it from the index."""

    def _end_of_load(self, bucket: ImmutableBucket, position: Position, indexes: Sequence[DelayedIndex] | None) -> None:
        super()._end_of_load(bucket, position, indexes)
        if indexes and bucket.loaded == bucket.segments:
            self._placed.remove(bucket.span)
            self._delete(bucket)


# ---- Merge


@mutant("BD-26")
class MergesAtTheLimit(PulsarBuckets50):
    """As many buckets as the limit allows are too many."""

    def _seal(self) -> None:
        super()._seal()
        if 0 < self._max_buckets == len(self._placed):
            self._maintain()

    def _merge_if_too_many(self) -> Future[None]:
        return self._merge() if len(self._placed) >= self._max_buckets else completed(None)


@mutant("BD-27", conditions=3, deep=True)
class FewestAlone(PulsarBuckets50):
    """Of the windows with the fewest messages the last one is merged, whatever their next time."""

    def _chosen(self, buckets: Buckets, width: int) -> Buckets:
        chosen: Buckets = ()
        for i in range(len(buckets) - width + 1):
            window = buckets[i : i + width]
            if all(bucket.segments > bucket.loaded and not bucket.merging for bucket in window) and (
                not chosen or sum(map(self._size, window)) <= sum(map(self._size, chosen))
            ):
                chosen = window
        return chosen if chosen or width == 2 else self._chosen(buckets, width - 1)


@mutant("BD-27", source="apache/pulsar PR 26242", conditions=2)
class TimeOfTheSegmentAfterNext(PulsarBuckets50):
    """The time of the segment after the next decides; where a bucket has none, nothing is merged."""

    def _next_time_of(self, bucket: ImmutableBucket) -> int:
        return bucket.first_times[bucket.loaded + 1]


@mutant("BD-27", conditions=2, deep=True)
class PairsAreMerged(PulsarBuckets50):
    """Two buckets are merged, however many there are."""

    def _choose(self, buckets: Buckets, width: int) -> Buckets:
        return super()._choose(buckets, 2)


@mutant("BD-28", source="apache/pulsar PR 26251", conditions=2, deep=True)
class MergesWhatIsLeft(PulsarBuckets50):
    """A merge reads only what is not loaded: the rest is in no snapshot any more."""

    def _read(self, bucket: ImmutableBucket) -> Future[Segments]:
        return bucket.read_from(bucket.loaded + 1)


# ---- Trim


@mutant("BD-30", source="apache/pulsar PR 26240", conditions=2)
class TrimsWhatReachesOver(PulsarBuckets50):
    """A bucket is trimmed whole as soon as its first ledger is acknowledged."""

    def _trim(self) -> Future[None]:
        first_live = self._first_live()
        victims = {span: bucket for span, bucket in self._placed.entries() if span.lower[0] < first_live}
        return self._trim_all(victims)


@mutant("BD-30", conditions=2)
class TrimsTheMarkDeletedLedger(PulsarBuckets50):
    """A bucket that ends in the mark-delete position's ledger is trimmed, too."""

    def _trim(self) -> Future[None]:
        first_live = self._first_live()
        victims = {span: bucket for span, bucket in self._placed.entries() if span.upper[0] <= first_live}
        return self._trim_all(victims)


@mutant("BD-30", conditions=3)
class TrimmedStaysHeld(PulsarBuckets50):
    """What was trimmed stays in the index."""

    def _trimmed(self, span: Range, bucket: ImmutableBucket) -> None:
        bits, bucket.bits = bucket.bits, BitsByRange()
        super()._trimmed(span, bucket)
        bucket.bits = bits


# ---- Clear


@mutant("BD-31", source="apache/pulsar PR 25984", conditions=3, deep=True)
class ClearWaitsForNothing(PulsarBuckets50):
    """A clear waits for a merge, and not for the load and the deletions that are under way."""

    def _all_under_way(self) -> Future[None]:
        return completed(None)


@mutant("BD-31", source="apache/pulsar PR 19801")
class ClearForgetsTheGrowing(PulsarBuckets50):
    """A clear leaves what the growing bucket has."""

    def _empty(self) -> None:
        self._shared.clear()
        self._tails.clear()
        self._members.cleared()


@mutant("BD-32", source="apache/pulsar PR 26053", conditions=2)
class CloseThatWaitsNeverEnds(PulsarBuckets50):
    """A close that has to wait for a snapshot never tells that it has ended."""

    def close(self, done: Done[None]) -> None:
        """End."""
        told: list[object] = []
        super().close(told.append)
        if told:
            done(None)


# ---- Recover


@mutant("BD-36", conditions=3)
class MissingSnapshotFails(PulsarBuckets50):
    """A key without a snapshot fails every recovery."""

    def _read_recovered(self, bucket: ImmutableBucket) -> Future[Sequence[DelayedIndex] | None]:
        return bucket.recover(self._cutoff)


@mutant("BD-39", conditions=2)
class DueAtTheCutoffIsRecovered(PulsarBuckets50):
    """A segment whose last time is the cut-off is recovered, not skipped."""

    def _read_recovered(self, bucket: ImmutableBucket) -> Future[Sequence[DelayedIndex] | None]:
        read = bucket.recover(lambda: self._cutoff() - 1)
        return completed(None) if isinstance(read.error, BucketNotExistException) else read
