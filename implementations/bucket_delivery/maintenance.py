"""What is done where a seal makes too many buckets: those of orphans are trimmed, and neighbours merged."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import chain

from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.orphans import first_live
from broker_tck.implementations.bucket_delivery.packed import merged
from broker_tck.implementations.bucket_delivery.placing import Placing
from broker_tck.implementations.bucket_delivery.promise import Promise, all_of, kept
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.sealed import SealedBucket
from broker_tck.implementations.bucket_delivery.selection import chosen
from broker_tck.implementations.bucket_delivery.snapshots import Answer, Snapshots
from broker_tck.implementations.interface import CursorProperties


class Maintenance:
    """Trims, then merges if that was not enough. There is one such chain at a time (BD-26)."""

    def __init__(
        self,
        max_buckets: int,
        memory: Memory,
        schedule: Schedule,
        snapshots: Snapshots,
        placing: Placing,
        cursor: CursorProperties,
    ) -> None:
        self._max_buckets = max_buckets
        self._memory = memory
        self._schedule = schedule
        self._snapshots = snapshots
        self._placing = placing
        self._cursor = cursor
        self._busy = False

    def sealed(self) -> None:
        """A bucket was sealed."""
        if self._too_many() and not self._busy:
            self._busy = True
            self._trim(deque(self._memory.placed.below(first_live(self._cursor))))

    def _too_many(self) -> bool:
        return 0 < self._max_buckets < len(self._memory.placed)

    # ---- Trim

    def _trim(self, victims: deque[SealedBucket]) -> None:
        """Delete buckets of orphans one after another; the first failure ends the chain (BD-30)."""
        while victims:
            deleted = self._trim_one(victims.popleft())
            if not deleted.kept:
                deleted.then(lambda well: self._trim_on(victims, well))
                return
            if not deleted.result:
                self._busy = False
                return
        if self._too_many():
            self._merge()
        else:
            self._busy = False

    def _trim_on(self, victims: deque[SealedBucket], well: bool) -> None:
        if well:
            self._trim(victims)
        else:
            self._busy = False

    def _trim_one(self, victim: SealedBucket) -> Promise[bool]:
        """Delete a bucket once it is stored, if it is of orphans still then."""
        trimmed: Promise[bool] = Promise()

        def created(_: bool) -> None:
            if victim.placed and victim.last_ledger < first_live(self._cursor):
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
        all_of([source.created for source in sources]).then(lambda stored: self._read(sources, stored))

    def _read(self, sources: Sequence[SealedBucket], stored: Sequence[bool]) -> None:
        if not all(stored):
            self._end(sources)
            return
        read = all_of([self._snapshots.read_all(source) for source in sources])
        read.then(lambda answers: self._commit(sources, answers))

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
        bucket.created.then(lambda stored: self._merged(bucket, sources))

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
