"""``threads``: drawn programs find the known races of released classes from nothing, and what is right is quiet."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.cli.threads import subject_named
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.releases.survey import RACE, THREADS, Effort, Question, answer
from broker_tck.properties.threads.verdict import Promise

T1 = "entry-cache {}; put 0 1 1 10 0; adv 10 | size 10; put 0 1 2 5 0 | get 0 1 1 | adv 10; ttl 0 @ 0>1 7>0"
BOTH = "entry-cache legacy | put 0 1 1 10 0 | put 0 1 1 3 0 | clear 0 @ 11>1"
USED_AGAIN = "entry-cache legacy; put 0 1 1 10 0 | remove 0 1 1 1 1 1; put 0 1 2 3 0 | get 0 1 1 | clear 0 @ 0>1 2>0"
T2 = "entry-cache legacy; put 0 1 1 10 0 | remove 0 1 1 1 1 1; put 0 1 1 3 0 | remove 0 1 1 1 1 1 | clear 0 @ 0>1 7>0"
FLUSHED = "active-cursors {}; add a [0,0] | slowest | slowest | @ 14>1"
FIRED = "negative-acks pip-393-java-4.2; id 0 0 | adv 1000 | close | @ 1>1"
TWICE = "delayed-delivery {} tick=1 strict=true; add 0 0 +1; add 0 0 +2 | adv 1 | get 1 | has @ 2>1"
CLOSED = "delayed-delivery {} tick=1; add 0 0 +2 | adv 2 | close | @ 0>1 3>0"
CLEARED = "delayed-delivery {}; add 0 0 +1001 | get 0 | clear | @ {}>1"
LOADED = (
    "bucket-delivery {}; add 1 1 +100; add 1 2 +200; add 2 1 +300; complete 0; complete 0; adv 100; get 10 "
    "| complete 0 | adv 0; get 10 | @ {}>1"
)
FORGOT = "bucket-delivery {}; add 1 1 +100 | adv 100 | get 10; add 1 2 +200 | has @ 2>1"
FIRED_AT_CLOSE = "bucket-delivery {}; add 1 1 +100 | adv 100 | reopen | @ {}"
LATE = (
    "bucket-delivery {}; add 1 1 +100; add 1 2 +200; add 2 1 +300; complete 0; complete 0; adv 100; get 10 "
    "| complete 0 | reopen | closing @ 1>1"
)
MERGING = (
    "bucket-delivery {} min_index_count=1 max_buckets=1; add 1 1 +100; add 1 2 +200; add 2 1 +300; add 2 2 +400; "
    "add 3 1 +500; complete 0; complete 0; complete 0; complete 0; complete 0 "
    "| complete 0; complete 0 | reopen | closing @ 1>1"
)
SHRUNK = (
    "entry-cache legacy-4.0 max_size=60; put 1 1 0 60 0; put 1 1 1 1 0 | background | invalidate 1 1 3 | total @ 11>1"
)
ASKED_TWICE = "entry-cache {}; fetch 0 0 0 0 1 0 | fetch 0 0 0 0 1 0 | fail 0 1; fetch 0 0 0 0 1 0 | @ 5>1"
JOINED_LATE = "entry-cache legacy-4.0 | fetch 0 0 0 0 1 0; fetch 0 1 0 0 1 0 | complete 0 | @ {}"
ARMED = "ack-timeout ack-timeout-java-4.2; add 0 0 0 | adv 1000 | close | adv 0 @ 1>1"


def found(cli: Cli, subject: str, *options: str) -> dict[str, object]:
    """What a search comes to, as JSON."""
    status, out, err = cli("threads", "--subject", subject, "--json", *options)
    (shown,) = json.loads(out)["subjects"]
    assert err == ""
    assert status == (1 if shown["races"] else 0)
    told: dict[str, object] = shown
    return told


@pytest.mark.parametrize(
    ("subject", "programs", "broken"),
    [
        ("pulsar-4.2.4/cursor-list", 20, Promise.MOMENT),
        ("pulsar-4.2.4/negative-acks", 40, Promise.STEPS),
        ("pulsar-4.2.4/ack-timeout", 60, Promise.REST),
        ("pulsar-4.0.8/in-memory", 20, Promise.REST),
    ],
)
def test_race_is_found_from_nothing(cli: Cli, subject: str, programs: int, broken: Promise) -> None:
    shown = found(cli, subject, "--programs", str(programs), "--preemptions", "1")
    races = {race["broken"]: race for race in shown["races"]}  # type: ignore[attr-defined]
    assert broken in races
    race = races[broken]
    assert race["program"].count(";") < 4
    assert any(re.search(r"\.?\w+:\d+ ", cell) for line in race["threads"] for cell in line)
    status, out, _ = cli("threads", "--subject", subject, "--replay", f"{race['program']} @ {race['schedule']}")
    assert status == 1
    assert broken in out


def test_cache_that_a_check_asks_for_reads_is_called_alone() -> None:
    name = "pulsar-4.0.8/range-cache"
    assert (subject_named(name).profiles, resolve(name).profiles) == (("legacy",), ("legacy-4.0",))


@pytest.mark.parametrize(
    ("subject", "programs"),
    [
        ("pulsar-5.0.1/cursor-list", 12),
        ("pulsar-4.2.4/cursor-heap", 12),
        ("pulsar-4.2.4/cursor-tree-set", 12),
        ("pulsar-5.0.1/range-cache", 8),
        ("pulsar-4.2.4/in-memory", 12),
        ("pulsar-5.0.1/in-memory", 12),
        ("pulsar-3.3.5/reads-limiter", 2),
        ("pulsar-4.0.8/reads-limiter", 12),
        ("pulsar-5.0.1/reads-limiter", 12),
        ("pulsar-4.0.8/pending-reads", 4),
        ("pulsar-4.2.4/pending-reads", 5),
        ("pulsar-5.0.1/pending-reads", 5),
        ("pulsar-3.0.7/cache-manager", 4),
        ("pulsar-4.2.4/cache-manager", 4),
        ("pulsar-5.0.1/cache-manager", 4),
        ("pulsar-5.0.1/bucket", 8),
    ],
)
def test_what_is_right_is_quiet(cli: Cli, subject: str, programs: int) -> None:
    shown = found(cli, subject, "--programs", str(programs), "--schedules", "300")
    assert (shown["programs"], shown["failing"]) == (programs, 0)


@pytest.mark.parametrize(
    ("subject", "run", "broken"),
    [
        ("pulsar-4.2.4/cursor-list", FLUSHED.format("pulsar-list-2025"), Promise.MOMENT),
        ("pulsar-5.0.1/cursor-list", FLUSHED.format("ideal"), None),
        ("pulsar-4.2.4/range-cache", T1.format("pip-430"), Promise.HINT),
        ("pulsar-5.0.1/range-cache", T1.format("pip-430-5.0"), Promise.HINT),
        ("pulsar-3.0.0/range-cache", BOTH, Promise.STEPS),
        ("pulsar-3.0.7/range-cache", BOTH, None),
        ("pulsar-3.2.2/range-cache", USED_AGAIN, Promise.STEPS),
        ("pulsar-4.0.8/range-cache", USED_AGAIN, None),
        ("pulsar-4.0.8/range-cache", T2, Promise.REST),
        ("pulsar-3.0.0/cache-manager", SHRUNK, Promise.STEPS),
        ("pulsar-4.0.0/cache-manager", SHRUNK, Promise.STEPS),
        ("pulsar-4.0.8/cache-manager", SHRUNK, Promise.STEPS),
        ("pulsar-3.0.0/aligned-reads", JOINED_LATE.format("18>1 28>0"), Promise.STEPS),
        ("pulsar-4.0.1/aligned-reads", JOINED_LATE.format("18>1 29>0"), Promise.STEPS),
        ("pulsar-3.3.5/aligned-reads", JOINED_LATE.format("18>1 29>0"), None),
        ("pulsar-4.0.8/pending-reads", ASKED_TWICE.format("legacy-4.0"), Promise.STEPS),
        ("pulsar-4.2.4/pending-reads", ASKED_TWICE.format("pip-430"), Promise.STEPS),
        ("pulsar-5.0.1/pending-reads", ASKED_TWICE.format("pip-430-5.0"), Promise.STEPS),
        ("pulsar-4.2.4/negative-acks", FIRED, Promise.STEPS),
        ("pulsar-5.0.1/negative-acks", FIRED, Promise.STEPS),
        ("pulsar-4.2.4/ack-timeout", ARMED, Promise.REST),
        ("pulsar-5.0.1/ack-timeout", ARMED, Promise.REST),
        ("pulsar-3.0.0/in-memory", TWICE.format("heap"), Promise.REST),
        ("pulsar-4.0.5/in-memory", TWICE.format("timebucket-4.0.4"), Promise.REST),
        ("pulsar-4.2.4/in-memory", TWICE.format("timebucket-2026"), None),
        ("pulsar-5.0.1/in-memory", TWICE.format("timebucket-5.0"), None),
        ("pulsar-4.0.8/in-memory", CLOSED.format("heap"), Promise.MOMENT),
        ("pulsar-4.2.4/in-memory", CLOSED.format("timebucket-2026"), None),
        ("pulsar-3.0.7/in-memory", CLEARED.format("heap", 5), Promise.MOMENT),
        ("pulsar-4.0.1/in-memory", CLEARED.format("timebucket-4.0.1", 6), Promise.MOMENT),
        ("pulsar-4.2.4/in-memory", CLEARED.format("timebucket-2026", 6), None),
        ("pulsar-4.0.8/bucket", LOADED.format("bucket-2025", 28), Promise.STEPS),
        ("pulsar-4.2.4/bucket", LOADED.format("bucket-4.2", 26), Promise.STEPS),
        ("pulsar-5.0.1/bucket", LOADED.format("bucket-5.0", 24), Promise.STEPS),
        ("pulsar-4.0.8/bucket", FORGOT.format("bucket-2025"), Promise.REST),
        ("pulsar-4.2.4/bucket", FORGOT.format("bucket-4.2"), None),
        ("pulsar-4.0.8/bucket", FIRED_AT_CLOSE.format("bucket-2025", "12>1 16>0"), Promise.STEPS),
        ("pulsar-4.2.4/bucket", FIRED_AT_CLOSE.format("bucket-4.2", "12>1 16>0"), None),
        ("pulsar-4.0.8/bucket", FIRED_AT_CLOSE.format("bucket-2025", "2>1"), Promise.STEPS),
        ("pulsar-5.0.1/bucket", FIRED_AT_CLOSE.format("bucket-5.0", "2>1"), Promise.STEPS),
        ("pulsar-4.2.4/bucket", LATE.format("bucket-4.2"), Promise.REST),
        ("pulsar-5.0.1/bucket", LATE.format("bucket-5.0"), Promise.REST),
        ("pulsar-5.0.1/bucket", MERGING.format("bucket-5.0"), None),
    ],
)
def test_known_race_is_replayed_to_the_instruction(cli: Cli, subject: str, run: str, broken: Promise | None) -> None:
    status, out, err = cli("threads", "--subject", subject, "--replay", run)
    assert (status, err) == (1 if broken else 0, "")
    assert (broken or "the model allows this history") in out
    assert out == cli("threads", "--subject", subject, "--replay", run)[1]


def test_races_are_written_as_a_page(cli: Cli, tmp_path: Path) -> None:
    subject, page = ("--subject", "pulsar-4.2.4/cursor-list"), tmp_path / "races.html"
    searched = cli("threads", *subject, "--programs", "20")
    assert cli("threads", *subject, "--programs", "20", "--html", page)[:2] == searched[:2]
    text = page.read_text(encoding="utf-8")
    assert text.count('<article class="finding">') == searched[1].count("breaks a promise") > 0
    replayed = cli("threads", *subject, "--replay", FLUSHED.format("pulsar-list-2025"))
    assert cli("threads", *subject, "--replay", FLUSHED.format("pulsar-list-2025"), "--html", page)[:2] == replayed[:2]
    text = page.read_text(encoding="utf-8")
    assert text.count('<svg class="switch') == 2
    assert "rebuildEntireList:397 write position" in text
    assert "@ 14&gt;1" in text
    unwritable = tmp_path / "no" / "x.html"
    assert cli("threads", *subject, "--html", unwritable)[::2] == (
        2,
        f"broker-tck: {unwritable}: cannot be written: No such file or directory\n",
    )


def test_survey_has_the_races_of_a_class() -> None:
    found = answer(Question("4.2.4", "cursor-list", THREADS), Effort(walks=1, programs=20, seed=0), set())
    assert (found.verdict, found.checked["programs"], found.checked["profile"]) == (RACE, 20, "pulsar-list-2025")
    assert Promise.MOMENT in found.races
    assert found.races[Promise.MOMENT]["replay"].startswith("broker-tck threads --subject pulsar-4.2.4/cursor-list ")


def test_same_seed_has_the_same_result(cli: Cli) -> None:
    once, again = (found(cli, "pulsar-4.2.4/cursor-list", "--programs", "5", "--seed", "3") for _ in range(2))
    other = found(cli, "pulsar-4.2.4/cursor-list", "--programs", "5", "--seed", "4")
    assert once == again != other


def test_release_stands_for_all_its_classes_that_threads_can_call(cli: Cli) -> None:
    status, out, _ = cli("threads", "--subject", "pulsar-4.2.4", "--programs", "1", "--schedules", "1")
    assert status in (0, 1)
    assert [
        name for name in ("cursor-heap", "cursor-list", "range-cache", "negative-acks", "ack-timeout") if name in out
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("pulsar-4.2.4/cursor-list", "--replay", "topic-delivery ideal | pause | pause |"),
            "topic-delivery promises nothing of calls of several threads; these contracts do: ",
        ),
        (
            ("pulsar-4.2.4/cursor-list", "--replay", "entry-cache | get 0 1 1 | get 0 1 1 |"),
            "--replay: a program of entry-cache; pulsar-4.2.4/cursor-list is a subject of active-cursors",
        ),
        (("pulsar-4.2.4", "--replay", "active-cursors | size | size |"), "--replay runs one subject, not 11"),
        (("pulsar-4.0.1/reads-limiter",), "pulsar-4.0.1/reads-limiter: no class 'reads-limiter' of Pulsar 4.0.1"),
        (
            ("pulsar-5.0.1/reads-limiter", "--replay", "entry-cache | get 0 1 1 | permits |"),
            "thread 0: a thread cannot call 'get'; it can call: fetch, single, done, timeouts, permits",
        ),
        (("pulsar-4.2.4/cursor-list", "--profile", "odd"), "unknown profile 'odd'"),
    ],
)
def test_bad_input_is_a_clear_line(cli: Cli, arguments: tuple[str, ...], complaint: str) -> None:
    status, out, err = cli("threads", "--subject", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"broker-tck: {complaint}")
    assert err.count("\n") == 1
