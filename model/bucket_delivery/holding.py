"""What a bucket tracker holds in memory: adds, the queue of what is loaded, and the timer."""

from __future__ import annotations

from heapq import heappush
from typing import Any, Protocol

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Position
from broker_tck.model.bucket_delivery.cutting import Cutting
from broker_tck.model.bucket_delivery.durable import Durable
from broker_tck.model.bucket_delivery.index import Held
from broker_tck.model.bucket_delivery.mutable import Mutable
from broker_tck.model.bucket_delivery.ranges import Placed
from broker_tck.model.bucket_delivery.snapshots import Snapshots
from broker_tck.model.bucket_delivery.timer import Timer
from broker_tck.model.parts.tick import Tick
from broker_tck.model.rules import Part, rule

LAST = 2**63 - 1
"""The last time that there is."""


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


class Holding(Part):
    """Accepts messages and knows which are held, in the growing bucket, in the shared queue, in sealed buckets."""

    Timer = Timer
    Tick = Tick
    Held = Held
    Mutable = Mutable
    Placed = Placed
    Cutting = Cutting
    Snapshots = Snapshots

    def __init__(self, config: Config, durable: Durable, now: int) -> None:
        self.config = config
        self.durable = durable
        self.timer = self.Timer(now, self.move_due)
        self.tick = self.Tick(config.tick, config.strict)
        self.held = self.Held()
        self.mutable = self.Mutable(config.min_index_count)
        self.placed = self.Placed()
        self.cutting = self.Cutting(config.time_step, config.max_indexes)
        self.snapshots = self.Snapshots(durable)
        self.shared: list[Index] = []
        """A heap of what may be handed out next."""
        self.tails: dict[Any, Bucket] = {}
        """By the boundary at the end of the segment that was loaded last, the bucket whose next one is to be loaded."""
        self.left: list[Bucket] = []
        """The buckets that lay in their places when it was closed."""

    @property
    def now(self) -> int:
        """The time, which the timer keeps."""
        return self.timer.now

    def cutoff(self) -> int:
        """What is not after it is due."""
        return self.tick.cutoff(self.now)

    # ---- Adding

    @rule("BD-04")
    def refuses(self, position: Position, at: int) -> bool:
        """Whether a message is refused, by its time alone."""
        return at < 0 or at <= self.cutoff()

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message."""
        position, over = (ledger, entry), self.placed.over(ledger)
        if self.refuses(position, at):
            self.held.refused(position, over)
            return False
        if not self.held.repeated(position, over):
            self.take((at, ledger, entry))
            self.held.add((at, ledger, entry))
            self.added()
        return True

    @rule("BD-42", when=lambda t: t.timer.target != t.next_time())
    def added(self) -> None:
        """A message was accepted."""
        self.update_timer()

    def take(self, index: Index) -> None:
        """Keep an index."""
        self.keep(index, self.placed.over(index[1]) is not None)

    def keep(self, index: Index, covered: bool) -> None:
        """Keep an index in the growing bucket, or in the shared queue. ``covered``: a sealed bucket lies there."""
        if self.mutable.takes(index[1], covered):
            self.mutable.add(index)
        else:
            heappush(self.shared, index)

    def contains(self, ledger: int, entry: int) -> bool:
        """Whether a message is held, so that it need not be read."""
        return self.held.contains((ledger, entry), self.placed.over(ledger))

    # ---- What is due

    @rule("BD-18", source="BucketDelayedDeliveryTracker, PR 26080")
    def available(self) -> bool:
        """A message is available if something is held and the first index in memory is due; where there is none in
        memory, the time of delivery is the last that there is.
        """
        return self.held.count() > 0 and self.next_time() <= self.cutoff()

    def next_time(self) -> int:
        """When the first index in memory is due."""
        heads = [queue[0][0] for queue in (self.shared, self.mutable.queue) if queue]
        return min(heads, default=LAST)

    def has(self) -> bool:
        """Whether a message is available."""
        available = self.available()
        if not available:
            self.found_nothing()
        return available

    @rule("BD-42", when=lambda t: t.timer.target != t.next_time())
    def found_nothing(self) -> None:
        """Nothing is available."""
        self.update_timer()

    def move_due(self) -> None:
        """Move what is due from the growing bucket to the shared queue."""
        for index in self.mutable.due(self.cutoff()):
            heappush(self.shared, index)

    @rule("BD-10", source="BucketDelayedDeliveryTracker", when=lambda t: t.held.count() > 0)
    def pause(self) -> bool:
        """All deliveries never pause."""
        return False

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        self.tick.reset(tick)

    def update_timer(self) -> None:
        """Bring the timer up to date with what is in memory."""
        self.timer.update(self.next_time() if self.held.count() > 0 else None, self.tick.tick)
