"""Bucket trackers over a storage that is waited for, to copy from: one conforms, and one seals too soon."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, ClassVar

from pyroaring import BitMap

from broker_tck.implementations.interface import (
    BUCKET_PROPERTY_PREFIX,
    BucketDeliveryConfig,
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    Done,
    InvalidSnapshotException,
    Position,
    SegmentMetadata,
    Timeout,
    Timer,
)

Segment = Sequence[DelayedIndex]
GONE = (BucketNotExistException, InvalidSnapshotException)
NEVER = 2**63 - 1


def result_of(call: Callable[..., None], *arguments: Any) -> Any:
    """What a call comes to, before it returns. It is made four times at most; its last error is raised."""
    told: list[Any] = []
    while not told or (isinstance(told[-1], BucketSnapshotPersistenceException) and len(told) < 4):
        call(*arguments, told.append)
    if isinstance(told[-1], Exception):
        raise told[-1]
    return told[-1]


@dataclass(eq=False)
class Bucket:
    """Messages of a range of ledgers. One segment of it is in memory, those behind it are in the storage alone."""

    first: int
    last: int
    number: int = 0
    """The snapshot's."""
    about: Sequence[SegmentMetadata] = ()
    current: int = 1
    """The segment in memory, counted from 1."""
    boundary: DelayedIndex | None = None
    """The last index in memory."""

    @property
    def key(self) -> str:
        """The property of the cursor that leads to the snapshot."""
        return f"{BUCKET_PROPERTY_PREFIX}_{self.first}_{self.last}"

    def positions(self, behind: int) -> Iterator[Position]:
        """The messages in the segments behind one."""
        for about in self.about[behind:]:
            for ledger, bitmap in about.delayed_index_bit_map.items():
                yield from ((ledger, entry) for entry in BitMap.deserialize(bitmap))


def about(segment: Segment) -> SegmentMetadata:
    """What a snapshot says of a segment."""
    entries: dict[int, BitMap] = {}
    for _, ledger, entry in segment:
        entries.setdefault(ledger, BitMap()).add(entry)
    bitmaps = {ledger: bitmap.serialize() for ledger, bitmap in entries.items()}
    return SegmentMetadata(segment[0][0], segment[-1][0], bitmaps)


class Tracker:
    """Delayed messages in buckets. None is ever trimmed or merged, and every call is waited for."""

    contract: ClassVar = "bucket-delivery"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar = dict.fromkeys(("calls_under_way", "maintenance"), False)

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        self.config = config
        self.clock = clock
        self.timer = timer
        self.tick = config.tick
        self.storage = storage
        self.cursor = cursor
        self.timeout: Timeout | None = None
        self.target = self.last_run = -1
        """What the timeout is for, and when the last one has fired."""
        self.forget()
        self.recover()

    def forget(self) -> None:
        """Begin with nothing."""
        self.held: dict[Position, int | None] = {}
        """When to deliver what is tracked; None: a snapshot knows."""
        self.queue: list[DelayedIndex] = []
        """What may be handed out next."""
        self.growing: list[DelayedIndex] = []
        self.grown: tuple[int, int] | None = None
        """The first and the last ledger of what grows."""
        self.placed: list[Bucket] = []

    # ---- Adding

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, unless it is due."""
        position = ledger_id, entry_id
        if deliver_at < 0 or deliver_at <= self.cutoff():
            self.held.pop(position, None)
            return False
        if position not in self.held:
            self.keep((deliver_at, *position))
            self.held[position] = deliver_at
            self.update_timer()
        return True

    def keep(self, index: DelayedIndex) -> None:
        """Keep an index where it gets into a bucket, unless it is below what grows, or another bucket is there."""
        ledger = index[1]
        if self.grown and self.is_below(self.grown[1], ledger) and not self.is_covered(ledger, ledger):
            enough = len(self.growing) >= max(self.config.min_index_count, 1)
            if enough or self.is_covered(self.grown[1], ledger):
                self.seal(*self.grown)
        if self.is_covered(ledger, ledger) or (self.grown and ledger < self.grown[1]):
            heappush(self.queue, index)
        else:
            insort(self.growing, index)
            self.grown = self.grown[0] if self.grown else ledger, ledger

    def is_below(self, last: int, ledger: int) -> bool:
        """Whether what grows may end before a message: it is of a higher ledger."""
        return last < ledger

    def is_covered(self, first: int, last: int) -> bool:
        """Whether a bucket has a ledger of a range."""
        return any(bucket.first <= last and first <= bucket.last for bucket in self.placed)

    # ---- Buckets

    def seal(self, first: int, last: int) -> None:
        """Make a bucket of what has grown: store it, then put its key."""
        segments = self.cut([index for index in self.growing if self.counts(index)])
        self.growing, self.grown = [], None
        if segments:
            bucket = Bucket(first, last, 0, [about(segment) for segment in segments])
            self.place(bucket, segments[0])
            bucket.number = result_of(self.storage.create_bucket_snapshot, bucket.about, segments, bucket.key)
            result_of(self.cursor.put_cursor_property, bucket.key, str(bucket.number))
            if self.is_due():
                self.fire_at_once()

    def cut(self, indexes: Segment) -> list[list[DelayedIndex]]:
        """Segments that are shorter than the time step, and no larger than the limit."""
        segments: list[list[DelayedIndex]] = []
        most = len(indexes) if self.config.max_indexes == -1 else max(self.config.max_indexes, 1)
        for index in indexes:
            if not segments or index[0] >= segments[-1][0][0] + self.config.time_step or len(segments[-1]) == most:
                segments.append([])
            segments[-1].append(index)
        return segments

    def place(self, bucket: Bucket, segment: Segment) -> None:
        """From now on a bucket lies over its range, and a segment of it is in memory."""
        insort(self.placed, bucket, key=lambda each: each.first)
        self.have(bucket, segment)

    def have(self, bucket: Bucket, segment: Segment) -> None:
        """A segment is in memory. Its last index does not leave the queue before the next segment is there."""
        for index in segment:
            heappush(self.queue, index)
        bucket.boundary = segment[-1]

    def delete(self, bucket: Bucket) -> None:
        """Delete a snapshot, then its key."""
        result_of(self.storage.delete_bucket_snapshot, bucket.number)
        result_of(self.cursor.remove_cursor_property, bucket.key)

    def read(self, bucket: Bucket, segment: int) -> Segment:
        """A segment of a bucket."""
        (found,) = result_of(self.storage.get_bucket_snapshot_segment, bucket.number, segment, segment)
        return [*found]

    # ---- Handing out

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now."""
        available = self.is_due()
        if not available:
            self.update_timer()
        return available

    def is_due(self) -> bool:
        """Whether something is tracked, and the first index in memory is due."""
        return bool(self.held) and self.next_time() <= self.cutoff()

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out what is due, and drop orphans."""
        self.move_due()
        given: list[Position] = []
        while len(given) < max_messages and self.queue and self.leaves(self.queue[0]):
            index = heappop(self.queue)
            if self.is_orphan(index):
                self.held.pop(index[1:], None)
            elif self.counts(index):
                del self.held[index[1:]]
                given.append(index[1:])
        self.update_timer()
        return sorted(given)

    def leaves(self, index: DelayedIndex) -> bool:
        """Whether the first index leaves the queue. Where a segment ends, the next one is loaded before."""
        bucket = next((each for each in self.placed if each.boundary == index), None)
        if index[0] > self.cutoff():
            return bucket is None and self.is_orphan(index)
        if bucket:
            self.go_on(bucket)
        return True

    def go_on(self, bucket: Bucket) -> None:
        """Load the next segment. Behind the last one, or where the snapshot is gone, the bucket is deleted."""
        self.fire_at_once()
        if bucket.current < len(bucket.about):
            try:
                segment = self.read(bucket, bucket.current + 1)
            except GONE:
                for position in bucket.positions(bucket.current):
                    self.held.pop(position, None)
            else:
                bucket.current += 1
                self.have(bucket, segment)
                return
        self.placed.remove(bucket)
        self.delete(bucket)

    def counts(self, index: DelayedIndex) -> bool:
        """Whether a message is tracked for the time of an index: it may have been refused, and added for another."""
        return self.held.get(index[1:], -1) in (None, index[0])

    def is_orphan(self, index: DelayedIndex) -> bool:
        """Whether a message is of a ledger that the cursor has left behind."""
        mark = self.cursor.get_mark_deleted_position()
        return mark is not None and index[1] < mark[0]

    def cutoff(self) -> int:
        """What is not after it is due."""
        return self.clock() + (0 if self.config.strict else self.tick)

    def next_time(self) -> int:
        """When the first index in memory is due."""
        return min((queue[0][0] for queue in (self.queue, self.growing) if queue), default=NEVER)

    def move_due(self) -> None:
        """What grows loses what is due."""
        while self.growing and self.growing[0][0] <= self.cutoff():
            heappush(self.queue, self.growing.pop(0))

    # ---- The timer

    def update_timer(self) -> None:
        """Have the dispatcher read when the first message is due, a tick after the last time at the earliest."""
        at = self.next_time()
        if at != self.target or not self.held:
            self.disarm()
            if self.last_run > self.clock():
                self.last_run = -1  # the clock was set back
            if self.held and at > self.clock():
                earliest = at if self.last_run < 0 else self.last_run + self.tick
                self.target, self.timeout = at, self.timer.new_timeout(max(at, earliest), self.fired)

    def fire_at_once(self) -> None:
        """Have the dispatcher read now, whatever was armed."""
        self.disarm()
        self.timeout = self.timer.new_timeout(self.clock(), self.fired)

    def disarm(self) -> None:
        """Fire no more."""
        if self.timeout:
            self.timeout.cancel()
        self.timeout, self.target = None, -1

    def fired(self, timeout: Timeout) -> bool:
        """A timeout fires; answers whether the dispatcher is to read."""
        if timeout is not self.timeout:
            return False
        self.timeout, self.target, self.last_run = None, -1, self.clock()
        self.move_due()
        return True

    # ---- The end, and after it

    def clear(self) -> None:
        """Forget every message, and delete every snapshot."""
        buckets = self.placed
        self.forget()
        for bucket in buckets:
            self.delete(bucket)

    def close(self, done: Done[None]) -> None:
        """Let go of everything."""
        self.disarm()
        self.forget()
        done(None)

    def recover(self) -> None:
        """Take over what the keys lead to. Nothing is deleted before everything is read."""
        useless: list[Bucket] = []
        for bucket in sorted(self.stored(), key=lambda each: (each.first, -each.last)):
            segment = [] if self.is_covered(bucket.first, bucket.last) else self.remains(bucket)
            if segment:
                self.place(bucket, segment)
                self.held |= dict.fromkeys(bucket.positions(bucket.current - 1))
            else:
                useless.append(bucket)
        for bucket in useless:
            self.delete(bucket)

    def stored(self) -> Iterator[Bucket]:
        """The buckets that the properties of the cursor lead to."""
        for key, number in self.cursor.get_cursor_properties().items():
            if key.startswith(BUCKET_PROPERTY_PREFIX):
                _, first, last = key.split("_")
                yield Bucket(int(first), int(last), int(number))

    def remains(self, bucket: Bucket) -> Segment:
        """The first segment of a bucket that is not due as a whole; none where there is none, or no snapshot."""
        try:
            bucket.about = result_of(self.storage.get_bucket_snapshot_metadata, bucket.number)
            bucket.current = 1 + sum(each.max_schedule_timestamp <= self.cutoff() for each in bucket.about)
            return self.read(bucket, bucket.current) if bucket.current <= len(bucket.about) else []
        except GONE:
            return []

    # ---- Questions

    def contains_message(self, ledger_id: int, entry_id: int) -> bool:
        """Whether a message is tracked."""
        return (ledger_id, entry_id) in self.held

    def should_pause_all_deliveries(self) -> bool:
        """A bucket tracker never asks for that."""
        return False

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        self.tick = tick

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked."""
        return len(self.held)

    def get_buckets(self) -> Sequence[tuple[int, int, int, int]]:
        """First and last ledger of each bucket, the segment in memory, and the number of segments."""
        return [(each.first, each.last, each.current, len(each.about)) for each in self.placed]

    def get_queue_sizes(self) -> tuple[int, int]:
        """How much is in memory."""
        return len(self.queue), len(self.growing)


class ImpatientTracker(Tracker):
    """The same with one mistake: what grows is sealed in the middle of a ledger, as soon as it is large enough."""

    def is_below(self, last: int, ledger: int) -> bool:
        """Whether what grows may end before a message."""
        return last <= ledger
