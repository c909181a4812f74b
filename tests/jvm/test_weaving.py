"""Threads under the kit's scheduler: races, deadlocks and endless loops are found, and what is right stays quiet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jvm import schedules
from jvm.schedules import ended, program

from broker_tck.implementations.jvm.java import homes, version_of
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.jvm.weaving import Explorer

RIGHT = "=[2,[null]]"
"""The answer after two calls that each had a number of its own."""
WRONG = "=[1,[null]]"


@pytest.fixture(scope="module")
def shared(odd: Path) -> Explorer:
    """Explores the class of the tests' own."""
    return schedules.shared(odd)


# ---- What is found, and what is not


@pytest.mark.parametrize("name", ["next", "read", "stampedRead"])
def test_race_is_found(shared: Explorer, name: str) -> None:
    ends = ended(shared.explore(program(f"| {name} | {name} | next"), 1, 1_000, 0, 0))
    assert set(ends) == {RIGHT, WRONG}


@pytest.mark.parametrize("name", ["monitored", "entered", "locked", "written", "stamped", "oneWay"])
def test_what_is_locked_is_right(shared: Explorer, name: str) -> None:
    explored = shared.explore(program(f"| {name} | {name} | next"), 2, 1_000, 100, 0)
    assert explored.complete
    assert set(ended(explored)) == {RIGHT}


@pytest.mark.parametrize(("reads", "writes"), [("read", "written"), ("stampedRead", "stamped")])
def test_who_writes_keeps_readers_out_and_waits_for_them(shared: Explorer, reads: str, writes: str) -> None:
    explored = shared.explore(program(f"| {reads} | {writes} | next"), 2, 1_000, 0, 0)
    assert explored.complete
    assert set(ended(explored)) == {RIGHT}


def test_race_for_an_element_is_found(shared: Explorer) -> None:
    ends = ended(shared.explore(program("| nextOfArray | nextOfArray | nextOfArray"), 1, 1_000, 0, 0))
    assert set(ends) == {RIGHT, WRONG}


def test_what_a_map_computes_happens_in_one_go(shared: Explorer) -> None:
    explored = shared.explore(program("| computed | computed | next"), 2, 1_000, 0, 0)
    assert explored.complete
    assert set(ended(explored)) == {RIGHT}


def test_local_of_a_thread_is_its_own_in_each_run(shared: Explorer) -> None:
    explored = shared.explore(program("| here here | here |"), 1, 1_000, 0, 0)
    results = {line for history in explored.histories for line in history.text.splitlines() if line[0] == "-"}
    assert results == {"-0 0 0", "-0 1 1", "-1 0 0"}


def test_array_that_nobody_else_knows_has_no_points(shared: Explorer) -> None:
    _, trail = shared.follow(program("| nextOfFresh ||"), ())
    assert [each.what for each in trail] == ["begins 0", "ends 0"]


@pytest.mark.parametrize("text", ["| waits | next |", "waits ||"])
def test_wait_of_another_kind_is_refused(shared: Explorer, text: str) -> None:
    with pytest.raises(Unavailable, match="as the kit's threads cannot: it calls Object"):
        shared.explore(program(text), 0, 1_000, 0, 0)


def test_lock_is_no_other(shared: Explorer) -> None:
    assert WRONG in ended(shared.explore(program("| locked | written | next"), 1, 1_000, 0, 0))


def test_deadlock_is_found(shared: Explorer) -> None:
    explored = shared.explore(program("| oneWay | otherWay | next"), 1, 1_000, 0, 0)
    assert set(ended(explored)) == {RIGHT, "!deadlock"}
    stuck = {each.text for each in explored.histories if "!" in each.text}
    assert stuck == {"+0 0\n+1 0\n!deadlock\n", "+1 0\n+0 0\n!deadlock\n"}


@pytest.mark.parametrize("text", ["| spin | next | next", "spin || next", "|next|next|spin"])
def test_endless_loop_ends(shared: Explorer, text: str) -> None:
    assert set(ended(shared.explore(program(text), 0, 10, 0, 0))) == {"!endless"}


def test_loop_that_waits_for_another_thread_is_not_endless(shared: Explorer) -> None:
    assert set(ended(shared.explore(program("| await | finish | next"), 1, 100, 0, 0))) == {"=[0,[null]]"}


def test_what_is_thrown_is_the_result_and_lets_go_of_the_monitor(shared: Explorer) -> None:
    explored = shared.explore(program("| thrown | monitored | thrown next", seen=[7, "a\n"]), 0, 10, 0, 0)
    assert [history.text for history in explored.histories] == [
        f'+{a} 0\n-{a} 0 {of[a]}\n+{b} 0\n-{b} 0 {of[b]}\n=[{of[0]},[[7,"a\\u000a"]]]\n=[1,[[7,"a\\u000a"]]]\n'
        for of in [('{"raises":"IllegalStateException"}', "0")]
        for a, b in [(0, 1), (1, 0)]
    ]


# ---- Schedules


def test_schedules_are_data_and_can_be_followed(shared: Explorer) -> None:
    race = program("| next | next | next")
    explored = shared.explore(race, 2, 1_000, 100, 3)
    for history in explored.histories:
        text, trail = shared.follow(race, history.schedule)
        assert text == history.text
        assert [each.what for each in trail if each.thread == 0 and not each.where] == ["begins 0", "ends 0"]
    wrong = next(history for history in explored.histories if WRONG in history.text)
    assert len(wrong.schedule) == 1
    points = [(each.thread, each.where.partition(":")[0], each.what) for each in shared.follow(race, wrong.schedule)[1]]
    assert points == [
        (0, "", "begins 0"),
        (0, "Shared.next", "read count"),
        (0, "Shared.next", "write count"),
        (1, "", "begins 0"),
        (1, "Shared.next", "read count"),
        (1, "Shared.next", "write count"),
        (1, "", "ends 0"),
        (0, "", "ends 0"),
    ]


def test_lines_are_those_of_the_source(shared: Explorer) -> None:
    source = Path(__file__).parent.joinpath("java/odd/Shared.java").read_text(encoding="utf-8").splitlines()
    _, trail = shared.follow(program("| next || next"), ())
    lines = [source[int(each.where.partition(":")[2]) - 1].strip() for each in trail if each.where]
    assert lines == ["int seen = count;", "count = seen + 1;"]


def test_field_that_is_final_has_no_points(shared: Explorer) -> None:
    _, trail = shared.follow(program("| entered ||"), ())
    assert [each.what for each in trail] == ["begins 0", "enter", "read count", "write count", "ends 0"]


def test_same_seed_draws_the_same_schedules(shared: Explorer) -> None:
    race = program("| next next | next next | next")
    one, same, other = (shared.explore(race, 0, 10, 30, seed) for seed in (5, 5, 6))
    assert one == same != other


def test_budget_is_kept(shared: Explorer) -> None:
    race = program("| next next | next next | next")
    explored = shared.explore(race, 2, 20, 7, 0)
    assert (explored.schedules, explored.complete) == (27, False)


def test_every_java_has_the_same_histories(odd: Path) -> None:
    """From Java 21 on threads are continuations, and before it threads of Java's that hand over."""
    javas = {version_of(home) >= 21: home for home in homes() if version_of(home) >= 17}
    if len(javas) < 2:
        pytest.skip("it needs two Javas, one of them older than 21")
    command = [sys.executable, "-m", "jvm.schedules", str(odd)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    told = [
        subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": path, "JAVA_HOME": str(home)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for home in javas.values()
    ]
    assert told[0] == told[1]
    assert len(told[0].splitlines()) == len(schedules.EACH)
