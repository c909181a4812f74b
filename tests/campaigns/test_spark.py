"""Campaigns on Spark: what dies, hangs or differs there changes nothing of what they come to."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from typing import Any

import misbehaving
import pytest
from campaigns import resident
from campaigns.cluster import (
    PROCESSES,
    WORKER,
    Command,
    Process,
    after_rounds,
    eventually,
    kill,
    outcome,
    processes,
    same,
    walking,
    whole,
)
from campaigns.cluster import ROUNDS as DISTURBED
from campaigns.cluster import campaign as disturbed
from campaigns.conftest import Run, Start
from kit import python
from loopback import Cluster, ConnectServer

from broker_tck.implementations.jvm.jars import FOLDER as JARS
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.spark_fuzz.executors.session import JVM, archive, java

FATAL, RESIDENT, GO, JAVA, PLUGIN = SUBJECTS = (
    "misbehaving:ExitsWithZero",
    "resident:Jarred",
    "exec:./adapter",
    "pulsar-4.2.4/in-memory",
    "elsewhere:OneTooMany",
)
"""Walked in this order: where Java runs, the program has been walked, and is lost with the executor."""
ROUNDS, SHARDS, FOUND = 6, 2, 1
"""A driver that is killed after two rounds leaves enough for every executor to meet a shard, on a fast machine too."""
HERE, THERE = "127.0.0.1", "127.0.0.2"
"""Spark begins a straggler again on another host only."""
TOGETHER = [
    word
    for setting in ("cores.max=3", "scheduler.minRegisteredResourcesRatio=0.6")
    for word in ("--conf", f"spark.{setting}")
]
"""Nothing begins before two of three executors are there, so that each of them has a shard."""
OTHER = "pyroaring", "0.0.1"
"""A library in another version than here."""


def campaign(*arguments: Any) -> list[Any]:
    """The arguments that begin the campaign."""
    subjects = [word for name in SUBJECTS for word in ("--subject", name)]
    limits = ["--rounds", ROUNDS, "--shards", SHARDS, "--operations", 2_400 * ROUNDS * SHARDS]
    return ["fuzz", "--store", "store", *subjects, *limits, *arguments]


def on(cluster: Cluster, python: Path | str) -> list[Any]:
    """The options that run a campaign on a cluster."""
    confs = ("executor.memory=512m", "driver.host=127.0.0.1", "speculation.minTaskRuntime=2s")
    return ["--master", cluster.url, "--python", python, *(word for c in confs for word in ("--conf", f"spark.{c}"))]


def furnished(folder: Path, adapter: Path) -> Path:
    """A folder with the modules of the subjects, the program, and the file that one of them needs."""
    folder.mkdir(exist_ok=True)
    for file in (str(misbehaving.__file__), str(resident.__file__), adapter):
        shutil.copy(file, folder)
    (folder / "kit.jar").write_text("jar", encoding="utf-8")
    return folder


def other_library(folder: Path) -> Path:
    """A folder that has a library in another version, for whoever asks which one is installed."""
    name, version = OTHER
    (folder / f"{name}-{version}.dist-info").mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (folder / f"{name}-{version}.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    return folder


def libraries(pid: int) -> set[str]:
    """The names of the files that a process has mapped; none if it has ended."""
    with suppress(OSError):
        return {line.rpartition("/")[2] for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()}
    return set()


def with_java(found: Iterable[Process]) -> list[Process]:
    """Those processes of Python in which Java runs."""
    return [process for process in found if {"_jpype.so", "libjvm.so"} <= libraries(process.pid)]


def executor_of(cluster: Cluster, process: Process) -> int:
    """The executor of Spark that has started a process; each works in a folder of its own."""
    executors = processes(cluster.folder, "CoarseGrainedExecutorBackend")
    return next(executor.pid for executor in executors if executor.where == process.where)


def worker_of(cluster: Cluster, process: Process) -> Popen[bytes]:
    """The worker of Spark that has started a process; each works in a folder of its own."""
    folder = process.where.relative_to(cluster.folder).parts[0]
    return cluster.workers[int(folder.removeprefix("worker-"))]


@pytest.fixture
def variables(adapter: Path, tmp_path: Path) -> dict[str, str]:
    """The variables by which an executor finds what the driver has, if nothing is shipped."""
    jars = tmp_path / "jars"
    jars.mkdir()
    furnished(tmp_path, adapter)
    for path in [*resolve_unloaded(JAVA).files, tmp_path / "kit.jar", adapter]:
        (jars / path.name).symlink_to(path)
    known = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    options = archive(java())
    quick = options if "SharedArchiveFile" in options else ""
    return {"PYTHONPATH": known, JARS: str(jars), "JDK_JAVA_OPTIONS": f"{JVM} {quick}"}


@pytest.fixture
def cluster(spark: None, ground: Path, tmp_path: Path, variables: dict[str, str]) -> Iterator[Cluster]:
    """A cluster on this machine, as two hosts."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        made = Cluster(tmp_path / "cluster", hosts=[HERE, THERE])
        made.__enter__()
    try:
        yield made
    finally:
        made.end()


def test_whatever_dies_hangs_or_differs_changes_nothing(
    cluster: Cluster, variables: dict[str, str], adapter: Path, start: Start, tmp_path: Path
) -> None:
    folder, store, bare = cluster.folder, tmp_path / "store", tmp_path / "bare" / "bin" / "python"
    assert python("-m", "venv", "--without-pip", str(tmp_path / "bare")).returncode == 0
    driver = start(*campaign("--ship", *on(cluster, bare)))
    eventually(lambda: walking(folder), "a shard", driver)
    with driver.held():  # so that no round ends before all of this has happened
        kill([walking(folder)[0].pid])
        kill([eventually(lambda: walking(folder), "a shard after that", driver)[0].parent])  # the Python of the task
        running = eventually(lambda: with_java(processes(folder, WORKER)), "Java in a shard")
        kill([executor_of(cluster, running[0])])
        lost = worker_of(cluster, eventually(lambda: walking(folder), "a shard of another executor")[0])
        lost.kill()
    eventually(lambda: after_rounds(store, 1, folder), "shards after a round", driver)
    there = libraries(driver.process.pid)
    assert "libc.so.6" in there
    assert "libjvm.so" not in there, "the driver does not need the subject's Java"
    assert not driver.ended
    driver.kill()
    assert 1 <= whole(store) < ROUNDS
    eventually(lambda: not processes(folder, "CoarseGrainedExecutorBackend"), "the end of the executors")

    left, elsewhere = (THERE, HERE) if lost is cluster.workers[0] else (HERE, THERE)
    other = other_library(tmp_path / "other")
    bad = cluster.add_worker(left, **variables | {"PYTHONPATH": f"{other}{os.pathsep}{variables['PYTHONPATH']}"})
    eventually(lambda: cluster.alive() == 2, "another worker")
    driver = start("fuzz", "resume", "store", *on(cluster, sys.executable), *TOGETHER)
    good = eventually(lambda: [one for one in walking(folder) if worker_of(cluster, one) is not bad], "a shard")
    straggler = executor_of(cluster, good[0])
    os.kill(straggler, signal.SIGSTOP)
    cluster.add_worker(elsewhere, **variables)
    ended = driver.end()
    kill([straggler])
    assert ended.status == FOUND, ended.err
    name, version = OTHER
    refused, lost_tasks = ended.err.splitlines()
    assert refused.startswith("broker-tck: executor excluded: the executor on ")
    assert f" has {name} {version}, not " in refused
    log = Path(lost_tasks.removeprefix("broker-tck: Spark lost tasks or executors; see ").rstrip())
    assert f"{name} {version}" in log.read_text(encoding="utf-8")
    log.unlink()

    calm = Command(furnished(tmp_path / "calm", adapter), *campaign(*PROCESSES))
    assert calm.end().status == FOUND
    same(store, tmp_path / "calm" / "store")
    found = outcome(store)["findings"]
    assert {subject for subject in SUBJECTS if any(subject in row for row in found)} == {FATAL, GO, PLUGIN}
    left_over = ("broker_tck", adapter.name)
    eventually(lambda: not any(processes(folder, name) for name in left_over), "the end of what the dead had started")


def test_session_whose_java_dies_is_a_line_and_processes_go_on(
    spark: None, reference: Path, start: Start, run: Run, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    driver = start(*disturbed("store", "--master", "local[2]"))
    eventually(lambda: after_rounds(store, 1, tmp_path), "shards after a round", driver)
    kill([process.pid for process in processes(tmp_path, "SparkSubmit")])
    ended = driver.end()
    assert (ended.status, ended.out) == (3, "")
    go_on = "`broker-tck fuzz resume store` goes on after the last whole round"
    assert ended.err == f"broker-tck: the Java process of the Spark driver has ended; {go_on}\n"
    eventually(lambda: not processes(tmp_path), "the end of what the dead had started")
    assert whole(store) < DISTURBED
    assert run("fuzz", "resume", "store", *PROCESSES).status == FOUND
    same(store, reference)


def test_campaign_of_processes_goes_on_by_spark_connect(
    spark: None, reference: Path, variables: dict[str, str], start: Start, run: Run, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    driver = start(*disturbed("store", *PROCESSES))
    eventually(lambda: after_rounds(store, 1, tmp_path), "shards after a round", driver)
    driver.kill()
    assert whole(store) < DISTURBED
    with ConnectServer(tmp_path / "server", PYSPARK_PYTHON=sys.executable, **variables) as server:
        ended = run("fuzz", "resume", "store", "--remote", server.url)
    assert (ended.status, ended.err) == (FOUND, "")
    same(store, reference)
