"""Delayed-delivery trackers on one sorted list, to copy from: one conforms, and one hands out too early."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import ClassVar

from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timeout, Timer

LAST_TIME = 2**63 - 1


class SortedListTracker:
    """Keeps (key of the bucket, ledger, entry) in order; what is due is the beginning of the list."""

    profiles: ClassVar = ("timebucket-ideal",)
    capabilities: ClassVar = {"entry_id_bits": 63}

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.clock = clock
        self.timer = timer
        self.strict = config.strict
        self.lookahead = config.lookahead
        self.tick = config.tick
        self.width = 1 << (max(config.tick, 1).bit_length() - 1)
        self.held: list[tuple[int, int, int]] = []
        self.fixed_delay, self.highest = True, 0
        self.timeout: Timeout | None = None
        self.target: int | None = None
        self.last_run: int | None = None

    # ---- Time

    def cutoff(self) -> int:
        """The last time that is due now."""
        return self.clock() + (0 if self.strict else self.tick)

    def key(self, deliver_at: int) -> int:
        """The bucket of a time: rounded down, in strict mode up."""
        at = min(deliver_at + self.width - 1, LAST_TIME) if self.strict else deliver_at
        return at & -self.width

    def is_due(self, key: int) -> bool:
        """Whether all that the bucket may hold is due."""
        return key + (0 if self.strict else self.width - 1) <= self.cutoff()

    def wake(self, key: int) -> int:
        """When the bucket becomes due."""
        return key if self.strict else max(key, key + self.width - 1 - self.tick)

    # ---- What the dispatcher calls

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, unless it is due now."""
        if deliver_at <= self.cutoff():
            self.fixed_delay = False
            return False
        one = (self.key(deliver_at), ledger_id, entry_id)
        at = bisect_left(self.held, one)
        if self.held[at : at + 1] != [one]:
            self.held.insert(at, one)
        self.update_timer()
        self.fixed_delay = self.fixed_delay and deliver_at >= self.highest - self.tick
        self.highest = max(self.highest, deliver_at)
        return True

    def has_message_available(self) -> bool:
        """Whether the first bucket is due."""
        available = bool(self.held) and self.is_due(self.held[0][0])
        if not available:
            self.update_timer()
        return available

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Take the beginning of the list, as far as it is due and asked for."""
        count = 0
        while count < min(max_messages, len(self.held)) and self.is_due(self.held[count][0]):
            count += 1
        taken = self.held[:count]
        del self.held[:count]
        if not self.held:
            self.fixed_delay, self.highest = True, 0
        self.update_timer()
        return sorted({(ledger, entry) for _, ledger, entry in taken})

    def should_pause_all_deliveries(self) -> bool:
        """Whether enough is held, all of one delay, and nothing of it is available."""
        enough = 0 < self.lookahead <= len(self.held)
        return enough and self.fixed_delay and not self.has_message_available()

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick; the buckets keep their width."""
        self.tick = tick

    def get_number_of_delayed_messages(self) -> int:
        """How many are held."""
        return len(self.held)

    def get_buffer_memory_usage(self) -> int:
        """Three numbers a message."""
        return 24 * len(self.held)

    def clear(self) -> None:
        """Forget every message."""
        self.held = []

    def close(self) -> None:
        """Disarm, and let go of everything."""
        self.disarm()
        self.clear()

    # ---- The timer

    def update_timer(self) -> None:
        """Arm for the first bucket."""
        if not self.held:
            self.disarm()
            return
        wake = self.wake(self.held[0][0])
        if wake == self.target:
            return
        self.disarm()
        if self.last_run is not None and self.last_run > self.clock():
            self.last_run = None  # the clock was set back
        if wake > self.clock():
            self.target = wake
            earliest = wake if self.last_run is None else self.last_run + self.tick
            self.timeout = self.timer.new_timeout(max(wake, earliest), self.fired)

    def disarm(self) -> None:
        """Cancel what is armed, and forget it."""
        if self.timeout is not None:
            self.timeout.cancel()
        self.timeout = self.target = None

    def fired(self, timeout: Timeout) -> bool:
        """Ask for a read, unless the timeout was cancelled."""
        if timeout.cancelled:
            return False
        self.last_run = self.clock()
        self.timeout = self.target = None
        return True


class EarlyTracker(SortedListTracker):
    """The same with one mistake: a bucket counts as due when its first time is, so its last comes too early."""

    def is_due(self, key: int) -> bool:
        """Whether the first time that the bucket may hold is due."""
        return key <= self.cutoff()
