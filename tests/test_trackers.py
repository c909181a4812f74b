"""Parts of the bundled delayed-delivery trackers, and what no trace can ask of them."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from kit import CONTRACT, CROWDED

from broker_tck.implementations.delayed_delivery.heap import HeapTracker, IllegalReferenceCountException, TripleHeap
from broker_tck.implementations.delayed_delivery.in_memory import NEVER
from broker_tck.implementations.delayed_delivery.number_sets import Bitmap, Runs
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.interface import BatchAdds, DelayedDeliveryTracker
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.search.replay import declaring, on_subject

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


LEDGERS = [-(2**63), -(2**31) - 1, -1, 0, 1, 2**31 - 1, 2**31, 2**63 - 1]


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


@pytest.mark.parametrize("entry", [-1, 2**32, 2**63])
def test_entry_beyond_32_bits_changes_nothing(entry: int) -> None:
    wheel = Wheel()
    tracker = TimeBucketTracker(Config(lookahead=1), wheel.clock, wheel)
    assert tracker.add_message(1, 1, START + 5000)
    used = tracker.get_buffer_memory_usage()
    with pytest.raises(ValueError, match=f"entry id {entry}"):
        tracker.add_message(1, entry, START + 3000)
    assert tracker.get_buffer_memory_usage() == used
    assert tracker.should_pause_all_deliveries()


def test_batch_with_a_bad_entry_fails_where_single_adds_would() -> None:
    wheel = Wheel()
    tracker = TimeBucketTracker(Config(), wheel.clock, wheel)
    with pytest.raises(ValueError, match="entry id -1"):
        tracker.add_messages(1, [1, -1, 2], [START + 5000] * 3)
    assert tracker.get_number_of_delayed_messages() == 1


def test_batch_of_unequal_lengths_is_refused_whole() -> None:
    wheel = Wheel()
    tracker = TimeBucketTracker(Config(), wheel.clock, wheel)
    with pytest.raises(ValueError, match="2 entry ids, but 1 times"):
        tracker.add_messages(1, [1, 2], [START + 5000])
    assert tracker.get_number_of_delayed_messages() == 0


def test_lowered_tick_does_not_stall_delivery() -> None:
    wheel = Wheel()
    tracker = TimeBucketTracker(Config(), wheel.clock, wheel)
    tracker.reset_tick_time(100)
    assert tracker.add_message(1, 1, START + 2000)
    assert wheel.advance(3000) == 1
    wheel.now = START + 1536 + 511 - 100
    assert tracker.has_message_available()


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
