"""What is stored: buckets cut into segments, the cursor's properties, and a tracker's calls that change both.

A flow is an ``async`` method: it waits for the outcomes of calls, and of other flows. Calls end when an operation ends
them. While a tracker recovers, they end at once.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, NamedTuple

from broker_tck.model.parts.calls import CallsUnderWay
from broker_tck.model.reference import Allowed
from broker_tck.model.rules import Part, rule

# ---- What is to come


PUT_OFF: ContextVar[list[Callable[[], None]] | None] = ContextVar("PUT_OFF", default=None)
"""Where :func:`putting_off` puts those who wait for a promise that is settled; None: they go on at once."""


@contextmanager
def putting_off(left: list[Callable[[], None]]) -> Iterator[None]:
    """Within this, those who wait for a promise do not go on when it is settled: they are added to a list."""
    before = PUT_OFF.set(left)
    try:
        yield
    finally:
        PUT_OFF.reset(before)


class Promise:
    """An outcome that is not there yet. Those who wait for it go on in the order in which they came."""

    __slots__ = "outcome", "settled", "waiting"

    def __init__(self) -> None:
        self.settled = False
        self.outcome: Any = None
        self.waiting: list[Callable[[Any], None]] = []

    def settle(self, outcome: Any) -> None:
        """The outcome is there."""
        self.settled, self.outcome = True, outcome
        waiting, self.waiting = self.waiting, []
        left = PUT_OFF.get()
        for told in waiting:
            if left is None:
                told(outcome)
            else:
                left.append(partial(told, outcome))

    def then(self, told: Callable[[Any], None]) -> None:
        """Tell somebody the outcome, at once if it is there."""
        if self.settled:
            told(self.outcome)
        else:
            self.waiting.append(told)

    def __await__(self) -> Generator[Promise, None, Any]:
        if not self.settled:
            yield self
        return self.outcome


def settled(outcome: Any) -> Promise:
    """An outcome that is there."""
    promise = Promise()
    promise.settle(outcome)
    return promise


def started(flow: Coroutine[Promise, None, Any]) -> Promise:
    """Run a flow until it waits, and on from there; settles with what it returns."""
    ended = Promise()
    go_on(flow, ended)
    return ended


def go_on(flow: Coroutine[Promise, None, Any], ended: Promise, _: Any = None) -> None:
    """Run a flow on until it waits once more."""
    try:
        awaited = flow.send(None)
    except StopIteration as end:
        ended.settle(end.value)
    else:
        awaited.then(partial(go_on, flow, ended))


def all_of(promises: Sequence[Promise]) -> Promise:
    """The outcomes of all, in a list, when the last one is there."""
    whole = Promise()
    left = len(promises)

    def one_more(_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            whole.settle([promise.outcome for promise in promises])

    for promise in promises:
        promise.then(one_more)
    return whole if promises else settled([])


# ---- Buckets

Position = tuple[int, int]
"""Ledger and entry."""
Index = tuple[int, int, int]
"""When to deliver, ledger, and entry: sorted in this order."""
Segment = Sequence[Index]
Range = tuple[int, int]
"""The first and the last ledger."""


class About(NamedTuple):
    """What a snapshot says of a segment, so that it need not be read."""

    first_time: int
    last_time: int
    positions: frozenset[Position]


class Snapshot(NamedTuple):
    """A bucket as it is stored."""

    about: Sequence[About]
    segments: Sequence[Segment]


class Bucket:
    """A sealed bucket. Of its segments, one is loaded; those behind it are in the storage alone."""

    def __init__(self, ledgers: Range, sources: Sequence[Bucket] = ()) -> None:
        self.ledgers = ledgers
        self.sources = sources
        """The buckets that it was merged of."""
        self.about: Sequence[About] = []
        """What is known of each segment."""
        self.size = 0
        """Number of indexes that it had when it was made."""
        self.current = 1
        """The number of the segment that was loaded last, counted from 1."""
        self.held: set[Position] = set()
        """The positions that it had when it was made."""
        self.created = Promise()
        """Settles when the key was put, or could not be: with whether the snapshot is stored."""
        self.id: int | None = None
        """The number of its snapshot; None: there is none yet."""
        self.keyed = False
        """Whether its key was put."""
        self.merging = False
        self.was_recovered = False
        self.given_up = False
        """Whether it was cleared, so that its snapshot is of no use."""
        self.deleted: Promise | None = None
        """The deletion of its snapshot and key, once that has begun; settles with whether it went well."""

    @property
    def last(self) -> int:
        """The number of its last segment."""
        return len(self.about)

    @property
    def unloaded(self) -> int:
        """How many segments were not loaded yet."""
        return self.last - self.current

    def held_behind(self, segment: int) -> set[Position]:
        """The positions in segments behind one, which is named by its number."""
        return {position for about in self.about[segment:] for position in about.positions}


# ---- What outlives a tracker

OK, NOT_PERSISTED, BAD_VERSION, MISSING, UNREADABLE = range(5)
"""How a call ends: well; not persisted; the version has changed; the snapshot is missing; it cannot be read."""
Answer = tuple[int, Any]
"""How a call ended, and with what."""
Effect = Callable[[], Answer]
"""What a call does to what is durable."""


class Call:
    """A call that waits for its end."""

    def __init__(self, label: str, effect: Effect, owner: object) -> None:
        self.label = label
        self.effect = effect
        self.owner = owner
        """Whoever made it."""
        self.ended = Promise()
        """Settles with its :data:`Answer`."""

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.label.startswith("load")

    @property
    def updates_key(self) -> bool:
        """Whether it changes a property of the cursor."""
        return self.label.startswith(("put", "remove"))


class Durable:
    """Snapshots, the properties of a cursor, and calls under way."""

    def __init__(self) -> None:
        self.snapshots: dict[int, Snapshot] = {}
        self.unreadable: set[int] = set()
        self.made = 0
        """Number of ids that were given."""
        self.keys: dict[Range, int] = {}
        """The snapshot of each range, by its number."""
        self.first_live: int | None = None
        """The ledger of the cursor's mark-delete position."""
        self.calls: CallsUnderWay[Call] = CallsUnderWay()
        self.answers_at_once = False
        """Whether calls take effect and end as they are made."""
        self.looked = 0
        """How many calls had been made at the last look."""

    def labels(self) -> list[str] | Allowed:
        """What waits to be ended, as it was made. Of calls that were made since the last look, the order is free."""
        waiting = self.calls.waiting
        labels = [call.label for call in waiting]
        old = len(waiting) - (self.calls.begun - self.looked)
        self.looked = self.calls.begun
        if len(waiting) < old + 2:
            return labels
        old = max(old, 0)

        def permits(seen: list[str]) -> bool:
            return seen[:old] == labels[:old] and sorted(seen) == sorted(labels)

        def follow(seen: list[str]) -> None:
            new = waiting[old:]
            waiting[old:] = [new.pop([call.label for call in new].index(label)) for label in seen[old:]]

        return Allowed(permits, follow, labels, f"{labels[:old]}, then in any order {labels[old:]}")

    # ---- What calls do

    def create(self, snapshot: Snapshot) -> Answer:
        """Store a snapshot under a new number."""
        self.made += 1
        self.snapshots[self.made] = snapshot
        return OK, self.made

    def read(self, number: int | None, part: Callable[[Snapshot], Any]) -> Answer:
        """Read a part of a snapshot."""
        if number not in self.snapshots:
            return MISSING, None
        if number in self.unreadable:
            return UNREADABLE, None
        return OK, part(self.snapshots[number])

    def delete(self, number: int) -> Answer:
        """Delete a snapshot. A missing one counts as deleted."""
        self.snapshots.pop(number, None)
        return OK, None

    def put(self, ledgers: Range, number: int) -> Answer:
        """Write down which snapshot is of a range."""
        self.keys[ledgers] = number
        return OK, None

    def remove(self, ledgers: Range) -> Answer:
        """Strike the property of a range out."""
        self.keys.pop(ledgers, None)
        return OK, None


# ---- What a tracker asks for

ATTEMPTS = 4
"""Maximum number of times that a call is made."""
Update = Callable[[], Coroutine[Promise, None, bool]]
"""Changes a property of the cursor; answers whether that went well."""


class Snapshots(Part):
    """Writes snapshots, reads their segments, deletes them, and keeps the cursor's properties in step."""

    def __init__(self, durable: Durable) -> None:
        self.durable = durable
        self.recovering = False
        """Whether calls end at once, as those of a recovery do."""
        self.failing = 0
        """Number of reads that are yet to fail during a recovery."""
        self.closed = False
        """Whether its tracker is closed: nothing is read any more."""
        self.updating = False
        """Whether a key is being updated."""
        self.updates: list[tuple[Update, Promise]] = []
        """The key updates that wait for that one, each with the promise of its outcome."""

    # ---- Calls

    @rule("BD-15", source="ImmutableBucket, PR 19577")
    def retried(self, outcome: int, attempts: int) -> bool:
        """If a call was not persisted, it is repeated at once, four attempts in all; any other failure is final."""
        return outcome == NOT_PERSISTED and attempts < ATTEMPTS

    async def ask(self, label: str, effect: Effect, again: Callable[[int, int], bool]) -> Answer:
        """Make a call, and repeat it while ``again`` says so, given its outcome and the number of attempts."""
        outcome, answer = await self.call(label, effect)
        attempts = 1
        while again(outcome, attempts):
            outcome, answer = await self.call(label, effect)
            attempts += 1
        return outcome, answer

    def call(self, label: str, effect: Effect) -> Promise:
        """Make a call; settles with its answer. What a closed tracker reads never comes."""
        call = Call(label, effect, self)
        if call.reads and self.closed:
            pass
        elif self.recovering and call.reads and self.failing > 0:
            self.failing -= 1
            call.ended.settle((NOT_PERSISTED, None))
        elif self.recovering or self.durable.answers_at_once:
            call.ended.settle(effect())
        else:
            self.durable.calls.begin(call)
        return call.ended

    # ---- Snapshots

    @rule("BD-13", source="the snapshot's format, PR 19706")
    def about(self, segment: Segment) -> About:
        """A snapshot lists the positions of each segment, and its first and last time.

        It does not change once the storage was given it.
        """
        return About(segment[0][0], segment[-1][0], frozenset(index[1:] for index in segment))

    async def write(self, bucket: Bucket, segments: Sequence[Segment], lost: Callable[[], None]) -> None:
        """Store a bucket's segments, then put its key; ``lost`` follows if they could not be stored.

        A closed tracker stores nothing.
        """
        if self.closed:
            return
        label = f"create:{name(bucket.ledgers)}:{bucket.last}"
        effect = partial(self.durable.create, Snapshot(bucket.about, segments))
        outcome, number = await self.ask(label, effect, self.retried)
        if outcome == OK:
            bucket.id = number
            bucket.keyed = self.puts_key(bucket) and await self.in_turn(partial(self.put, bucket))
        else:
            lost()
        bucket.created.settle(outcome == OK)

    def read(self, bucket: Bucket, first: int, last: int) -> Promise:
        """Some of a bucket's segments, numbered from 1; settles with how that ended, and with them."""
        return self.read_part(f"load:{bucket.id}:{first}-{last}", bucket, lambda s: s.segments[first - 1 : last])

    def describe(self, bucket: Bucket) -> Promise:
        """What a bucket's snapshot says of its segments; settles with how that ended, and with it."""
        return self.read_part(f"load:{bucket.id}", bucket, lambda s: s.about)

    def read_part(self, label: str, bucket: Bucket, part: Callable[[Snapshot], Any]) -> Promise:
        """A part of a snapshot."""
        return started(self.ask(label, partial(self.durable.read, bucket.id, part), self.retried))

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
        """If a bucket could not be stored, no snapshot is deleted for it."""
        return settled(True) if bucket.id is None else started(self.delete_snapshot(bucket, bucket.id))

    @rule("BD-17", source="ImmutableBucket, PRs 19901, 22802, 26401", when=lambda *_: True)
    async def delete_snapshot(self, bucket: Bucket, number: int) -> bool:
        """The snapshot of a bucket is deleted before its key is removed."""
        outcome, _ = await self.ask(f"delete:{number}", partial(self.durable.delete, number), self.retried)
        return outcome == OK and bool(await self.in_turn(partial(self.remove, bucket)))

    def close(self) -> None:
        """The tracker ends. Its reads have no effect any more; its changes still take effect."""
        self.closed = True
        calls = self.durable.calls
        calls.waiting = [call for call in calls.waiting if not (call.reads and call.owner is self)]

    # ---- Keys

    @rule("BD-17")
    def updated_again(self, outcome: int, attempts: int) -> bool:
        """If a key update meets a bad version, it is repeated, four attempts in all; any other failure is final."""
        return outcome == BAD_VERSION and attempts < ATTEMPTS

    @rule("BD-17", when=lambda *_: True)
    def puts_key(self, bucket: Bucket) -> bool:
        """The key of a bucket is put once its snapshot is stored, unless the bucket was cleared by then."""
        return not bucket.given_up

    @rule("BD-17")
    def has_key(self, bucket: Bucket) -> bool:
        """A key is removed only if it still leads to the snapshot that was deleted."""
        return self.durable.keys.get(bucket.ledgers) == bucket.id

    async def put(self, bucket: Bucket) -> bool:
        """Put a bucket's key."""
        assert bucket.id is not None
        effect = partial(self.durable.put, bucket.ledgers, bucket.id)
        outcome, _ = await self.ask(f"put:{name(bucket.ledgers)}={bucket.id}", effect, self.updated_again)
        return outcome == OK

    async def remove(self, bucket: Bucket) -> bool:
        """Remove a bucket's key, if it has one."""
        if not self.has_key(bucket):
            return True
        effect = partial(self.durable.remove, bucket.ledgers)
        outcome, _ = await self.ask(f"remove:{name(bucket.ledgers)}", effect, self.updated_again)
        return outcome == OK

    @rule("BD-17", when=lambda s, update: s.updating)
    def in_turn(self, update: Update) -> Promise:
        """Key updates run one at a time."""
        outcome = Promise()
        if self.updating:
            self.updates.append((update, outcome))
        else:
            started(self.make_first(update, outcome))
        return outcome

    async def make_first(self, update: Update, outcome: Promise) -> None:
        """Make an update that need not wait. Updates that wait for it begin before its caller goes on."""
        self.updating = True
        well = await update()
        self.updating = bool(self.updates)
        if self.updating:
            started(self.make_waiting())
        outcome.settle(well)

    async def make_waiting(self) -> None:
        """Make the waiting updates. The caller of one goes on before the next one begins."""
        more = True
        while more:
            update, outcome = self.updates.pop(0)
            well = await update()
            more = self.updating = bool(self.updates)
            outcome.settle(well)


@cache
def name(ledgers: Range) -> str:
    """A range as labels have it."""
    return f"{ledgers[0]}-{ledgers[1]}"
