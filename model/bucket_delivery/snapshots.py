"""A tracker's calls to the storage and to the cursor: which are made again, and which wait for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from broker_tck.model.bucket_delivery.stored import (
    BAD_VERSION,
    NOT_PERSISTED,
    OK,
    About,
    Bucket,
    Call,
    Durable,
    Promise,
    Range,
    Segment,
    Snapshot,
    settled,
)
from broker_tck.model.rules import Part, rule

ATTEMPTS = 4
"""Maximum number of times that a call is made."""


class KeyUpdate:
    """A change of the cursor's properties, which waits until those before it have ended."""

    def __init__(
        self, label: str, effect: Callable[[], tuple[int, Any]], done: Callable[[int], None], bucket: Bucket
    ) -> None:
        self.label = label
        self.effect = effect
        self.done = done
        self.bucket = bucket
        self.waited = False


class Snapshots(Part):
    """Writes snapshots, reads their segments, deletes them, and keeps the cursor's properties in step."""

    def __init__(self, durable: Durable) -> None:
        self.durable = durable
        self.recovering = False
        """Whether calls end at once, as those of a recovery do."""
        self.failing = 0
        """So many reads are yet to fail while that is so."""
        self.closed = False
        """Whether its tracker is: nothing is read any more."""
        self.update: KeyUpdate | None = None
        """The key update that is under way."""
        self.updates: list[KeyUpdate] = []
        """Those that wait for it."""

    # ---- Calls

    @rule("BD-15", source="ImmutableBucket, PR 19577")
    def retried(self, outcome: int, attempts: int) -> bool:
        """A call that was not persisted is made again at once, four times in all; any other failure is final."""
        return outcome == NOT_PERSISTED and attempts < ATTEMPTS

    def call(
        self,
        label: str,
        effect: Callable[[], tuple[int, Any]],
        done: Callable[[int, Any], None],
        again: Callable[[int, int], bool],
        attempts: int = 1,
    ) -> None:
        """Make a call, and make it again as long as ``again`` says so of its outcome and of how often it was made."""

        def ended(outcome: int, answer: Any) -> None:
            if again(outcome, attempts):
                self.call(label, effect, done, again, attempts + 1)
            else:
                done(outcome, answer)

        call = Call(label, effect, ended, self)
        if call.reads and self.closed:
            return
        if self.recovering and call.reads and self.failing > 0:
            self.failing -= 1
            ended(NOT_PERSISTED, None)
        elif self.recovering or self.durable.answers_at_once:
            ended(*effect())
        else:
            self.durable.calls.begin(call)

    # ---- Snapshots

    @rule("BD-13", source="the snapshot's format, PR 19706")
    def about(self, segment: Segment) -> About:
        """A snapshot says of each segment which positions it has, and its first and last time."""
        return About(segment[0][0], segment[-1][0], frozenset(index[1:] for index in segment))

    def write(self, bucket: Bucket, segments: Sequence[Segment], lost: Callable[[], None]) -> None:
        """Store a bucket's segments, then put its key; ``lost`` follows where they could not be stored."""

        def done(outcome: int, number: int) -> None:
            if outcome != OK:
                lost()
                bucket.created.settle(False)
                return
            bucket.id = number
            self.stored(bucket)

        label = f"create:{name(bucket.ledgers)}:{bucket.last}"
        self.call(label, partial(self.durable.create, Snapshot(bucket.about, segments)), done, self.retried)

    def read(self, bucket: Bucket, first: int, last: int) -> Promise:
        """Some of a bucket's segments, numbered from 1; settles with how that ended, and with them."""
        return self.read_part(f"load:{bucket.id}:{first}-{last}", bucket, lambda s: s.segments[first - 1 : last])

    def describe(self, bucket: Bucket) -> Promise:
        """What a bucket's snapshot says of its segments; settles with how that ended, and with it."""
        return self.read_part(f"load:{bucket.id}", bucket, lambda s: s.about)

    def read_part(self, label: str, bucket: Bucket, part: Callable[[Snapshot], Any]) -> Promise:
        """A part of a snapshot."""
        read = Promise()
        number = bucket.id
        self.call(label, lambda: self.durable.read(number, part), lambda *answer: read.settle(answer), self.retried)
        return read

    def delete(self, bucket: Bucket) -> Promise:
        """Delete a bucket's snapshot, then its key; settles with whether both went well. It is done once at a time."""
        if bucket.deleted is None or bucket.deleted.settled:
            bucket.deleted = self.begin_deletion(bucket)
        return bucket.deleted

    @rule(
        "BD-16",
        source="BucketDelayedDeliveryTracker, PR 19577",
        needs="calls_under_way",
        when=lambda s, bucket: bucket.id is None,
    )
    def begin_deletion(self, bucket: Bucket) -> Promise:
        """A bucket that could not be stored has no snapshot that could be deleted."""
        return settled(True) if bucket.id is None else self.delete_snapshot(bucket, bucket.id)

    @rule("BD-17", source="ImmutableBucket, PRs 19901, 22802, 26401")
    def delete_snapshot(self, bucket: Bucket, number: int) -> Promise:
        """The snapshot of a bucket is deleted before its key is removed."""
        deleted = Promise()

        def done(outcome: int, _: Any) -> None:
            if outcome == OK:
                self.remove(bucket, deleted)
            else:
                deleted.settle(False)

        self.call(f"delete:{number}", partial(self.durable.delete, number), done, self.retried)
        return deleted

    def close(self) -> None:
        """The tracker ends. What it reads comes to nothing; what it changes is changed all the same."""
        self.closed = True
        calls = self.durable.calls
        calls.waiting = [call for call in calls.waiting if not (call.reads and call.owner is self)]

    # ---- Keys

    @rule("BD-17")
    def updated_again(self, outcome: int, attempts: int) -> bool:
        """A key update that meets a bad version is made again, four times in all; one that fails otherwise is not."""
        return outcome == BAD_VERSION and attempts < ATTEMPTS

    @rule("BD-17")
    def stored(self, bucket: Bucket) -> None:
        """The key of a bucket is put once its snapshot is stored, unless the bucket was cleared."""
        if bucket.given_up:
            bucket.created.settle(True)
        else:
            self.put(bucket)

    @rule("BD-17")
    def has_key(self, bucket: Bucket) -> bool:
        """A key is removed only if it still leads to the snapshot that was deleted."""
        return self.durable.keys.get(bucket.ledgers) == bucket.id

    def put(self, bucket: Bucket) -> None:
        """Put a bucket's key. It is created then, whether or not that went well."""
        number = bucket.id
        assert number is not None

        def done(outcome: int) -> None:
            bucket.keyed = outcome == OK
            bucket.created.settle(True)

        label = f"put:{name(bucket.ledgers)}={number}"
        self.enqueue(KeyUpdate(label, partial(self.durable.put, bucket.ledgers, number), done, bucket))

    def remove(self, bucket: Bucket, deleted: Promise) -> None:
        """Remove a bucket's key."""
        label = f"remove:{name(bucket.ledgers)}"
        effect = partial(self.durable.remove, bucket.ledgers)
        self.enqueue(KeyUpdate(label, effect, lambda outcome: deleted.settle(outcome == OK), bucket))

    @rule("BD-17", when=lambda s, update: s.update is not None)
    def enqueue(self, update: KeyUpdate) -> None:
        """Key updates are made one after another."""
        if self.update is None:
            self.start(update)
        else:
            update.waited = True
            self.updates.append(update)

    def start(self, update: KeyUpdate | None) -> None:
        """Make an update, and those behind it as long as each ends at once: one after another, not nested."""
        while update is not None:
            self.update = update
            outcomes = self.make(update)
            if not outcomes:
                return
            update = self.ended(update, outcomes[0])

    def make(self, update: KeyUpdate) -> list[int]:
        """Call the cursor, unless there is nothing to remove; how that ended, if it has. If not, go on at its end."""
        if update.label.startswith("remove") and not self.has_key(update.bucket):
            return [OK]
        outcomes: list[int] = []

        def ended(outcome: int, _: Any) -> None:
            if making:
                outcomes.append(outcome)
            else:
                self.start(self.ended(update, outcome))

        making = True
        self.call(update.label, update.effect, ended, self.updated_again)
        making = False
        return outcomes

    def ended(self, update: KeyUpdate, outcome: int) -> KeyUpdate | None:
        """An update has ended; answers with the next one, if it had waited itself: else that comes first."""
        following = self.updates.pop(0) if self.updates else None
        if not update.waited or following is None:
            self.update = None
            self.start(following)
            following = None
        update.done(outcome)
        return following


@cache
def name(ledgers: Range) -> str:
    """A range as labels have it."""
    return f"{ledgers[0]}-{ledgers[1]}"
