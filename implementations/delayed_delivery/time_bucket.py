"""Delayed delivery by time buckets: a message is filed under a span of times instead of its own.

What is given up is precision, less than a tick by default; what is gained is memory, by one to three orders of
magnitude against a heap, as the messages of a bucket are mostly neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, pairwise
from typing import ClassVar

from broker_tck.implementations.delayed_delivery.in_memory import InMemoryTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import MAX_ENTRY_ID, TimeBucketIndex


def bucket_width(tick: int) -> int:
    """Give the largest power of two that is not above the tick, and at least 1 (DD-02); milliseconds."""
    return 1 << max(0, tick.bit_length() - 1)


class TimeBucketTracker(InMemoryTracker):
    """Never early when strict, and otherwise early by a tick at most; in either case late by less than a bucket.

    When strict a time is rounded up to a bucket. Otherwise it is rounded down, and the bucket has to wait until its
    last time is within the tick (DD-05, DD-06). The timer aims at that moment (DD-33).
    """

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-ideal",)
    capabilities: ClassVar[dict[str, int]] = {"entry_id_bits": 32, "batch_adds": True}
    index_class = TimeBucketIndex

    _index: TimeBucketIndex

    def _width(self, tick: int) -> int:
        return bucket_width(tick)

    def add_messages(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int]) -> list[bool]:
        """Track messages of one ledger, as if each was added alone; fast where entry ids follow on each other.

        Raises ``ValueError`` where a single add would; the messages before that one are tracked then.
        """
        if len(entry_ids) != len(deliver_at):
            raise ValueError(f"{len(entry_ids)} entry ids, but {len(deliver_at)} times")
        if entry_ids and not 0 <= min(entry_ids) <= max(entry_ids) <= MAX_ENTRY_ID:
            return [self.add_message(ledger_id, entry, at) for entry, at in zip(entry_ids, deliver_at, strict=True)]
        now = self._clock()
        cutoff = max(-1, now + self._window)
        answers = [at > cutoff for at in deliver_at]
        if not all(answers):
            self._delays.refused()
            entry_ids, deliver_at = list(compress(entry_ids, answers)), list(compress(deliver_at, answers))
        if deliver_at:
            self._file(ledger_id, entry_ids, deliver_at, now)
        return answers

    def _file(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int], now: int) -> None:
        self._delays.accepted_all(deliver_at, self._tick)
        keys = [*map(self._key, deliver_at)]
        neighbours = enumerate(pairwise(zip(keys, entry_ids, strict=True)), 1)
        cuts = [at for at, ((key, entry), following) in neighbours if following != (key, entry + 1)]
        for start, end in pairwise([0, *cuts, len(keys)]):
            self._count += self._index.add_run(keys[start], ledger_id, entry_ids[start], entry_ids[end - 1])
            # Not just once at the end: a timer that aims elsewhere for a moment is armed anew when it comes back.
            self._update_timer(now)
