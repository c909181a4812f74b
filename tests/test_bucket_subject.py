"""The bucket tracker's parts against naive ones, what it costs in memory, and what no walk shows."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from file_adapter import START, broker, drained

from broker_tck.implementations.bucket_delivery.files.layout import metadata_bytes, read_metadata
from broker_tck.implementations.bucket_delivery.inventory import packed_metadata, stock_behind, stock_of
from broker_tck.implementations.bucket_delivery.packed import Packed, in_order, merged, packed
from broker_tck.implementations.bucket_delivery.positions import positions_of
from broker_tck.implementations.bucket_delivery.queues import SharedQueue, Strays
from broker_tck.implementations.bucket_delivery.sealing import cut
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import (
    BUCKET_PROPERTY_PREFIX,
    BucketNotExistException,
    BucketSnapshotPersistenceException,
    DelayedIndex,
    IllegalArgumentException,
    SegmentMetadata,
)
from broker_tck.properties.contracts.bucket_delivery.adapter import Adapter
from broker_tck.properties.contracts.bucket_delivery.operations import WAITS, Config
from broker_tck.properties.contracts.bucket_delivery.storage import Door, Durable
from broker_tck.properties.engine.timer import DispatcherTimer

INDEX_SIZE = 20


def some(chance: random.Random, n: int) -> list[tuple[int, int, int]]:
    return [(chance.randrange(50), chance.randrange(3), chance.randrange(20)) for _ in range(n)]


# ---- Packed indexes


def test_packed_indexes_are_a_sequence() -> None:
    rows = [(5, 2**62, 2**32 - 1), (2**63 - 1, 0, 0), (7, 1, 3)]
    columns = packed(rows)
    assert [*columns] == rows
    assert len(columns) == 3
    assert columns[1] == rows[1]
    assert columns[-1] == rows[-1]
    assert [*columns[1:]] == rows[1:]
    assert columns[1:] == packed(rows[1:])
    assert columns != rows
    assert packed(columns) is columns
    assert [*in_order(columns)] == sorted(rows)
    assert merged([rows[:1], columns[1:2], packed(rows[2:])]) == in_order(columns)
    assert merged([columns]) is columns
    both = Packed()
    both.append(*rows[0])
    both.extend(columns[1:])
    assert both == columns
    with pytest.raises(OverflowError):
        packed([(1, 1, 2**32)])


# ---- Segments


@pytest.mark.parametrize("step", [0, 1, 7, 1000])
@pytest.mark.parametrize("most", [-1, 0, 1, 3])
def test_segments_are_cut_as_late_as_can_be(step: int, most: int) -> None:
    indexes = packed(sorted(some(random.Random(step), 60)))
    segments = cut(indexes, step, most)
    assert [row for segment in segments for row in segment] == [*indexes]
    full = len(indexes) if most == -1 else max(most, 1)
    for segment, following in pairwise(segments):
        assert len(segment) == full or following[0][0] >= segment[0][0] + step
    for segment in segments:
        assert len(segment) == 1 or segment[-1][0] < segment[0][0] + step
        assert len(segment) <= full


def test_an_inventory_knows_what_was_not_loaded() -> None:
    segments = [packed([(1, 1, 1), (1, 1, 2)]), packed([(5, 1, 2), (6, 1, 3)]), packed([(9, 1, 2), (9, 2, 1)])]
    inventory = stock_of([positions_of(s.ledgers, s.entries) for s in segments])
    assert [*inventory.all] == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert [*inventory.unloaded] == [(1, 2), (1, 3), (2, 1)]
    inventory.loaded(1, segments[1])
    assert [*inventory.unloaded] == [(1, 2), (2, 1)]
    inventory.loaded(2, segments[2])
    assert not inventory.unloaded


@pytest.mark.parametrize("again", [(), ((30, 2, 2),)])
def test_an_inventory_is_the_same_read_from_a_file(again: tuple[DelayedIndex, ...]) -> None:
    segments = cut(packed([(at, at % 3, at) for at in range(1, 30)] + [*again]), 5, -1)
    positions = [positions_of(each.ledgers, each.entries) for each in segments]
    said = [SegmentMetadata(s[0][0], s[-1][0], p.serialized()) for s, p in zip(segments, positions, strict=True)]
    for metadata in (packed_metadata(said), read_metadata(metadata_bytes(said, "key"))):
        assert [*metadata] == said
        for skipped in range(len(positions) + 1):
            read, made = stock_behind(metadata, skipped), stock_of(positions[skipped:])
            for place, segment in enumerate(segments[skipped:]):
                assert [*read.all] == [*made.all]
                assert [*read.unloaded] == [*made.unloaded]
                read.loaded(place, segment)
                made.loaded(place, segment)
            assert not read.unloaded


# ---- Memory


def grown(make: Callable[[], object]) -> int:
    """The bytes that are left of what is made."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        made = make()
        gc.collect()  # the interpreter keeps up to 2,000 tuples for later
        after = tracemalloc.get_traced_memory()[0]
        del made
    finally:
        tracemalloc.stop()
    return after - before


def test_a_loaded_segment_costs_no_more_than_its_columns() -> None:
    chance = random.Random(5)
    n = 5000
    rows = sorted((START + chance.randrange(300_000), 2**40, entry) for entry in range(n))
    queue = SharedQueue()
    queue.share(packed([(1, 1, 1)]))

    def load() -> None:
        queue.share(packed(rows))

    assert grown(load) <= n * (INDEX_SIZE + 1)


def test_the_growing_bucket_is_packed_whenever_somebody_asked() -> None:
    chance = random.Random(6)
    n = 20_000

    def fill() -> Strays:
        strays = Strays()
        for entry in range(n):
            strays.push(START + chance.randrange(10**7), 2**40, entry)
            if entry % 3001 == 0:
                strays.push(*strays.pop())
        return strays

    assert grown(fill) <= n * 24


@pytest.mark.slow
def test_a_tracker_at_rest_costs_what_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    buckets, each = 5, 8_000
    # What is stored costs nothing.
    monkeypatch.setattr(Door, "create_bucket_snapshot", lambda self, *of: of[-1](self.durable.create(([], []), "")))

    def fill() -> Adapter:
        adapter = broker(min_index_count=each, time_step=10**8, max_indexes=1000)
        for ledger in range(buckets):
            for entry in range(each):
                adapter.add(ledger, entry, START + 1000 + chance.randrange(10**7))
        return adapter

    tracker: Any = fill().tracker
    shared, growing = tracker.get_queue_sizes()
    assert (shared, growing) == ((buckets - 1) * 1000, each)
    # A segment of each bucket, the growing one, and less than a kilobyte for each bucket and segment.
    assert grown(fill) <= 24 * (shared + growing) + 20_000
    assert not tracker._held.times
    assert not tracker._held.suspects


def test_times_are_kept_for_those_alone_that_need_them() -> None:
    adapter = broker(min_index_count=1000)
    adapter.add(1, 0, START + 10), adapter.add(1, 1, START + 20)
    held = adapter.tracker._held
    assert not held.times
    adapter.advance(15)
    assert not adapter.add(1, 0, START + 10)
    assert adapter.add(1, 0, START + 40)
    assert held.times == {(1, 0): START + 40}
    assert adapter.get(9) == []
    adapter.advance(10)
    assert adapter.get(9) == [(1, 1)]
    assert not held.suspects, "no index of what was refused is left"
    assert held.times
    adapter.advance(20)
    assert adapter.get(9) == [(1, 0)]
    assert not held.times


# ---- Storages that fail, or are slow


def failing(monkeypatch: pytest.MonkeyPatch, errors: dict[str, Exception]) -> None:
    """Have calls end with errors, by how their labels begin."""
    call = Door.call

    def ended(door: Door, label: str, effect: Any, done: Any) -> None:
        told = next((error for begins, error in errors.items() if label.startswith(begins)), None)
        call(door, label, (lambda: told) if told else effect, done)

    monkeypatch.setattr(Door, "call", ended)


@pytest.mark.parametrize("error", [OSError("?"), BucketSnapshotPersistenceException()])
def test_a_load_that_may_go_well_is_made_again(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = broker()
    adapter.add(1, 0, START + 10), adapter.add(1, 1, START + 100), adapter.add(2, 0, START + 1000)
    adapter.advance(500)
    with monkeypatch.context() as patched:
        failing(patched, {"load": error})
        assert adapter.get(9) == []
    assert adapter.get(9) == [(1, 0), (1, 1)]


@pytest.fixture
def stored() -> Adapter:
    """Two buckets of two ledgers each are stored."""
    adapter = broker()
    for ledger in range(1, 6):
        adapter.add(ledger, 0, START + 1000 * ledger)
    assert adapter.durable.keys() == {"1-2": "1", "3-4": "2"}
    return adapter


def test_a_failing_recovery_deletes_nothing(stored: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stored.durable.keys(), stored.snapshots()
    with monkeypatch.context() as patched:
        failing(patched, {"load:1:": OSError("?")})
        with pytest.raises(OSError, match=r"\?"):
            stored.crash(0, 0)
    failing(monkeypatch, {"load": BucketNotExistException(), "delete": BucketSnapshotPersistenceException()})
    stored.crash(0, 0)
    assert stored.seen()[1] == []
    assert (stored.durable.keys(), stored.snapshots()) == kept


def test_a_recovery_does_not_wait(stored: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Door, "call", lambda *_: None)
    with pytest.raises(BucketSnapshotPersistenceException):
        stored.crash(0, 0)


@pytest.mark.parametrize("bitmap", [b"", b"no bitmap"])
def test_a_bucket_whose_bitmap_is_none_is_dropped(stored: Adapter, bitmap: bytes) -> None:
    metadata, segments = stored.durable.stored[1]
    stored.durable.stored[1] = [each._replace(delayed_index_bit_map={1: bitmap}) for each in metadata], segments
    stored.crash(0, 0)
    assert stored.durable.keys() == {"3-4": "2"}
    assert drained(stored) == [(3, 0), (4, 0)]


@pytest.mark.parametrize(("key", "value"), [("_1", "1"), ("_a_b", "1"), ("_1_2", "x")])
def test_what_is_no_property_of_a_bucket_is_refused_and_those_of_others_are_left_alone(key: str, value: str) -> None:
    config, storage = Config(), Door(Durable(), [], 0)
    storage.durable.properties = {"mine": "yes"}
    assert BucketTracker(config, lambda: START, DispatcherTimer(START), storage, storage).get_buckets() == []
    storage.durable.properties = {BUCKET_PROPERTY_PREFIX + key: value}
    with pytest.raises(IllegalArgumentException):
        BucketTracker(config, lambda: START, DispatcherTimer(START), storage, storage)


def test_thousands_of_buckets_are_trimmed_and_cleared() -> None:
    adapter = broker(min_index_count=1, max_buckets=3000)
    for ledger in range(1, 3002):
        adapter.add(ledger, 0, START + ledger)
    assert len(adapter.snapshots()) == 3000
    adapter.mark(3000, 0)
    adapter.add(3002, 0, START + 10_000)
    assert adapter.seen()[1] == [[3000, 3000, 1, 1], [3001, 3001, 1, 1]]
    assert drained(adapter) == [(3000, 0), (3001, 0), (3002, 0)]
    for ledger in range(4000, 7000):
        adapter.add(ledger, 0, 10**15)
    adapter.storage(WAITS)
    adapter.clear()
    adapter.lost()
    while adapter.complete(0):
        pass
    assert (adapter.snapshots(), adapter.seen()[0]) == ([], 0)


# ---- Edges


def test_positions_out_of_bounds_are_refused() -> None:
    adapter = broker()
    for position in ((1, 2**32), (1, -1), (-1, 0), (2**63, 0)):
        with pytest.raises(ValueError, match="no position"):
            adapter.add(*position, START + 10)
    with pytest.raises(OverflowError):
        adapter.add(1, 0, 2**63)
    assert adapter.seen()[2] == [0, 0]
    assert not adapter.contains(1, 2**32)
    assert adapter.add(1, 2**32 - 1, START + 10)
    assert drained(adapter) == [(1, 2**32 - 1)]
