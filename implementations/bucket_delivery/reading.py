"""How messages are handed out, and segments loaded on the way."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.buckets import SealedBucket
from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.promises import Promise, Steps, run
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.snapshots import Answer, Snapshots, is_gone, one_of
from broker_tck.implementations.interface import DelayedIndex, Position


class Reading:
    """Hands out what is due. The last index of a segment does not leave the queue before the next segment is there."""

    def __init__(self, memory: Memory, schedule: Schedule, calls: Calls, snapshots: Snapshots) -> None:
        self._memory = memory
        self._schedule = schedule
        self._snapshots = snapshots
        self._calls = calls
        self._load: Promise[bool] | None = None

    def take(self, most: int) -> list[Position]:
        """Take out what is due, so much at most, in the order of positions; nothing while a segment is loaded."""
        if self._load is not None and not self._load.kept:
            return []
        self._load = None
        cutoff = self._schedule.cutoff()
        self._memory.move_due(cutoff)
        taken = self._taken(most, cutoff)
        self._memory.held.nothing_before(self._memory.first)
        self._schedule.update()
        taken.sort()
        return taken

    def forget_load(self) -> None:
        """Wait no longer for a segment that is being loaded."""
        self._load = None

    def _taken(self, most: int, cutoff: int) -> list[Position]:
        memory, held = self._memory, self._memory.held
        live = self._calls.first_live()
        taken: list[Position] = []
        index: DelayedIndex | None = None
        while len(taken) < most and (head := memory.shared.head) is not None:
            orphan = head[1] < live
            if not self._leaves(head, orphan, cutoff):
                break
            index = memory.shared.pop()
            if orphan:
                held.let_go_of_orphan(index)
            elif held.is_for(index):
                held.let_go(index[1], index[2])
                taken.append((index[1], index[2]))
        if index is not None and memory.shared.head == index:
            # Merged segments are read again, so the same index may be there twice.
            held.suspect_one(index[1], index[2])
        return taken

    def _leaves(self, head: DelayedIndex, orphan: bool, cutoff: int) -> bool:
        """Whether the first index leaves the queue now: it is due, or an orphan, and the next segment is there."""
        bucket = self._memory.ending_at(head)
        if bucket is None:
            return orphan or head[0] <= cutoff
        return head[0] <= cutoff and self._goes_on(bucket)

    def _goes_on(self, bucket: SealedBucket) -> bool:
        """Whether the next segment of a bucket is in memory now; it is asked for, if that can be done (BD-29)."""
        if bucket.merging or not bucket.created.kept:
            return False
        self._load = load = run(self._next(bucket))
        load.then(lambda _: self._schedule.fire_at_once() if load is self._load else None)
        return load.kept and (load.result or not bucket.placed)

    def _next(self, bucket: SealedBucket) -> Steps[bool]:
        """Load the next segment, if there is one; whether that went well."""
        following = bucket.current + 1
        answer = [] if following > bucket.last else (yield self._snapshots.read(bucket, following, following))
        if bucket.placed:
            self._loaded(bucket, answer)
        return not isinstance(answer, Exception)

    def _loaded(self, bucket: SealedBucket, answer: Answer) -> None:
        """A segment has come, there is none left, or it cannot be read (BD-20)."""
        if isinstance(answer, Exception):
            if is_gone(answer):
                self._memory.held.let_go_all(bucket.inventory.unloaded)
                self._memory.lose(bucket)
                self._snapshots.dispose(bucket)
        elif answer:
            segment = one_of(answer)
            bucket.go_on(segment)
            self._memory.load(bucket, segment)
        else:
            self._memory.take_away(bucket)
            self._snapshots.dispose(bucket)
