"""The common part of all in-memory delayed-delivery trackers, whatever their index.

A message is filed under a key: its deliver-at time, or the bucket of times that it falls into. The trackers differ in
how wide a bucket is, in the index, and in the timer.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer

LAST_TIME = 2**63 - 1
"""The last time, in milliseconds, that a broker's clock can show."""

NEVER = 2**64
"""The first key of an empty index: after every time and any tick beyond it, so that it is never due."""


class Index(Protocol):
    """Positions filed under keys."""

    @property
    def first(self) -> int:
        """The smallest key, or :data:`NEVER`."""

    @property
    def memory(self) -> int:
        """An estimate in bytes: 0 when empty, never less after an add, never more after a take."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """File a position. False: it was there already.

        Raises ``ValueError`` for an entry id that the index cannot hold, and has changed nothing then.
        """

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        """Remove the first copies, in order of key, ledger and entry, of those with keys up to ``last_key``."""

    def clear(self) -> None:
        """Remove everything."""


class InMemoryTracker:
    """A :class:`~broker_tck.implementations.interface.DelayedDeliveryTracker` over an :class:`Index`."""

    index_class: ClassVar[type[Index]]
    timer_class: ClassVar[type[DeliveryTimer]] = DeliveryTimer
    detector_class: ClassVar[type[FixedDelayDetector]] = FixedDelayDetector

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        """Start without messages. A later change of the tick leaves the width of buckets as it is (DD-03)."""
        self._clock = clock
        self._timer = self.timer_class(clock, timer)
        self._index = self.index_class()
        self._delays = self.detector_class()
        self._count = 0
        self._strict = config.strict
        self._lookahead = config.lookahead
        width = self._width(config.tick)
        self._mask = -width
        self._rounding = width - 1 if config.strict else 0
        """What is added to a time before it is rounded down to a bucket."""
        self._slack = 0 if config.strict else width - 1
        """Milliseconds that a time can lie behind its key."""
        self.reset_tick_time(config.tick)

    def _width(self, tick: int) -> int:
        """The width of a bucket in milliseconds, a power of two."""
        raise NotImplementedError

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time, in milliseconds; the next call heeds it (DD-27)."""
        self._tick = tick
        self._window = 0 if self._strict else tick
        self._early = self._window - self._slack
        self._late = max(0, -self._early)

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message. False: it is due, or not delayed, and the caller dispatches it now (DD-09, DD-10).

        Raises ``ValueError``, and changes nothing, for an entry id that the index cannot hold (DD-13).
        """
        now = self._clock()
        if deliver_at <= now + self._window or deliver_at < 0:
            self._delays.refused()
            return False
        if self._index.add(self._key(deliver_at), ledger_id, entry_id):
            self._count += 1
        self._update_timer(now)
        self._delays.accepted(deliver_at, self._tick)
        return True

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now; if not, the timer is brought up to date (DD-19)."""
        now = self._clock()
        if self._index.first <= now + self._early:
            return True
        self._update_timer(now)
        return False

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due: the first by key, ledger and entry, in the order of positions (DD-20).

        A position that is filed twice is handed out once and counts twice towards ``max_messages``.
        """
        now = self._clock()
        copies = self._index.take(now + self._early, max_messages)
        self._count -= len(copies)
        if self._index.first == NEVER:
            self._delays.reset()
        self._update_timer(now)
        return list(dict.fromkeys(sorted(copies)))

    def should_pause_all_deliveries(self) -> bool:
        """Whether to stop reading, because ``lookahead`` messages of one delay are tracked (DD-17)."""
        return 0 < self._lookahead <= self._count and self._delays.fixed and not self.has_message_available()

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked (DD-28)."""
        return self._count

    def get_buffer_memory_usage(self) -> int:
        """An estimate of the index's size in bytes, 0 when it is empty (DD-29)."""
        return self._index.memory

    def clear(self) -> None:
        """Forget every message. The timer and what is known of the delays stay as they are (DD-30)."""
        self._index.clear()
        self._count = 0

    def close(self) -> None:
        """Disarm the timer, then let go of the memory (DD-32). The count stays, as in the broker's classes."""
        self._timer.disarm()
        self._index.clear()

    def _key(self, deliver_at: int) -> int:
        """The bucket of a time (DD-05)."""
        return min(deliver_at + self._rounding, LAST_TIME) & self._mask

    def _update_timer(self, now: int) -> None:
        first = self._index.first
        if first == NEVER:
            self._timer.disarm()
        elif first + self._late != self._timer.target:
            self._timer.aim(first + self._late, now, self._tick)
