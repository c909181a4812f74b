"""Before its first run a timer has not run: there is no such run at time 0."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import ClassVar

import pytest
from kit import CONTRACT, MODEL, found, subject_of

from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timeout, Timer
from broker_tck.properties.engine import edges
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk, walks

WALKS = 80
LAST = 2**63 - 1


class FromTheRules:
    """Written from the sentences of the rules alone: a heap of copies, and a timer that has not run yet."""

    contract: ClassVar = "delayed-delivery"
    profiles: ClassVar = ("timebucket-ideal",)

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.clock, self.timer = clock, timer
        self.strict, self.lookahead, self.tick = config.strict, config.lookahead, config.tick
        self.width = 1 << max(config.tick, 1).bit_length() - 1
        self.heap: list[tuple[int, int, int]] = []
        self.held: set[tuple[int, int, int]] = set()
        self.fixed = True
        self.highest: int | None = None
        self.timeout: Timeout | None = None
        self.armed_for: int | None = None
        self.last_run: int | None = None

    def cutoff(self) -> int:
        return self.clock() + (0 if self.strict else self.tick)

    def is_due(self, key: int) -> bool:
        return key + (0 if self.strict else self.width - 1) <= self.cutoff()

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        if deliver_at < 0 or deliver_at <= self.cutoff():
            self.fixed = False
            return False
        up = self.width - 1 if self.strict else 0
        copy = min(deliver_at + up, LAST) // self.width * self.width, ledger_id, entry_id
        if copy not in self.held:
            self.held.add(copy)
            heappush(self.heap, copy)
        self.update_timer()
        if self.highest is not None and deliver_at < self.highest - self.tick:
            self.fixed = False
        self.highest = deliver_at if self.highest is None else max(self.highest, deliver_at)
        return True

    def has_message_available(self) -> bool:
        if self.heap and self.is_due(self.heap[0][0]):
            return True
        self.update_timer()
        return False

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        taken: set[Position] = set()
        while self.heap and max_messages > 0 and self.is_due(self.heap[0][0]):
            copy = heappop(self.heap)
            self.held.discard(copy)
            taken.add(copy[1:])
            max_messages -= 1
        if not self.heap:
            self.fixed, self.highest = True, None
        self.update_timer()
        return sorted(taken)

    def should_pause_all_deliveries(self) -> bool:
        many = 0 < self.lookahead <= len(self.heap)
        return many and self.fixed and not self.has_message_available()

    def get_number_of_delayed_messages(self) -> int:
        return len(self.heap)

    def get_buffer_memory_usage(self) -> int:
        return 24 * len(self.heap)

    def reset_tick_time(self, tick: int) -> None:
        self.tick = tick

    def clear(self) -> None:
        self.heap.clear()
        self.held.clear()

    def close(self) -> None:
        self.disarm()

    def disarm(self) -> None:
        if self.timeout:
            self.timeout.cancel()
        self.timeout = self.armed_for = None

    def update_timer(self) -> None:
        if not self.heap:
            self.disarm()
            return
        first, now = self.heap[0][0], self.clock()
        wake = first if self.strict else max(first, first + self.width - 1 - self.tick)
        if wake == self.armed_for:
            return
        self.disarm()
        if self.last_run is not None and self.last_run > now:
            self.last_run = None
        if wake > now:
            at = wake if self.last_run is None else max(wake, self.last_run + self.tick)
            self.timeout, self.armed_for = self.timer.new_timeout(at, self.fired), wake

    def fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            return False
        self.last_run = self.clock()
        if timeout is self.timeout:
            self.timeout = self.armed_for = None
        return True


class RunAtZero(FromTheRules):
    """Takes 0 for the last run of a timer that has not run yet."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self.last_run = 0


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every walk starts near time 0."""
    monkeypatch.setattr(edges, "EARLY", 1)


def failing(subject: Subject) -> Iterator[Walk]:
    every = walks(CONTRACT, 0, range(WALKS), subject.adapter, MODEL, subject.capabilities)
    return (done for done in every if done.difference)


def test_tracker_of_the_rules_conforms() -> None:
    assert next(failing(subject_of(FromTheRules)), None) is None


def test_run_at_zero_breaks_the_rule() -> None:
    subject = subject_of(RunAtZero)
    finding = found(subject, next(failing(subject)))
    assert finding is not None
    assert finding.diagnosis.rules == ("DD-22",)
    assert [way.clause for way in finding.diagnosis.mistakes] == ["timer.earliest_at_first"]
    assert len(finding.operations) == 1
