"""``bench campaign``: each way makes the walks of one campaign, and what it costs is counted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.bench import campaign as bench
from broker_tck.bench.campaign import CAMPAIGNS, ISOLATED, NOTHING, ONE, TWO, WAYS, Cost, Turn, Way, commands, cost
from broker_tck.bench.first import FIRST
from broker_tck.properties.errors import Failed

FEW = 60_000


def test_each_way_makes_the_same_walks(tmp_path: Path) -> None:
    ways = [ONE, TWO, ISOLATED, next(iter(CAMPAIGNS))]
    made = [cost(commands(way, FEW, 1, tmp_path / way, None), None).operations for way in ways]
    assert FEW < made[0] < 2 * FEW
    assert made == [made[0]] * len(ways)


def test_campaign_of_nothing_notes_its_first_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tmp_path / "first"
    monkeypatch.setenv(FIRST, str(first))
    done = cost(commands(ONE, NOTHING, 1, tmp_path / "store", None), None)
    assert first.exists()
    assert 0.1 < done.processor < done.seconds + 1
    assert 0 < done.operations < 10_000, "a walk for each of four shards"


def test_processes_that_are_left_behind_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = "from subprocess import *; Popen(['sleep', '0.5'], stdout=DEVNULL, stderr=DEVNULL); print(3)"
    bench.take_over()
    assert cost([[sys.executable, "-c", leaves]], None).operations == 3
    assert not bench.children()
    monkeypatch.setattr(bench, "PATIENCE", 0.01)
    with pytest.raises(Failed, match="go on"):
        cost([[sys.executable, "-c", leaves]], None)
    os.waitpid(next(iter(bench.children())).pid, 0)


def test_command_that_fails_is_named() -> None:
    with pytest.raises(Failed, match=r"exit status 2: .*--rounds"):
        cost([[sys.executable, "-m", "broker_tck", "fuzz", "--rounds", "0"]], None)


def test_rates_are_without_what_nothing_costs() -> None:
    plain = [Turn(0.5, Cost(9, 1.0, 2.0), Cost(1_000, 11.0, 12.0))]
    way = Way.of("x", [Turn(0.7, Cost(9, 1.0, 3.0), Cost(1_000, 6.0, 23.0))], plain)
    assert (way.rates, way.times, way.thrifts, way.thrift_times) == ([200], [2], [50], [0.5])
    assert (way.firsts, way.nothings, way.middle("rates")) == ([0.7], [3.0], 200)


@pytest.mark.deep
def test_command_measures_every_way(cli: Cli) -> None:
    """`bench campaign` measures each way of running a campaign, on Spark and a cluster too."""
    status, out, err = cli("bench", "campaign", "--operations", "400000", "--turns", "1", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert [way["name"] for way in told["ways"]] == list(WAYS)
    assert all(way["firsts"][0] > 0 < way["thrifts"][0] for way in told["ways"])
