"""A tracker, from its recovery to its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from broker_tck.model.bucket_delivery.bucket import About, Bucket, Range, Segment
from broker_tck.model.bucket_delivery.durable import MISSING, NOT_PERSISTED, OK, UNREADABLE
from broker_tck.model.bucket_delivery.maintaining import Maintaining
from broker_tck.model.bucket_delivery.promise import settled
from broker_tck.model.bucket_delivery.ranges import Piece, piece_of
from broker_tck.model.reference import Fault
from broker_tck.model.rules import rule

FAULTS = {
    NOT_PERSISTED: "BucketSnapshotPersistenceException",
    MISSING: "BucketNotExistException",
    UNREADABLE: "InvalidSnapshotException",
}
"""What a recovery raises, by why a bucket could not be read."""


class Tracker(Maintaining):
    """Recovers buckets from the keys of the cursor. What it calls ends at once."""

    def recover(self, keys: Sequence[Range], failing: int) -> None:
        """Take over what the keys lead to; so many reads fail at first. Fault where a bucket cannot be read."""
        snapshots = self.snapshots
        snapshots.recovering, snapshots.failing = True, failing
        useless = self.place_all(keys)
        read = {piece: self.read_remains(piece.bucket) for piece in self.placed.pieces}
        self.raise_failures(read)
        for piece in self.useless(useless + self.take_over(read)):
            self.placed.discard(piece.low, piece.high)
            self.delete(piece.bucket)
        self.held.recovered(self.placed.buckets())
        snapshots.recovering = False

    def useless(self, pieces: list[Piece]) -> Iterable[Piece]:
        """Those that are deleted, of what is of no use."""
        return pieces

    # ---- Which buckets

    def place_all(self, keys: Sequence[Range]) -> list[Piece]:
        """Place the buckets of all keys that need a place; answers with those that are of no use any more."""
        useless: list[Piece] = []
        for ledgers in self.in_order(keys):
            bucket = Bucket(ledgers)
            bucket.id = self.durable.keys[ledgers]
            bucket.keyed = bucket.was_recovered = True
            bucket.created = settled(True)
            useless += self.place_recovered(bucket)
        return useless

    @rule("BD-34", source="BucketDelayedDeliveryTracker, PR 25990")
    def in_order(self, keys: Sequence[Range]) -> Sequence[Range]:
        """Of recovered buckets whose ranges meet, the one that begins first is placed, or the longer one; the others
        are deleted. The order of the keys does not matter.
        """
        return sorted(keys, key=lambda ledgers: (ledgers[0], -ledgers[1]))

    @rule("BD-34", when=lambda t, bucket: bool(t.placed.meeting(bucket.ledgers)))
    def place_recovered(self, bucket: Bucket) -> list[Piece]:
        """Place a bucket, if it does not meet another one; answers with what is of no use any more."""
        if self.placed.meeting(bucket.ledgers):
            return [piece_of(bucket)]
        self.placed.put(bucket)
        return []

    # ---- What is left of each

    def read_remains(self, bucket: Bucket) -> tuple[int, Segment]:
        """Read what a bucket has left; answers how that ended, and with the segment that is loaded."""
        outcome, about = self.snapshots.describe(bucket).outcome
        if outcome != OK:
            return outcome, []
        bucket.about = about
        bucket.current = self.first_segment(about)
        bucket.held = bucket.held_behind(bucket.current - 1)
        bucket.size = len(bucket.held)
        if not bucket.held:
            return OK, []
        outcome, loaded = self.snapshots.read(bucket, bucket.current, bucket.current).outcome
        return outcome, loaded[0] if outcome == OK else []

    @rule("BD-39", source="ImmutableBucket")
    def first_segment(self, about: Sequence[About]) -> int:
        """A recovery skips the leading segments all of whose messages are due: these are read again by the dispatcher.
        Of a bucket with nothing else, nothing is left.
        """
        return 1 + sum(each.last_time <= self.cutoff() for each in about)

    @rule("BD-36", source="BucketDelayedDeliveryTracker")
    def fails_recovery(self, outcome: int) -> bool:
        """A bucket whose snapshot is not there, or cannot be read, is dropped, and its key removed."""
        return outcome == NOT_PERSISTED

    @rule(
        "BD-35",
        source="BucketDelayedDeliveryTracker, PR 22735",
        when=lambda t, read: any(outcome == NOT_PERSISTED for outcome, _ in read.values()),
    )
    def raise_failures(self, read: dict[Piece, tuple[int, Segment]]) -> None:
        """A recovery that cannot read a snapshot, which may be there, fails as a whole and deletes nothing."""
        for piece in self.listed(read):
            outcome, _ = read[piece]
            if outcome != OK and self.fails_recovery(outcome):
                raise Fault(FAULTS[outcome])

    def listed(self, pieces: Iterable[Piece]) -> Iterable[Piece]:
        """The order in which recovered buckets are gone through."""
        return pieces

    @rule("BD-32", source="BucketDelayedDeliveryTracker, PR 26053", when=lambda t: True)
    def close(self) -> bool:
        """A close cancels the timer and stores nothing. It has ended when all calls that change something have; what is
        read comes to nothing.
        """
        self.timer.close()
        self.snapshots.close()
        self.left = [*self.placed.buckets()]
        return self.has_closed()

    @rule("BD-32")
    def has_closed(self) -> bool:
        """Whether nothing is under way that changes what is durable."""
        return not any(call.owner is self.snapshots for call in self.durable.calls.waiting)

    @rule("BD-37", source="BucketDelayedDeliveryTracker", when=lambda t, read: bool(read))
    def take_over(self, read: dict[Piece, tuple[int, Segment]]) -> list[Piece]:
        """Of each recovered bucket one segment is loaded, and what is in it and behind it is held, wherever the cursor
        stands.
        """
        useless: list[Piece] = []
        for piece in self.listed(read):
            if segment := read[piece][1]:
                self.load_into_memory(piece.bucket, segment)
            else:
                useless.append(piece)
        return useless
