"""Trimming and merging, which keep the number of buckets near its limit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, groupby

from broker_tck.implementations.bucket_delivery.buckets import SealedBucket
from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import merged
from broker_tck.implementations.bucket_delivery.promises import Promise, all_of, kept
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.sealing import Placing
from broker_tck.implementations.bucket_delivery.snapshots import Answer, Snapshots

MOST_MERGED = 4
"""Maximum number of buckets that become one."""


def chosen(buckets: Iterable[SealedBucket], most: int = MOST_MERGED) -> Sequence[SealedBucket]:
    """The neighbours to be merged, of buckets by ascending ranges: as many as can be; none, if no two can (BD-27).

    Each has a segment that is not loaded, and none is being merged. Of several runs the one with the fewest messages is
    chosen; of equal ones, the one that is due first.
    """
    can_be_merged = groupby(buckets, lambda bucket: bucket.current < bucket.last and not bucket.merging)
    stretches = [[*stretch] for can, stretch in can_be_merged if can]
    for width in range(most, 1, -1):
        runs = [each[start : start + width] for each in stretches for start in range(len(each) - width + 1)]
        if runs:
            return min(runs, key=_rank)
    return []


def _rank(run: Sequence[SealedBucket]) -> tuple[int, int]:
    """What decides between runs: the number of messages, then when the next segment is due."""
    return sum(bucket.size for bucket in run), min(bucket.next_time for bucket in run)


class Maintenance:
    """Trims, then merges if that was not enough. There is one such chain at a time (BD-26)."""

    def __init__(
        self,
        max_buckets: int,
        memory: Memory,
        schedule: Schedule,
        calls: Calls,
        snapshots: Snapshots,
        placing: Placing,
    ) -> None:
        self._max_buckets = max_buckets
        self._memory = memory
        self._schedule = schedule
        self._calls = calls
        self._snapshots = snapshots
        self._placing = placing
        self._busy = False

    def sealed(self) -> None:
        """A bucket was sealed."""
        if self._too_many() and not self._busy:
            self._busy = True
            self._trim(deque(self._memory.placed.below(self._calls.first_live())), well=True)

    def _too_many(self) -> bool:
        return 0 < self._max_buckets < len(self._memory.placed)

    # ---- Trim

    def _trim(self, victims: deque[SealedBucket], well: bool) -> None:
        """Delete buckets of orphans one after another; the first failure ends the chain (BD-30)."""
        while well and victims:
            deleted = self._trim_one(victims.popleft())
            if not deleted.kept:
                deleted.then(partial(self._trim, victims))
                return
            well = deleted.result
        if well and self._too_many():
            self._merge()
        else:
            self._busy = False

    def _trim_one(self, victim: SealedBucket) -> Promise[bool]:
        """Delete a bucket once it is stored, if it is of orphans still then."""
        trimmed: Promise[bool] = Promise()

        def created(_: bool) -> None:
            if victim.placed and victim.last_ledger < self._calls.first_live():
                self._snapshots.delete(victim).then(deleted)
            else:
                trimmed.keep(True)

        def deleted(well: bool) -> None:
            if well and victim.placed:
                self._memory.held.let_go_all(victim.inventory.all)
                self._memory.lose(victim)
            trimmed.keep(well)

        victim.created.then(created)
        return trimmed

    # ---- Merge

    def _merge(self) -> None:
        """Read all of some neighbours, then put one bucket in their place (BD-28)."""
        sources = chosen(self._memory.placed)
        if not sources:
            self._busy = False
            return
        for source in sources:
            source.merging = True
        all_of([source.created for source in sources]).then(partial(self._read, sources))

    def _read(self, sources: Sequence[SealedBucket], stored: Sequence[bool]) -> None:
        if not all(stored):
            self._end(sources)
            return
        read = all_of([self._snapshots.read(source, 1, source.last) for source in sources])
        read.then(partial(self._commit, sources))

    def _commit(self, sources: Sequence[SealedBucket], answers: Sequence[Answer]) -> None:
        """Put one bucket in the place of its sources, if nothing else has come to lie there (BD-47)."""
        first, last = sources[0].first_ledger, sources[-1].last_ledger
        read = [chain.from_iterable(answer) for answer in answers if not isinstance(answer, Exception)]
        if len(read) < len(sources) or [*self._memory.placed.within(first, last)] != [*sources]:
            self._end(sources)
            return
        for source in sources:
            self._memory.take_away(source)
        bucket = self._placing.place(first, last, merged(read))
        bucket.created.then(lambda _: self._merged(bucket, sources))

    def _merged(self, bucket: SealedBucket, sources: Sequence[SealedBucket]) -> None:
        """Delete the sources, unless they are all that is stored, or that a key leads to."""
        if bucket.keyed:
            deleted = all_of([self._snapshots.dispose(source) for source in sources])
        else:
            self._snapshots.retired += sources
            deleted = kept([])
        deleted.then(lambda _: self._end(sources))

    def _end(self, sources: Sequence[SealedBucket]) -> None:
        """What was merged is as others again."""
        for source in sources:
            source.merging = False
        self._schedule.wake()
        self._busy = False
