"""The broker's bucket tracker, in what its releases have in common: adds, reads, loads, clear and close."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import ClassVar

from broker_tck.implementations.bucket_delivery.pulsar_bucket import ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, all_of
from broker_tck.implementations.bucket_delivery.pulsar_recovery import Recovering
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    Done,
    Position,
    Timer,
)

LAST_TIME = 2**63 - 1


class Tracker(Recovering):
    """A bucket tracker as of 4.2; what it does beyond the limit of buckets is left to its subclasses."""

    contract: ClassVar[str] = "bucket-delivery"

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        """Recover, or raise why that cannot be."""
        super().__init__(config, clock, timer, storage, cursor)
        self._load: Future[None] | None = None
        self._recover()

    # ---- Add

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, unless it is due."""
        if deliver_at < 0 or deliver_at <= self._cutoff():
            self._members.refused(ledger_id, entry_id)
            return False
        if not self._members.holds(ledger_id, entry_id):
            self._track(ledger_id, entry_id, deliver_at)
        return True

    def _track(self, ledger: int, entry: int, at: int) -> None:
        is_covered = self._placed.get(ledger) is not None
        if not is_covered and self._is_to_be_sealed(ledger):
            self._seal()
            if self._max_buckets > 0 and len(self._placed) > self._max_buckets:
                self._maintain()
        self._enqueue(ledger, entry, at, is_covered)
        self._members.accepted(ledger, entry)
        self._update_timer()

    def _is_to_be_sealed(self, ledger: int) -> bool:
        size = len(self._growing.queue)
        return ledger > self._growing.last and size >= self._min_index_count and size > 0

    def _maintain(self) -> None:
        """There are more buckets than the limit allows."""

    def _enqueue(self, ledger: int, entry: int, at: int, is_covered: bool) -> None:
        if is_covered or ledger < self._growing.last:
            heappush(self._shared, (at, ledger, entry))
        else:
            heappush(self._growing.queue, (at, ledger, entry))
            self._growing.extend(ledger)

    # ---- Ask

    def contains_message(self, ledger_id: int, entry_id: int) -> bool:
        """Whether a message is tracked."""
        return self._members.holds(ledger_id, entry_id)

    def has_message_available(self) -> bool:
        """Whether one is due; if not, the timer is brought up to date."""
        count = self._members.count()
        is_available = count > 0 and self._next_time() <= self._cutoff()
        if not is_available:
            self._update_timer()
        return is_available

    def _next_time(self) -> int:
        heads = [queue[0][0] for queue in (self._growing.queue, self._shared) if queue]
        return min(heads, default=LAST_TIME)

    def _update_timer(self) -> None:
        self._timer.update(self._members.count(), self._next_time, self._tick)

    def should_pause_all_deliveries(self) -> bool:
        """Never."""
        return False

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick (milliseconds)."""
        self._tick = tick

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked."""
        return self._members.count()

    def get_buckets(self) -> Sequence[tuple[int, int, int, int]]:
        """What is placed."""
        return [(span.lower[0], span.upper[0], b.loaded, b.segments) for span, b in self._placed.entries()]

    def get_queue_sizes(self) -> tuple[int, int]:
        """Of the shared queue and of the growing bucket's."""
        return len(self._shared), len(self._growing.queue)

    # ---- Read

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out what is due, unless a segment is being loaded."""
        if not self._is_load_done():
            return []
        cutoff, first_live = self._cutoff(), self._first_live()
        self._move_scheduled()
        positions: set[Position] = set()
        budget = max_messages
        while budget > 0 and self._shared:
            at, ledger, entry = self._shared[0]
            if ledger < first_live:
                heappop(self._shared)
                self._members.orphaned(ledger, entry)
                continue
            if at > cutoff or not self._passes_tail((ledger, entry)):
                break
            heappop(self._shared)
            if self._members.popped(ledger, entry):
                positions.add((ledger, entry))
                budget -= 1
        self._update_timer()
        return sorted(positions)

    def _first_live(self) -> int:
        """The mark-delete ledger; below all ledgers where it is not known."""
        mark = self._persistence.cursor.get_mark_deleted_position()
        return mark[0] if mark is not None else -1

    def _passes_tail(self, position: Position) -> bool:
        """Where the loaded part of a bucket ends, load the next; False: reading has to wait."""
        bucket = self._tails.get(position)
        if bucket is None or not self._placed.holds(bucket):
            return True
        if bucket.merging or not bucket.created.done:
            return False
        self._load = load = self._load_next(bucket, position)
        return self._is_load_done() and not load.failed

    def _is_load_done(self) -> bool:
        if self._load is None or self._load.done:
            self._load = None
            return True
        return False

    def _load_next(self, bucket: ImmutableBucket, position: Position) -> Future[None]:
        before = bucket.loaded

        def loaded(indexes: Sequence[DelayedIndex] | None) -> None:
            self._end_of_load(bucket, position, indexes)

        def ended(error: Exception | None) -> None:
            if error is not None:
                bucket.loaded = before
            self._timer.fire_now()

        return bucket.load_next().then(loaded).when_complete(ended)

    def _end_of_load(self, bucket: ImmutableBucket, position: Position, indexes: Sequence[DelayedIndex] | None) -> None:
        self._tails.pop(position, None)
        if not indexes:
            self._placed.remove(bucket.span)
            self._delete(bucket)
            return
        self._tails[indexes[-1][1], indexes[-1][2]] = bucket
        for at, ledger, entry in indexes:
            heappush(self._shared, (at, ledger, entry))

    # ---- Clear, close

    def clear(self) -> None:
        """Forget every message, and delete every snapshot. The timer stays as it is."""
        self._forget_all()

    def _forget_all(self) -> Future[None]:
        """Told when all deletions have ended."""
        deletions = []
        for bucket in self._placed.values():
            bucket.bits.clear()
            deletions.append(bucket.once_created(self._delete))
        self._placed.clear()
        self._empty()
        return all_of(deletions)

    def _empty(self) -> None:
        self._shared.clear()
        self._growing.clear()
        self._tails.clear()
        self._members.cleared()

    def close(self, done: Done[None]) -> None:
        """Disarm the timer, and let go of the queues; told when the placed buckets are stored, or never will be."""
        self._timer.cancel()
        self._closed = True
        self._shared.clear()
        self._growing.queue.clear()
        all_of([bucket.created for bucket in self._placed.values()]).handle(lambda _, __: done(None))
