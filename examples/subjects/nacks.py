"""Negative-acks trackers on a dictionary of buckets, to copy from: one conforms, and one emits late."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)

IDS_OF_A_REQUEST = 1000
NANOSECONDS_OF_A_MILLISECOND = 1_000_000


class Tracker:
    """Keeps the entries of each bucket, each with the ids that it emits: itself, or all chunks of its message."""

    contract: ClassVar = "negative-acks"
    profiles: ClassVar = ("pip-393-spec",)
    capabilities: ClassVar[dict[str, int]] = {"chunk_ledgers": True}  # it has all others

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self.config = config
        self.clocks = clocks
        self.timer = timer
        self.consumer = consumer
        self.buckets: dict[int, dict[Position, Sequence[Position]]] = {}
        self.timeout: Timeout | None = None
        self.deadline = 0
        self.closed = False

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""
        self.add_message(message_id, 0)

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""
        ledger, entry, _, chunks = message_id
        self.add_chunked_message([(ledger, each) for each in chunks or (entry,)], redelivery_count)

    def add_chunked_message(self, chunks: Sequence[Position], redelivery_count: int) -> None:
        """File the last chunk under the bucket in which its delay ends."""
        if self.closed:
            return
        delay = self.delay(redelivery_count)
        bucket = self.buckets.setdefault(self.key(self.clocks.wall() + delay), {})
        bucket[chunks[-1]] = chunks
        self.arm(delay)

    def get_nacked_messages_count(self) -> int:
        """Count an entry once for each of its buckets."""
        return sum(map(len, self.buckets.values()))

    def close(self) -> None:
        """Let go of everything, for good."""
        self.closed = True
        self.buckets = {}
        self.disarm()

    def delay(self, redelivery_count: int) -> int:
        """How long a message waits that was redelivered so often before."""
        if self.config.backoff_ms is not None:
            return self.config.backoff_ms[min(redelivery_count, len(self.config.backoff_ms) - 1)]
        if self.config.multiplier is not None:
            first, longest, factor = self.config.multiplier
            with suppress(OverflowError):  # a float that large is longer than the longest
                return int(min(first * factor**redelivery_count, longest))
            return longest if first else 0
        return max(self.config.delay_us // 1000, 100)

    def key(self, instant: int) -> int:
        """The bucket of an instant: the low bits are cleared."""
        return instant >> self.config.precision_bits << self.config.precision_bits

    def arm(self, delay: int) -> None:
        """Have the timer fire after so long, unless it fires sooner."""
        deadline = self.clocks.monotonic() + delay * NANOSECONDS_OF_A_MILLISECOND
        if self.timeout is None or deadline < self.deadline:
            self.disarm()
            self.timeout, self.deadline = self.timer.new_timeout(deadline, self.fired), deadline

    def disarm(self) -> None:
        """Cancel what is armed."""
        if self.timeout is not None:
            self.timeout.cancel()
            self.timeout = None

    def fired(self, timeout: Timeout) -> None:
        """Take the buckets that are due, arm for the next one, and only then call."""
        if timeout.cancelled:
            return
        self.timeout = None
        now = self.clocks.wall()
        due = [self.buckets.pop(key) for key in sorted(self.buckets) if key <= now]
        if self.buckets:
            self.arm(min(self.buckets) - now)
        ids = sorted({each for bucket in due for named in bucket.values() for each in named})
        if ids:
            self.consumer.on_negative_acks_send(ids)
        for first in range(0, len(ids), IDS_OF_A_REQUEST):
            self.consumer.redeliver_unacknowledged_messages(ids[first : first + IDS_OF_A_REQUEST])


class PatientTracker(Tracker):
    """The same with one mistake: a pending timer is left alone, and what is due sooner waits for it."""

    def arm(self, delay: int) -> None:
        """Have the timer fire after so long, unless it is armed."""
        if self.timeout is None:
            super().arm(delay)
