"""A tracker: what it is asked, and what it hands out. Times are absolute milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Protocol

from broker_tck.model.bucket_delivery import parts
from broker_tck.model.bucket_delivery.loading import Loading
from broker_tck.model.bucket_delivery.maintenance import TRACKER, Maintenance, Recovery
from broker_tck.model.bucket_delivery.parts import Cutting, Held, Mutable, Placed, Timer
from broker_tck.model.bucket_delivery.sealing import Sealing
from broker_tck.model.bucket_delivery.stored import (
    Bucket,
    Durable,
    Index,
    Position,
    Promise,
    Snapshots,
    started,
)
from broker_tck.model.parts.tick import Tick
from broker_tck.model.reference import Allowed
from broker_tck.model.rules import Part, rule

LAST = 2**63 - 1
"""The latest time."""


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
            self.timer.may_update(self.update)
            return False
        if self.held.repeated(position, over):
            self.timer.may_update(self.update)
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
        """When the first index in memory is due. If memory has no index, this is the latest time."""
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
        self.timer.updated = None
        self.update(self.timer)

    def update(self, timer: parts.Timer) -> None:
        """Bring a timer up to date."""
        timer.fresh = False
        timer.update(self.first(), self.tick.tick)

    def first(self) -> int | None:
        """When the first message in memory is due; None if nothing is held."""
        return self.next_time() if self.held.count() > 0 else None

    @rule("BD-48", source="follows from BD-02 and BD-42", when=lambda t: t.held.count() > 0)
    def recovered(self) -> None:
        """After a recovery a tracker may arm its timer for the first index in memory; once asked, it must."""
        self.timer.fresh = True

    def armed(self) -> list[int] | Allowed:
        """The times for which timeouts are armed."""
        if self.timer.fresh:
            self.timer.may_update(self.update)
        return self.timer.allowed(self.config.clock)

    # ---- Handing out

    def get(self, most: int) -> list[Position]:
        """Hand out what is due, ``most`` messages at most; nothing while a load is under way."""
        if self.loading.load is not None and not self.loading.load.settled:
            self.timer.may_update(self.update)
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
        self.timer.may_update(self.update)

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
