"""Subjects that hang, eat memory, print, end their process or live in it: each is a finding, and disturbs no other."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import misbehaving
import pytest
from campaigns import resident
from campaigns.cluster import PROCESSES, Command, Ended
from campaigns.conftest import Start
from campaigns.resident import STARTS

from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.search.run import Run, checked
from broker_tck.spark_fuzz.report.grouping import entries
from broker_tck.spark_fuzz.store.tables import Store
from broker_tck.spark_fuzz.worker.shard import COUNTED, shard_seed

SEEN = {
    "ExitsWithZero": ("Exited", "it ended its process with status 0"),
    "ReadsNull": ("Killed", "its process died of SIGSEGV"),
    "TerminatesItsGroup": ("Killed", "its process died of SIGTERM"),
    "Interrupts": ("Exited", "it raised KeyboardInterrupt, which ends a process"),
    "ForksAndComesBack": ("Exited", "it came back in two processes: it has forked its own"),
    "WaitsDeaf": ("Hang", "no answer within the limit"),
    "EatsMemory": ("MemoryError", "it takes too much memory"),
}
"""One of each kind; `test_guard` has more."""
CONFORMING, PROFILE = "time-bucket", "timebucket-ideal"
SHARDS, OPERATIONS = 2, 400

PRINTS = """
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker


class Much(TimeBucketTracker):
    def get_scheduled_messages(self, most):
        print("and on\\n" * 10_000)
        return super().get_scheduled_messages(most)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fatal")


@pytest.fixture(scope="module")
def ended(ground: Path, folder: Path) -> Ended:
    """A campaign over every fatal subject, and at last one that conforms."""
    shutil.copy(misbehaving.__file__, folder)
    names = [*(f"misbehaving:{name}" for name in SEEN), CONFORMING]
    subjects = [word for name in names for word in ("--subject", name)]
    limits = ["--walk-seconds", 0.5, "--walk-memory", 64, "--rounds", 1, "--shards", SHARDS]
    work = ["--operations", OPERATIONS * len(names) * SHARDS, *PROCESSES, "--json"]
    return Command(folder, "fuzz", "--store", "store", *subjects, *limits, *work).end()


@pytest.fixture(scope="module")
def store(ended: Ended, folder: Path) -> Store:
    return Store(str(folder / "store"))


def test_campaign_over_fatal_subjects_ends_as_any_other(ended: Ended, store: Store) -> None:
    assert (ended.status, ended.err) == (1, "")
    assert json.loads(ended.out)["rounds"] == store.rounds() == 1


@pytest.mark.parametrize("name", SEEN)
def test_fatal_subject_is_a_reduced_finding(ended: Ended, store: Store, name: str) -> None:
    mine = [entry for entry in entries(store.findings()) if entry.place.subject == f"misbehaving:{name}"]
    found = [finding for finding in json.loads(ended.out)["findings"] if finding["subject"] == f"misbehaving:{name}"]
    shapes = [[operation[0] for operation in each["operations"]] for each in found]
    assert all(shape in (["add", "add", "get"], ["fill", "get"]) for shape in shapes), shapes  # one by one, or at once
    assert 1 <= len(mine) == len(shapes) <= SHARDS
    assert sum(entry.walks for entry in mine) >= SHARDS
    assert {(each["seen"]["error"], each["seen"]["message"]) for each in found} == {SEEN[name]}


def test_conforming_subject_beside_them_is_not_disturbed(store: Store) -> None:
    alone: Counter[str] = Counter()
    for shard in range(SHARDS):
        run = Run(resolve(CONFORMING), PROFILE, shard_seed(store.manifest, 0, shard))
        for _ in checked(run, range(10**6), COUNTED):
            if run.operations >= OPERATIONS:
                break
        alone.update(walks=run.walks, operations=run.operations, counted=run.counted)
    rows: list[dict[str, Any]] = store.figures().to_pylist()
    mine = {row["name"]: row["count"] for row in rows if (row["kind"], row["subject"]) == ("figure", CONFORMING)}
    assert mine | {"milliseconds": 0} == {**alone, "failing": 0, "milliseconds": 0}


def test_what_a_subject_prints_is_passed_on_up_to_a_limit(start: Start, tmp_path: Path) -> None:
    (tmp_path / "prints.py").write_text(PRINTS, encoding="utf-8")
    limits = ["--rounds", 1, "--shards", 1, "--operations", 400, "--processes", 1]
    ended = start("fuzz", "--store", "store", "--subject", "prints:Much", *limits, "--json").end()
    assert [pair["failing"] for pair in json.loads(ended.out)["lanes"]] == [0]
    assert ended.err.count("and on\n") < 2 * 64 * 1024 / len("and on\n")
    assert "broker-tck: prints:Much prints more than 64 KiB; the rest is left out\n" in ended.err


def test_resident_subject_comes_up_once_a_shard_and_pair(start: Start, tmp_path: Path) -> None:
    shutil.copy(resident.__file__, tmp_path)
    (tmp_path / "kit.jar").write_text("jar", encoding="utf-8")
    subjects = [word for name in ("resident:Jarred", CONFORMING, "resident:Spins") for word in ("--subject", name)]
    limits = ["--rounds", 2, "--shards", 3, "--operations", 9_000, *PROCESSES]
    ended = start("fuzz", "--store", "store", *subjects, *limits, **{STARTS: str(tmp_path / "starts")}).end()
    assert (ended.status, ended.err) == (1, "")
    assert len((tmp_path / "starts").read_text().split()) == 2 * 2 * 3
    (entry,) = entries(Store(str(tmp_path / "store")).findings())
    assert entry.place.subject == "resident:Spins"
    assert entry.shortest <= 4  # three messages, at once or one by one, and a get
