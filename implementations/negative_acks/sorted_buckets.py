"""A tracker of negative acks after PIP-393, with a timer that is re-armed for whatever is due sooner."""

from __future__ import annotations

from collections.abc import Sequence
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
from broker_tck.implementations.negative_acks.entry_buckets import NackBuckets
from broker_tck.implementations.negative_acks.parts import MS, SHORTEST_MS, backoff_of, emit


class SortedBucketsTracker:
    """Tracks entries by the bucket in which they become due."""

    contract: ClassVar[str] = "negative-acks"
    profiles: ClassVar[tuple[str, ...]] = ("pip-393-spec",)
    capabilities: ClassVar[dict[str, object]] = {"chunk_ledgers": True}

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        if not 0 <= config.precision_bits <= 40:
            raise ValueError(f"precision_bits is {config.precision_bits}; it must be from 0 to 40")
        self._wall = clocks.wall
        self._monotonic = clocks.monotonic
        self._timer = timer
        self._consumer = consumer
        self._backoff = backoff_of(config)
        self._fixed = max(config.delay_us // 1_000, SHORTEST_MS)
        self._mask = -(1 << config.precision_bits)
        self._buckets = NackBuckets()
        self._chunks: dict[int, dict[Position, Sequence[Position]]] = {}
        self._timeout: Timeout | None = None
        self._deadline = 0
        self._closed = False

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""
        self.add_message(message_id, 0)

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""
        ledger, entry, _, chunks = message_id
        self._track(ledger, entry, redelivery_count, [(ledger, chunk) for chunk in chunks] if chunks else ())

    def add_chunked_message(self, chunks: Sequence[Position], redelivery_count: int) -> None:
        """Track a message whose chunks may be of several ledgers."""
        self._track(*chunks[-1], redelivery_count, chunks)

    def _track(self, ledger: int, entry: int, redelivery_count: int, chunks: Sequence[Position]) -> None:
        if self._closed:
            return
        delay = self._backoff(redelivery_count) if self._backoff else self._fixed
        bucket = self._bucket(self._wall() + delay)
        self._buckets.add(bucket, ledger, entry)
        if chunks:
            self._note_chunks(bucket, (ledger, entry), chunks)
        self._arm_for(self._monotonic() + delay * MS)

    def _bucket(self, instant: int) -> int:
        return instant & self._mask

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[Position]) -> None:
        self._chunks.setdefault(bucket, {})[position] = chunks

    def _arm_for(self, deadline: int) -> None:
        """Arm the timer for a nack, unless it fires in time as it is."""
        if self._timeout is None:
            self._arm(deadline)
        elif deadline < self._deadline:
            self._timeout.cancel()
            self._arm(deadline)

    def _arm(self, deadline: int) -> None:
        self._deadline = deadline
        self._timeout = self._timer.new_timeout(deadline, self._fired)

    def _fired(self, timeout: Timeout) -> None:
        if timeout is not self._timeout:
            return  # cancelled when it was on its way already
        self._timeout = None
        now = self._wall()
        ids = self._take(now)
        self._arm_for_first(now)
        emit(self._consumer, ids)

    def _take(self, now: int) -> list[Position]:
        """Remove what is due; its ids, those of chunks as well, each once."""
        ids = set(self._buckets.take(now))
        for bucket in [b for b in self._chunks if b <= now]:
            ids.update(*self._chunks.pop(bucket).values())
        return [*ids]

    def _arm_for_first(self, now: int) -> None:
        first = self._buckets.first()
        if first is not None:
            self._arm(self._monotonic() + (first - now) * MS)

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        return self._buckets.count

    def close(self) -> None:
        """Disarm and forget, for good."""
        self._closed = True
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None
        self._buckets = NackBuckets()
        self._chunks.clear()
