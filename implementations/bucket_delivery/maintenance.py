"""Trimming and merging, which keep the number of buckets near its limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, groupby

from broker_tck.implementations.bucket_delivery.buckets import SealedBucket
from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import merged
from broker_tck.implementations.bucket_delivery.promises import Steps, all_of, run
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.sealing import Placing
from broker_tck.implementations.bucket_delivery.snapshots import Snapshots

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
            run(self._maintain())

    def _too_many(self) -> bool:
        return 0 < self._max_buckets < len(self._memory.placed)

    def _maintain(self) -> Steps[None]:
        well = True
        for victim in self._memory.placed.below(self._calls.first_live()):
            well = well and (yield from self._trim(victim))
        if well and self._too_many():
            yield from self._merge(chosen(self._memory.placed))
        self._busy = False

    def _trim(self, victim: SealedBucket) -> Steps[bool]:
        """Delete a bucket once it is stored, if it is of orphans still then; a failure ends the chain (BD-30)."""
        yield victim.created
        if not victim.placed or victim.last_ledger >= self._calls.first_live():
            return True
        well: bool = yield self._snapshots.delete(victim)
        if well and victim.placed:
            self._memory.held.let_go_all(victim.inventory.all)
            self._memory.lose(victim)
        return well

    def _merge(self, sources: Sequence[SealedBucket]) -> Steps[None]:
        """Merge some buckets, if there are any; then they are as others again."""
        if sources:
            for source in sources:
                source.merging = True
            yield from self._replace(sources)
            for source in sources:
                source.merging = False
            self._schedule.wake()

    def _replace(self, sources: Sequence[SealedBucket]) -> Steps[None]:
        """Read all of some neighbours, then put one bucket in their place (BD-28)."""
        stored = yield all_of([source.created for source in sources])
        if not all(stored):
            return
        answers = yield all_of([self._snapshots.read(source, 1, source.last) for source in sources])
        read = [chain.from_iterable(answer) for answer in answers if not isinstance(answer, Exception)]
        first, last = sources[0].first_ledger, sources[-1].last_ledger
        if len(read) < len(sources) or [*self._memory.placed.within(first, last)] != [*sources]:
            return  # something else has come to lie there meanwhile (BD-47), or cannot be read
        for source in sources:
            self._memory.take_away(source)
        bucket = self._placing.place(first, last, merged(read))
        yield bucket.created
        if bucket.keyed:
            yield all_of([self._snapshots.dispose(source) for source in sources])
        else:  # the sources are all that is stored, or that a key leads to
            self._snapshots.retired += sources
