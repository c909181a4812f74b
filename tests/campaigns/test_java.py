"""A campaign over classes of Java: their jars travel, and nothing that dies on the way changes what it comes to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from campaigns.cluster import Command, Process, after_rounds, eventually, kill, on, outcome, processes
from campaigns.conftest import Start
from kit import python

from broker_tck.bench.loopback import Cluster
from broker_tck.implementations.delayed_delivery.released import IN_MEMORY
from broker_tck.implementations.jvm.jars import own_path_of
from broker_tck.implementations.jvm.loader import path_of
from broker_tck.implementations.jvm.releases import Release

SUBJECTS = ("pulsar-4.2.4/in-memory@classes", "pulsar-4.0.8/in-memory")
"""The first is not what its profile says; its class is in a folder, and both have jars of their own release."""
FOUND = 1
ROUNDS = 3


def campaign(*arguments: Any) -> list[Any]:
    """The arguments that begin the campaign."""
    subjects = [word for name in SUBJECTS for word in ("--subject", name)]
    limits = ["--profile", "heap", "--rounds", ROUNDS, "--shards", 2, "--operations", 4_000]
    return ["fuzz", "--store", "store", *subjects, *limits, *arguments]


def furnished(folder: Path) -> Path:
    """A folder with the folder of classes that a subject names."""
    with ZipFile(own_path_of(Release("4.2.4").jar("pulsar-broker"))) as classes:
        classes.extract(path_of(IN_MEMORY), folder / "classes")
    return folder


def libraries(pid: int) -> set[str]:
    """The names of the files that a process has mapped; none where it has ended."""
    with suppress(OSError):
        return {line.rpartition("/")[2] for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()}
    return set()


def with_java(found: Iterable[Process]) -> list[Process]:
    """Those processes of Python in which Java runs."""
    return [process for process in found if {"_jpype.so", "libjvm.so"} <= libraries(process.pid)]


def test_jars_and_classes_are_shipped_and_what_dies_changes_nothing(
    cluster: Cluster, start: Start, tmp_path: Path
) -> None:
    calm = Command(furnished(tmp_path / "calm"), *campaign("--master", "local[2]"))
    assert calm.end().status == FOUND
    store, bare = furnished(tmp_path) / "store", tmp_path / "bare" / "bin" / "python"
    assert python("-m", "venv", "--without-pip", str(tmp_path / "bare")).returncode == 0
    shipped = "--ship", *on(cluster, None, bare)
    driver = start(*campaign(*shipped))
    walking = eventually(lambda: with_java(processes(cluster.folder, "broker_tck")), "Java in a shard's process")
    executors = processes(cluster.folder, "CoarseGrainedExecutorBackend")
    doomed = [executor.pid for executor in executors if executor.where == walking[0].where]
    assert doomed
    kill(doomed)
    later = range(1, ROUNDS)
    eventually(lambda: any(after_rounds(store, n, cluster.folder) for n in later) or driver.ended, "shards later on")
    assert not driver.ended, driver.end()
    there = libraries(driver.process.pid)
    assert "libc.so.6" in there
    assert "libjvm.so" not in there, "the driver does not need it"
    driver.kill()
    assert start("fuzz", "resume", "store", *shipped).end().status == FOUND

    found, wanted = outcome(store), outcome(tmp_path / "calm" / "store")
    for name in wanted:
        assert found[name] == wanted[name], name
    assert {subject for subject in SUBJECTS if any(subject in row for row in found["findings"])} == {SUBJECTS[0]}
    eventually(lambda: not processes(cluster.folder, "broker_tck"), "the end of what the dead had started")
