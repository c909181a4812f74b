"""Bucket delivery: a tracker of delayed messages that survives its broker (profile ``ideal``).

Read it from top to bottom, then the parts: ``parts`` says what is held and where, ``stored`` what is stored and how,
``maintenance`` how buckets are trimmed, merged and recovered. A method under ``@rule`` is a clause: its docstring is
the rule, its body says the same in code. The methods named as operations are flows: they say which clauses apply, and
in which order. Times are absolute milliseconds. Each release of the broker replaces the clauses in which it differs:
see ``releases``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import chain
from typing import Any, ClassVar, Protocol

from broker_tck.model.bucket_delivery import parts
from broker_tck.model.bucket_delivery.maintenance import TRACKER, Maintenance, Recovery
from broker_tck.model.bucket_delivery.parts import Cutting, Held, Mutable, Placed, Timer
from broker_tck.model.bucket_delivery.stored import (
    BAD_VERSION,
    NOT_PERSISTED,
    OK,
    Bucket,
    Durable,
    Index,
    Position,
    Promise,
    Range,
    Segment,
    Snapshots,
    name,
    started,
)
from broker_tck.model.parts.tick import Tick
from broker_tck.model.reference import Allowed, Reference, either
from broker_tck.model.rules import Part, Rule, informative, invariant, rule

LAST = 2**63 - 1
"""The latest time."""
OWN = "follows from BD-02; no report upstream is known"


class Config(Protocol):
    """What a trace configures. Times are in milliseconds."""

    min_index_count: int
    time_step: int
    max_indexes: int
    max_buckets: int
    tick: int
    strict: bool
    clock: int
    key_order: str


# ---- Sealing


class Sealing(Part):
    """Keeps added messages in the growing bucket or in the shared queue, and makes sealed buckets."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.placed = tracker.placed

    def take(self, index: Index, covered: bool) -> None:
        """Keep an index, after a seal if that is due. ``covered``: a sealed bucket lies there."""
        ledger = index[1]
        if self.tracker.mutable.seals(ledger, covered) or (not covered and self.crosses(ledger)):
            self.seal()
            covered = self.placed.over(ledger) is not None
        self.keep(index, covered)

    @rule("BD-41", source=OWN)
    def crosses(self, ledger: int) -> bool:
        """The growing bucket does not grow across a sealed one: it is sealed first, however few indexes it has."""
        grown = self.tracker.mutable.ledgers
        return grown is not None and grown[1] < ledger and bool(self.placed.meeting((grown[1], ledger)))

    def keep(self, index: Index, covered: bool) -> None:
        """Keep an index in the growing bucket, or in the shared queue."""
        if self.tracker.mutable.takes(index[1], covered):
            self.tracker.mutable.add(index)
        else:
            heappush(self.tracker.shared, index)

    def seal(self) -> None:
        """Make a sealed bucket of the growing one."""
        ledgers = self.tracker.mutable.ledgers
        indexes = self.worth_storing(self.tracker.mutable.drain())
        if ledgers is None or not indexes:
            return
        if self.keeps_in_memory(ledgers):
            self.tracker.share(indexes)
            return
        self.place(Bucket(ledgers), self.tracker.cutting.cut(indexes))
        self.tracker.maintenance.after_seal()

    @rule("BD-11")
    def worth_storing(self, indexes: Sequence[Index]) -> Sequence[Index]:
        """A seal stores only indexes whose message is held, and held for the index's time."""
        return [index for index in indexes if self.tracker.held.hands_out(index, None)]

    @rule(
        "BD-47",
        source=OWN,
        needs="maintenance calls_under_way",
        when=lambda s, ledgers: bool(s.placed.meeting(ledgers)),
    )
    def keeps_in_memory(self, ledgers: Range) -> bool:
        """If a range meets a sealed bucket, it is not sealed: its messages stay in memory, and in no snapshot."""
        return bool(self.placed.meeting(ledgers))

    @rule("BD-11", source=TRACKER)
    def place(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """From the seal on, the bucket lies over its range, and its first segment is loaded."""
        bucket.about = [self.tracker.snapshots.about(segment) for segment in segments]
        bucket.size = sum(map(len, segments))
        bucket.held = self.tracker.held.of_bucket(segments, bucket.sources)
        self.placed.put(bucket)
        self.tracker.loading.load_into_memory(bucket, segments[0])
        started(self.tracker.snapshots.write(bucket, segments, lambda: self.not_stored(bucket, segments)))
        bucket.created.then(lambda _: self.tracker.wake())

    @rule("BD-16", needs="calls_under_way", when=lambda s, bucket, segments: s.placed.has(bucket))
    def not_stored(self, bucket: Bucket, segments: Sequence[Segment]) -> None:
        """If a bucket could not be stored, its messages stay in memory, in no bucket."""
        bucket.current = bucket.last
        if self.placed.has(bucket):
            self.tracker.share(chain(*segments[1:]))
            self.tracker.loading.take_out(bucket)


# ---- Loading


class Loading(Part):
    """Loads a bucket's segments one after another, each when the last message of the one before is next."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.placed = tracker.placed
        self.tails: dict[Any, Bucket] = {}
        """By the boundary at the end of the segment that was loaded last, the bucket whose next one is to be loaded."""
        self.load: Promise | None = None
        """The load that is under way, or has just ended."""

    def load_into_memory(self, bucket: Bucket, segment: Segment) -> None:
        """A segment's indexes may be handed out from now on; its last one has the next segment loaded."""
        self.tracker.share(segment)
        self.tails[self.boundary(segment[-1])] = bucket

    def boundary(self, index: Index) -> Any:
        """What the last index of a segment is known by in the queue."""
        return index

    def take_out(self, bucket: Bucket) -> None:
        """The bucket is placed no longer."""
        self.placed.remove(bucket)

    @rule("BD-29", source="follows from BD-02; PR 26280")
    def ending(self, index: Index, orphan: bool) -> Bucket | None:
        """Before the last message of a segment leaves the queue, even as an orphan, the next segment is loaded.

        It is loaded when that message is due and next to leave the queue, and no sooner.
        """
        bucket = self.tails.get(self.boundary(index))
        return bucket if bucket and self.placed.has(bucket) else None

    def goes_on(self, bucket: Bucket, index: Index) -> bool:
        """Whether the last message of what is loaded of a bucket can leave the queue: the next segment is there."""
        if bucket.merging or not bucket.created.settled:
            return False
        self.load = load = Promise()
        started(self.load_next(bucket, index)).then(partial(self.ends, load))
        return load.settled and (bool(load.outcome) or not self.placed.has(bucket))

    async def load_next(self, bucket: Bucket, index: Index) -> bool:
        """Load a bucket's next segment; whether that went well."""
        outcome, segments = OK, []
        if bucket.unloaded > 0:
            outcome, segments = await self.tracker.snapshots.read(bucket, bucket.current + 1, bucket.current + 1)
        well: bool = outcome == OK
        if well and self.has_effect(bucket):
            self.loaded(bucket, index, segments)
        elif not well and self.is_given_up(bucket, outcome):
            self.give_up(bucket)
        return well

    def ends(self, load: Promise, well: bool) -> None:
        """A load ends."""
        self.load_ended(load)
        load.settle(well)

    def load_ended(self, load: Promise) -> None:
        """A load has ended: messages that could not be handed out before may be now."""
        if load is self.load:
            self.tracker.timer.fire_at_once()
            self.tracker.unasked |= not self.tracker.available()

    @rule("BD-46", source=OWN, needs="calls_under_way", when=lambda s, bucket: not s.placed.has(bucket))
    def has_effect(self, bucket: Bucket) -> bool:
        """If a bucket was merged, trimmed or cleared before its load ends, the load has no effect."""
        return self.placed.has(bucket)

    def loaded(self, bucket: Bucket, index: Index, segments: list[Segment]) -> None:
        """A segment is there, or there is none left. ``index``: the boundary before it."""
        self.tails.pop(self.boundary(index), None)
        if segments:
            bucket.current += 1
            self.load_into_memory(bucket, segments[0])
        else:
            self.used_up(bucket)

    @rule("BD-21", source=TRACKER)
    def used_up(self, bucket: Bucket) -> None:
        """A bucket is deleted when the last message of its last segment is due and next to leave the queue."""
        self.take_out(bucket)
        self.tracker.delete(bucket)

    @rule("BD-20", source="ImmutableBucket, PR 19577; the second part follows from BD-45", when=lambda *_: True)
    def is_given_up(self, bucket: Bucket, outcome: int) -> bool:
        """If a load fails, it is repeated; if the snapshot is missing, the bucket is dropped with its messages."""
        return outcome != NOT_PERSISTED and self.placed.has(bucket)

    def give_up(self, bucket: Bucket) -> None:
        """The bucket is dropped: the messages that it has left are no longer held."""
        self.tracker.held.forget(bucket.held_behind(bucket.current))
        self.take_out(bucket)
        self.tracker.delete(bucket)


# ---- The tracker


class Tracker(Part):
    """Holds messages in the growing bucket, in the shared queue and in sealed buckets, and hands out what is due."""

    Timer = Timer
    Tick = Tick
    Held = Held
    Mutable = Mutable
    Placed = Placed
    Cutting = Cutting
    Snapshots = Snapshots
    Sealing = Sealing
    Loading = Loading
    Maintenance = Maintenance
    Recovery = Recovery

    def __init__(self, config: Config, durable: Durable, now: int) -> None:
        self.config = config
        self.durable = durable
        self.timer = self.Timer(now, self.move_due)
        self.tick = self.Tick(config.tick, config.strict)
        self.placed = self.Placed()
        self.cutting = self.Cutting(config.time_step, config.max_indexes)
        self.snapshots = self.Snapshots(durable)
        self.sealing = self.Sealing(self)
        self.loading = self.Loading(self)
        self.maintenance = self.Maintenance(self)
        self.retired: list[Bucket] = []
        """Buckets that are no longer placed, whose snapshots or keys could not be deleted."""
        self.left: list[Bucket] = []
        """The buckets that lay in their places when it was closed."""
        self.fresh = False
        """Whether it was recovered, and its timer has not been brought up to date since."""
        self.unasked = False
        """Whether it may have brought its timer up to date in the last operation, unasked."""
        self.empty_memory()

    def empty_memory(self) -> None:
        """Nothing is held any more."""
        self.held = self.Held()
        self.mutable = self.Mutable(self.config.min_index_count)
        self.shared: list[Index] = []
        """A heap of what may be handed out next."""
        self.loading.tails = {}

    def cutoff(self) -> int:
        """What is not after it is due."""
        return self.tick.cutoff(self.timer.reading())

    # ---- Adding

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message."""
        position, over = (ledger, entry), self.placed.over(ledger)
        if self.refuses(position, at):
            self.held.refused(position, over)
            self.unasked = True
            return False
        if self.held.repeated(position, over):
            self.unasked = True
            return True
        index = at, ledger, entry
        self.sealing.take(index, over is not None)
        self.held.add(index)
        self.added()
        return True

    @rule("BD-04", source=f"{TRACKER}, PRs 26230, 26251")
    def refuses(self, position: Position, at: int) -> bool:
        """A message is refused if it is due or has no time, whether the tracker holds it or not."""
        return at < 0 or at <= self.cutoff()

    @rule(
        "BD-42",
        source=f"{TRACKER}; AbstractDelayedDeliveryTracker, PR 26012",
        when=lambda t: t.timer.target != t.next_time(),
    )
    def added(self) -> None:
        """An accepted add brings the timer up to date; a refused or repeated add may do so."""
        self.update_timer()

    def contains(self, ledger: int, entry: int) -> bool:
        """Whether a message is held, so that it need not be read."""
        return self.held.contains((ledger, entry), self.placed.over(ledger))

    def share(self, indexes: Iterable[Index]) -> None:
        """Put indexes into the shared queue."""
        for index in indexes:
            heappush(self.shared, index)

    # ---- What is due

    def has(self) -> bool:
        """Whether a message is available."""
        available = self.available()
        if not available:
            self.found_nothing()
        return available

    @rule("BD-18", source=f"{TRACKER}, PR 26080")
    def available(self) -> bool:
        """A message is available if something is held and the first index in memory is due."""
        return self.held.count() > 0 and self.next_time() <= self.cutoff()

    def next_time(self) -> int:
        """When the first index in memory is due; the last time that there is, if there is none."""
        heads = [queue[0][0] for queue in (self.shared, self.mutable.queue) if queue]
        return min(heads, default=LAST)

    @rule("BD-42", when=lambda t: t.timer.target != t.next_time())
    def found_nothing(self) -> None:
        """The answer that nothing is available brings the timer up to date."""
        self.update_timer()

    def move_due(self) -> None:
        """Move what is due from the growing bucket to the shared queue."""
        self.share(self.mutable.due(self.cutoff()))

    @rule("BD-24", source="follows from BD-42; PR 26239", when=lambda t: t.available())
    def wake(self) -> None:
        """When a creation or a merge ends, the timer fires if something is due, because that may have waited for it."""
        if self.available():
            self.timer.fire_at_once()

    @rule("BD-10", source=TRACKER, when=lambda t: t.held.count() > 0)
    def pause(self) -> bool:
        """The tracker never asks for a pause of all deliveries."""
        return False

    @rule("DD-27")
    def reset_tick(self, tick: int) -> None:
        """A new tick leaves the timer alone."""
        self.tick.reset(tick)

    def update_timer(self) -> None:
        """Bring the timer up to date with what is in memory."""
        self.fresh = self.unasked = False
        self.update(self.timer)

    def update(self, timer: parts.Timer) -> None:
        """Bring a timer up to date."""
        timer.update(self.first(), self.tick.tick)

    def first(self) -> int | None:
        """When the first message in memory is due; None if nothing is held."""
        return self.next_time() if self.held.count() > 0 else None

    # ---- The timer may be brought up to date unasked

    @rule("BD-48", source="follows from BD-02 and BD-42", when=lambda t: t.held.count() > 0)
    def recovered(self) -> None:
        """After a recovery a tracker may arm its timer for the first index in memory; once asked, it must."""
        self.fresh = True

    def may_arm(self) -> bool:
        """Whether the tracker may bring its timer up to date unasked, and the timer is not."""
        if not (self.fresh or self.unasked):
            return False
        first, timer = self.first(), self.timer
        if timer.armed:
            return first is None or first != timer.target
        return first is not None and not timer.passed(first)

    def armed(self) -> list[int] | Allowed:
        """The times for which timeouts are armed, as they are, or brought up to date."""
        shown, may_arm, self.unasked = self.timer.shown(), self.may_arm(), False
        if not may_arm:
            return shown
        timer = self.timer.copy()
        self.update(timer)
        if timer.armed == self.timer.armed:
            return shown
        says = f"{self.told(self.timer)} or {self.told(timer)}"
        return either(shown, timer.shown(), partial(self.take, timer), says)

    def told(self, timer: parts.Timer) -> str:
        """The times of a timer in words, from the start."""
        return f"[{', '.join(f'{at - self.config.clock:+} ms' for at in timer.armed)}]"

    def take(self, timer: parts.Timer) -> None:
        """The tracker has brought its timer up to date."""
        self.timer, self.fresh = timer, False

    # ---- Handing out

    def get(self, most: int) -> list[Position]:
        """Hand out what is due, ``most`` messages at most; nothing while a load is under way."""
        if self.loading.load is not None and not self.loading.load.settled:
            self.unasked = True
            return []
        self.move_due()
        given = self.given(most)
        self.gave()
        return sorted({*given})

    @rule("BD-42", when=lambda t: t.timer.target is not None or t.held.count() > 0)
    def gave(self) -> None:
        """A get brings the timer up to date; while a load is under way, it may do so."""
        self.update_timer()

    def given(self, most: int) -> list[Position]:
        """Take indexes out of the queue; answers what is handed out of them."""
        given: list[Position] = []
        cutoff, spent = self.cutoff(), 0
        while spent < most and self.shared and self.comes_out(index := self.shared[0], cutoff):
            heappop(self.shared)  # in some release a load has put another one in front by now, which is lost
            position, over = index[1:], self.placed.over(index[1])
            orphan = self.is_orphan(index[1])
            dropped = orphan or not self.held.hands_out(index, over)
            if orphan or not dropped:
                self.held.came_out(position, over, orphan)
            if not dropped:
                given.append(position)
            spent += self.costs(dropped)
        return given

    @rule("BD-19")
    def costs(self, dropped: bool) -> bool:
        """A dropped index does not count towards the messages that a get may hand out."""
        return not dropped

    @rule("BD-19", source=f"{TRACKER}, PR 26251")
    def comes_out(self, index: Index, cutoff: int) -> bool:
        """Indexes leave the queue by time, ledger and entry, while they are due and the next segment is loaded.

        None leaves it during a load. No later call changes what a get has handed out.
        """
        orphan = self.is_orphan(index[1])
        bucket = self.loading.ending(index, orphan)
        if index[0] > cutoff and (bucket or not orphan):
            return False
        return bucket is None or self.loading.goes_on(bucket, index)

    @rule("BD-22", source=f"{TRACKER}, PR 25984")
    def is_orphan(self, ledger: int) -> bool:
        """If a message's ledger is below that of the mark-delete position, it is an orphan, and is dropped."""
        first_live = self.durable.first_live
        return first_live is not None and ledger < first_live

    # ---- Its end

    def delete(self, bucket: Bucket) -> Promise:
        """Delete a bucket's snapshot and key; if that fails, the next clear tries again."""
        deleted = self.snapshots.delete(bucket)
        deleted.then(lambda well: None if well else self.retired.append(bucket))
        return deleted

    @rule("BD-31", source=f"{TRACKER}, PRs 19801, 26401")
    def clear(self) -> None:
        """A clear forgets every message at once, and work under way has no effect. It may leave the timer armed."""
        buckets = [*self.placed.buckets(), *self.retired]
        self.retired = []
        self.placed.pieces = []
        self.loading.load = None
        for bucket in buckets:
            bucket.given_up = True
            started(self.delete_when_created(bucket))
        self.empty_memory()
        self.unasked = True

    @rule("BD-31")
    async def delete_when_created(self, bucket: Bucket) -> None:
        """A clear deletes each snapshot and its key as soon as these are stored."""
        await bucket.created
        await self.delete(bucket)

    @rule("BD-32", source=f"{TRACKER}, PR 26053", when=lambda t: True)
    def close(self) -> bool:
        """A close cancels the timer and stores nothing; reads under way have no effect."""
        self.timer.close()
        self.snapshots.close()
        self.left = [*self.placed.buckets()]
        return self.has_closed()

    @rule("BD-32", when=lambda t: True)
    def has_closed(self) -> bool:
        """A close has ended when all calls that change something have ended. The tracker tells this once."""
        return not any(call.owner is self.snapshots for call in self.durable.calls.waiting)


# ---- The rules that no clause embodies

WITHOUT_CLAUSE: tuple[Rule, ...] = (
    informative(
        "BD-01",
        "A tracker has the positions held, a growing bucket, a queue of loaded indexes, and sealed buckets by range.",
        source=TRACKER,
        why="state is seen in what the tracker answers; the rules about it say when",
    ),
    invariant(
        "BD-02",
        "Nothing is stuck: a due message that is not under way is handed out, or a call is made that leads there.",
        source="follows from BD-41, BD-46 and BD-47; issues 26239, 26280",
    ),
    informative(
        "BD-14",
        "Entry ids fit 32 bits, and ledgers are not negative.",
        source="the snapshot's format",
        why="the kit offers no others",
    ),
    informative(
        "BD-23",
        "While its segment or the next one is loading, a message may be available although a get hands nothing out.",
        source="follows from BD-18 and BD-19",
        why="it allows, and demands nothing",
    ),
    informative(
        "BD-33",
        "The buckets of a cursor are those of its properties that begin with the prefix; their order means nothing.",
        source=TRACKER,
        why="the kit's cursor has no other properties; other keys are the cursor's own affair",
    ),
    informative(
        "BD-38",
        "A recovery does not look at the mark-delete position: orphans are dropped when they are next in the queue.",
        source=TRACKER,
        why="BD-37 has it: recovered messages are held, whatever the position",
    ),
    informative(
        "BD-40",
        "After a recovery the growing bucket is empty, and may begin anywhere.",
        source=TRACKER,
        why="a recovered tracker is a new one, which has added nothing yet",
    ),
    informative(
        "BD-43",
        "Messages come out by time, ledger and entry, across buckets too, while no boundary is lost.",
        source="follows from BD-19",
        why="a get hands out a set by position; BD-19 and BD-29 are what it follows from",
    ),
    invariant(
        "BD-44",
        "No message is handed out before its time in strict mode, else none more than a tick before it.",
        source="follows from BD-19",
    ),
    informative(
        "BD-45",
        "Messages that the index forgets are read again from the mark-delete position; messages stuck in it are not.",
        source="issue 26420",
        why="reading again is the dispatcher's part; BD-02 is the tracker's",
    ),
    invariant(
        "BD-49",
        "After an add of a message that was not held, no timeout waits past the message's time, or a tick from now, by "
        "more than the clock was set forwards.",
        source="follows from BD-42, DD-22, DD-37 and DD-38; no report upstream is known",
        needs="jumps",
    ),
    informative(
        "BD-50",
        "A tracker that holds no message keeps no id.",
        source="follows from BD-31",
        why="ranges keep ids of ledgers, and calls under way keep messages; BD-17 and BD-30 say what stays stored",
    ),
    invariant(
        "BD-51",
        "While messages are held, a call is under way, the dispatcher asks next, or a timeout is armed. It asks after "
        "a firing, an add and a recovery, and while an answer says that more may be due.",
        source="follows from BD-20, BD-24, BD-42 and BD-48; issues 25996, 26239",
    ),
)


# ---- The tracker, its storage and its cursor

NOTHING = (None,) * 6
"""What is seen without a tracker."""
WAITS, AT_ONCE = range(2)
"""When calls to storage and cursor end: when an operation ends them, or as they are made."""


class BucketDelivery(Reference):
    """A tracker, the storage of its snapshots, and its cursor."""

    PROFILE = "ideal"
    Tracker: type[Tracker] = Tracker
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE

    def __init__(self, config: Config) -> None:
        self.config = config
        self.durable = Durable()
        self.tracker: Tracker | None = self.Tracker(config, self.durable, config.clock)
        self.closed: list[Tracker] = []
        """The trackers whose closing had not ended at the last look."""
        self.now = config.clock

    # ---- The tracker is asked

    def add(self, ledger: int, entry: int, at: int) -> bool | None:
        """Track a message."""
        return None if self.tracker is None else self.tracker.add(ledger, entry, at)

    def fill(self, ledger: int, entry: int, each: int, n: int, at: int, apart: int, within: int) -> int | None:
        """Track n messages, ``each`` of a ledger; answers how many were taken."""
        if self.tracker is None:
            return None
        add, taken = self.tracker.add, 0
        for i in range(n):
            ms = i * apart % within if within else i * apart
            taken += add(ledger + i // each, entry + i % each, at + ms)
        return taken

    def contains(self, ledger: int, entry: int) -> bool | None:
        """Whether a message is held, so that it need not be read."""
        return None if self.tracker is None else self.tracker.contains(ledger, entry)

    def has(self) -> bool | None:
        """Whether a message is available."""
        return None if self.tracker is None else self.tracker.has()

    def get(self, most: int) -> list[Position] | None:
        """Hand out what is due."""
        return None if self.tracker is None else self.tracker.get(most)

    def pause(self) -> bool | None:
        """Whether all deliveries should pause."""
        return None if self.tracker is None else self.tracker.pause()

    def reset_tick(self, tick: int) -> None:
        """Change the tick, until another tracker recovers."""
        if self.tracker:
            self.tracker.reset_tick(tick)

    def stale(self) -> bool:
        """The timeout that was cancelled last fires nevertheless; answers whether it asked for a read."""
        return self.tracker is not None and self.tracker.timer.stale()

    def clear(self) -> None:
        """Forget every message."""
        if self.tracker:
            self.tracker.clear()

    @rule("DD-24")
    def advance(self, ms: int) -> list[int]:
        """A firing arms nothing itself."""
        self.now += ms
        return self.tracker.timer.advance(ms) if self.tracker else []

    def jump(self, by: int) -> None:
        """Set the clock, forwards or back; no timer fires."""
        self.now += by
        if self.tracker:
            self.tracker.timer.jump(by)

    # ---- Calls end

    def complete(self, i: int) -> str | None:
        """A call takes effect, and ends."""
        return self.end(i, takes_effect=True)

    def fail(self, i: int) -> str | None:
        """A call ends without effect: it was not persisted."""
        return self.end(i, takes_effect=False, failure=NOT_PERSISTED)

    def conflict(self, i: int) -> str | None:
        """A key update meets a version that has changed. Any other call fails."""
        return self.end(i, takes_effect=False, failure=BAD_VERSION)

    def stored(self, i: int) -> str | None:
        """A call takes effect, and ends as if it had not."""
        return self.end(i, takes_effect=True, failure=NOT_PERSISTED)

    def end(self, i: int, takes_effect: bool, failure: int = OK) -> str | None:
        """A call ends; answers with its label."""
        call = self.durable.calls.take(i)
        if call is None:
            return None
        answer = call.effect() if takes_effect else None
        if failure:
            answer = (failure if call.updates_key else NOT_PERSISTED), None
        call.ended.settle(answer)
        return call.label

    def storage(self, mode: int) -> None:
        """From now on calls wait to be ended, or take effect and end as they are made."""
        self.durable.answers_at_once = mode == AT_ONCE

    # ---- What is durable

    def mark(self, ledger: int, entry: int) -> None:
        """The cursor's mark-delete position moves."""
        self.durable.first_live = ledger

    def vanish(self, number: int) -> None:
        """A snapshot is gone."""
        self.durable.snapshots.pop(number, None)

    def spoil(self, number: int) -> None:
        """A snapshot can no longer be read."""
        self.durable.unreadable.add(number)

    def lost(self) -> None:
        """The cursor's properties are gone."""
        self.durable.keys.clear()

    def snapshot(self, number: int) -> list[Any] | None:
        """What is stored: of each segment its times, its positions as it says itself, and its indexes."""
        stored = self.durable.snapshots.get(number)
        return stored and [
            [about.first_time, about.last_time, sorted(about.positions), segment]
            for about, segment in zip(stored.about, stored.segments, strict=True)
        ]

    def snapshots(self) -> list[int]:
        """The numbers of the snapshots that are stored."""
        return sorted(self.durable.snapshots)

    # ---- Trackers come and go

    def crash(self, failing: int, order: int) -> None:
        """The broker is gone with all calls under way, and another one recovers; ``failing`` reads fail at first."""
        self.durable.calls.waiting = []
        self.closed = []
        self.recover(failing, order)

    def reopen(self) -> bool:
        """The tracker is closed, and another one recovers; answers whether the closing has ended at once."""
        ended = self.tracker is None or self.tracker.close()
        if self.tracker and not ended:
            self.closed.append(self.tracker)
        self.recover(0, 0)
        return ended

    def closing(self) -> int:
        """Number of closed trackers that have not ended yet."""
        self.closed = [tracker for tracker in self.closed if not tracker.has_closed()]
        return len(self.closed)

    def recover(self, failing: int, order: int) -> None:
        """Another tracker takes over. Fault if it cannot."""
        self.tracker = None
        tracker = self.Tracker(self.config, self.durable, self.now)
        keys = sorted(self.durable.keys, reverse=self.config.key_order == "down")
        tracker.Recovery(tracker).recover(permuted(keys, order), failing)
        self.tracker = tracker

    # ---- What is seen

    def seen(self) -> tuple[Any, ...]:
        """Count, buckets, queues, armed timeouts, calls under way, and keys."""
        t = self.tracker
        if t is None:
            return NOTHING
        return (
            t.held.count(),
            [[low[0], high[0], bucket.current, len(bucket.about)] for low, high, bucket in t.placed.pieces],
            [len(t.shared), len(t.mutable.queue)],
            t.armed(),
            self.durable.labels(),
            {name(ledgers): str(number) for ledgers, number in self.durable.keys.items()},
        )

    def glimpsed(self) -> tuple[Any, ...]:
        """Count, armed timeouts, and calls under way."""
        t = self.tracker
        if t is None:
            return NOTHING
        return t.held.count(), None, None, t.armed(), self.durable.labels(), None


def permuted(keys: list[Range], number: int) -> list[Range]:
    """One of the orders of some keys, by its number: 0 leaves them as they are."""
    left, order = [*keys], []
    while left:
        number, i = divmod(number, len(left))
        order.append(left.pop(i))
    return order
