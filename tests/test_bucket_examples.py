"""The rulebook's examples of bucket delivery, on the specification: cases whose outcome can be reckoned by hand."""

from __future__ import annotations

import pytest

from broker_tck.model.bucket_delivery.parts import Cutting
from broker_tck.model.bucket_delivery.releases import Bucket50
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import About, Bucket
from broker_tck.model.rules import replaced
from broker_tck.properties.contracts.bucket_delivery.operations import Config

START = 1


def broker(least: int = 5, step: int = 10, most: int = -1, limit: int = -1, at_once: bool = True) -> BucketDelivery:
    """A strict tracker with a tick of 1, early in time; its storage ends calls as they are made, or when told."""
    model = BucketDelivery(Config(least, step, most, limit, clock=START))
    model.storage(int(at_once))
    return model


def fill(model: BucketDelivery, n: int, first: int = 1) -> None:
    """One message a ledger, (i, i) for 10 * i."""
    for i in range(first, first + n):
        assert model.add(i, i, 10 * i)


def until(model: BucketDelivery, time: int) -> list[int]:
    """Let it be a time; answers when timers fired."""
    return model.advance(time - model.now)


def count(model: BucketDelivery) -> int:
    return int(model.seen()[0])


def ranges(model: BucketDelivery) -> list[tuple[int, int]]:
    return [(first, last) for first, last, *_ in model.seen()[1]]


def keys(model: BucketDelivery) -> set[str]:
    return {*model.seen()[5]}


def end_all(model: BucketDelivery) -> None:
    """Let all calls end, and those that follow them."""
    while model.durable.calls.waiting:
        model.complete(0)


def cut(step: int, most: int, times: list[int]) -> list[list[int]]:
    return [[index[0] for index in s] for s in Cutting(step, most).cut((at, 1, i) for i, at in enumerate(times))]


@pytest.mark.parametrize(
    ("step", "most", "times", "segments"),
    [
        (10, 3, [1000, 1005, 1009, 1010, 1010, 1019, 1020, 1300], [3, 3, 1, 1]),
        (10, -1, [10, 19, 20], [2, 1]),
        (1, -1, [5, 5, 6], [2, 1]),
        (0, -1, [5, 5], [1, 1]),
        (10, 2, [10, 10, 10], [2, 1]),
        (300_000, 5000, [100 * i for i in range(12_000)], [3000, 3000, 3000, 3000]),
        (300_000, 5000, [60 * i for i in range(12_000)], [5000, 5000, 2000]),
        (300_000, 5000, [10 * i for i in range(12_000)], [5000, 5000, 2000]),
    ],
)
def test_segments_are_cut_by_time_and_by_number(step: int, most: int, times: list[int], segments: list[int]) -> None:
    assert [len(segment) for segment in cut(step, most, times)] == segments


def test_bucket_is_sealed_before_the_message_that_has_it_sealed() -> None:
    model = broker(least=20, step=3_600_000, most=5)
    fill(model, 101)
    assert model.seen()[1] == [[20 * i + 1, 20 * i + 20, 1, 4] for i in range(5)]
    assert model.seen()[2] == [25, 1]


def test_merges_come_with_the_seals_that_exceed_the_limit() -> None:
    model = broker(limit=10)
    merged = []
    for i in range(1, 112):
        before = ranges(model)
        model.add(i, i, 10 * i)
        if len(ranges(model)) < len(before):
            merged.append((i, next(r for r in ranges(model) if r not in before)))
    assert merged == [(56, (1, 20)), (71, (21, 40)), (86, (41, 60)), (101, (61, 80))]
    assert ranges(model) == [(i, i + 19) for i in range(1, 80, 20)] + [(i, i + 4) for i in range(81, 110, 5)]
    until(model, 1110)
    assert model.get(1000) == [(i, i) for i in range(1, 112)]
    assert (model.snapshots(), keys(model)) == ([], set())


LAST = 2**63 - 1
DUE_FIRST = [[0, at] for at in (300, 300, 100, 300)]
SECOND_SEGMENTS = [[10, 100, 10], [10, 100, 10], [10, 50, 1000]]
SIZES = [5, 5, 3, 4, 4]


@pytest.mark.parametrize(
    ("widest", "sizes", "times", "ideal", "released"),
    [
        pytest.param(2, SIZES, [[0, at] for at in (100, 200, 300, 400, 50)], [2, 3], [0, 1], id="fewest messages"),
        pytest.param(2, [5] * 4, DUE_FIRST, [1, 2], [1, 2], id="of equal runs the one that is due first"),
        pytest.param(2, [1] * 3, SECOND_SEGMENTS, [1, 2], [1, 2], id="next time is that of the next segment"),
        pytest.param(
            4, [5] * 7, [[0, 9][:n] for n in (2, 2, 1, 2, 2, 2, 1)], [3, 4, 5], [3, 4, 5], id="three neighbours"
        ),
        pytest.param(4, [1] * 3, [[0, LAST]] * 3, [0, 1, 2], [], id="due at the last time that there is"),
    ],
)
def test_what_is_merged(
    widest: int, sizes: list[int], times: list[list[int]], ideal: list[int], released: list[int]
) -> None:
    buckets = []
    for i, (size, starts) in enumerate(zip(sizes, times, strict=True)):
        bucket = Bucket((i, i))
        bucket.size, bucket.about = size, [About(at, at, frozenset()) for at in starts]
        buckets.append(bucket)
    for model, chosen in ((BucketDelivery, ideal), (Bucket50, released)):
        narrow = replaced(model.Tracker.Maintenance.Selection, {"widest": lambda s, n: min(widest, n)}, "Narrow")
        assert [bucket.ledgers[0] for bucket in narrow().choose(buckets)] == chosen


def test_recovery_skips_what_is_due() -> None:
    model = broker(limit=50)
    fill(model, 100)
    assert len(ranges(model)) == 19
    until(model, 10)
    assert model.get(100) == [(1, 1)]
    fill(model, 1, first=101)
    until(model, 300)
    assert model.reopen() is True
    assert (len(ranges(model)), count(model)) == (14, 70)
    assert model.contains(101, 101) is False
    assert len(model.snapshots()) == len(keys(model)) == 14
    until(model, 1000)
    assert model.get(1000) == [(i, i) for i in range(31, 101)]
    assert (ranges(model), model.snapshots(), keys(model)) == ([], [], set())


@pytest.mark.parametrize("order", range(6), ids="permutation {}".format)
def test_order_of_the_keys_does_not_matter(order: int) -> None:
    model = broker(least=4)
    fill(model, 9)
    merged = broker(least=8)
    fill(merged, 9)
    model.durable.keys[1, 8] = 9
    model.durable.snapshots[9] = merged.durable.snapshots[1]
    model.crash(0, order)
    assert (ranges(model), count(model), keys(model)) == ([(1, 8)], 8, {"1-8"})


def test_segments_are_loaded_one_after_the_other() -> None:
    model = broker(at_once=False)
    fill(model, 6)
    fired = until(model, 60)
    assert fired == [10]
    assert (model.has(), model.get(10)) == (True, [])
    model.complete(0)
    model.complete(0)
    given = []
    for _ in range(5):
        model.advance(0)
        given.append(model.get(10))
        end_all(model)
    assert given == [[], [(1, 1)], [(2, 2)], [(3, 3)], [(4, 4), (5, 5), (6, 6)]]
    assert (model.snapshots(), keys(model)) == ([], set())
