"""The commands of campaigns, from the first round to the report, by processes of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.spark_fuzz.driver.campaign import stop, totals_of
from broker_tck.spark_fuzz.driver.manifest import Goal
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.executors import choosing
from broker_tck.spark_fuzz.store.tables import Store

SMALL = ("--operations", "54000", "--shards", "4", "--rounds", "9", "--processes", "2", "--seed", "5")
MUTANTS = ("--subject", "mutant:strict-rounded-down", "--subject", "mutant:duplicate-counted")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("campaign") / "store"


def test_campaign_ends_when_enough_is_found(cli: Cli, store: Path) -> None:
    words = ("--until-findings", "2", "--json")
    status, out, err = cli("fuzz", "--store", store, *SMALL, *MUTANTS, "--subject", "heap", *words)
    assert (status, err) == (1, "")
    told = json.loads(out)
    assert told["rounds"] < 9
    assert {(f["subject"], f["rules"][0]) for f in told["findings"]} == {
        ("mutant:strict-rounded-down", "DD-05"),
        ("mutant:duplicate-counted", "DD-11"),
    }
    heap = next(pair for pair in told["lanes"] if pair["subject"] == "heap")
    assert heap["failing"] == 0 < heap["walks"]
    assert heap["states"] > 100


def test_goal_that_is_reached_already_needs_no_round(cli: Cli, store: Path) -> None:
    before = Store(str(store)).rounds()
    status, out, _ = cli("fuzz", "resume", store, "--rounds", "1", "--processes", "1")
    assert status == 1
    assert Store(str(store)).rounds() == before
    assert "DD-05 is broken by mutant:strict-rounded-down" in out


def test_campaign_of_processes_is_resumed_by_processes(cli: Cli, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spark(*_: object) -> None:
        raise AssertionError("nobody asked for Spark")

    monkeypatch.setattr(choosing, "lacking", lambda: "")
    monkeypatch.setattr(choosing, "spark", spark)
    assert cli("fuzz", "resume", store, "--rounds", "1")[0] == 1


def test_watch_tells_what_the_store_has(cli: Cli, store: Path) -> None:
    totals = totals_of(Store(str(store)))
    status, out, err = cli("watch", store)
    assert (status, err) == (0, "")
    assert f"{totals.sum('walks'):,} walks" in out
    assert out.endswith("no process drives it\n")
    told = json.loads(cli("watch", store, "--json")[1])
    assert (told["rounds"], told["driver"]) == (totals.rounds, "")


def test_report_is_one_page_and_a_document_for_ci(cli: Cli, store: Path, tmp_path: Path) -> None:
    status, out, _ = cli("report", store, "-o", tmp_path / "r.html", "--junit", tmp_path / "r.xml")
    assert (status, out) == (0, "")
    page = (tmp_path / "r.html").read_text()
    assert "mutant:duplicate-counted" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert 'failures="2"' in (tmp_path / "r.xml").read_text()
    assert cli("report", store, "-o", tmp_path / "no" / "r.html")[::2] == (
        2,
        f"broker-tck: {tmp_path}/no/r.html: cannot be written: No such file or directory\n",
    )


def test_campaign_is_compared_with_itself(cli: Cli, store: Path, tmp_path: Path) -> None:
    status, out, _ = cli("report", "--compare", store, store, "-o", tmp_path / "c.html")
    assert status == 0
    assert "mutant:duplicate-counted" in out
    assert (tmp_path / "c.html").exists()


def test_rule_that_was_never_exercised_is_told_if_the_campaign_is_over(cli: Cli, tmp_path: Path) -> None:
    store, limits = tmp_path / "s", ["--rounds", 2, "--shards", 1, "--operations", 2, "--processes", 1]
    arguments = ["fuzz", "--store", store, "--subject", "time-bucket", *limits]
    status, out, err = cli(*arguments)
    assert (status, err) == (4, "")
    assert "DD-" in next(line for line in out.splitlines() if line.startswith("time-bucket "))
    assert "some required rules never came up; the report says what to run next\n" in out
    assert cli("fuzz", "resume", store, "--json", "--processes", 1)[0] == 4
    stop(Store(str(store)))
    assert cli("fuzz", "stop", store)[1] == f"{store}: no process drives this campaign\n"


def test_without_java_processes_run_the_campaign_unless_spark_is_asked_for(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    limits = ("--subject", "time-bucket", "--operations", 2_000, "--rounds", 1, "--shards", 1)
    for asked in (("--executor", "spark"), ("--master", "local[2]")):
        status, out, err = cli("fuzz", "--store", tmp_path / "s", *limits, *asked)
        assert (status, out) == (2, "")
        assert "Java 17 or later, and no Java was found; `sudo apt-get install openjdk-17-jre-headless` installs" in err
        assert list(tmp_path.iterdir()) == []
    status, out, err = cli("fuzz", "--store", tmp_path / "s", *limits)
    assert "time-bucket" in out
    (line,) = err.splitlines()
    assert line.endswith("Java 17 or later, and no Java was found; the campaign runs in processes of this machine")


# ---- Totals


@pytest.mark.parametrize(
    ("goal", "rounds", "seconds", "reached", "left"),
    [
        (Goal(rounds=4), 3, 30.0, False, 10.0),
        (Goal(rounds=4), 4, 30.0, True, 0.0),
        (Goal(seconds=30), 4, 30.0, True, 0.0),
        (Goal(seconds=31), 4, 30.0, False, 1.0),
        (Goal(rounds=10, seconds=31), 4, 30.0, False, 1.0),
        (Goal(findings=1), 4, 30.0, False, None),
        (Goal(rounds=4), 0, 0.0, False, None),
    ],
)
def test_goal_and_time_left(goal: Goal, rounds: int, seconds: float, reached: bool, left: float | None) -> None:
    import refresh

    totals = Totals(refresh.manifest([], 1), rounds, round(1000 * seconds))
    assert goal.reached(totals.rounds, totals.seconds) is reached
    assert totals.left(goal) == left


def test_compare_writes_a_page(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    words = ("compare", "--subject", "sorted-buckets", "--walks", "8", "-o")
    status, out, err = cli(*words, page)
    assert status == 0
    assert "sorted-buckets: behaves as profile pip-393-spec; breaks nothing (8 walks)" in out
    assert err.endswith("kB\n")
    assert "NA-23" in page.read_text()
    status, _, err = cli(*words, tmp_path / "no" / "x.html")
    assert status == 2
    assert err.endswith("x.html: cannot be written: No such file or directory\n")
