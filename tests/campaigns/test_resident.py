"""Campaigns over subjects that live in their process for good: each comes up once a shard, whatever else happens."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from campaigns import resident
from campaigns.cluster import Command, eventually, in_shards, kill, on, outcome
from campaigns.conftest import Start
from campaigns.resident import STARTS

from broker_tck.bench.loopback import Cluster
from broker_tck.spark_fuzz.report.grouping import entries
from broker_tck.spark_fuzz.store.places import Folder

ROUNDS, SHARDS = 2, 3
SUBJECTS = ("resident:Jarred", "time-bucket", "resident:Spins")


def campaign(*arguments: Any) -> list[Any]:
    """The arguments that begin the campaign."""
    subjects = [word for name in SUBJECTS for word in ("--subject", name)]
    limits = ["--rounds", ROUNDS, "--shards", SHARDS, "--operations", 6_000]
    return ["fuzz", "--store", "store", *subjects, *limits, *arguments]


def furnished(folder: Path) -> Path:
    """A folder with the subjects, and the file that one of them needs."""
    shutil.copy(resident.__file__, folder)
    (folder / "kit.jar").write_text("jar", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def undisturbed(ground: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign on this machine."""
    folder = furnished(tmp_path_factory.mktemp("resident"))
    ended = Command(folder, *campaign("--master", "local[2]"), **{STARTS: str(folder / "starts")}).end()
    assert (ended.status, ended.err) == (1, "")
    return folder


def test_it_comes_up_once_a_shard_and_lane(undisturbed: Path) -> None:
    assert len((undisturbed / "starts").read_text().split()) == 2 * ROUNDS * SHARDS
    (entry,) = entries(Folder(str(undisturbed / "store")).findings())
    assert entry.place.subject == "resident:Spins"
    assert entry.shortest <= 4  # three messages, at once or one by one, and a get


def test_its_file_is_shipped_and_a_worker_that_dies_changes_nothing(
    undisturbed: Path, cluster: Cluster, start: Start, tmp_path: Path
) -> None:
    furnished(tmp_path)
    driver = start(*campaign("--ship", *on(cluster, None)))
    workers = eventually(lambda: in_shards(tmp_path / "store", 0, cluster.folder), "shards of the first round")
    kill([workers[0].pid])
    assert driver.end().status == 1
    found, wanted = outcome(tmp_path / "store"), outcome(undisturbed / "store")
    for name in wanted:
        assert found[name] == wanted[name], name


def test_executor_without_its_file_is_refused_in_a_line(cluster: Cluster, start: Start, tmp_path: Path) -> None:
    furnished(tmp_path)
    ended = start(*campaign(*on(cluster, tmp_path))).end()
    assert (ended.status, ended.out) == (2, "")
    assert "has no such subject: resident:Jarred: its file kit.jar is not there; " in ended.err
    assert ended.err.count("\n") == 1
