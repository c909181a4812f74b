"""The parts that negative-acks trackers are made of."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import run_subject

from broker_tck.implementations.negative_acks.entry_buckets import NackBuckets
from broker_tck.implementations.negative_acks.parts import backoff_of
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.model.negative_acks.releases import LegacyJava30
from broker_tck.model.negative_acks.specification import NegativeAcks
from broker_tck.model.negative_acks.walked_tree import WalkedTree
from broker_tck.properties.contracts.negative_acks.adapter import Adapter, requests
from broker_tck.properties.contracts.negative_acks.contract import asks
from broker_tck.properties.contracts.negative_acks.operations import Advance, Capabilities, Config, Inside, Nack, Stale
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
    assert requests(ids, [[*itertools.islice(each, size)] for size in made], False) == told


def test_after_a_request_that_failed_it_is_no_matter_which_others_follow() -> None:
    ids = [(0, entry) for entry in range(1001)]
    assert requests(ids, [ids[:1], ids[1:]], True) == 0
    assert requests(ids, [[(1, 0)]], True) == [[(1, 0)]]
    assert requests(ids, [ids], True) == 1


# ---- How early an item may be


@pytest.mark.parametrize("bits", [-1, 41])
def test_bits_that_no_bucket_can_have_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match=f"precision_bits is {bits}; it must be from 0 to 40"):
        Adapter(SortedBucketsTracker, Config(precision_bits=bits), Capabilities())


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
