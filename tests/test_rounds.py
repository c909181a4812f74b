"""Rounds one behind the other: which have begun while one is merged, and how it ends; without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
import refresh

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.manifest import Goal
from broker_tck.spark_fuzz.driver.rounds import Rounds
from broker_tck.spark_fuzz.driver.totals import Totals

PATIENCE = 60.0


class Told(Rounds):
    """Rounds that only tell what happens to them: a round's shards run until they are let go."""

    def __init__(self) -> None:
        store: Any = SimpleNamespace(findings=lambda: SimpleNamespace(num_rows=0))
        nothing: Any = None
        super().__init__(nothing, store, nothing)
        self.begun: list[int] = []
        self.told: list[str] = []
        self.let_go: dict[int, Event] = {number: Event() for number in range(9)}
        self.refused: set[int] = set()

    def write_rows(self, number: int) -> None:
        if number in self.refused:
            raise BadInput("an executor refused")
        assert self.let_go[number].wait(PATIENCE)

    def merge(self, number: int, counted: Callable[[], None]) -> list[dict[str, Any]]:
        self.told.append(f"counted {number}, {self.waiting} others have begun")
        counted()
        self.told.append(f"merged {number}, {self.waiting} others have begun")
        return []

    def finish(self, number: int, rows: list[dict[str, Any]]) -> Any:
        (spent,) = rows
        assert (spent["kind"], spent["name"]) == ("round", "milliseconds")
        return number

    @property
    def waiting(self) -> int:
        """How many rounds have begun that are not merged yet, without the one that is being merged."""
        return len(self.begun) - len([line for line in self.told if line.startswith("merged")]) - 1

    def until(self, stop: int) -> Callable[[int], bool]:
        """Has rounds made up to this one."""

        def another(number: int) -> bool:
            if number < stop:
                self.begun.append(number)
            return number < stop

        return another


def all_of(rounds: Told, made: Iterator[Any], count: int) -> list[Any]:
    """What the rounds come to, each let go when it is waited for."""
    found = []
    for number in range(count):
        rounds.let_go[number].set()
        found.append(next(made))
    assert list(made) == []
    return found


def test_next_round_has_begun_before_one_is_merged_and_another_waits() -> None:
    rounds = Told()
    assert all_of(rounds, rounds.made(0, rounds.until(5)), 5) == [0, 1, 2, 3, 4]
    assert rounds.begun == [0, 1, 2, 3, 4]
    assert rounds.told == [
        "counted 0, 0 others have begun",
        "merged 0, 1 others have begun",
        "counted 1, 1 others have begun",
        "merged 1, 2 others have begun",
        "counted 2, 1 others have begun",
        "merged 2, 2 others have begun",
        "counted 3, 1 others have begun",
        "merged 3, 1 others have begun",
        "counted 4, 0 others have begun",
        "merged 4, 0 others have begun",
    ]


def test_no_round_begins_before_the_one_before_it_is_whole_where_that_decides() -> None:
    rounds = Told()
    assert all_of(rounds, rounds.made(0, rounds.until(3), ahead=0), 3) == [0, 1, 2]
    assert all(line.endswith(" 0 others have begun") for line in rounds.told)


def test_campaign_that_is_over_makes_no_round() -> None:
    rounds = Told()
    assert list(rounds.made(4, rounds.until(4))) == []
    assert rounds.begun == []


def test_refusal_ends_the_rounds_without_waiting_for_those_that_have_begun() -> None:
    rounds = Told()
    rounds.refused = {1}
    made = rounds.made(0, rounds.until(9))
    rounds.let_go[0].set()
    assert next(made) == 0
    with pytest.raises(BadInput, match="an executor refused"):
        next(made)
    assert rounds.begun == [0, 1, 2]
    rounds.let_go[2].set()


def test_round_that_waits_is_not_begun_where_the_time_will_be_over() -> None:
    totals, goal = Totals(refresh.manifest([], 1), 2, 30_000), Goal(seconds=40)
    assert not goal.reached(2, totals.seconds_of(2))
    assert goal.reached(3, totals.seconds_of(3))
    assert Totals(refresh.manifest([], 1)).seconds_of(3) == 0
