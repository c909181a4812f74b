"""Known mistakes of trims, merges, clears, recoveries and closes that take more than a clause."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.model.bucket_delivery.bucket import Bucket, Segment
from broker_tck.model.bucket_delivery.durable import NOT_PERSISTED
from broker_tck.model.bucket_delivery.promise import Promise
from broker_tck.model.bucket_delivery.ranges import Piece
from broker_tck.model.bucket_delivery.selection import Selection
from broker_tck.model.bucket_delivery.timer import Timer
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.model.reference import Fault
from broker_tck.properties.mistakes.book import mistake


@mistake(
    "BD-27",
    "the fewest messages decide, whatever the next time",
    "Your tracker merges by the fewest messages alone; the next time decides as well.",
)
class FewestAlone(Selection):
    """Of two windows the later one with no more messages is chosen."""

    def best(self, windows: Sequence[Sequence[Bucket]]) -> Sequence[Bucket]:
        """The last of those with the fewest."""
        eligible = [window for window in windows if all(map(self.is_eligible, window))]
        return min(reversed(eligible), key=lambda window: sum(bucket.size for bucket in window), default=[])


@mistake("BD-27", "a bucket with nothing left to load is merged as well")
class MergesLoaded(Selection):
    """Its last segment stands for the next one."""

    def is_eligible(self, bucket: Bucket) -> bool:
        """Any bucket is."""
        return True

    def next_time(self, bucket: Bucket) -> int:
        """The first time of the next segment, or of the last one."""
        return super().next_time(bucket) if bucket.unloaded else bucket.about[-1].first_time


@mistake(
    "BD-28",
    "the sources are deleted before the merged bucket is stored",
    "Your tracker deletes buckets before the one merged of them is stored.",
)
class SourcesFirst(Tracker):
    """A crash leaves neither."""

    def commit(self, sources: Sequence[Bucket], answers: list[tuple[int, list[Segment]]], chain: Promise) -> None:
        """Delete them as soon as the merged bucket is placed."""
        super().commit(sources, answers, chain)
        if not any(map(self.placed.has, sources)):
            for source in sources:
                self.delete(source)


@mistake("BD-28", "a segment in memory is not shared once more")
class NotSharedAgain(Tracker):
    """What the merged bucket has loaded is there already, it is believed."""

    def commit(self, sources: Sequence[Bucket], answers: list[tuple[int, list[Segment]]], chain: Promise) -> None:
        """Leave the queue as it was."""
        shared = [*self.shared]
        super().commit(sources, answers, chain)
        if not any(map(self.placed.has, sources)):
            self.shared = shared


@mistake("BD-30", "what is trimmed stays held", "Your tracker goes on holding messages of a bucket that it trimmed.")
class TrimmedStaysHeld(Tracker):
    """The bucket goes, and what it held is still counted."""

    def trimmed(self, victim: Piece) -> None:
        """Take the bucket away alone."""
        if self.placed.has(victim.bucket):
            self.take_away(victim.bucket)


@mistake(
    "BD-31", "what the growing bucket holds is kept", "A clear leaves what the growing bucket of your tracker holds."
)
class KeepsGrowing(Tracker):
    """Only buckets and queue are emptied."""

    def empty_memory(self) -> None:
        """Keep its indexes."""
        ledgers, queue = self.mutable.ledgers, self.mutable.queue
        super().empty_memory()
        self.mutable.ledgers, self.mutable.queue = ledgers, queue


@mistake("BD-31", "the growing bucket keeps its range")
class KeepsRange(Tracker):
    """Its indexes go, and where it lies does not."""

    def empty_memory(self) -> None:
        """Keep its range."""
        ledgers = self.mutable.ledgers
        super().empty_memory()
        self.mutable.ledgers = ledgers


@mistake("BD-31", "a load under way is waited for")
class WaitsForLoad(Tracker):
    """A get hands nothing out before that has ended."""

    def clear(self) -> None:
        """Keep the load."""
        load = self.load
        super().clear()
        self.load = load


@mistake("BD-31", "snapshots that are being stored are forgotten")
class ForgetsUnstored(Tracker):
    """Only what is stored is deleted."""

    def delete_when_created(self, bucket: Bucket) -> Promise:
        """Delete it, if it is stored."""
        return super().delete_when_created(bucket) if bucket.created.settled else Promise()


@mistake("BD-31", "the timer is disarmed")
class DisarmsTimer(Tracker):
    """Nothing is held, so nothing is waited for."""

    def clear(self) -> None:
        """Update the timer."""
        super().clear()
        self.update_timer()


@mistake("DD-24", "timeouts fire when the clock stands still again")
class FiresAtRest(Timer):
    """A step of the clock passes as a whole."""

    def advance(self, ms: int) -> list[int]:
        """Move the clock, then let fire what is due."""
        self.now += ms
        return super().advance(0)


@mistake(
    "BD-32",
    "the growing bucket is sealed",
    "Your tracker stores its growing bucket when it is closed; it has to store nothing.",
)
class SealsAtClose(Tracker):
    """What is in memory alone is stored as well."""

    def close(self) -> bool:
        """Seal, then close."""
        self.seal()
        return super().close()


@mistake(
    "BD-35",
    "the buckets that could not be read are deleted",
    "Your tracker deletes a bucket that a recovery could not read, though its snapshot may be there.",
)
class DeletesUnread(Tracker):
    """A failed recovery cleans up."""

    def raise_failures(self, read: dict[Piece, tuple[int, Segment]]) -> None:
        """Delete them before the failure is raised."""
        try:
            super().raise_failures(read)
        except Fault:
            for piece, (outcome, _) in read.items():
                if outcome == NOT_PERSISTED:
                    self.delete(piece.bucket)
            raise


@mistake("BD-37", "what was skipped is held as well")
class HoldsSkipped(Tracker):
    """All positions of a snapshot are held."""

    def take_over(self, read: dict[Piece, tuple[int, Segment]]) -> list[Piece]:
        """Hold them all."""
        useless = super().take_over(read)
        for piece in read:
            piece.bucket.held = piece.bucket.held_behind(0)
        return useless


@mistake("BD-37", "messages below the mark-delete position are left out")
class LeavesOrphansOut(Tracker):
    """The cursor filters what is recovered."""

    def take_over(self, read: dict[Piece, tuple[int, Segment]]) -> list[Piece]:
        """Hold what is alive."""
        useless = super().take_over(read)
        for piece in read:
            piece.bucket.held = {p for p in piece.bucket.held if not self.is_orphan(p[0])}
        return useless
