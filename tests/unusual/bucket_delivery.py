"""Right but unusual bucket trackers."""

from __future__ import annotations

from bisect import insort
from collections import UserList, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import (
    BUCKET_PROPERTY_PREFIX,
    BadVersionException,
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


class Index(NamedTuple):
    """An index with names."""

    deliver_at: int
    ledger_id: int
    entry_id: int


class Octets(bytes):
    """Bytes of a class of their own."""


def repacked(bitmap: bytes) -> bytes:
    """The same bitmap in runs, where these take less."""
    entries = BitMap.deserialize(bitmap)
    entries.run_optimize()
    return Octets(entries.serialize())


class Costumed:
    """Storage and cursor, handed everything in other clothes: sequences, mappings, bytes and callables of all kinds."""

    def __init__(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> None:
        self.storage, self.cursor = storage, cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.storage if hasattr(self.storage, name) and "snapshot" in name else self.cursor, name)

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Store a bucket."""
        clad = UserList(
            SegmentMetadata(first, last, MappingProxyType({ledger: repacked(each) for ledger, each in maps.items()}))
            for first, last, maps in metadata
        )
        rows = tuple(UserList(Index(*index) for index in segment) for segment in segments)
        self.storage.create_bucket_snapshot(clad, rows, Key(bucket_key), Told(done))


class Key(str):
    """Text of a class of its own."""

    __slots__ = ()


class Told:
    """A callable that can be called, and no more."""

    __slots__ = ("done",)

    def __init__(self, done: Callable[[Any], None]) -> None:
        self.done = done

    def __call__(self, result: Any) -> None:
        self.done(result)


class CostumedBuckets:
    """A proxy of the bundled tracker that knows none of its methods; messages are keys of a dictionary, and named.

    What it stores are bitmaps of runs in read-only mappings. The tracker is false, and equal to any other.
    """

    contract: ClassVar = "bucket-delivery"
    profiles: ClassVar = ("ideal",)
    __slots__ = ("_inner",)

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        clad: Any = Costumed(storage, cursor)
        self._inner = BucketTracker(config, clock, timer, clad, clad)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return dict.fromkeys(Place(*each) for each in self._inner.get_scheduled_messages(max_messages)).keys()

    def get_buckets(self) -> Iterator[Mapping[int, int]]:
        return iter(self._inner.get_buckets())  # type: ignore[arg-type]  # they are gone through, and no more

    def get_queue_sizes(self) -> Any:
        return map(int, self._inner.get_queue_sizes())


class Place(NamedTuple):
    """A position with names."""

    ledger_id: int
    entry_id: int


class ArmingBuckets(BucketTracker):
    """The bundled tracker, which brings its timer up to date once it has recovered, and in each call that matters."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._schedule.update()

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        accepted = super().add_message(ledger_id, entry_id, deliver_at)
        self._schedule.update()
        return accepted

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        given = super().get_scheduled_messages(max_messages)
        self._schedule.update()
        return given

    def clear(self) -> None:
        super().clear()
        self._schedule.update()


def waited(call: Callable[..., None], *arguments: Any, attempts: int = 4) -> Any:
    """What a call comes to that ends before it returns. What was not persisted is tried again."""
    results: list[Any] = []
    call(*arguments, results.append)
    if isinstance(results[0], BucketSnapshotPersistenceException) and attempts > 1:
        return waited(call, *arguments, attempts=attempts - 1)
    if isinstance(results[0], Exception):
        raise results[0]
    return results[0]


class Line(NamedTuple):
    """An index on the shelf, and whether it is one of the growing bucket."""

    index: DelayedIndex
    grows: bool


@dataclass(eq=False)
class Volume:
    """A sealed bucket: the lines that were not read yet are in the storage, and named here."""

    ledgers: range
    number: int
    segment: int
    unread: list[list[tuple[int, int]]]
    boundary: DelayedIndex

    @property
    def key(self) -> str:
        """Its property."""
        return f"{BUCKET_PROPERTY_PREFIX}_{self.ledgers[0]}_{self.ledgers[-1]}"


class OneShelf:
    """All indexes in memory stand on one sorted shelf, those that grow among them; buckets have no queue of their own.

    Positions behind what was read are kept as lists, until they are read. The timer is armed when it has recovered.
    """

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
        self.config, self.clock, self.timer, self.storage, self.cursor = config, clock, timer, storage, cursor
        self.tick, self.run, self.armed = config.tick, -config.tick, None
        self.wipe()
        self.recover()
        self.rearm()

    run: int
    armed: tuple[int, Timeout] | None
    """The moment that it is for, and the timeout."""

    def wipe(self) -> None:
        """Hold nothing."""
        self.held: dict[tuple[int, int], int] = {}
        """The time of each position; -1 if a snapshot has it."""
        self.shelf: list[Line] = []
        self.grown: range | None = None
        self.volumes: list[Volume] = []

    # ---- Reading and writing

    def cut_off(self) -> int:
        return self.clock() if self.config.strict else self.clock() + self.tick

    def is_true(self, index: DelayedIndex) -> bool:
        return self.held.get(index[1:]) in (-1, index[0])

    def meets(self, ledgers: range) -> bool:
        return any(v.ledgers[0] <= ledgers[-1] and ledgers[0] <= v.ledgers[-1] for v in self.volumes)

    def write(self, ledgers: range) -> None:
        """Make a volume of what grows."""
        grows = [line.index for line in self.shelf if line.grows and self.is_true(line.index)]
        self.shelf = [line for line in self.shelf if not line.grows]
        limit = {-1: len(grows), 0: 1}.get(self.config.max_indexes, self.config.max_indexes)
        segments: list[list[DelayedIndex]] = []
        for index in grows:
            if segments and len(segments[-1]) < limit and index[0] - segments[-1][0][0] < self.config.time_step:
                segments[-1].append(index)
            else:
                segments.append([index])
        if segments:
            unread = [[index[1:] for index in segment] for segment in segments[1:]]
            volume = Volume(ledgers, 0, 1, unread, segments[0][-1])
            self.volumes.append(volume)
            self.put_down(segments[0])
            self.store(volume, [describe(segment) for segment in segments], segments)

    def store(self, volume: Volume, described: list[SegmentMetadata], segments: list[list[DelayedIndex]]) -> None:
        """Store a volume, and put its key."""
        volume.number = waited(self.storage.create_bucket_snapshot, described, segments, volume.key)
        waited(self.cursor.put_cursor_property, volume.key, f"{volume.number}")
        self.fire_if_due()

    def put_down(self, segment: Sequence[DelayedIndex]) -> None:
        for index in segment:
            insort(self.shelf, Line(index, False))

    def read_on(self, volume: Volume) -> bool:
        """Read the next segment of a volume, or be done with it; whether its boundary may go now."""
        self.fire_now()
        try:
            segments = waited(self.read, volume) if volume.unread else []
        except (BucketNotExistException, InvalidSnapshotException) as error:
            segments = error
        self.has_read(volume, segments)
        return True

    def read(self, volume: Volume, done: Done[Sequence[Sequence[DelayedIndex]]]) -> None:
        """Ask for the next segment of a volume."""
        self.storage.get_bucket_snapshot_segment(volume.number, volume.segment + 1, volume.segment + 1, done)

    def has_read(self, volume: Volume, segments: Sequence[Sequence[DelayedIndex]] | Exception) -> None:
        """A segment has come, there is none left, or the snapshot is lost."""
        if segments and not isinstance(segments, Exception):
            volume.segment, volume.boundary = volume.segment + 1, segments[0][-1]
            del volume.unread[0]
            self.put_down(segments[0])
        else:
            for position in chain(*volume.unread):
                self.held.pop(position, None)
            self.volumes.remove(volume)
            self.burn(volume.number, volume.key)

    def burn(self, number: int, key: str) -> None:
        waited(self.storage.delete_bucket_snapshot, number)
        waited(self.cursor.remove_cursor_property, key)

    def recover(self) -> None:
        """Read what the keys lead to; burn what is of no use when all is read."""
        useless, found, placed = [], [], list[range]()
        for key, number in self.cursor.get_cursor_properties().items():
            if key.startswith(BUCKET_PROPERTY_PREFIX):
                first, last = map(int, key.split("_")[-2:])
                found.append((first, -last, int(number), key))
        for first, last, number, key in sorted(found):
            ledgers = range(first, 1 - last)
            is_apart = not placed or placed[-1][-1] < first
            placed += [ledgers] * is_apart
            if not is_apart or not self.take_over(ledgers, number):
                useless.append((number, key))
        for each in useless:
            self.burn(*each)

    def take_over(self, ledgers: range, number: int) -> bool:
        """Whether a snapshot is worth it: one that is there, and not due as a whole."""
        try:
            described = waited(self.storage.get_bucket_snapshot_metadata, number)
            skipped = sum(segment.max_schedule_timestamp <= self.cut_off() for segment in described)
            if skipped == len(described):
                return False
            (read,) = waited(self.storage.get_bucket_snapshot_segment, number, skipped + 1, skipped + 1)
        except (BucketNotExistException, InvalidSnapshotException):
            return False
        names = [
            [(ledger, entry) for ledger, bits in maps.items() for entry in BitMap.deserialize(bits)]
            for _, _, maps in described[skipped:]
        ]
        self.held |= dict.fromkeys(chain(*names), -1)
        self.put_down(read)
        self.volumes.append(Volume(ledgers, number, skipped + 1, names[1:], read[-1]))
        return True

    # ---- What the dispatcher asks for

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        position = ledger_id, entry_id
        if deliver_at < 0 or deliver_at <= self.cut_off():
            self.held.pop(position, None)
            return False
        if position not in self.held:
            own, grown = range(ledger_id, ledger_id + 1), self.grown
            if grown and grown[-1] < ledger_id and not self.meets(own):
                enough = sum(line.grows for line in self.shelf) >= max(self.config.min_index_count, 1)
                if enough or self.meets(range(grown[-1], ledger_id)):
                    self.grown = None
                    self.write(grown)
            grows = not self.meets(own) and (self.grown is None or ledger_id >= self.grown[-1])
            if grows:
                self.grown = range(self.grown[0] if self.grown else ledger_id, ledger_id + 1)
            insort(self.shelf, Line((deliver_at, *position), grows))
            self.held[position] = deliver_at
            self.rearm()
        return True

    def contains_message(self, ledger_id: int, entry_id: int) -> bool:
        return (ledger_id, entry_id) in self.held

    def has_message_available(self) -> bool:
        due = bool(self.held) and self.first() <= self.cut_off()
        if not due:
            self.rearm()
        return due

    def get_scheduled_messages(self, max_messages: int) -> Sequence[tuple[int, int]]:
        self.stop_growing()
        given: list[tuple[int, int]] = []
        mark = (self.cursor.get_mark_deleted_position() or (-1, -1))[0]
        while len(given) < max_messages:
            line = next((line for line in self.shelf if not line.grows), None)
            if line is None:
                break
            at, *position = line.index
            ends = [volume for volume in self.volumes if volume.boundary == line.index]
            if at > self.cut_off() and (ends or position[0] >= mark):
                break
            if ends and not self.read_on(ends[0]):
                break
            self.shelf.remove(line)
            if position[0] < mark or self.is_true(line.index):
                there = self.held.pop(line.index[1:], None) is not None
                given += [line.index[1:]] * (there and position[0] >= mark)
        self.rearm()
        return tuple(sorted(given))

    def stop_growing(self) -> None:
        """What is due does not grow any more."""
        due = [line for line in self.shelf if line.index[0] <= self.cut_off()]
        self.shelf[: len(due)] = [Line(line.index, False) for line in due]

    # ---- The timer

    def first(self) -> int:
        return self.shelf[0].index[0] if self.shelf else 2**63

    def rearm(self) -> None:
        """Have the timer fire when the first index is due."""
        first = self.first() if self.held else None
        if self.armed and self.armed[0] == first:
            return
        self.disarm()
        if first is not None and self.clock() < first < 2**63:
            earliest = self.run + self.tick if 0 <= self.run <= self.clock() else first
            self.armed = first, self.timer.new_timeout(max(first, earliest), self.fired)

    def fire_if_due(self) -> None:
        """Have the timer fire now, if there is something to read."""
        if self.held and self.first() <= self.cut_off():
            self.fire_now()

    def fire_now(self) -> None:
        """Have the timer fire now, for no moment, in place of what is armed."""
        self.disarm()
        self.armed = -1, self.timer.new_timeout(self.clock(), self.fired)

    def disarm(self) -> None:
        if self.armed:
            self.armed[1].cancel()
        self.armed = None

    def fired(self, timeout: Timeout) -> bool:
        if not self.armed or self.armed[1] is not timeout:
            return False
        self.armed, self.run = None, self.clock()
        self.stop_growing()
        return True

    # ---- The rest

    def should_pause_all_deliveries(self) -> bool:
        return False

    def reset_tick_time(self, tick: int) -> None:
        self.tick = tick

    def get_number_of_delayed_messages(self) -> int:
        return len(self.held)

    def clear(self) -> None:
        volumes = self.volumes
        self.wipe()
        for volume in volumes:
            self.burn(volume.number, volume.key)

    def close(self, done: Done[None]) -> None:
        self.disarm()
        self.wipe()
        done(None)

    def get_buckets(self) -> Any:
        rows = sorted(self.volumes, key=lambda volume: volume.ledgers[0])
        return [(v.ledgers[0], v.ledgers[-1], v.segment, v.segment + len(v.unread)) for v in rows]

    def get_queue_sizes(self) -> tuple[int, int]:
        grows = sum(line.grows for line in self.shelf)
        return len(self.shelf) - grows, grows


def describe(segment: Sequence[DelayedIndex]) -> SegmentMetadata:
    """What a snapshot says of a segment: the ledgers last first."""
    ledgers = sorted({ledger for _, ledger, _ in segment}, reverse=True)
    maps = {at: BitMap(entry for _, ledger, entry in segment if ledger == at).serialize() for at in ledgers}
    return SegmentMetadata(segment[0][0], segment[-1][0], maps)


Errand = Generator[Callable[[Done[Any]], None], Any, None]
"""It yields calls, and is sent what they have come to."""


def tried(again: type[Exception], call: Callable[..., None], *arguments: Any) -> Generator[Any, Any, Any]:
    """What a call comes to, which is made four times at most."""
    for _ in range(4):
        result = yield partial(call, *arguments)
        if not isinstance(result, again):
            break
    return result


class Errands(OneShelf):
    """The same shelf, whose calls nobody waits for: each is an errand, a generator that goes on when a call has ended.

    Errands that update keys queue for one pass. A volume that is stored is waited for by a list of what comes next.
    """

    capabilities: ClassVar = {"maintenance": False}

    def __init__(self, *arguments: Any) -> None:
        self.running = 0
        self.closing: Done[None] | None = None
        self.queue: deque[Done[None]] = deque()
        self.passed = self.handing = False
        self.failed: list[tuple[int, str]] = []
        self.reading: object = None
        self.unstored: dict[int, list[Callable[[], None]]] = {}
        """What comes next, by the identity of a volume that is being stored."""
        super().__init__(*arguments)

    def send(self, errand: Errand, result: Any = None) -> None:
        """Go on with an errand."""
        try:
            call = errand.send(result)
        except StopIteration:
            return
        call(partial(self.send, errand))

    def change(self, errand: Errand) -> None:
        """Send an errand that changes what is stored: a close waits for its end."""

        def counted() -> Errand:
            self.running += 1
            yield from errand
            self.running -= 1
            self.end()

        self.send(counted())

    def end(self) -> None:
        """Tell that the close has ended, if it has."""
        if self.closing and not self.running:
            done, self.closing = self.closing, None
            done(None)

    def key_pass(self, done: Done[None]) -> None:
        """Wait for the pass that one errand has at a time."""
        self.queue.append(done)
        self.hand_over()

    def give_back(self) -> None:
        """Give the pass back, and to the next errand."""
        self.passed = False
        self.hand_over()

    def hand_over(self) -> None:
        """Hand the pass over to one errand after the other. It is a loop: those whose calls end at once do not nest."""
        if not self.handing:
            self.handing = True
            while self.queue and not self.passed:
                self.passed = True
                self.queue.popleft()(None)
            self.handing = False

    def store(self, volume: Volume, described: list[SegmentMetadata], segments: list[list[DelayedIndex]]) -> None:
        next_calls = self.unstored[id(volume)] = list[Callable[[], None]]()

        def errand() -> Errand:
            create = self.storage.create_bucket_snapshot
            result = yield from tried(BucketSnapshotPersistenceException, create, described, segments, volume.key)
            volume.number = -1 if isinstance(result, Exception) else result
            if isinstance(result, Exception):
                if volume in self.volumes:
                    self.volumes.remove(volume)
                    self.put_down([*chain(*segments[1:])])
            elif not next_calls:
                yield self.key_pass
                put = self.cursor.put_cursor_property
                yield from tried(BadVersionException, put, volume.key, str(volume.number))
                self.give_back()
            del self.unstored[id(volume)]
            self.fire_if_due()
            for call in next_calls:
                call()

        self.change(errand())

    was_closed = False

    def burn(self, number: int, key: str) -> None:
        def errand() -> Errand:
            delete = self.storage.delete_bucket_snapshot
            result = yield from tried(BucketSnapshotPersistenceException, delete, number)
            if not isinstance(result, Exception):
                yield self.key_pass
                if self.cursor.get_cursor_properties().get(key) == str(number):
                    result = yield from tried(BadVersionException, self.cursor.remove_cursor_property, key)
                self.give_back()
            if isinstance(result, Exception):
                self.failed.append((number, key))

        self.change(errand())

    def read_on(self, volume: Volume) -> bool:
        if id(volume) in self.unstored:
            return False
        own = self.reading = object()
        outcome: list[bool] = []

        def errand() -> Errand:
            segments: Any = []
            if volume.unread:
                segments = yield from tried(BucketSnapshotPersistenceException, self.read, volume)
            is_lost = isinstance(segments, (BucketNotExistException, InvalidSnapshotException))
            outcome.append(is_lost or not isinstance(segments, Exception))
            if volume in self.volumes and outcome[0]:
                self.has_read(volume, segments)
            if self.reading is own:
                self.reading = None
                self.fire_now()

        self.send(errand())
        return outcome == [True]

    def get_scheduled_messages(self, max_messages: int) -> Sequence[tuple[int, int]]:
        return () if self.reading else super().get_scheduled_messages(max_messages)

    def fire_now(self) -> None:
        if not self.was_closed:
            super().fire_now()

    def clear(self) -> None:
        volumes, failed = self.volumes, self.failed
        self.wipe()
        self.reading, self.failed = None, []
        for volume in volumes:
            burn = partial(self.burn_stored, volume)
            self.unstored[id(volume)].append(burn) if id(volume) in self.unstored else burn()
        for each in failed:
            self.burn(*each)

    def burn_stored(self, volume: Volume) -> None:
        """Burn a volume, if it could be stored."""
        if volume.number >= 0:
            self.burn(volume.number, volume.key)

    def close(self, done: Done[None]) -> None:
        self.disarm()
        self.was_closed, self.reading = True, None
        self.closing = done
        self.end()
