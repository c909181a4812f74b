"""Delayed delivery by time buckets: a message is filed under a span of times instead of its own.

What is given up is precision, less than a tick by default; what is gained is memory, by one to three orders of
magnitude against a heap, as the messages of a bucket are mostly neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, pairwise
from typing import ClassVar

from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME, InMemoryTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import MAX_ENTRY_ID, TimeBucketIndex
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer, DeliveryTimer2026
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Timer


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

    _index: TimeBucketIndex

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        """Derive the width of a bucket from the tick; a later change of the tick leaves it as it is (DD-03)."""
        width = bucket_width(config.tick)
        super().__init__(
            config,
            clock,
            DeliveryTimer(clock, timer),
            TimeBucketIndex(),
            width=width,
            rounding=width - 1 if config.strict else 0,
            slack=0 if config.strict else width - 1,
        )

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
        keys = [min(at + self._rounding, LAST_TIME) & self._mask for at in deliver_at]
        neighbours = enumerate(pairwise(zip(keys, entry_ids, strict=True)), 1)
        cuts = [at for at, ((key, entry), following) in neighbours if following != (key, entry + 1)]
        for start, end in pairwise([0, *cuts, len(keys)]):
            self._count += self._index.add_run(keys[start], ledger_id, entry_ids[start], entry_ids[end - 1])
            # Not just once at the end: a timer that aims elsewhere for a moment is armed anew when it comes back.
            self._update_timer(now)


class TimeBucket2026Tracker(TimeBucketTracker):
    """Aims its timer at the bucket itself, as the broker's class does, even if the bucket is due only later (DD-33).

    With a tick lowered below the width of a bucket, delivery stalls until something else asks for messages.
    """

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-2026",)

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        """Start with a timer that takes 0 for the time of a run, and of what is armed (DD-22, DD-26)."""
        super().__init__(config, clock, timer)
        self._timer = DeliveryTimer2026(clock, timer)

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time, in milliseconds."""
        super().reset_tick_time(tick)
        self._late = 0


class TimeBucket50Tracker(TimeBucket2026Tracker):
    """Knows nothing of delays after a clear, as the broker's class of 5.0 does."""

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-5.0",)

    def clear(self) -> None:
        """Forget every message, and what is known of the delays. The timer stays as it is (DD-30)."""
        super().clear()
        self._delays.reset()


class TimeBucket50M1Tracker(TimeBucket2026Tracker):
    """Hands out a bucket when its first time is due, as the broker's class of 5.0.0-M1 does."""

    profiles: ClassVar[tuple[str, ...]] = ("timebucket-5.0-M1",)

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        """Start with the in-memory tracker's buckets, no time of which lies behind the key."""
        super().__init__(config, clock, timer)
        self._slack = 0
        self.reset_tick_time(config.tick)
