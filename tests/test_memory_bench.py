"""The memory bench on small workloads; the limits are for ten million messages, and are the command's to check."""

from __future__ import annotations

import pytest
from kit import on_linux
from msgspec import structs

from broker_tck.bench.memory import LIMIT_BYTES, ROWS, MemoryRow, measure, memory_row, rows

pytestmark = on_linux


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ROWS if name != "heap"])
def test_every_message_of_a_batch_comes_out_again(name: str) -> None:
    measurement = measure(ROWS[name], batch=True, messages=10_500)
    assert measurement.content_verified
    assert measurement.usable_afterwards
    assert name == "random" or measurement.messages == 10_500


@pytest.mark.slow
@pytest.mark.parametrize(("name", "buckets"), [("1-10", 60), ("4-10", 16), ("8-10", 8), ("8-15", 1)])
def test_every_message_comes_out_again_and_dense_buckets_take_a_few_bytes_each(name: str, buckets: int) -> None:
    measurement = measure(ROWS[name], batch=False, messages=60_500)
    assert (measurement.content_verified, measurement.usable_afterwards) == (True, True)
    assert measurement.messages == 60_500
    assert abs(measurement.buckets - buckets) <= 1
    assert measurement.bitmaps == measurement.buckets + (measurement.buckets > 0)
    assert measurement.estimate_bytes <= 256 * measurement.buckets


def test_heap_takes_no_batches() -> None:
    assert measure(ROWS["heap"], batch=False, messages=3_000).content_verified
    with pytest.raises(ValueError, match="HeapTracker takes no batches"):
        measure(ROWS["heap"], batch=True, messages=3_000)


def test_rows_are_measured_in_processes_of_their_own() -> None:
    heap, dense = rows(["heap", "8-10"], messages=50_000)
    assert (heap.growth_bytes_batch, heap.adds_per_second_batch) == (None, None)
    assert dense.passed
    assert dense.growth_bytes_single < heap.growth_bytes_single
    assert dense.adds_per_second_batch


def test_row_over_its_limit_fails() -> None:
    single = measure(ROWS["8-15"], batch=False, messages=1_000)

    def row(**changes: object) -> MemoryRow:
        return memory_row(ROWS["8-15"], single, structs.replace(single, **changes))

    assert row(growth_bytes=LIMIT_BYTES).passed
    assert not row(growth_bytes=LIMIT_BYTES + 1).passed
    assert not row(content_verified=False).passed
    assert not row(usable_afterwards=False).passed
