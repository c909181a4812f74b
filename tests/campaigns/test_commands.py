"""The commands of campaigns, from the first round to the report, on local cores."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.spark_fuzz.driver.campaign import stop, totals_of
from broker_tck.spark_fuzz.driver.manifest import Goal
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.store.places import Folder

SMALL = ("--operations", "6000", "--master", "local[2]", "--seed", "5")
pytestmark = pytest.mark.usefixtures("ground")
MUTANTS = ("--subject", "mutant:strict-rounded-down", "--subject", "mutant:duplicate-counted")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("campaign") / "store"


def test_campaign_ends_when_enough_is_found(cli: Cli, store: Path) -> None:
    words = ("--rounds", "9", "--until-findings", "2", "--json")
    status, out, err = cli("fuzz", "--store", store, *SMALL, *MUTANTS, "--subject", "heap", *words)
    assert (status, err) == (1, "")
    told = json.loads(out)
    assert told["rounds"] < 9
    assert {(f["subject"], f["rules"][0]) for f in told["findings"]} == {
        ("mutant:strict-rounded-down", "DD-05"),
        ("mutant:duplicate-counted", "DD-11"),
    }
    heap = next(lane for lane in told["lanes"] if lane["subject"] == "heap")
    assert heap["failing"] == 0 < heap["walks"]
    assert heap["states"] > 100


def test_goal_that_is_reached_already_needs_no_round(cli: Cli, store: Path) -> None:
    before = Folder(str(store)).rounds()
    status, out, _ = cli("fuzz", "resume", store, "--rounds", "1", "--master", "local[1]")
    assert status == 1
    assert Folder(str(store)).rounds() == before
    assert "DD-05 is broken by mutant:strict-rounded-down" in out


def test_watch_tells_what_the_store_has(cli: Cli, store: Path) -> None:
    totals = totals_of(Folder(str(store)))
    status, out, err = cli("watch", store)
    assert (status, err) == (0, "")
    assert f"{totals.sum('walks'):,} walks" in out
    assert out.endswith("nobody drives it\n")
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


def test_rule_that_was_never_exercised_is_told(cli: Cli, tmp_path: Path) -> None:
    arguments = (
        "--rounds",
        "1",
        "--operations",
        "1",
        "--master",
        "local[1]",
        "--shards",
        "1",
        "--subject",
        "time-bucket",
    )
    status, out, _ = cli("fuzz", "--store", tmp_path / "s", *arguments)
    assert status == 1
    assert "DD-" in next(line for line in out.splitlines() if line.startswith("time-bucket "))
    stop(Folder(str(tmp_path / "s")))
    assert cli("fuzz", "stop", tmp_path / "s")[1] == f"{tmp_path}/s: nobody drives this campaign\n"


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


def test_session_ends_quietly_where_java_is_gone(tmp_path: Path) -> None:
    script = """
import os
import signal
from broker_tck.spark_fuzz.executors.session import session

with session("local[1]", {}, None, None) as spark:
    os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
    spark.sparkContext._gateway.proc.wait()
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


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
