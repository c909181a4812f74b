"""What is said of whole releases: the questions, their answers, the page that is made of them, and the command."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Cli
from msgspec import structs

from broker_tck.cli import pulsar as command
from broker_tck.implementations.jvm.jars import FOLDER
from broker_tck.implementations.jvm.releases import MISSING, TRIED, Release
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.releases import survey as asking
from broker_tck.properties.releases.page import page
from broker_tck.properties.releases.survey import (
    KINDS,
    QUIET,
    RACE,
    THREADS,
    UNKNOWN,
    Answer,
    Effort,
    Question,
    answer,
    lacking,
    questions,
    survey,
    to_be_had,
)
from broker_tck.properties.threads.verdict import Promise
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH

TRACKER, SET, CACHE = "in-memory", "cursor-tree-set", "range-cache"
SURE = {"operations": 1_234_567, "residual": 0.00299}


def finding(rule: str, *operations: str) -> dict[str, Any]:
    """As much of a finding as a page tells."""
    told = {"rules": [rule, "DD-01"], "sentences": [f"What {rule} says.", "More."], "operations": [*operations]}
    return {**told, "story": [f"  1  {'; '.join(operations)}"], "replay": f"replay {len(operations)}"}


def said(release: str, profile: str, *found: dict[str, Any], kind: str = TRACKER, why: str = "") -> Answer:
    """An answer: it conforms where nothing was found, and there is none where there is a reason."""
    question = Question(release, kind, profile)
    if why:
        return Answer(question, UNKNOWN, {}, why)
    checked = {**SURE, "findings": [*found], "complaints": [f"{f['rules'][0]} does not hold" for f in found]}
    return Answer(question, BROKEN if found else CONFORMS, checked)


def raced(release: str, kind: str, *races: tuple[Promise, str]) -> Answer:
    """What several threads came to: races of these promises and programs."""
    told = [{"broken": promise.value, "program": text, "replay": f"replay {text}"} for promise, text in races]
    figures = {"profile": "odd", "programs": 100, "schedules": 12_345, "failing": len(races)}
    return Answer(Question(release, kind, THREADS), RACE if races else QUIET, {**figures, "races": told})


RACES = [
    raced("3.0.7", CACHE, (Promise.REST, "put | get | size"), (Promise.STEPS, "put")),
    raced("4.2.4", SET),
    raced("4.2.4", CACHE, (Promise.REST, "put | get")),
    Answer(Question("5.0.1", SET, THREADS), UNKNOWN, {}, "died: int | None"),
]
ANSWERS = [
    said("3.0.7", "heap"),
    said("3.0.7", "timebucket-ideal", finding("DD-11", "add", "add", "has"), finding("DD-02", "add")),
    said("4.2.4", "timebucket-2026", finding("DD-33", "clear", "close")),
    said("4.2.4", "timebucket-ideal", finding("DD-11", "add", "add"), finding("DD-11", "add", "add", "get")),
    said("5.0.1", "timebucket-5.0", why="died: int | None"),
    said("5.0.1", "timebucket-ideal", why="killed"),
    said("4.2.4", "pulsar-tree-set", kind=SET),
    said("4.2.4", "ideal", kind=SET),
]
EVERY = [*ANSWERS, *RACES]


@pytest.fixture(scope="module")
def text() -> str:
    missing = {"3.0.7": [], "4.2.4": [], "5.0.1": ["pulsar-client-original", "pulsar-common"]}
    return page(ANSWERS, missing, "broker-tck pulsar --walks 7", "2026-01-31")


def chapter(text: str, heading: str) -> str:
    """What stands under a heading, up to the next of its level."""
    level = heading.partition(" ")[0]
    return re.split(rf"^{level} ", text.partition(f"\n{heading}\n")[2], flags=re.MULTILINE)[0]


# ---- The page


def test_table_has_releases_across_and_classes_down(text: str) -> None:
    head, _, *rows = [line for line in text.splitlines() if line.startswith("|")]
    assert head == "| contract | class | 3.0.7 | 4.2.4 | 5.0.1 |"
    assert [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows] == [
        [
            "`delayed-delivery`",
            "InMemoryDelayedDeliveryTracker",
            "`heap`: conforms (1,234,567; < 0.003)<br>2 rules broken",
            "`timebucket-2026`: **broken**<br>1 rule broken",
            r"`timebucket-5.0`: **no verdict** (died: int \| None)<br>the specification: **no verdict** (killed)",
        ],
        [
            "`active-cursors`",
            "ActiveManagedCursorContainerNavigableSetImpl",
            "-",
            "`pulsar-tree-set`: conforms (1,234,567; < 0.003)<br>the specification: conforms",
            "-",
        ],
    ]


def test_page_says_which_jars_were_not_the_release_s(text: str) -> None:
    assert (
        "\nOf 5.0.1, pulsar-client-original, pulsar-common were not available. Jars of 5.0.0-M1 took their place"
        in text
    )
    assert "stand-in replaced its `LongBitmap`" in text
    assert "LongBitmap" not in page([], {"4.0.5": ["managed-ledger"]}, "", "")
    other = page([], {"4.1.1": ["pulsar-broker", "managed-ledger"], "4.2.4": [], "5.0.1": []}, "", "")
    assert "\nOf 4.1.1, pulsar-broker, managed-ledger were not available: their classes were not checked.\n" in other
    assert other.count("were not available") == 1


def test_departures_are_told_rule_by_rule_with_their_releases(text: str) -> None:
    told = chapter(text, "## InMemoryDelayedDeliveryTracker")
    assert re.findall(r"^### (.+)$", told, flags=re.MULTILINE) == ["DD-02", "DD-11"]
    assert "What DD-02 says.\n\nSeen in 3.0.7; not seen in 4.2.4.\n" in told
    assert "What DD-11 says.\n\nSeen in 3.0.7, 4.2.4.\n" in told
    assert "\n```text\n  1  add; add\n\n  replay 2\n```\n" in chapter(told, "### DD-11")
    assert "No rule" not in told


def test_release_without_a_verdict_is_not_said_to_keep_a_rule(text: str) -> None:
    assert "not seen in 4.2.4, 5.0.1" not in text
    lost = page([said("5.0.1", "timebucket-ideal", why="Killed")], {"5.0.1": []}, "", "")
    assert "It was not compared: no verdict." in chapter(lost, "## InMemoryDelayedDeliveryTracker")
    assert "seen" not in chapter(lost, "## InMemoryDelayedDeliveryTracker")


def test_what_its_own_profile_does_not_have_is_a_surprise(text: str) -> None:
    told = chapter(text, "## InMemoryDelayedDeliveryTracker")
    assert told.count("**Not in the profile**") == 1
    surprise = told.partition("**Not in the profile** `timebucket-2026` of 4.2.4:\n\n")[2]
    assert surprise == "- DD-33 does not hold\n\n```text\n  1  clear; close\n\n  replay 2\n```\n\n"


def test_races_have_a_table_and_what_replays_each() -> None:
    missing: dict[str, list[str]] = {"3.0.7": [], "4.2.4": [], "5.0.1": []}
    text = page(EVERY, missing, "", "")
    told = chapter(text, "## Races")
    died = r"**no verdict** (died: int \| None)"
    assert [line for line in told.splitlines() if line.startswith("|")][2:] == [
        "| `entry-cache` | RangeCache | **at rest, steps** (2 of 100 programs) | **at rest** (1 of 100 programs) | - |",
        f"| `active-cursors` | {KINDS[SET].java} | - | quiet (12,345 schedules) | {died} |",
    ]
    assert f"\nRangeCache, at rest: {Promise.REST} Seen in 3.0.7, 4.2.4.\n\n```sh\nreplay put | get\n```\n" in told
    assert f"\nRangeCache, steps: {Promise.STEPS} Seen in 3.0.7.\n\n```sh\nreplay put\n```\n" in told
    half = page(RACES[:2], missing, "", "", [each.question for each in RACES[2:]])
    assert f"| {KINDS[SET].java} | - | quiet (12,345 schedules) | not searched yet |" in half
    without = page(ANSWERS, missing, "", "")
    assert text.replace(f"## Races\n{told}", "") == without
    assert "Races" not in without


# ---- Questions and answers


def test_each_class_is_asked_for_its_profile_and_the_specification() -> None:
    asked = [(q.subject, q.profile, q.own) for q in questions(["4.2.4", "5.0.1"], "active-cursors")]
    assert asked == [
        ("pulsar-4.2.4/cursor-heap", "pulsar-heap", True),
        ("pulsar-4.2.4/cursor-heap", "ideal", False),
        ("pulsar-5.0.1/cursor-heap", "pulsar-heap", True),
        ("pulsar-5.0.1/cursor-heap", "ideal", False),
        ("pulsar-4.2.4/cursor-tree-set", "pulsar-tree-set", True),
        ("pulsar-4.2.4/cursor-tree-set", "ideal", False),
        ("pulsar-5.0.1/cursor-tree-set", "pulsar-tree-set", True),
        ("pulsar-5.0.1/cursor-tree-set", "ideal", False),
        ("pulsar-4.2.4/cursor-list", "pulsar-list-2025", True),
        ("pulsar-4.2.4/cursor-list", "ideal", False),
        ("pulsar-5.0.1/cursor-list", "ideal", True),
    ]


def test_races_are_asked_of_what_threads_can_call() -> None:
    asked = [*questions(["4.0.1", "4.2.4"], races=True)]
    threads = [question for question in asked if question.of_races]
    assert [question for question in asked if not question.of_races] == [*questions(["4.0.1", "4.2.4"])]
    assert all(CONTRACTS[question.contract].concurrent and KINDS[question.kind].boxes for question in threads)
    assert {"range-cache", "cursor-heap"} <= {question.kind for question in threads if question.release == "4.0.1"}
    assert ("4.0.1", CACHE) not in {(each.release, each.kind) for each in questions(["4.0.1"])}, "of threads alone"
    assert [question.own for question in threads] == [False] * len(threads)
    assert {question.contract for question in questions(["4.2.4"], "entry-cache", True)} == {"entry-cache"}


def test_races_are_searched_in_so_many_programs() -> None:
    races = Question("4.2.4", CACHE, THREADS).command(Effort(7, 30, 5))
    assert races[3:] == [
        "threads",
        "--json",
        "--subject",
        "pulsar-4.2.4/range-cache",
        "--seed",
        "5",
        "--programs",
        "30",
    ]
    check = Question("4.2.4", CACHE, "ideal").command(Effort(7, 30, 5))
    assert check[-6:] == ["--profile", "ideal", "--walks", "7", "--search", "7"]
    assert "threads" not in check


def test_class_that_is_in_no_repository_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setattr(Release, "lacks", lambda release, name: name in MISSING.get(release.version, ()))
    asked = [*to_be_had(questions(["4.1.1", "4.0.2"], "negative-acks"))]
    assert {question.subject for question in asked} == {"pulsar-4.1.1/negative-acks"}
    assert {each.kind for each in to_be_had(questions(["4.1.1"]))} == {"negative-acks", "ack-timeout"}
    assert lacking("4.0.2", asked) == [*KINDS["negative-acks"].jars]
    assert lacking("4.1.1", asked) == []
    monkeypatch.setenv(FOLDER, ".")
    assert {each.release for each in to_be_had(questions(["4.1.1", "4.0.2"], "negative-acks"))} == {"4.1.1", "4.0.2"}


def test_go_client_is_asked_about_its_tracker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Release, "lacks", lambda release, name: False)
    asked = [*to_be_had(questions(["client-go-0.17.0", "client-go-0.19.0"]))]
    name = "pulsar-client-go-{}/negative-acks"
    assert [(each.subject, each.profile, each.own) for each in asked] == [
        (name.format("0.17.0"), "go-old", True),
        (name.format("0.17.0"), "pip-393-spec", False),
        (name.format("0.19.0"), "go", True),
        (name.format("0.19.0"), "pip-393-spec", False),
    ]
    assert [*questions(["client-go-0.19.0"], "delayed-delivery")] == []
    assert lacking("client-go-0.19.0", asked) == []


def test_go_client_has_a_column() -> None:
    answers = [said("client-go-0.19.0", "go", kind="negative-acks")]
    told = page(answers, {"4.2.4": [], "client-go-0.19.0": []}, "broker-tck pulsar", "2026-01-31")
    assert "| contract | class | 4.2.4 | client-go-0.19.0 |" in told
    assert "| `negative-acks` | NegativeAcksTracker | - | `go`: conforms (1,234,567; < 0.003) |" in told
    assert "`client-go-` and a version is a release of Apache Pulsar's client in Go." in told


def test_every_profile_and_capability_of_a_release_is_its_contract_s() -> None:
    asked = [*questions(TRIED)]
    assert {question.contract for question in asked} == CONTRACTS.keys() - {"topic-delivery"}, "was never released"
    for question in asked:
        contract, line = (
            CONTRACTS[question.contract],
            asking.KINDS[question.kind].line(asking.Release(question.release)),
        )
        assert question.profile in contract.profiles
        assert line
        assert line.capabilities.keys() <= {*contract.capabilities.__struct_fields__}
        assert structs.asdict(contract.capabilities(**line.capabilities))


def test_answer_comes_from_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    question = Question("4.2.4", TRACKER, "heap")
    monkeypatch.setattr(Question, "subject", "heap")
    found = answer(question, Effort(2, 0, 7), set())
    assert (found.question, found.verdict, found.why) == (question, NOT_ENOUGH, "")
    assert (found.checked["subject"], found.checked["profile"], found.checked["walks"]) == ("heap", "heap", 2)
    assert (found.findings, found.checked["machine_steps"]) == ([], 0)
    assert found.checked["complaints"] == []
    assert found.checked["unseen"][0].startswith("DD-")


def test_process_that_ends_without_an_answer_is_no_verdict() -> None:
    found = answer(Question("2.2.2", TRACKER, "heap"), Effort(1, 0, 0), set())
    assert (found.verdict, found.checked, found.findings) == (UNKNOWN, {}, [])
    assert found.why.startswith("its process ended with status 2: broker-tck: pulsar-2.2.2/in-memory: no class ")


def test_checks_end_with_the_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "CHECK", (sys.executable, "-c", "import time; time.sleep(600)"))
    asked, began = [*questions(["3.0.7", "4.2.4"], "delayed-delivery")], monotonic()

    def interrupted(_: Answer | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        survey(asked, Effort(1, 0, 0), 2, interrupted)
    assert monotonic() - began < 300


# ---- The command


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        (ANSWERS[:2], 0),  # the specification may be left, the profile may not
        (ANSWERS[:3], 1),
        (ANSWERS[:5], 3),
        (ANSWERS[5:6], 3),
        (ANSWERS[6:], 0),
        ([], 0),
        (RACES[:3], 0),  # known or not
        (RACES[3:], 3),
        ([replace(ANSWERS[0], verdict=NOT_ENOUGH)], 4),
        ([replace(ANSWERS[0], verdict=NOT_ENOUGH), *ANSWERS[:3]], 1),
    ],
)
def test_status(answers: list[Answer], status: int) -> None:
    assert command.status(answers) == status


@pytest.mark.parametrize(("gigabytes", "cores", "most"), [(1, 4, 1), (4, 1, 1), (4, 8, 2), (64, 8, 8)])
def test_checks_at_a_time_are_as_many_as_memory_allows(
    monkeypatch: pytest.MonkeyPatch, gigabytes: int, cores: int, most: int
) -> None:
    monkeypatch.setattr(command.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(command.os, "sysconf", {"SC_PHYS_PAGES": gigabytes * 2**18, "SC_PAGE_SIZE": 2**12}.get)
    assert command.most_at_once() == most


def no_go(*_: Any) -> None:
    """Go is missing."""
    raise Unavailable("Go is needed")


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Every question is answered by hand; what was asked for, and how."""
    calls: list[tuple[Any, ...]] = []

    def had(every: list[Question]) -> list[Question]:
        races = any(question.of_races for question in every)
        return [each.question for each in EVERY if races or not each.question.of_races]

    def surveyed(asked: list[Question], effort: Effort, at_once: int, told: Any) -> None:
        calls.append((asked, *effort, at_once))
        for each in EVERY:
            if each.question in asked:
                told(None)
                told(each)

    monkeypatch.setattr(command, "survey", surveyed)
    monkeypatch.setattr(command, "to_be_had", had)
    untried = {"pulsar-4.0.9/in-memory": "a guess"}
    for what in ("resolve", "subject_named"):
        monkeypatch.setattr(command, what, lambda name: SimpleNamespace(name=name, untried=untried.get(name, "")))
    monkeypatch.setattr(command, "subject_digest", lambda subject: subject.name)
    monkeypatch.setattr(command, "built", no_go)
    monkeypatch.setattr(Release, "lacks", lambda release, name: False)
    return calls


def test_survey_is_printed(cli: Cli, answered: list[tuple[Any, ...]]) -> None:
    status, out, err = cli("pulsar", "4.2.4", "3.0.7", "--walks", "5", "--threads", "8", "--seed", "9", "-j", "3")
    assert (status, err) == (3, "")
    assert answered == [([each.question for each in EVERY], 5, 8, 9, 3)]
    lines = [re.split(r"  +", line.strip()) for line in out.splitlines()]
    assert lines[0] == ["subject", "profile", "kind", "operations", "failures", "rules broken", "verdict"]
    assert lines[1] == ["pulsar-3.0.7/in-memory", "heap", "own", "1,234,567", "< 0.003", "-", "conforms"]
    assert lines[2][2:] == ["specification", "1,234,567", "-", "DD-11, DD-02", "BROKEN"]
    assert lines[5][2:] == ["own", "0", "-", EVERY[4].why, "NO VERDICT"]
    assert lines[10:15] == [
        ["subject", "profile", "schedules", "promises broken", "verdict"],
        ["pulsar-3.0.7/range-cache", "odd", "12,345", "at rest, steps", "RACE"],
        ["pulsar-4.2.4/cursor-tree-set", "odd", "12,345", "-", "no race found"],
        ["pulsar-4.2.4/range-cache", "odd", "12,345", "at rest", "RACE"],
        ["pulsar-5.0.1/cursor-tree-set", "-", "0", "died: int | None", "NO VERDICT"],
    ]
    assert out.splitlines()[15:] == [
        "",
        "8 programs of threads for each class",
        "replay put | get | size",
        "replay put",
        "replay put | get",
        "",
        "5 walks for each class and profile, and at most 5 for each rule that a profile breaks",
        "pulsar-3.0.7/in-memory: no trace found in 5 walks for DD-21, DD-22, DD-32, DD-38, DD-39",
        "pulsar-4.2.4/in-memory: no trace found in 5 walks for DD-22, DD-33, DD-38, DD-34, DD-39, DD-41",
        "pulsar-4.2.4/cursor-tree-set: no trace found in 5 walks for CC-04, CC-P14, CC-P16, CC-P17",
        "--walks 50 takes longer and finds more",
    ]


def test_survey_is_one_document_and_a_page(cli: Cli, answered: list[tuple[Any, ...]], tmp_path: Path) -> None:
    status, out, err = cli("pulsar", "--json", "-o", tmp_path / "page.md", "--walks", "4")
    assert (status, err) == (3, "the Go client is left out: Go is needed\n")
    told = json.loads(out)["answers"]
    assert [(each["subject"], each["profile"], each["own"], each["verdict"]) for each in told] == [
        (a.question.subject, a.question.profile, a.question.own, a.verdict) for a in EVERY
    ]
    assert told[2]["checked"]["findings"] == EVERY[2].findings
    assert told[4]["why"] == EVERY[4].why
    written = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "by `broker-tck pulsar --walks 4 --threads 100`." in written
    assert f"| contract | class | {' | '.join(TRIED)} |" in written


def test_go_client_is_among_the_releases_if_there_is_a_go(
    cli: Cli, answered: list[tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "built", lambda version, checkout: None)
    assert cli("pulsar", "-o", tmp_path / "page.md")[2] == ""
    written = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(TRIED)} | client-go-0.17.0 | client-go-0.19.0 |" in written
    assert cli("pulsar", "--contract", "delayed-delivery", "-o", tmp_path / "other.md")[2] == ""
    assert "client-go" not in (tmp_path / "other.md").read_text(encoding="utf-8")


def test_page_grows_and_is_gone_on_with(
    cli: Cli, answered: list[tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run is interrupted after two answers; the second makes the others; one with other options makes all."""
    page, kept, write = tmp_path / "page.md", tmp_path / "page.md.jsonl", command.GrowingPage.write
    written: list[str] = []

    def interrupted(growing: Any, answers: dict[Question, Answer]) -> None:
        write(growing, answers)
        written.append(page.read_text(encoding="utf-8"))
        if len(answers) == 2:
            raise KeyboardInterrupt

    def asked_for(*options: str) -> list[Question]:
        assert cli("pulsar", "3.0.7", "4.2.4", "5.0.1", "-o", page, *options)[0] == 3
        asked: list[Question] = answered.pop()[0]
        return asked

    with monkeypatch.context() as patch:
        patch.setattr(command.GrowingPage, "write", interrupted)
        assert cli("pulsar", "3.0.7", "4.2.4", "5.0.1", "-o", page)[0] == 130
    assert [re.search("[0-9]+ of 12 checks are done", text)[0] for text in written] == [  # type: ignore[index]
        "1 of 12 checks are done",
        "2 of 12 checks are done",
    ]
    assert "not checked yet" in written[1]
    with kept.open("a") as torn:
        torn.write('{"question": {"release"')
    every = [each.question for each in EVERY]
    assert asked_for() == every[2:]
    whole = page.read_text(encoding="utf-8")
    assert "Not finished" not in whole
    assert asked_for() == [each.question for each in EVERY if each.verdict == UNKNOWN]
    assert page.read_text(encoding="utf-8") == whole
    assert asked_for("--seed", "1") == every
    assert sorted(file.name for file in tmp_path.iterdir()) == ["page.md", "page.md.jsonl"]
