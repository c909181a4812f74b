"""The bundled delayed-delivery trackers against a naive one that is written here, and shares nothing with the model."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from kit import CONTRACT, CROWDED

from broker_tck.implementations.delayed_delivery.heap import HeapTracker, IllegalReferenceCountException, TripleHeap
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.number_sets import Bitmap, Runs
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker, bucket_width
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.interface import BatchAdds, DelayedDeliveryTracker
from broker_tck.properties.engine.replay import declaring, on_subject
from broker_tck.properties.engine.trace import Trace

START = 1_700_000_000_000
LAST_TIME = 2**63 - 1
TRACKERS = [TimeBucketTracker, HeapTracker]


@dataclass
class Config:
    tick: int = 1000
    strict: bool = False
    lookahead: int = 0


@dataclass(eq=False)
class Timeout:
    deadline: int
    fired: Any
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Wheel:
    """A clock and a timer that fires exactly at its deadline, though never inside a call."""

    now: int = START
    timeouts: list[Timeout] = field(default_factory=list)

    def clock(self) -> int:
        return self.now

    def new_timeout(self, deadline: int, fired: Any) -> Timeout:
        self.timeouts.append(Timeout(deadline, fired))
        return self.timeouts[-1]

    def armed(self) -> list[int]:
        self.timeouts = [timeout for timeout in self.timeouts if not timeout.cancelled]
        return sorted(timeout.deadline for timeout in self.timeouts)

    def advance(self, milliseconds: int) -> int:
        """Answer with the number of reads that were asked for."""
        end, reads = self.now + milliseconds, 0
        while self.armed() and min(self.armed()) <= end:
            timeout = min(self.timeouts, key=lambda one: one.deadline)
            self.timeouts.remove(timeout)
            self.now = max(self.now, timeout.deadline)
            reads += timeout.fired(timeout)
        self.now = end
        return reads


class Naive:
    """The tracker of profile ``timebucket-ideal``: a set of (key, ledger, entry) that is searched for everything."""

    def __init__(self, config: Config, wheel: Wheel) -> None:
        self.wheel, self.tick, self.strict, self.lookahead = wheel, config.tick, config.strict, config.lookahead
        self.width = bucket_width(config.tick)
        self.held: set[tuple[int, int, int]] = set()
        self.highest, self.fixed = 0, True
        self.last_run: int | None = None
        self.timeout: Timeout | None = None
        self.target: int | None = None

    def is_due(self, key: int) -> bool:
        return key <= self.wheel.now if self.strict else key + self.width - 1 <= self.wheel.now + self.tick

    def add(self, ledger: int, entry: int, at: int) -> bool:
        if at < 0 or at <= self.wheel.now + (0 if self.strict else self.tick):
            self.fixed = False
            return False
        key = at // self.width * self.width
        if self.strict and key != at:
            key = min(key + self.width, LAST_TIME // self.width * self.width)
        self.held.add((key, ledger, entry))
        self.update_timer()
        self.fixed = self.fixed and at >= self.highest - self.tick
        self.highest = max(self.highest, at)
        return True

    def has(self) -> bool:
        available = any(self.is_due(key) for key, _, _ in self.held)
        if not available:
            self.update_timer()
        return available

    def get(self, most: int) -> list[tuple[int, int]]:
        due = sorted(triple for triple in self.held if self.is_due(triple[0]))[: max(0, most)]
        self.held.difference_update(due)
        if not self.held:
            self.highest, self.fixed = 0, True
        self.update_timer()
        return sorted({triple[1:] for triple in due})

    def pause(self) -> bool:
        return self.lookahead > 0 and self.fixed and len(self.held) >= self.lookahead and not self.has()

    def clear(self) -> None:
        self.held.clear()

    def drop_timeout(self) -> None:
        if self.timeout:
            self.timeout.cancel()
        self.timeout = self.target = None

    def update_timer(self) -> None:
        if not self.held:
            self.drop_timeout()
            return
        key = min(self.held)[0]
        wake = key if self.strict else max(key, key + self.width - 1 - self.tick)
        if wake == self.target:
            return
        self.drop_timeout()
        if wake > self.wheel.now:
            earliest = wake if self.last_run is None else self.last_run + self.tick
            self.timeout = self.wheel.new_timeout(max(wake, earliest), self.fired)
            self.target = wake

    def fired(self, timeout: Timeout) -> bool:
        self.last_run = self.wheel.now
        if timeout is self.timeout:
            self.timeout = self.target = None
        return True


class Pair:
    """A tracker and the naive one, each with a clock of its own; every call goes to both."""

    def __init__(self, config: Config, now: int = START) -> None:
        self.wheel, other = Wheel(now), Wheel(now)
        self.tracker = TimeBucketTracker(config, self.wheel.clock, self.wheel)
        self.naive = Naive(config, other)

    def same(self, got: Any, wanted: Any) -> Any:
        assert got == wanted
        assert self.tracker.get_number_of_delayed_messages() == len(self.naive.held)
        assert self.wheel.armed() == self.naive.wheel.armed()
        assert (self.tracker.get_buffer_memory_usage() == 0) == (not self.naive.held)
        return got

    def add(self, ledger: int, entry: int, at: int) -> bool:
        before = self.tracker.get_buffer_memory_usage()
        answer = self.same(self.tracker.add_message(ledger, entry, at), self.naive.add(ledger, entry, at))
        assert self.tracker.get_buffer_memory_usage() >= before
        return bool(answer)

    def add_batch(self, ledger: int, entries: list[int], times: list[int]) -> None:
        wanted = [self.naive.add(ledger, entry, at) for entry, at in zip(entries, times, strict=True)]
        self.same(self.tracker.add_messages(ledger, entries, times), wanted)

    def get(self, most: int) -> list[tuple[int, int]]:
        before = self.tracker.get_buffer_memory_usage()
        taken = self.same(self.tracker.get_scheduled_messages(most), self.naive.get(most))
        assert self.tracker.get_buffer_memory_usage() <= before
        return list(taken)

    def has(self) -> bool:
        return bool(self.same(self.tracker.has_message_available(), self.naive.has()))

    def pause(self) -> bool:
        return bool(self.same(self.tracker.should_pause_all_deliveries(), self.naive.pause()))

    def reset_tick(self, tick: int) -> None:
        self.naive.tick = tick
        self.tracker.reset_tick_time(tick)
        self.same(None, None)

    def clear(self) -> None:
        self.naive.clear()
        self.tracker.clear()
        self.same(None, None)

    def advance(self, milliseconds: int) -> int:
        return int(self.same(self.wheel.advance(milliseconds), self.naive.wheel.advance(milliseconds)))

    def drain(self, most: int) -> None:
        """Take everything, bucket by bucket, as the timer asks for it."""
        while self.naive.held:
            if not self.get(most):
                assert self.wheel.armed(), "nothing will ever ask for what is left"
                self.advance(self.wheel.armed()[0] - self.wheel.now)


LEDGERS = [-(2**63), -(2**31) - 1, -1, 0, 1, 2**31 - 1, 2**31, 2**63 - 1]
ENTRIES = [0, 1, 2, 3, 4095, 4096, 65535, 65536, 2**32 - 2, 2**32 - 1]


@pytest.mark.parametrize("seed", range(60))
def test_random_operations_match_the_naive_tracker(seed: int) -> None:
    choose = random.Random(seed)
    tick = choose.choice([1, 2, 3, 8, 100, 500, 512, 1000, 1024])
    now = choose.choice([START, START + 37, 4096])
    pair = Pair(Config(tick, choose.random() < 0.5, choose.choice([0, 2, 5])), now)
    ledgers = choose.choice([[1, 2, 3], LEDGERS])
    entries = choose.choice([list(range(12)), ENTRIES])

    def time() -> int:
        return pair.wheel.now + choose.randrange(-tick, 5 * tick + 4)

    def add_batch() -> None:
        first, size = choose.randrange(9), choose.randrange(5)
        pair.add_batch(choose.choice(ledgers), list(range(first, first + size)), [time() for _ in range(size)])

    weighted: dict[Callable[[], object], float] = {
        lambda: pair.add(choose.choice(ledgers), choose.choice(entries), time()): 9,
        add_batch: 2,
        pair.has: 3,
        lambda: pair.get(choose.choice([-1, 0, 1, 2, 3, 100])): 5,
        pair.pause: 2,
        lambda: pair.reset_tick(choose.choice([1, tick // 2 + 1, tick, 2 * tick])): 1,
        pair.clear: 0.2,
        lambda: pair.advance(choose.choice([0, 1, tick // 3, tick, 2 * tick])): 5,
    }
    for operation in choose.choices(list(weighted), list(weighted.values()), k=300):
        operation()
    pair.drain(100)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("order", ["in order", "backwards", "shuffled"])
@pytest.mark.parametrize("step", [1, 2, 40])
@pytest.mark.parametrize("first", [0, 4_090, 65_000, 2**32 - 30_000])
def test_large_bucket_comes_out_in_order_and_in_parts(first: int, step: int, order: str, strict: bool) -> None:
    wheel = Wheel()
    tracker = TimeBucketTracker(Config(strict=strict), wheel.clock, wheel)
    entries = list(range(first, min(first + 5_000 * step, 2**32), step))
    wanted = [(ledger, entry) for ledger in (-3, 7) for entry in entries]
    added = {"in order": wanted, "backwards": wanted[::-1]}.get(order) or random.Random(1).sample(wanted, len(wanted))
    used = 0
    for position in added:
        assert tracker.add_message(*position, START + 5000)
        assert used <= (used := tracker.get_buffer_memory_usage())
    assert tracker.add_message(*wanted[len(wanted) // 2], START + 5000)
    assert tracker.get_number_of_delayed_messages() == len(wanted)
    wheel.advance(6000)
    taken: list[tuple[int, int]] = []
    while part := tracker.get_scheduled_messages(999):
        taken += part
        assert used >= (used := tracker.get_buffer_memory_usage())
    assert taken == wanted
    assert used == tracker.get_number_of_delayed_messages() == 0


@pytest.mark.slow
def test_batches_across_the_edges_of_containers() -> None:
    pair = Pair(Config(tick=1024))
    for first in (0, 3_900, 65_301, 65_400, 2**32 - 600):
        entries = list(range(first, first + 600, 1 + first % 2))
        pair.add_batch(5, entries, [START + 3_000 + entry % 7 * 300 for entry in entries])
        pair.add_batch(5, entries[::-1], [START + 9_000] * len(entries))
        pair.add_batch(5, entries, [START + 9_000] * len(entries))
    pair.drain(1_000)


def test_bucket_is_added_to_after_it_was_left_and_taken_from() -> None:
    pair = Pair(Config(tick=1024))
    for bucket in range(50):
        for entry in range(0, 40, 2):
            pair.add(1, entry, START + 5_000 + bucket * 1024)
    pair.advance(6_000)
    pair.get(7)
    for bucket in range(0, 50, 7):
        for entry in range(20):
            pair.add(1, entry, START + 9_000 + bucket * 1024)
    pair.drain(13)


@pytest.mark.parametrize("entry", [-1, 2**32, 2**63])
def test_entry_beyond_32_bits_changes_nothing(entry: int) -> None:
    pair = Pair(Config(lookahead=1))
    pair.add(1, 1, START + 5000)
    used = pair.tracker.get_buffer_memory_usage()
    with pytest.raises(ValueError, match=f"entry id {entry}"):
        pair.tracker.add_message(1, entry, START + 3000)
    assert pair.tracker.get_buffer_memory_usage() == used
    assert pair.pause()


def test_batch_arms_the_timer_as_single_adds_do() -> None:
    pair = Pair(Config(tick=8, strict=True))
    pair.add(1, 1, START + 8)
    assert pair.advance(8) == 1
    pair.get(1)
    pair.reset_tick(1000)
    pair.add(1, 1, START + 24)
    assert pair.wheel.armed() == [START + 1008]
    pair.clear()
    pair.reset_tick(8)
    pair.add_batch(1, [1, 2], [START + 64, START + 24])
    assert pair.wheel.armed() == [START + 24]


def test_batch_with_a_bad_entry_fails_where_single_adds_would() -> None:
    pair = Pair(Config())
    with pytest.raises(ValueError, match="entry id -1"):
        pair.tracker.add_messages(1, [1, -1, 2], [START + 5000] * 3)
    pair.naive.add(1, 1, START + 5000)
    pair.has()


def test_batch_of_unequal_lengths_is_refused_whole() -> None:
    pair = Pair(Config())
    with pytest.raises(ValueError, match="2 entry ids, but 1 times"):
        pair.tracker.add_messages(1, [1, 2], [START + 5000])
    assert not pair.has()


def test_last_time_is_rounded_up_to_the_last_bucket() -> None:
    pair = Pair(Config(strict=True), LAST_TIME - 5000)
    pair.add(1, 1, LAST_TIME)
    pair.add_batch(1, [2, 3], [LAST_TIME - 511, LAST_TIME - 510])
    pair.advance(4999)
    assert pair.has()
    assert pair.get(10) == [(1, 1), (1, 2), (1, 3)]


def test_lowered_tick_does_not_stall_delivery() -> None:
    wheel = Wheel()
    tracker = TimeBucketTracker(Config(), wheel.clock, wheel)
    tracker.reset_tick_time(100)
    assert tracker.add_message(1, 1, START + 2000)
    assert wheel.advance(3000) == 1
    wheel.now = START + 1536 + 511 - 100
    assert tracker.has_message_available()


def test_late_firing_of_a_cancelled_timeout_is_ignored() -> None:
    pair = Pair(Config())
    pair.add(1, 1, START + 9000)
    late = pair.wheel.timeouts[0]
    pair.add(1, 2, START + 5000)
    assert late.cancelled
    assert not late.fired(late)
    pair.has()
    pair.advance(20_000)


@pytest.mark.parametrize("kind", TRACKERS)
def test_close_disarms_and_releases_and_may_be_repeated_but_for_the_heap(kind: type) -> None:
    wheel = Wheel()
    tracker: DelayedDeliveryTracker = kind(Config(), wheel.clock, wheel)
    assert tracker.add_message(1, 1, START + 5000)
    assert tracker.get_buffer_memory_usage() > 0
    tracker.close()
    for _ in range(2):
        with pytest.raises(IllegalReferenceCountException) if kind is HeapTracker else nullcontext():
            tracker.close()
    assert wheel.armed() == []
    assert tracker.get_buffer_memory_usage() == 0


@pytest.mark.parametrize("kind", TRACKERS)
def test_nothing_is_available_at_the_end_of_time(kind: type) -> None:
    wheel = Wheel(LAST_TIME)
    assert not kind(Config(tick=100_000), wheel.clock, wheel).has_message_available()


@pytest.mark.parametrize("kind", TRACKERS)
def test_tracker_has_the_interface(kind: type) -> None:
    wheel = Wheel()
    tracker = kind(Config(), wheel.clock, wheel)
    assert isinstance(tracker, DelayedDeliveryTracker)
    assert isinstance(tracker, BatchAdds) == issubclass(kind, TimeBucketTracker)


@pytest.mark.parametrize("seed", range(20))
def test_heap_matches_a_sorted_list(seed: int) -> None:
    choose = random.Random(seed)
    heap, wanted = TripleHeap(), []
    used = 0
    for _ in range(choose.choice([20, 1500])):
        triple = (choose.randrange(50), choose.choice(LEDGERS), choose.choice([-(2**63), 0, 1, 2**63 - 1]))
        assert heap.add(*triple)
        wanted.append(triple)
        assert used <= (used := heap.memory)
    wanted.sort()
    assert heap.take(-1, 10) == heap.take(50, 0) == []
    while wanted:
        last, most = choose.randrange(51), choose.randrange(1, 200)
        chosen = [triple for triple in wanted if triple[0] <= last][:most]
        del wanted[: len(chosen)]
        assert heap.take(last, most) == [triple[1:] for triple in chosen]
        assert used >= (used := heap.memory)
        assert heap.first == (wanted[0][0] if wanted else NEVER)
    assert used == 0


def test_heap_gives_memory_back() -> None:
    heap = TripleHeap()
    for entry in range(10_000):
        heap.add(entry, 1, 1)
    full = heap.memory
    heap.take(8_999, 10_000)
    assert heap.memory <= full // 8
    with pytest.raises(ValueError, match=r"1:9223372036854775808 does not fit"):
        heap.add(1, 1, 2**63)
    assert len(heap.take(10_000, 10_000)) == 1_000


def test_heap_hands_out_a_copy_for_each_add() -> None:
    wheel = Wheel()
    tracker = HeapTracker(Config(strict=True), wheel.clock, wheel)
    for _ in range(3):
        assert tracker.add_message(1, 1, START + 5)
    wheel.advance(5)
    assert tracker.get_scheduled_messages(2) == [(1, 1)]
    assert tracker.get_number_of_delayed_messages() == 1
    assert tracker.get_scheduled_messages(2) == [(1, 1)]


@pytest.mark.parametrize("trace", CROWDED)
def test_tables_of_ledgers_grow_and_shrink_alike(trace: Trace) -> None:
    assert [on_subject(trace, subject, trace.profile) for subject in declaring(CONTRACT, trace.profile)] == [None]


@pytest.mark.parametrize("seed", range(40))
def test_number_sets_match_a_set(seed: int) -> None:
    choose = random.Random(seed)
    span = choose.choice([30, 300, 2**63])
    numbers = Runs.of(first := choose.randrange(span))
    wanted = {first}
    for _ in range(400):
        near = min(span - 1, max(wanted) + choose.randrange(1, 4))
        number = near if choose.random() < 0.3 else choose.randrange(span)
        assert numbers.add(number) == (number not in wanted)
        wanted.add(number)
        if choose.random() < 0.1:
            number, size = choose.choice([number, max(wanted)]), choose.randrange(1, 9)
            size = min(size, 2**63 - number)
            assert numbers.add_run(number, number + size - 1) == len(set(range(number, number + size)) - wanted)
            wanted.update(range(number, number + size))
        assert list(numbers) == sorted(numbers)
    for each in (numbers, Bitmap(numbers)):
        rest, left = each, sorted(wanted)
        while left:
            most = choose.choice([1, 2, 7, 50])
            taken, rest = rest.take(most)
            assert taken == left[:most]
            left = left[most:]
            assert bool(rest) == bool(left)


def test_crowd_becomes_a_bitmap_and_a_scattering_does_not() -> None:
    crowd, scattering, run = TimeBucketIndex(), TimeBucketIndex(), TimeBucketIndex()
    for number in range(20_000):
        crowd.add(0, 1, number * 2)
        scattering.add(0, number, number)
        run.add(0, 1, number)
    assert run.memory < 300
    assert crowd.memory < 20_000 * 3
    assert 20_000 * 8 <= scattering.memory < 20_000 * 9
