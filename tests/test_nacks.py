"""The parts that negative-acks trackers are made of, and the bench that weighs them."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import msgspec
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from kit import on_linux, plots, run_subject

from broker_tck.bench.nacks import (
    MOST_BYTES,
    ROWS,
    TRACKERS,
    Measurement,
    MemoryRow,
    measure,
    nacks,
    rows,
)
from broker_tck.cli.bench import memory
from broker_tck.implementations.interface import MessageId, Position
from broker_tck.implementations.negative_acks.entry_buckets import NackBuckets
from broker_tck.implementations.negative_acks.parts import backoff_of
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.model.negative_acks.releases import LegacyJava30
from broker_tck.model.negative_acks.specification import NegativeAcks
from broker_tck.model.negative_acks.walked_tree import WalkedTree
from broker_tck.properties.contracts.negative_acks.contract import asks
from broker_tck.properties.contracts.negative_acks.operations import Advance, Capabilities, Config, Inside, Nack, Stale
from broker_tck.properties.contracts.negative_acks.rig import Rig, requests
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.failing import failure

BASE = 1_763_695_000_064 & -1024
FIRST, LAST = -(2**63), 2**63 - 1


# ---- The tree that is walked through while keys are deleted


@pytest.mark.parametrize(
    ("number", "taken"),
    [
        (1, [1]),
        (2, [1, 1]),
        (3, [2, 1]),
        (5, [3, 2]),
        (7, [4, 2, 1]),
        (10, [8, 2]),
        (16, [9, 4, 2, 1]),
        (100, [51, 25, 16, 7, 1]),
        (1_000, [504, 249, 124, 62, 31, 18, 7, 3, 2]),
    ],
)
def test_walk_passes_by_as_many_buckets_as_that_of_the_go_library(number: int, taken: list[int]) -> None:
    tree = WalkedTree()
    for key in range(number):
        tree.put(256 * key)
    ticks = []
    while tree.keys:
        ticks.append([*tree.walk_off(lambda key: key <= 256 * number)])
    assert [len(tick) for tick in ticks] == taken
    assert sorted(itertools.chain(*ticks)) == [256 * key for key in range(number)]


# ---- Buckets of entries


def test_entry_of_several_buckets_may_be_taken_several_times_and_counts_for_each() -> None:
    buckets = NackBuckets()
    for bucket in (0, 256, 256, 512):
        buckets.add(bucket, 1, 1)
    assert buckets.count == 3
    assert set(buckets.take(256)) == {(1, 1)}
    assert (buckets.count, buckets.first()) == (1, 512)
    assert (buckets.take(511), buckets.take(512)) == ([], [(1, 1)])


@pytest.mark.parametrize("ledgers", [[1], [FIRST, LAST]])
def test_bucket_is_kept_in_bitmaps_from_its_25th_entry_on(ledgers: list[int]) -> None:
    buckets = NackBuckets()
    items = [(ledger, entry) for entry in range(-20, 20) for ledger in ledgers]
    for position in [*items[:24], *items[:24]]:
        buckets.add(256, *position)
    assert (len(buckets.dense), buckets.count, len(buckets.blocks[0].buckets)) == (0, 24, 24)
    buckets.add(256, *items[24])
    assert (len(buckets.dense), buckets.count, buckets.blocks) == (1, 25, [])
    for position in items:
        buckets.add(256, *position)
    assert buckets.count == len(items)
    buckets.add(0, 9, 9)
    assert buckets.first() == 0
    assert sorted(buckets.take(0)) == [(9, 9)]
    assert buckets.first() == 256
    assert sorted(buckets.take(256)) == sorted(items)


# ---- Backoffs and requests


def test_table_goes_on_with_its_last_delay() -> None:
    backoff = backoff_of(Config(backoff_ms=(300, 0, 5_000), multiplier=(1, 2, 3.0)))
    assert backoff
    assert [backoff(count) for count in (0, 1, 2, 3, 2**31 - 1)] == [300, 0, 5_000, 5_000, 5_000]
    assert backoff_of(Config()) is None


milliseconds = st.integers(1, 2**40) | st.sampled_from([1, 100, 1_000, 60_000, 600_000])
backoffs = st.one_of(
    st.builds(
        lambda first, more, factor: Config(multiplier=(first, max(first + more, 1), factor)),
        milliseconds | st.just(0),
        milliseconds | st.just(0),
        st.floats(1, 100, exclude_min=True) | st.sampled_from([1.5, 2.0, 3.0, 10.0]),
    ),
    st.builds(lambda table: Config(backoff_ms=tuple(table)), st.lists(milliseconds | st.just(0), min_size=1)),
)


@given(backoffs, st.integers(0, 2**31 - 1))
def test_backoff_answers_as_the_model_does(config: Config, late: int) -> None:
    backoff, model = backoff_of(config), NegativeAcks(config).delays
    assert backoff
    counts = [*range(70), late]
    assert [backoff(count) for count in counts] == [model.backed_off(count) for count in counts]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ([], 0),
        ([1000], 1),
        ([1001], 1),
        ([500, 500], [500, 500]),
        ([1000, 0], [1000, 0]),
        ([1000, 1], [1000, 1]),
        ([501, 500], [1000, 1]),
        ([1, 1000], [1000, 1]),
        ([1001, 999], [1001, 999]),
        ([834, 833, 833], [1000, 1000, 500]),
        ([625, 625, 625, 625], [625, 625, 625, 625]),
    ],
)
def test_it_is_no_matter_where_ids_are_cut_into_as_few_requests_as_can_be(made: list[int], told: object) -> None:
    ids = [(0, entry) for entry in range(sum(made))]
    each = iter(ids)
    assert requests(ids, [[*itertools.islice(each, size)] for size in made]) == told


# ---- How early an item may be


@pytest.mark.parametrize("bits", [-1, 41])
def test_bits_that_no_bucket_can_have_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match=f"precision_bits is {bits}; it has to be from 0 to 40"):
        Rig(SortedBucketsTracker, Config(precision_bits=bits), Capabilities())


@pytest.mark.slow
@pytest.mark.parametrize("delay", [1_000, 5_000])
@pytest.mark.parametrize("bits", [0, 1, 4, 7, 10])
def test_item_is_at_most_a_bucket_less_a_millisecond_early_and_never_late(bits: int, delay: int) -> None:
    width = 1 << bits
    most = min(width, delay) - 1  # an item that is nacked when the one before it is out waits for its instant
    early = set()
    for phase, gap in itertools.product(range(width), sorted({0, 1, width // 2, most, width})):
        start = BASE + phase
        subject = NegativeAcks(Config(delay_us=1_000 * delay, precision_bits=bits, clock=start))
        subject.nack(1, 0, 0)
        emissions = subject.advance(gap)
        subject.nack(1, 1, 0)
        emissions += subject.advance(100_000)
        at = {position: time for time, ids, _ in emissions for position in ids}
        assert sum(len(ids) for _, ids, _ in emissions) == 2
        assert at[1, 0] == start + delay, "from idle the timer waits for the instant"
        early.add(start + gap + delay - at[1, 1])
    assert (min(early), max(early)) == (0, most)


# ---- The memory bench

NUMBER = 3_000


@on_linux
@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("row", ["a-0", "a-8", "10-8", "100000-8"])
def test_every_nack_that_is_weighed_comes_out_again(tracker: str, row: str) -> None:
    measurement = measure(tracker, ROWS[row], NUMBER)
    assert (measurement.tracker, measurement.row, measurement.nacks) == (tracker, row, NUMBER)
    assert measurement.content_verified
    assert measurement.bytes_an_entry == measurement.growth_bytes / NUMBER


def test_workloads_are_what_they_are_said_to_be() -> None:
    def at(row: str, i: int) -> tuple[int, Position]:
        return next(itertools.islice(nacks(ROWS[row], i + 1), i, None))

    assert [at("a-4", i) for i in (0, 1, 9_999, 10_000)] == [
        (0, (10_000, 10_000)),
        (1, (10_000, 10_001)),
        (9_999, (10_000, 19_999)),
        (10_000, (10_001, 10_000)),
    ]
    assert [at("100000-10", i) for i in (0, 99, 100, 50_000)] == [
        (0, (10_000, 0)),
        (0, (10_000, 99)),
        (1, (10_000, 100)),
        (500, (10_001, 0)),
    ]
    assert at("1-8", 2) == (2_000, (10_000, 2))
    assert all(name == row.name and name.endswith(f"-{row.bits}") for name, row in ROWS.items())


class LosesOne(SortedBucketsTracker):
    """Takes no notice of one nack."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        if message_id.entry_id != 11_500:
            super().add_message(message_id, redelivery_count)


class IsEarly(SortedBucketsTracker):
    """Emits what is due in the next second."""

    def _take(self, now: int) -> list[Position]:
        return super()._take(now + 1_000)


class CountsOn(SortedBucketsTracker):
    """Still counts what was emitted."""

    def get_nacked_messages_count(self) -> int:
        return super().get_nacked_messages_count() or NUMBER


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("wrong", [LosesOne, IsEarly, CountsOn])
def test_tracker_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch, wrong: type[SortedBucketsTracker]) -> None:
    monkeypatch.setitem(TRACKERS, "sorted-buckets", wrong)
    assert not measure("sorted-buckets", ROWS["a-8"], NUMBER).content_verified


def memory_row(
    name: str, mine: float = 10.0, other: float = 64.0, *, exact: bool = True, as_well: bool = True
) -> MemoryRow:
    """A row as if it had been measured: the bytes an entry of both, and whether the content of both was exact."""
    row = ROWS[name]
    buckets = Measurement("sorted-buckets", name, 100, round(100 * mine), 400_000, 900_000, exact)
    pair_map = Measurement("pair-map", name, 100, round(100 * other), 500_000, 800_000, as_well)
    return MemoryRow(name, row.a_second, row.bits, row.java_bytes, buckets, pair_map)


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        (memory_row("1-8", MOST_BYTES, 64), True),
        (memory_row("1-8", MOST_BYTES + 0.01, 64), False),
        (memory_row("a-0", MOST_BYTES, 64), True),
        (memory_row("a-7", 64, 64), True),
        (memory_row("10-8", 63.99, 64), True),
        (memory_row("10-8", 64, 64), False),
        (memory_row("a-8", 65, 64), False),
        (memory_row("a-8", exact=False), False),
        (memory_row("a-8", as_well=False), False),
    ],
)
def test_row_fails_above_the_limit_and_above_the_pair_map(row: MemoryRow, passed: bool) -> None:
    assert row.passed is passed


BENCH = ("bench", "memory", "--contract", "negative-acks")


def patched(
    monkeypatch: pytest.MonkeyPatch,
    measured: Callable[[Sequence[str]], Iterable[MemoryRow]],
    contract: str = "negative-acks",
) -> None:
    """Have the command line measure the rows so."""
    known, _, shown = memory.MEMORY[contract]
    monkeypatch.setitem(memory.MEMORY, contract, (known, measured, shown))


@on_linux
def test_bench_measures_in_processes_of_their_own(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    patched(monkeypatch, lambda names: rows(names, 2_000))
    status, out, err = cli(*BENCH, "--row", "1000-8", "--json")
    told = json.loads(out)
    (row,) = msgspec.convert(told["rows"], list[MemoryRow])
    assert (row.buckets.tracker, row.pair_map.tracker, row.name) == ("sorted-buckets", "pair-map", "1000-8")
    assert (row.buckets.nacks, row.buckets.content_verified, row.pair_map.content_verified) == (2_000, True, True)
    assert "CPython" in told["machine"]
    assert (status, err) == (0 if row.passed else 1, "")


@pytest.mark.parametrize(
    ("wrong", "end"),
    [
        (None, ["exact"]),
        (memory_row("10-8", 200), ["exact", "OVER"]),
        (memory_row("10-8", exact=False), ["WRONG", "OVER"]),
    ],
)
def test_bench_tells_every_row_and_fails_for_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, wrong: MemoryRow | None, end: list[str]
) -> None:
    measured = [memory_row("a-0"), wrong or memory_row("1-10")]
    patched(monkeypatch, lambda names: measured)
    status, out, err = cli(*BENCH)
    assert (status, err) == (int(wrong is not None), "")
    first, last = (line.split() for line in out.splitlines()[-2:])
    assert first == ["a-0", "1,000", "0", "10.00", "64.00", "808", "400,000", "900,000", "exact"]
    assert last[8:] == end
    assert msgspec.convert(json.loads(cli(*BENCH, "--json")[1])["rows"], list[MemoryRow]) == measured


@plots
@pytest.mark.parametrize(
    ("chosen", "lines"),
    [
        (ROWS, ["sorted-buckets, 8 bits", "Java, 8 bits", "sorted-buckets, 10 bits", "Java, 10 bits", "pair map"]),
        (["a-8", "10-8"], ["sorted-buckets, 8 bits", "Java, 8 bits", "pair map"]),
    ],
)
def test_plot_has_a_line_for_what_there_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: Collection[str], lines: list[str]
) -> None:
    patched(monkeypatch, lambda names: map(memory_row, names))
    plot = tmp_path / "nacks.svg"
    status, _, err = cli(*BENCH, *itertools.chain(*(("--row", name) for name in chosen)), "--plot", plot)
    assert (status, err) == (0, "")
    drawn = plot.read_text(encoding="utf-8")
    assert re.findall("<!-- ((?:sorted|Java|pair).*) -->", drawn) == lines


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--row", "8-15"), "unknown row '8-15'; there are: a-0, "),
        (("--row", "a-8", "--row", "a-9"), "unknown row 'a-9'; there are: a-0, "),
        (("--contract", "delayed-delivery", "--plot", "x.svg"), "the memory bench of delayed-delivery draws no plot"),
        pytest.param(
            ("--row", "a-8", "--row", "a-0", "--plot", "x.svg"),
            "the plot is of rows with a rate, such as 1000-8",
            marks=plots,
        ),
    ],
)
def test_bench_that_cannot_be_is_refused_in_one_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for contract in memory.MEMORY:
        patched(monkeypatch, lambda names: map(memory_row, names), contract)
    status, _, err = cli(*BENCH, *arguments)
    assert status == 2
    assert err.startswith(f"broker-tck: {told}")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_of_two_timeouts_of_one_deadline_the_one_that_was_armed_first_fires_first() -> None:
    """A callback of 3.0 that closes and nacks leaves two; the next that closes cancels the second."""
    inner = [Inside("close", 0, 0, 0), Inside("nack", 0, 0, 0)]
    operations = [inner[0], Nack(0, 0, 0), inner[1], Advance(134), inner[0], Advance(133), Nack(0, 0, 0), Advance(101)]
    found = failure(resolve("legacy-java-3.0"), LegacyJava30, Config(delay_us=100_000), [*operations, Stale()])
    assert found is None


# ---- What a client can do


def test_entry_is_one_thing_for_good() -> None:
    nacks = "chunked 0 1 2 1; chunked 0 1 2 0; nack 0 0 0; batch 0 1 0 0; batch 0 2 0 0; batch 0 2 1 0; fill 0 2 1 2 0"
    others = "fill 0 3 1 5 0; nack 0 5 0; inside close 0 1 0; inside nack 0 1 0; chunked 0 9 1 0; nack 0 9 0; id 0 2"
    trace = from_text(f"negative-acks pip-393-spec; {nacks}; {others}")
    refused = [i for i, asked in enumerate(asks(trace.operations, Capabilities())) if not asked]
    assert refused == [2, 3, 6, 10, 11, 13]


@pytest.mark.slow
def test_trace_is_reduced_to_what_a_client_can_do() -> None:
    subject = resolve("mutant:called-under-a-lock")
    findings = run_subject(subject, subject.profiles[0], seed=0, count=60, failing=1).findings
    assert findings
    assert all(all(asks(finding.operations, subject.capabilities)) for finding in findings)
