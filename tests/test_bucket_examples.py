"""The rulebook's examples of bucket delivery, on the specification: cases whose outcome can be reckoned by hand."""

from __future__ import annotations

from itertools import permutations

import pytest

from broker_tck.model.bucket_delivery.parts import Cutting, Selection
from broker_tck.model.bucket_delivery.releases import Bucket50
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import About, Bucket
from broker_tck.properties.contracts.bucket_delivery.operations import Config

START = 1
Selection50 = Bucket50.Tracker.Maintenance.Selection


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


def everything(model: BucketDelivery) -> list[tuple[int, int]]:
    """All that is handed out as calls end and time goes on."""
    given = []
    model.advance(10**6)
    for _ in range(100):
        end_all(model)
        given += model.get(1000) or []
    return given


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


def source(first: int, size: int, times: list[int], current: int = 1) -> Bucket:
    """A bucket with segments of these first times."""
    bucket = Bucket((first, first))
    bucket.size, bucket.current = size, current
    bucket.about = [About(at, at, frozenset()) for at in times]
    return bucket


def chosen(buckets: list[Bucket], widest: int = 4, selection: type[Selection] = Selection) -> list[int]:
    class Narrow(selection):  # type: ignore[valid-type,misc]
        def widest(self, n: int) -> int:
            return min(widest, n)

    return [bucket.ledgers[0] for bucket in Narrow().choose(buckets)]


def test_fewest_messages_decide_and_in_a_release_only_with_a_sooner_next_time() -> None:
    sizes = [(100, 5), (200, 5), (300, 3), (400, 4), (50, 4)]
    buckets = [source(i, size, [0, at]) for i, (at, size) in enumerate(sizes)]
    assert chosen(buckets, widest=2) == [2, 3]
    assert chosen(buckets, widest=2, selection=Selection50) == [0, 1]


def test_of_equal_runs_the_one_that_is_due_first_is_merged() -> None:
    assert chosen([source(i, 5, [0, at]) for i, at in enumerate([300, 300, 100, 300])], widest=2) == [1, 2]


def test_fewer_buckets_are_merged_where_four_neighbours_are_not_eligible() -> None:
    eligible = [True, True, False, True, True, True, False]
    assert chosen([source(i, 5, [0, 9] if yes else [0]) for i, yes in enumerate(eligible)]) == [3, 4, 5]


def test_next_time_is_that_of_the_next_segment() -> None:
    buckets = [source(i, 1, times) for i, times in enumerate([[10, 100, 10], [10, 100, 10], [10, 50, 1000]])]
    assert chosen(buckets, widest=2) == [1, 2]


def test_first_choice_may_be_of_the_last_time_that_there_is() -> None:
    buckets = [source(i, 1, [0, 2**63 - 1]) for i in range(3)]
    assert chosen(buckets) == [0, 1, 2]
    assert Selection50().choose(buckets) == []


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_small_limits_merge_too(limit: int) -> None:
    model = broker(limit=limit)
    n = 5 * (limit + 1)
    for i in range(1, n + 2):
        model.add(i, i, 20 if i % 5 == 0 else 10)
    assert model.seen()[1] == [[1, n, 1, 2]]
    until(model, 20)
    assert model.get(100) == [(i, i) for i in range(1, n + 2)]
    assert count(model) == 0


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


def test_merged_snapshot_has_all_segments() -> None:
    model = broker(limit=10)
    fill(model, 56)
    assert keys(model) == {"1-20", *(f"{i}-{i + 4}" for i in range(21, 52, 5))}
    model.crash(0, 0)
    assert count(model) == 55


def number_of(order: tuple[tuple[int, int], ...]) -> int:
    """The number of the permutation that brings some keys into an order."""
    left, number, factor = sorted(order), 0, 1
    for key in order:
        number += left.index(key) * factor
        factor *= len(left)
        left.remove(key)
    return number


@pytest.mark.parametrize("order", [*permutations([(1, 4), (5, 8), (1, 8)])])
def test_order_of_the_keys_does_not_matter(order: tuple[tuple[int, int], ...]) -> None:
    model = broker(least=4)
    fill(model, 9)
    merged = broker(least=8)
    fill(merged, 9)
    model.durable.keys[1, 8] = 9
    model.durable.snapshots[9] = merged.durable.snapshots[1]
    model.crash(0, number_of(order))
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


def test_sources_outlive_a_merged_bucket_that_is_not_stored() -> None:
    model = broker(limit=2, at_once=False)
    fill(model, 15)
    end_all(model)
    fill(model, 1, first=16)
    while not any(call.label.startswith("create:1-15") for call in model.durable.calls.waiting):
        model.complete(0)
    while (labels := [call.label for call in model.durable.calls.waiting]) and "create:1-15:15" in labels:
        model.fail(labels.index("create:1-15:15"))
    assert (ranges(model), count(model), model.seen()[2]) == ([], 16, [18, 1])
    model.crash(0, 0)
    assert count(model) == 15


def test_orphans_do_not_hide_the_segments_behind_them() -> None:
    model = broker()
    for (ledger, entry), at in {(1, 0): 100, (1, 1): 105, (2, 0): 200, (3, 0): 300, (4, 0): 400, (5, 0): 500}.items():
        model.add(ledger, entry, at)
    assert ranges(model) == [(1, 4)]
    model.mark(3, 0)
    until(model, 1000)
    assert [*(model.get(10) or []), *(model.get(10) or [])] == [(3, 0), (4, 0), (5, 0)]
    assert count(model) == 0


def test_growing_bucket_does_not_swallow_a_sealed_one() -> None:
    model = broker(at_once=False)
    for i in range(10, 16):
        model.add(i, 0, 1000 + 10 * i)
    end_all(model)
    model.crash(0, 0)
    assert ranges(model) == [(10, 14)]
    for ledger, at in ((5, 3000), (15, 5015), (16, 5016), (17, 5017), (18, 5018), (19, 6000)):
        model.add(ledger, 0, at)
    end_all(model)
    assert ranges(model) == [(5, 5), (10, 14)]
    assert {*everything(model)} == {(i, 0) for i in (5, *range(10, 20))}


def test_late_load_leaves_the_merged_bucket_its_boundary() -> None:
    """BD-46: the load of a source ends after the merge."""
    model = broker(least=2, limit=1, at_once=False)
    model.add(1, 0, 100), model.add(1, 1, 200), model.add(2, 0, 1000)
    end_all(model)
    until(model, 100)
    assert model.get(9) == []
    model.add(2, 1, 2000), model.add(3, 0, 5000)
    while model.complete(1):
        if ranges(model) == [(1, 2)]:
            break
    assert model.complete(0) == "load:1:2-2"
    assert {*everything(model)} == {(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)}


def test_merge_gives_up_where_another_bucket_has_come_between() -> None:
    """BD-47: a bucket is sealed in a gap while its neighbours are read."""
    model = broker(least=2, limit=3, at_once=False)
    for ledger in (1, 5, 9):
        model.add(ledger, 0, 1000 * ledger), model.add(ledger, 1, 1000 * ledger + 100)
    model.add(12, 0, 20_000)
    end_all(model)
    model.crash(0, 0)
    assert ranges(model) == [(1, 1), (5, 5), (9, 9)]
    for ledger, entry, at in ((3, 0, 3000), (3, 1, 3100), (7, 0, 7000), (7, 1, 7100), (10, 0, 20_000)):
        model.add(ledger, entry, at)
    end_all(model)
    assert len(everything(model)) == count(model) + 11 == 11


def test_load_under_way_at_a_clear_brings_nothing() -> None:
    model = broker(at_once=False)
    fill(model, 6)
    end_all(model)
    until(model, 60)
    assert model.get(10) == []
    model.clear()
    end_all(model)
    assert model.seen()[:3] == (0, [], [0, 0])
    assert (model.has(), model.snapshots(), keys(model)) == (False, [], set())


def test_refused_while_its_segment_is_not_loaded() -> None:
    model = broker()
    fill(model, 6)
    until(model, 35)
    assert model.add(3, 3, 30) is False
    assert count(model) == 5
    assert [position[0] for position in everything(model)] == [1, 2, 4, 5, 6]
