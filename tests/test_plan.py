"""``fuzz --plan``: what a campaign will take, from what a few shards took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import refresh
from conftest import Cli
from msgspec.structs import replace

from broker_tck.bench import plan as planning
from broker_tck.bench.plan import Plan, Sample, hours_of, plan
from broker_tck.spark_fuzz.driver.manifest import Goal, Manifest, Pair

PAIRS = [Pair("time-bucket", "timebucket-ideal"), Pair("heap", "heap")]
MANIFEST = replace(refresh.manifest(PAIRS, 100_000), shards=6, goal=Goal(rounds=10))


def of_samples(monkeypatch: pytest.MonkeyPatch, manifest: Manifest) -> Plan:
    """A plan from two shards: a thousand operations of each pair take a hundredth of a second, or twice as long."""
    pairs = {pair: {"operations": 1_000, "walks": 10, "milliseconds": 7} for pair in PAIRS}
    monkeypatch.setattr(planning, "measure", lambda *_: [Sample(pairs, 0.02), Sample(pairs, 0.04)])
    processes: Any = type("", (), {"workers": [None, None]})
    return plan(manifest, processes)


def test_hours_follow_from_rates_with_their_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_samples(monkeypatch, MANIFEST)
    assert (found.rounds, found.shards, found.operations) == (10, 6, 6_000_000)
    assert [round(pair.rate) for pair in found.pairs] == [66_667, 66_667]
    assert [(pair.least, pair.most) for pair in found.pairs] == [(50_000, 100_000)] * 2
    assert [(pair.operations, pair.walks) for pair in found.pairs] == [(3_000_000, 30_000)] * 2
    assert found.pairs[0].failure_bound == pytest.approx(3 / 30_000, rel=0.01)
    seconds = [3600 * hours for hours in (found.least, found.processor_hours, found.most)]
    assert seconds == pytest.approx([60, 90, 120])
    assert [(hours.cores, hours.used) for hours in found.hours] == [(2, 2), (16, 12), (128, 12)]
    assert [3600 * hours.hours for hours in found.hours] == pytest.approx([45, 7.5, 7.5])


def test_a_campaign_by_the_clock_has_as_many_rounds_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_samples(monkeypatch, replace(MANIFEST, goal=Goal(seconds=45)))
    assert found.rounds == 10


def test_no_more_cores_are_used_than_shards_have_begun() -> None:
    assert hours_of(128, shards=3, rounds=1, seconds=3600.0).used == 3
    assert hours_of(2, shards=3, rounds=1, seconds=3600.0).hours == 2


def test_command_measures_and_writes_nothing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(planning, "PROBE", 2_000)
    words = ("fuzz", "--plan", "--subject", "time-bucket", "--processes", "1", "--operations", "300000")
    status, out, err = cli(*words, "--json")
    told = json.loads(out)
    assert (status, err, [*tmp_path.iterdir()]) == (0, "", [])
    assert (told["rounds"], told["shards"], told["operations"]) == (2, 2, 300_000)
    (pair,) = told["lanes"]
    assert 1_000 < pair["least"] <= pair["rate"] <= pair["most"]
    assert 100 < pair["walks"] < 3_000
    assert told["least"] <= told["processor_hours"] <= told["most"] < 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--until-findings", "1"), "nobody knows; give --operations"),
        (("--subject", "test_plan:Unmade"), "test_plan:Unmade"),
    ],
)
def test_what_cannot_be_planned_is_said(cli: Cli, words: tuple[str, ...], why: str) -> None:
    status, out, err = cli("fuzz", "--plan", "--processes", "1", *words)
    assert (status, out) == (2, "")
    assert why in err
