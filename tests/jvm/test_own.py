"""Classes of the user's own: a right one and its factory, and some that do what no tracker should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from jvm.compiling import compiled
from jvm.schedules import Program
from kit import python, run_subject

from broker_tck.implementations.released import released
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.finding import Finding

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "java-tracker" / "src"
QUICKLY = "import refresh; from broker_tck.cli.main import main\nwith refresh.quickly(): main()"
"""The command line, for which what takes half a second hangs; but not while Java starts."""


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(EXAMPLE, "4.2.4", tmp_path_factory.mktemp("example"))


def first_finding(name: str, classes: Path) -> Finding:
    run = run_subject(resolve(f"pulsar-4.2.4/{name}@{classes}"), "timebucket-2026", 0, 3, fail_fast=True)
    return run.findings[0]


@pytest.mark.parametrize("name", ["SortedTracker", "SortedTrackerFactory"])
def test_the_example_conforms(name: str, example: Path) -> None:
    subject = resolve(f"pulsar-4.2.4/com.example.{name}@{example}")
    assert subject.profiles == ("timebucket-ideal",)
    run = run_subject(subject, "timebucket-ideal", 0, 60)
    assert (run.failing, run.breaches) == ([], [])


def test_threads_call_the_example(example: Path) -> None:
    explorer = released(f"pulsar-4.2.4/com.example.SortedTracker@{example}").explorer
    config = {"tick": 1_000, "strict": False, "lookahead": 0, "clock": 0}
    calls = [[["add", 1, 1, 5_000]], [[["adv", 6_000]], [["add", 1, 2, 3_000], ["get", 2]]], [["get", 2]]]
    explored = explorer.explore(Program(*calls, config), 2, 5_000, 0, 0)
    assert explored.complete
    assert {history.text.splitlines()[-1] for history in explored.histories} == {
        "=[[[1,1],[1,2]],[0,[]]]",
        "=[[[1,1]],[0,[]]]",  # the clock was on its way when the other thread took what was due
        "=[[],[0,[]]]",
    }
    assert any("SortedTracker" in point.where for point in explorer.follow(Program(*calls, config), ())[1])


def test_the_example_has_no_race(cli: Cli, example: Path) -> None:
    subject = f"pulsar-4.2.4/com.example.SortedTracker@{example}"
    status, out, _ = cli("threads", "--subject", subject, "--programs", "40", "--preemptions", "1")
    assert (status, out.count("no race found")) == (0, 1)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Loops", "Hang"),
        ("Recurses", "StackOverflowError"),
        ("Allocates", "MemoryError"),
        ("Exits", "SystemExit"),
        ("Throws", "IllegalStateException"),
    ],
)
def test_what_no_tracker_should_do_is_a_finding_and_the_check_goes_on(name: str, error: str, odd: Path) -> None:
    found = first_finding(f"odd.Odd${name}", odd)
    assert found.difference.seen["error"] == error
    assert len(found.operations) == 1
    assert run_subject(resolve("pulsar-4.2.4/in-memory"), "timebucket-2026", 0, 2).failing == []


def test_an_exception_tells_its_frames_and_no_address(odd: Path) -> None:
    seen: Any = first_finding("odd.Odd$Throws", odd).difference.seen
    message, frame, *_ = seen["message"].split("; ")
    assert message == "no more of java.lang.Object"
    assert frame.startswith("at odd.Odd$Throws.misbehave(Odd.java:")


def test_the_systems_clock_is_the_kits(odd: Path) -> None:
    subject = resolve(f"pulsar-4.2.4/odd.Odd$ReadsTheSystemsClock@{odd}")
    assert run_subject(subject, "timebucket-2026", 0, 20).failing == []


def run_quickly(*words: str) -> tuple[int, str]:
    """Run the command line in a process of its own, where a hang is soon found; its exit status, and what it prints."""
    done = python("-c", QUICKLY, *words, cwd=HERE.parent)
    return done.returncode, done.stdout


def test_a_loop_in_javas_own_library_is_ended_from_outside(odd: Path) -> None:
    """It burns no fuel, and no signal reaches it."""
    subject = f"pulsar-4.2.4/odd.Odd$LoopsElsewhere@{odd}"
    status, told = run_quickly("replay", "--subject", subject, "delayed-delivery timebucket-2026; add 0 0 +9000")
    assert status == 1
    assert "an answer  Hang: no answer within the limit" in told


def test_a_tracker_with_another_constructor_is_bad_input(odd: Path) -> None:
    with pytest.raises(BadInput, match="it cannot be made as the broker's in-memory tracker is"):
        run_subject(resolve(f"pulsar-4.2.4/odd.Odd$Misfit@{odd}"), "timebucket-2026", 0, 1)


def test_a_class_of_pulsars_own_package_is_a_subject(example: Path) -> None:
    name = "org.apache.pulsar.broker.delayed.InMemoryDelayedDeliveryTrackerFactory"
    run = run_subject(resolve(f"pulsar-4.2.4/{name}"), "timebucket-2026", 0, 20)
    assert (run.failing, run.breaches) == ([], [])


def test_a_class_path_that_says_nothing_of_the_subject_is_bad_input(odd: Path, tmp_path: Path) -> None:
    for place in (tmp_path, odd.parent, odd):
        with pytest.raises(BadInput, match="has no class that"):
            resolve(f"pulsar-4.2.4/in-memory@{place}")
    with pytest.raises(BadInput, match="neither a jar nor a folder"):
        resolve(f"pulsar-4.2.4/in-memory@{odd / 'odd' / 'Odd.class'}")
