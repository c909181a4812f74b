"""Campaigns of threads: whatever happens to one, it finds and counts what one search of all its programs does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from campaigns.cluster import PROCESSES, Command, after_rounds, eventually, kill, outcome, processes, walking, whole
from campaigns.conftest import Start
from conftest import Cli

from broker_tck.spark_fuzz.executors import PROCESSES as BY_PROCESSES
from broker_tck.spark_fuzz.store.tables import Store

FOUND = 1
SUBJECT = ("--subject", "pulsar-4.2.4/cursor-list")
BUDGET = ("--programs", "28", "--preemptions", "1", "--seed", "0")
CAMPAIGN = ("fuzz", "--threads", "--store", "store", *SUBJECT, *BUDGET, "--rounds", "4", "--shards", "1", *PROCESSES)


@pytest.fixture(scope="module")
def ended(ground: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The store of a campaign of threads that nobody disturbed, and what the command printed as JSON."""
    folder = tmp_path_factory.mktemp("races")
    ended = Command(folder, *CAMPAIGN, "--json").end()
    assert (ended.status, ended.err) == (FOUND, "")
    return folder / "store", json.loads(ended.out)


def test_campaign_counts_and_finds_what_one_search_does(ended: tuple[Path, dict[str, Any]], cli: Cli) -> None:
    told = ended[1]
    searched = json.loads(cli("threads", *SUBJECT, *BUDGET, "--json")[1])["subjects"][0]
    (pair,) = told["lanes"]
    for name in ("programs", "schedules", "histories", "failing"):
        assert pair[name] == searched[name] > 0
    assert {race["broken"] for race in searched["races"]} == {race["broken"] for race in told["findings"]}
    race = told["findings"][0]
    run = f"{race['program']} @ {race['schedule']}"
    assert run in race["replay"]
    assert race["broken"] in cli("threads", *SUBJECT, "--replay", run)[1]


def test_what_dies_is_done_again_and_counted_once(
    ended: tuple[Path, dict[str, Any]], start: Start, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    driver = start(*CAMPAIGN)
    eventually(lambda: after_rounds(store, 1, tmp_path), "shards after a round", driver)
    driver.kill()
    assert 1 <= whole(store) < 4
    eventually(lambda: not processes(tmp_path), "the end of what it had started")
    driver = start("fuzz", "resume", "store")
    kill([eventually(lambda: walking(tmp_path), "a shard", driver)[0].pid])
    resumed = driver.end()
    assert (resumed.status, resumed.err) == (FOUND, "")
    assert outcome(store) == outcome(ended[0])
    assert Store(str(store)).manifest.way == BY_PROCESSES


def test_report_shows_the_threads_side_by_side(ended: tuple[Path, dict[str, Any]], cli: Cli, tmp_path: Path) -> None:
    store, told = ended
    assert cli("report", store, "-o", tmp_path / "r.html", "--junit", tmp_path / "r.xml")[0] == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<th scope="col" style="--lane: var(--c1)">thread 1</th>' in page
    assert ">-&gt; [0 0]</td>" in page
    assert "28 programs, " in page
    assert not [word for word in (" walk", "Rules exercised", "States") if word in page]
    (race,) = [race for race in told["findings"] if race["broken"].startswith("Each call takes effect")]
    assert race["program"] in page.replace("&#39;", "'")
    assert race["program"] in (tmp_path / "r.xml").read_text(encoding="utf-8")
    assert "28 programs, " in cli("watch", store)[1]
