"""Subjects that live in their process for good, as whatever runs in a JVM does: each process makes them anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import refresh
from conftest import Cli

from broker_tck.properties.explain import guarding
from broker_tck.properties.explain.guarding import MOST_STARTED
from broker_tck.properties.report.parts import came_to
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.spark_fuzz.driver.manifest import Pair
from broker_tck.spark_fuzz.store.rows import FINDING, UNFIT, Row, trouble
from broker_tck.spark_fuzz.worker import process as worker
from broker_tck.spark_fuzz.worker.pair_results import MOST_FATAL
from broker_tck.spark_fuzz.worker.shard import shard_rows

pytestmark = pytest.mark.slow

PROFILE = "timebucket-ideal"
TRACE = "add 1 0 +2000; add 1 1 +2000; add 1 2 +9000; adv 2000; get 10"


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """In how many processes one has come up so far."""
    monkeypatch.setenv("RESIDENT_STARTS", str(tmp_path / "starts"))
    return lambda: len((tmp_path / "starts").read_text().split())


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(guarding, "MOST_STARTED", 4)
    with refresh.quickly():
        yield


def name_of(subject: str) -> str:
    return f"campaigns.resident:{subject}"


def rows(name: str, operations: int = 20_000) -> list[Row]:
    manifest = refresh.manifest([Pair(name_of(name), PROFILE), Pair("time-bucket", PROFILE)], 2 * operations)
    return [row for row in shard_rows(manifest, 0, 0) if row.subject == name_of(name)]


def timeless(found: list[Row]) -> str:
    """Rows as text, times aside."""
    return repr([row for row in found if row.name != "milliseconds"])


def test_check_makes_it_in_one_process(cli: Cli, starts: Callable[[], int]) -> None:
    words = "--subject", name_of("ResidentHeap"), "--isolated", "--json", "--walks", "20", "--examples", "2"
    (checked,) = json.loads(cli("check", *words)[1])["subjects"]
    assert checked["golden"]["agreed"] == checked["golden"]["steps"] > 0
    assert starts() == 1


def test_all_tests_of_its_walks_make_it_in_one_process(starts: Callable[[], int]) -> None:
    subject = resolve_unloaded(name_of("Forgets"))
    for _ in range(2):
        assert came_to(subject, PROFILE, "walks")[0].findings  # type: ignore[union-attr]
    assert starts() == 1


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("Spins", {"error": "Hang", "message": "no answer within the limit"}),
        ("EatsMemory", {"error": "MemoryError", "message": "Java heap space"}),
    ],
)
def test_what_it_says_of_itself_is_reduced_in_its_process(
    cli: Cli, starts: Callable[[], int], name: str, seen: dict[str, str]
) -> None:
    status, out, err = cli("reduce", TRACE, "--json", "--subject", name_of(name))
    finding = json.loads(out)
    assert (status, err, finding["seen"]) == (1, "", seen)
    assert [operation[0] for operation in finding["operations"]] == ["add", "add", "add", "get"]
    assert starts() == 1


@pytest.mark.parametrize("name", ["Resident", "Forgets"])
def test_shard_makes_it_once_and_has_the_rows_of_one_that_is_forked(starts: Callable[[], int], name: str) -> None:
    found = timeless(rows(name))
    assert starts() == 1
    assert found == timeless(rows(f"{name}Forked")).replace(f"{name}Forked", name)


def test_death_is_a_finding_reduced_by_few_processes(starts: Callable[[], int]) -> None:
    (row,) = [row for row in rows("Exits") if row.kind == FINDING]
    seen = {"error": "Exited", "message": "it ended its process with status 3"}
    assert (row.count, msgspec.json.decode(row.text)["seen"]) == (MOST_FATAL, seen)
    assert row.length < 12
    assert MOST_STARTED <= starts() <= MOST_STARTED + 8


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", ["StandsStill", "Works"])
def test_what_cannot_be_interrupted_is_ended_from_outside(name: str) -> None:
    (row,) = [row for row in rows(name, operations=2_000) if row.kind == FINDING]
    assert msgspec.json.decode(row.text)["seen"] == {"error": "Hang", "message": "no answer within the limit"}


def test_subject_that_cannot_be_made_refuses_the_campaign_and_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "refusal", lambda *_: "")
    monkeypatch.setattr("sys.stdin", None)  # it waits for no end of its parent
    manifest = refresh.manifest([Pair("time-bucket", PROFILE), Pair(name_of("Unfit"), PROFILE)], 2_000)
    why = f"{name_of('Unfit')}: there is no such class"
    assert [*worker.rows(worker.Request(manifest, 0, 0))] == [trouble(UNFIT, why, 0)]
