"""Rounds one behind the other: which have begun while one is merged, and what becomes of shards that are not walked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
from kit import PATIENCE
from made_up import MadeUp, manifest, table

from broker_tck.properties.errors import BadInput, Failed
from broker_tck.spark_fuzz.driver.manifest import Goal, Manifest
from broker_tck.spark_fuzz.driver.rounds import AHEAD, TRIES, Rounds
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.store.rows import MACHINE, REFUSED, ROUND, UNFINISHED, UNFIT, Row
from broker_tck.spark_fuzz.worker.task import batch_of

Tables = dict[str, Any]


class Kept:
    """A store that only keeps what was committed, and tells how many other rounds have begun by then."""

    where = "store"

    def __init__(self) -> None:
        self.manifest = manifest()
        self.committed: list[Tables] = []
        self.begun: list[int] = []
        self.told: list[str] = []

    def whole(self, name: str) -> pa.Table:
        return table(name, [])

    def findings(self) -> pa.Table:
        return table("findings", [])

    def commit(self, first: int, number: int, tables: Tables) -> None:
        assert first == number == len(self.committed)
        self.committed.append(tables)
        self.told.append(f"{number} committed, {len(self.begun) - number - 1} others have begun")

    def until(self, stop: int) -> Callable[[int], bool]:
        """Has rounds made up to this one."""

        def another(number: int) -> bool:
            if number < stop:
                self.begun.append(number)
            return number < stop

        return another


class Held(MadeUp):
    """Shards of a round run until they are let go."""

    def __init__(self) -> None:
        self.let_go = [Event() for _ in range(9)]

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        assert self.let_go[number].wait(PATIENCE)
        yield from super().run(manifest, number, shards)


class Troubled(MadeUp):
    """Some shards answer with trouble, each in some of its tries."""

    def __init__(self, troubles: dict[int, list[Row]]) -> None:
        self.troubles = {shard: [*rows] for shard, rows in troubles.items()}
        self.asked: list[list[int]] = []

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        self.asked.append([*shards])
        for shard in shards:
            if rows := self.troubles.get(shard):
                yield batch_of([rows.pop(0)], shard)
            else:
                yield from super().run(manifest, number, [shard])


def rounds_of(executor: Any, store: Any, say: Callable[[str], None] = print) -> Rounds:
    return Rounds(executor, store, say)


def figures_of(troubles: dict[int, list[Row]], say: Callable[[str], None] = print) -> tuple[list[list[int]], pa.Table]:
    """Which shards were asked for, and the figures of one round with such troubles."""
    executor = Troubled(troubles)
    (figures,) = rounds_of(executor, Kept(), say).made(0, lambda number: number < 1)
    return executor.asked, figures


@pytest.mark.parametrize(("ahead", "others"), [(AHEAD, [2, 2, 2, 1, 0]), (0, [0, 0, 0, 0, 0])])
def test_others_have_begun_when_a_round_is_committed_unless_it_decides_whether_there_are_any(
    ahead: int, others: list[int]
) -> None:
    executor, store = Held(), Kept()
    made = rounds_of(executor, store).made(0, store.until(5), ahead)
    for event in executor.let_go[:5]:
        event.set()
        next(made)
    assert list(made) == []
    assert store.begun == [0, 1, 2, 3, 4]
    assert store.told == [f"{number} committed, {left} others have begun" for number, left in enumerate(others)]


def test_round_that_ends_before_the_one_before_it_took_no_time() -> None:
    later = Event()

    class Overtaking(Rounds):
        def answered(self, number: int) -> Any:
            assert number or later.wait(PATIENCE)
            answer = super().answered(number)
            if number:
                later.set()
            return answer

    executor: Any = MadeUp()
    store: Any = Kept()
    rounds = [*Overtaking(executor, store, print).made(0, lambda number: number < 2)]
    times = [row["count"] for figures in rounds for row in figures.to_pylist() if row["kind"] == ROUND]
    assert len(times) == 2
    assert times[0] >= times[1] == 0


def test_campaign_that_is_over_makes_no_round() -> None:
    store = Kept()
    assert list(rounds_of(Held(), store).made(4, store.until(4))) == []
    assert store.begun == []


def test_round_that_waits_is_not_begun_if_the_time_will_be_over() -> None:
    totals, goal = Totals(manifest(), 2, 30_000), Goal(seconds=40)
    assert not goal.reached(2, totals.seconds_of(2))
    assert goal.reached(3, totals.seconds_of(3))
    assert Totals(manifest()).seconds_of(3) == 0


# ---- Shards that are not walked


ENDED, REFUSES = Row(UNFINISHED, "", "", "its process ended", "shard 1", 1), Row(REFUSED, "", "", "host: old")


@pytest.mark.parametrize("trouble", [ENDED, REFUSES])
def test_shard_that_was_not_walked_is_run_again_and_comes_to_the_same(trouble: Row) -> None:
    _, wanted = figures_of({})
    said: list[str] = []
    asked, figures = figures_of({1: [trouble] * (TRIES - 1), 2: [trouble]}, said.append)
    assert asked == [[0, 1, 2], [1, 2], [1]]
    assert timeless(figures) == timeless(wanted)
    assert said == (["executor excluded: host: old"] if trouble is REFUSES else [])


def timeless(figures: pa.Table) -> list[dict[str, Any]]:
    """Figures without how long the round took."""
    return [row for row in figures.to_pylist() if row["kind"] != "round"]


def test_shard_that_nothing_finishes_is_counted_as_that_and_the_campaign_goes_on() -> None:
    asked, figures = figures_of({1: [ENDED] * TRIES})
    assert asked == [[0, 1, 2], [1], [1]]
    (unfinished,) = (row for row in figures.to_pylist() if row["kind"] == UNFINISHED)
    assert (unfinished["name"], unfinished["count"]) == ("its process ended", 1)
    assert "shard 1" in unfinished["key"]
    totals = Totals(manifest())
    totals.add(figures)
    assert (totals.rounds, totals.unfinished) == (1, 1)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (REFUSES, "store: host: old; `fuzz resume` with --ship sends the packages that it needs"),
        (Row(UNFIT, "", "", "unknown subject 'x'"), "store: unknown subject 'x'"),
    ],
)
def test_refusal_of_all_ends_the_rounds_without_waiting_for_those_that_have_begun(row: Row, says: str) -> None:
    class Refusing(Held):
        def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
            if number == 1:
                return (batch_of([row], shard) for shard in shards)
            return super().run(manifest, number, shards)

    executor, store = Refusing(), Kept()
    made = rounds_of(executor, store).made(0, store.until(9))
    executor.let_go[0].set()
    next(made)
    with pytest.raises(BadInput) as raised:
        next(made)
    assert str(raised.value) == says
    assert store.begun == [0, 1, 2]
    executor.let_go[2].set()


@pytest.mark.parametrize("times", [0, 2])
def test_shard_that_is_lost_or_run_twice_is_noticed(times: int) -> None:
    class Losing(MadeUp):
        def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
            return super().run(manifest, number, [*shards[:-1], *[shards[-1]] * times])

    with pytest.raises(Failed, match=f"round 0: {2 + times} shards gave an answer, not 3"):
        next(rounds_of(Losing(), Kept()).made(0, lambda number: True))


def test_machines_are_summed_and_states_are_new_once() -> None:
    store = Kept()
    executor: Any = MadeUp()
    all_figures = list(rounds_of(executor, store).made(0, lambda number: number < 3))
    for figures in all_figures:
        machines = {row["name"]: row["count"] for row in figures.to_pylist() if row["kind"] == MACHINE}
        assert machines == {"shards": 3, "operations": 1500}
    states = [tuple(row.values())[1:] for tables in store.committed for row in tables["states"].to_pylist()]
    assert (
        len(states)
        == len({*states})
        == sum(row["count"] for figures in all_figures for row in figures.to_pylist() if row["kind"] == "states")
    )
