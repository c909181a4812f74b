"""``bench rounds``: the rounds of a campaign whose rows are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import refresh
from conftest import Cli

from broker_tck.bench.rounds import HALF, MadeUp, simulate
from broker_tck.spark_fuzz.driver.campaign import totals_of
from broker_tck.spark_fuzz.driver.manifest import Lane
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.store import tables
from broker_tck.spark_fuzz.store.rows import STATE
from broker_tck.spark_fuzz.store.tables import Store


def test_command_tells_how_the_driver_stands(cli: Cli) -> None:
    status, out, err = cli("bench", "rounds", "--rounds", "3", "--shards", "7", "--states", "200", "--json")
    told = json.loads(out)
    assert (status, err, told["shards"], told["states"]) == (0, "", 7, 200)
    assert [stage["rounds"] for stage in told["stages"]] == [1, 3]
    assert all(0 < stage["seconds"] <= stage["most"] for stage in told["stages"])
    assert all(0 < stage["live"] < stage["store"] < stage["resident"] for stage in told["stages"])
    assert set(told["reading"]) == {"resume", "watch", "report"}


def test_store_has_what_was_made_up(tmp_path: Path) -> None:
    found = simulate(str(tmp_path / "s"), 3, 7, 200)
    store = Store(str(tmp_path / "s"))
    totals = totals_of(store)
    summed = Totals(store.manifest)
    summed.add(store.figures(), 3)
    assert totals == summed, "summed by the table engine, and here"
    assert (totals.rounds, len(totals.lanes), totals.unfinished) == (3, found.lanes, 0)
    assert 100 < totals.sum("states") < 200
    assert totals.sum("findings") > 0


@pytest.mark.parametrize(("whole", "files"), [(1, 3), (2**20, 1)])
def test_small_files_alone_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: int, files: int
) -> None:
    monkeypatch.setattr(tables, "TIDY", 1)
    monkeypatch.setattr(tables, "WHOLE", whole)
    simulate(str(tmp_path / "s"), 3, 7, 200)
    figures = Store(str(tmp_path / "s")).table("figures")
    assert figures
    assert len(figures.file_uris()) == files


def test_states_level_off() -> None:
    manifest = refresh.manifest([Lane("heap", "heap")], 1)
    made = MadeUp(manifest, 1_000)
    reached: set[str] = set()
    known = []
    for number in range(2 * HALF):
        rows = (row for batch in made.run(manifest, number, [0]) for row in batch.to_pylist())
        reached |= {row["key"] for row in rows if row["kind"] == STATE}
        known.append(len(reached))
    assert [known[HALF - 1], known[2 * HALF - 1]] == [750, 875]
