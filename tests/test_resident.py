"""Subjects that live in their process for good: it is never forked, and what they do in it is told all the same."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema
import msgspec
import pytest
import refresh
from campaigns.resident import STARTS, Resident
from kit import CONTRACT, ROOT, Unmakeable, python, subject_of
from msgspec import structs

from broker_tck import fixtures
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.isolation import resident
from broker_tck.properties.isolation.process import Isolation
from broker_tck.properties.isolation.protected import Few
from broker_tck.properties.isolation.watchdog import Limit, unlimited
from broker_tck.spark_fuzz.driver.manifest import Lane
from broker_tck.spark_fuzz.store.rows import FIGURE, FINDING, REFUSED, UNFIT, Row
from broker_tck.spark_fuzz.worker import findings, shard
from broker_tck.spark_fuzz.worker import process as worker
from broker_tck.spark_fuzz.worker.findings import NOT_REDUCED, RESIDENT_PROBES
from broker_tck.spark_fuzz.worker.lanework import MOST_FATAL

PROFILE = "timebucket-ideal"
TRACE = "add 1 0 +2000; add 1 1 +2000; add 1 2 +9000; adv 2000; get 10"
SOON = (
    "from broker_tck.properties.isolation import resident; resident.EVERY = 0.1; "
    "from broker_tck.cli.main import main; main()"
)


def name_of(subject: str) -> str:
    return f"campaigns.resident:{subject}"


def command(*words: str, subject: str, started: Path | None = None, soon: bool = False) -> CompletedProcess[str]:
    """Run the command line in a process of its own, which has been started in the folder of tests."""
    program = ("-c", SOON) if soon else ("-m", "broker_tck.cli.main")
    variables = {STARTS: str(started)} if started else {}
    return python(*program, *words, "--subject", name_of(subject), cwd=ROOT / "tests", **variables)


# ---- In the process of a command


@pytest.mark.slow
def test_check_makes_it_once_and_forks_nowhere(tmp_path: Path) -> None:
    few = "--walks", "100", "--examples", "5"
    done = command("check", "--json", *few, subject="Resident2026", started=tmp_path / "starts")
    assert done.returncode == 0, done.stderr
    (checked,) = json.loads(done.stdout)["subjects"]
    assert checked["golden"]["agreed"] == checked["golden"]["steps"] > 0
    assert len((tmp_path / "starts").read_text().split()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("Spins", {"error": "Hang", "message": "no answer within the limit"}),
        ("EatsMemory", {"error": "MemoryError", "message": "Java heap space"}),
    ],
)
def test_what_has_no_answer_is_replayed_and_reduced_in_place(tmp_path: Path, name: str, seen: dict[str, str]) -> None:
    done = command("replay", TRACE, "--json", subject=name)
    assert (done.returncode, done.stderr) == (1, "")
    (found,) = json.loads(done.stdout)["disagreements"]
    assert (found["step"], found["seen"]) == (5, seen)

    done = command("reduce", TRACE, "--json", subject=name, started=tmp_path / "starts")
    assert (done.returncode, done.stderr) == (1, "")
    finding = json.loads(done.stdout)
    assert [operation[0] for operation in finding["operations"]] == ["add", "add", "add", "get"]
    assert finding["seen"] == seen
    assert len((tmp_path / "starts").read_text().split()) == 1

    done = command("check", "--json", subject=name)
    (checked,) = json.loads(done.stdout)["subjects"]
    assert (done.returncode, checked["findings"][0]["seen"]) == (1, seen)
    assert len(checked["findings"][0]["operations"]) == 4


def test_process_in_which_it_lives_is_not_forked_for_others() -> None:
    trace = f"delayed-delivery {PROFILE}; {TRACE}"  # twice: then it lives there already
    done = command("replay", trace, trace, "--subject", "time-bucket", subject="Resident")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"replayed on: model, {name_of('Resident')}, time-bucket" in done.stdout


def test_fork_is_refused_where_one_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident.HERE, "names", ["pulsar"])
    isolation: Isolation[None] = Isolation(1, 64)
    with pytest.raises(RuntimeError, match="a process is not forked in which pulsar lives"):
        isolation.run(lambda: None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), [("Resident2026", "golden"), ("Forgets", "walks"), ("Spins", "machine")])
def test_other_peoples_tests_run_in_one_process(tmp_path: Path, name: str, part: str) -> None:
    words = ["--pyargs", "broker_tck.properties", "--subject", name_of(name), "-k", part, "-p", "no:cacheprovider"]
    options = ["--rootdir", str(tmp_path), "-c", str(ROOT / "pyproject.toml")]
    done = python("-m", "pytest", *words, *options, cwd=ROOT / "tests", **{STARTS: str(tmp_path / "starts")})
    assert done.returncode == (name != "Resident2026"), done.stdout
    assert len((tmp_path / "starts").read_text().split()) == 1
    assert "its process was forked" not in done.stdout


# ---- The limit of a block, and what is not counted by it


def test_limit_begins_anew_behind_what_it_does_not_count() -> None:
    with Limit(0.2) as _:
        limit = Limit.around
        with unlimited():
            assert (Limit.around, signal.getitimer(signal.ITIMER_REAL)) == (None, (0, 0))
        assert Limit.around is limit
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.2
    assert (Limit.around, signal.getitimer(signal.ITIMER_REAL)) == (None, (0, 0))


def test_first_is_made_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    here, limits = resident.Residents(), []
    subject = subject_of(Resident)
    for _ in range(2):
        with Limit(5):
            here.make(subject, None, lambda: limits.append(Limit.around is not None))
    assert limits == [False, True]


# ---- The last resort


@pytest.mark.parametrize("name", ["StandsStill", "Works"])
def test_command_that_cannot_go_on_says_so_and_ends(name: str) -> None:
    done = command("check", subject=name, soon=True)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    said, _, text = line.partition(f"broker-tck replay --subject {name_of(name)} ")
    trace = from_text(text.strip("'"))
    said = said.removeprefix(f"broker-tck: {name_of(name)} gave no answer to operation {len(trace.operations)}, get ")
    assert said.endswith(", and cannot be interrupted: ")
    assert (trace.profile, trace.operations[-1].tag) == (PROFILE, "get")


def test_its_finding_is_the_document_of_json() -> None:
    done = command("reduce", f"delayed-delivery {PROFILE} tick=16; {TRACE}", "--json", subject="StandsStill", soon=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    document = json.loads(done.stdout)
    told = document["unanswered"]
    assert document["conform"] is False
    assert (told["subject"], told["config"]["tick"], len(told["operations"])) == (name_of("StandsStill"), 16, 5)
    assert told["seen"] == {"error": "Hang", "message": "no answer within the limit"}
    assert done.stderr == f"broker-tck: {told['message']}\n"


def test_subject_that_never_comes_up_is_told() -> None:
    done = command("check", "--json", subject="NeverMade", soon=True)
    message = f"{name_of('NeverMade')} does not come back from being made, and cannot be interrupted"
    assert (done.returncode, done.stderr) == (1, f"broker-tck: {message}\n")
    unanswered = {"subject": name_of("NeverMade"), "message": message}
    document = json.loads(done.stdout)
    assert (document["conform"], document["unanswered"]) == (False, unanswered)
    jsonschema.validate(document, json.loads(fixtures.check_schema().read_text(encoding="utf-8")))


BUSY = resident.Busy(subject_of(Resident), CONTRACT.config(), operations=[*from_text(TRACE).operations])


@pytest.mark.parametrize(("part", "looks"), [(2.0, 1), (1.0, 2), (0.5, 4), (0.1, 20), (0.0, resident.MOST_LOOKS)])
def test_operation_is_given_up_idle_or_when_it_has_worked_for_long(part: float, looks: int) -> None:
    seen = resident.Looks()
    found = [seen.too_many(BUSY, number * part * resident.EVERY) for number in range(30)]
    assert found.index(True) == looks


def test_work_between_operations_is_no_stand_still_and_bulk_has_longer() -> None:
    seen = resident.Looks()
    assert not any(seen.too_many(replace(BUSY, under_way=False), number * 10.0) for number in range(50))
    trace = from_text("fill 1 0 1 3000 +5")
    much = resident.Busy(BUSY.subject, trace.config, operations=[*trace.operations])
    assert [seen.too_many(much, number * 10.0) for number in range(30)].index(True) == 8
    going = resident.Looks()
    for number in range(50):
        much.operations.append(much.operations[0])
        assert not going.too_many(much, number * 10.0)


def test_what_is_under_way_is_known_and_what_has_ended_is_not() -> None:
    here = resident.Residents()
    rig = here.make(BUSY.subject, BUSY.config, object)
    busy = here.busy
    assert busy
    assert (busy.rig, busy.under_way, here.names) == (rig, False, [BUSY.subject.name])
    for number, _ in enumerate(busy.noted(BUSY.operations), 1):
        assert (busy.under_way, busy.operations) == (True, BUSY.operations[:number])
        if number == 3:
            break
    assert not busy.under_way
    with pytest.raises(OSError, match="no disk"):
        here.make(BUSY.subject, BUSY.config, partial(Unmakeable, None, None, None))
    assert here.busy
    assert not here.busy.under_way


# ---- In campaigns


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """In how many processes one has come up so far."""
    monkeypatch.setenv(STARTS, str(tmp_path / "starts"))
    monkeypatch.setattr(shard, "BATCH", 16)
    return lambda: len((tmp_path / "starts").read_text().split())


def rows(name: str, operations: int = 20_000, seconds: float = 10.0) -> list[Row]:
    manifest = refresh.manifest([Lane(name_of(name), PROFILE), Lane("time-bucket", PROFILE)], 2 * operations)
    found = list(shard.shard_rows(structs.replace(manifest, walk_seconds=seconds), 0, 0))
    assert resident.HERE.names == []
    return [row for row in found if row.subject == name_of(name)]


def timeless(found: list[Row]) -> str:
    """Rows as text, times aside."""
    return repr([row for row in found if row.name != "milliseconds"])


@pytest.mark.untraced
@pytest.mark.parametrize("name", ["Resident", "Forgets"])
def test_shard_makes_it_once_and_has_the_rows_of_one_that_is_forked(starts: Callable[[], int], name: str) -> None:
    found = timeless(rows(name))
    assert starts() == 1
    assert found == timeless(rows(f"{name}Forked")).replace(f"{name}Forked", name)


@pytest.mark.untraced
def test_walks_around_one_that_ends_the_process_are_those_of_a_subject_that_is_forked(
    starts: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings.Finder, "of_fatal", lambda finder, failed: finder.as_it_is(failed, NOT_REDUCED))
    found, forked = rows("Leaves", operations=80_000), rows("LeavesForked", operations=80_000)
    assert timeless(found) == timeless(forked).replace("LeavesForked", "Leaves")
    (ended,) = [row for row in found if row.kind == FINDING]
    assert ended.count == MOST_FATAL
    assert starts() > MOST_FATAL


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("Spins", {"error": "Hang", "message": "no answer within the limit"}),
        ("EatsMemory", {"error": "MemoryError", "message": "Java heap space"}),
    ],
)
def test_what_has_no_answer_is_reduced_where_it_happened(
    starts: Callable[[], int], name: str, seen: dict[str, str]
) -> None:
    found = rows(name)
    (row,) = [row for row in found if row.kind == FINDING]
    assert (row.length, row.count, msgspec.json.decode(row.text)["seen"]) == (4, MOST_FATAL, seen)
    assert starts() == 1


def test_death_is_a_finding_reduced_by_few_processes(starts: Callable[[], int]) -> None:
    (row,) = [row for row in rows("Exits") if row.kind == FINDING]
    seen = {"error": "Exited", "message": "the process ended itself with status 3"}
    assert (row.count, msgspec.json.decode(row.text)["seen"]) == (MOST_FATAL, seen)
    assert row.length < 12
    assert RESIDENT_PROBES <= starts() <= RESIDENT_PROBES + 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["StandsStill", "Works"])
def test_what_cannot_be_interrupted_is_ended_from_outside(
    starts: Callable[[], int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module in (shard, findings):
        monkeypatch.setattr(module, "RESIDENT_START", 1.0)
    monkeypatch.setattr(findings, "RESIDENT_PROBES", 2)
    monkeypatch.setattr(shard, "KIT", 2)
    (row,) = [row for row in rows(name, operations=2_000, seconds=0.3) if row.kind == FINDING]
    assert msgspec.json.decode(row.text)["seen"] == {"error": "Hang", "message": "no answer within the limit"}


def test_subject_that_cannot_be_made_refuses_the_campaign_and_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "refusal", lambda manifest: "")
    monkeypatch.setattr("sys.stdin", None)  # it waits for no end of its parent
    manifest = refresh.manifest([Lane("time-bucket", PROFILE), Lane(name_of("Unfit"), PROFILE)], 2_000)
    (row,) = worker.rows(worker.Request(manifest, 0, 0))
    assert (row.kind, row.name, row.text) == (REFUSED, UNFIT, f"{name_of('Unfit')}: there is no such class")


@pytest.mark.untraced
def test_process_that_dies_while_it_reduces_costs_no_walk(
    starts: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    forgets = rows("Forgets")
    monkeypatch.setattr(findings, "find", lambda *arguments: os._exit(4))
    found = rows("Forgets")
    figures, same = ({r.name: r.count for r in rows if r.kind == FIGURE} for rows in (found, forgets))
    assert figures | {"milliseconds": 0} == same | {"milliseconds": 0}
    made = [row for row in found if row.kind == FINDING]
    assert {row.key for row in made} == {NOT_REDUCED}
    assert sum(row.count for row in made) == figures["failing"]


def test_reduction_by_few_replays_asks_for_each_trace_once() -> None:
    trace, asked = from_text(TRACE), []

    def judge(subject: Any, model: Any, config: Any, operations: Any) -> Any:
        asked.append(len(operations))
        return (1, "difference") if len(operations) > 1 else None

    few = Few(judge, 2)

    def ask(count: int) -> Any:
        return few.failure(BUSY.subject, CONTRACT.specification, trace.config, trace.operations[:count])

    assert [ask(4), ask(4), ask(2), ask(1), ask(3)] == [
        (1, "difference"),
        (1, "difference"),
        (1, "difference"),
        None,
        None,
    ]
    assert asked == [4, 1]
