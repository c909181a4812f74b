"""Parts of the bundled delayed-delivery trackers, and what no trace can ask of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from kit import CONTRACT, START

from broker_tck.implementations.delayed_delivery.heap import HeapTracker, TripleHeap
from broker_tck.implementations.delayed_delivery.runs import Runs
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex


def adapter(kind: type = TimeBucketTracker, **config: Any) -> Any:
    """A tracker with its clock and its timer, as walks use it."""
    return CONTRACT.adapter(kind, CONTRACT.config(**config), CONTRACT.capabilities())


@pytest.mark.parametrize("entry", [-1, 2**32, 2**63])
def test_entry_beyond_32_bits_changes_nothing(entry: int) -> None:
    tracker = adapter(lookahead=1).tracker
    assert tracker.add_message(1, 1, START + 5000)
    used = tracker.get_buffer_memory_usage()
    with pytest.raises(ValueError, match=f"entry id {entry}"):
        tracker.add_message(1, entry, START + 3000)
    assert tracker.get_buffer_memory_usage() == used
    assert tracker.should_pause_all_deliveries()


@pytest.mark.parametrize(
    ("entries", "tracked", "says"),
    [([1, -1, 2], 1, "entry id -1"), ([1, 2], 0, "2 entry ids, but 3 times")],
    ids=["as single adds would", "of unequal lengths, as a whole"],
)
def test_batch_that_is_wrong_is_refused(entries: list[int], tracked: int, says: str) -> None:
    tracker = adapter().tracker
    with pytest.raises(ValueError, match=says):
        tracker.add_messages(1, entries, [START + 5000] * 3)
    assert tracker.get_number_of_delayed_messages() == tracked


@pytest.mark.parametrize("kind", [TimeBucketTracker, HeapTracker])
def test_nothing_is_available_at_the_end_of_time(kind: type) -> None:
    end = adapter(kind, tick=100_000)
    end.now = 2**63 - 1
    assert not end.has()


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


def test_run_takes_no_more_than_its_ends() -> None:
    scattering, run = TimeBucketIndex(), TimeBucketIndex()
    for number in range(20_000):
        scattering.add(0, number, number)
        run.add(0, 1, number)
    assert run.memory < 300
    assert 20_000 * 8 <= scattering.memory < 20_000 * 9


@pytest.mark.parametrize("seed", range(40))
def test_runs_match_a_set(seed: int) -> None:
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
    left = sorted(wanted)
    while left:
        most = choose.choice([1, 2, 7, 50])
        taken, numbers = numbers.take(most)
        assert taken == left[:most]
        left = left[most:]
        assert bool(numbers) == bool(left)
