"""Known mistakes of a bucket tracker that take more than a clause: what is held, sealed and handed out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Range, Segment
from broker_tck.model.bucket_delivery.durable import OK
from broker_tck.model.bucket_delivery.index import Held
from broker_tck.model.bucket_delivery.promise import Promise
from broker_tck.model.bucket_delivery.snapshots import Snapshots, name
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.properties.mistakes.book import mistake

# ---- What is held


@mistake("BD-05", "a repeated add is counted again")
class CountedAgain(Held):
    """Each add that was accepted is counted."""

    def __init__(self) -> None:
        super().__init__()
        self.again = 0

    def repeated(self, position: tuple[int, int], over: Bucket | None) -> bool:
        """Count it."""
        repeated = super().repeated(position, over)
        self.again += repeated
        return repeated

    def count(self) -> int:
        """One more for each repeated add."""
        return super().count() + self.again


@mistake("BD-42", "a repeated add brings the timer up to date")
class TimerAtRepeated(Tracker):
    """Whatever is accepted has the timer updated."""

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Update once more."""
        accepted = super().add(ledger, entry, at)
        if accepted:
            self.update_timer()
        return accepted


@mistake("BD-42", "a refusal brings the timer up to date")
class TimerAtRefusal(Tracker):
    """A message that is not held any more has the timer updated."""

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Update where it was refused."""
        accepted = super().add(ledger, entry, at)
        if not accepted:
            self.update_timer()
        return accepted


@mistake("DD-27", "a new tick brings the timer up to date")
class TimerAtTick(Tracker):
    """The tick changes what the timer waits for."""

    def reset_tick(self, tick: int) -> None:
        """Update the timer."""
        super().reset_tick(tick)
        self.update_timer()


# ---- Sealing


@mistake(
    "BD-08",
    "the message that makes it sealed is sealed with it",
    "Your tracker seals the message along that has the bucket sealed; it belongs to the next.",
)
class SealsWithTrigger(Tracker):
    """It is added first."""

    def take(self, index: Index) -> None:
        """Add, then seal."""
        covered = self.placed.over(index[1]) is not None
        if self.mutable.seals(index[1], covered):
            self.mutable.add(index)
            self.seal()
        else:
            super().take(index)


@mistake(
    "BD-11",
    "the first segment is not in memory",
    "Your tracker has the first segment of a sealed bucket not in memory; it has to be loaded.",
)
class FirstNotLoaded(Tracker):
    """Only its boundary is known."""

    def load_into_memory(self, bucket: Bucket, segment: Segment) -> None:
        """Load what is behind the first segment."""
        if bucket.current > 1 or bucket.was_recovered:
            super().load_into_memory(bucket, segment)
        else:
            self.tails[self.boundary(segment[-1])] = bucket


@mistake(
    "BD-11",
    "all segments stay in memory",
    "Your tracker keeps all segments of a sealed bucket in memory; only the first is loaded.",
)
class AllLoaded(Tracker):
    """What was cut is also kept."""

    def place(self, ledgers: Range, segments: Sequence[Segment]) -> Bucket:
        """Share the others too."""
        bucket = super().place(ledgers, segments)
        self.share_all(segments[1:])
        return bucket


@mistake(
    "BD-11",
    "nothing lies over its range until it is stored",
    "A sealed bucket of your tracker lies over its range only when it is stored; it has to from the seal on.",
)
class PlacedWhenStored(Tracker):
    """A bucket is placed as soon as its creation has settled."""

    def place(self, ledgers: Range, segments: Sequence[Segment]) -> Bucket:
        """Take it away until then."""
        bucket = super().place(ledgers, segments)
        if not bucket.created.settled:
            self.placed.remove(bucket)
            bucket.created.then(lambda stored: self.placed.put(bucket) if stored else None)
        return bucket


@mistake(
    "BD-16",
    "the segments behind the first are lost",
    "Your tracker loses the messages behind the first segment of a bucket that could not be stored.",
)
class LosesSegments(Tracker):
    """Only what was in memory stays there."""

    def not_stored(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """Share nothing."""
        super().not_stored(bucket, segments[:1])


@mistake(
    "BD-16",
    "the bucket stays placed",
    "A bucket that your tracker could not store stays placed; its messages are kept in no bucket.",
)
class StaysPlaced(Tracker):
    """What could not be stored is taken for a bucket with nothing left to load."""

    def not_stored(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """Keep it."""
        bucket.current = bucket.last
        self.share_all(segments[1:])


@mistake(
    "BD-17",
    "the key is removed before the snapshot is deleted",
    "Your tracker removes the key of a bucket before its snapshot is deleted; the key goes last.",
)
class KeyFirst(Snapshots):
    """A crash between both leaves a snapshot that nobody knows."""

    def begin_deletion(self, bucket: Bucket) -> Promise:
        """Remove, then delete."""
        number = self.number_of(bucket)
        if number is None:
            return super().begin_deletion(bucket)
        removed, deleted = Promise(), Promise()

        def delete(_: bool) -> None:
            effect = partial(self.durable.delete, number)
            self.call(f"delete:{number}", effect, lambda outcome, _: deleted.settle(outcome == OK), self.retried)

        self.remove(bucket, removed)
        removed.then(delete)
        return deleted


@mistake(
    "BD-17",
    "the key is put before the snapshot is stored",
    "Your tracker puts the key of a bucket before its snapshot is stored.",
)
class KeyBeforeSnapshot(Snapshots):
    """The number is guessed."""

    def write(self, bucket: Bucket, segments: Sequence[Segment], lost: Callable[[], None]) -> None:
        """Put, then create."""
        guessed = self.durable.made + 1
        label = f"put:{name(bucket.ledgers)}={guessed}"
        self.call(label, partial(self.durable.put, bucket.ledgers, guessed), lambda *_: None, self.updated_again)
        super().write(bucket, segments, lost)


@mistake("BD-17", "keys are updated side by side", "Your tracker updates keys side by side; one comes after another.")
class SideBySide(Snapshots):
    """No update waits for another."""

    def enqueue(self, update: Any) -> None:
        """Start it."""
        self.update = None
        self.start(update)


# ---- Handing out and loading


@mistake("BD-19", "what is dropped costs as much as what is handed out")
class DroppedCosts(Tracker):
    """The budget is of indexes, not of messages."""

    def given(self, most: int) -> list[tuple[int, int]]:
        """Take one index after another."""
        given: list[tuple[int, int]] = []
        for _ in range(most):
            before = len(self.shared)
            given += self.one_of_all()
            if len(self.shared) == before:
                break
        return given

    def one_of_all(self) -> list[tuple[int, int]]:
        """Let one index come out."""
        kept, self.shared = self.shared, self.shared[:1]
        given = super().given(1)
        came_out = not self.shared or self.shared[0] is not kept[0]
        loaded = [index for index in self.shared if index is not kept[0]]
        self.shared = sorted([*(kept[1:] if came_out else kept), *loaded])
        return given


@mistake(
    "BD-20",
    "a failed load has its boundary forgotten",
    "Your tracker forgets where a segment ends whose load failed; it has to ask for it again.",
)
class ForgetsBoundary(Tracker):
    """Nobody asks for the segment once more."""

    def not_loaded(self, bucket: Bucket, outcome: int) -> None:
        """Forget it."""
        super().not_loaded(bucket, outcome)
        self.tails = {boundary: there for boundary, there in self.tails.items() if there is not bucket}


@mistake(
    "BD-20",
    "a segment that cannot be loaded is skipped",
    "Your tracker skips a segment that cannot be loaded; it has to ask for it again.",
)
class SkipsSegment(Tracker):
    """The next one is asked for."""

    def not_loaded(self, bucket: Bucket, outcome: int) -> None:
        """Go on behind it."""
        super().not_loaded(bucket, outcome)
        bucket.current = min(bucket.current + 1, bucket.last)


@mistake("BD-20", "a missing snapshot is asked for again and again")
class AsksForMissing(Tracker):
    """Nothing is ever given up."""

    def not_loaded(self, bucket: Bucket, outcome: int) -> None:
        """Keep the boundary."""


@mistake("BD-20", "the end of a load fires nothing")
class LoadFiresNothing(Tracker):
    """The dispatcher is not told."""

    def was_waited_for(self, load: Promise) -> bool:
        """No."""
        return False


@mistake(
    "BD-21",
    "a bucket is deleted as soon as its last segment is loaded",
    "Your tracker deletes a bucket as soon as its last segment is loaded; its last message has to be due.",
)
class DeletedAtLastLoad(Tracker):
    """What is in memory is all that is left."""

    def loaded(self, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
        """Delete it, if that was the last."""
        there = self.placed.has(bucket)
        super().loaded(bucket, index, segments)
        if there and segments and bucket.unloaded == 0:
            self.used_up(bucket)


@mistake("BD-29", "where orphans end, the next segment is not loaded")
class EndsWithOrphans(Tracker):
    """Orphans leave the queue whatever comes behind them."""

    def ending(self, index: Index, orphan: bool) -> Bucket | None:
        """None for an orphan."""
        return None if orphan else super().ending(index, orphan)


@mistake("BD-46", "a late load takes the boundary that is there now")
class LateLoad(Tracker):
    """Nobody asks whose boundary it is."""

    def loaded(self, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
        """Load whatever comes."""
        if self.placed.has(bucket):
            super().loaded(bucket, index, segments)
            return
        self.tails.pop(self.boundary(index), None)
        if segments:
            bucket.current += 1
            self.load_into_memory(bucket, segments[0])
