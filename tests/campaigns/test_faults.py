"""Whatever happens to a campaign, what it comes to in the end is what it comes to when nothing happens."""

from __future__ import annotations

import json
import resource
import shutil
from collections import Counter
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from campaigns.cluster import (
    ROUNDS,
    SEED,
    SUBJECTS,
    Ended,
    Process,
    after_rounds,
    campaign,
    eventually,
    files,
    first_of,
    in_shards,
    kill,
    on,
    outcome,
    processes,
    whole,
)
from campaigns.conftest import Run, Start
from conftest import Cli
from kit import python

from broker_tck.bench.loopback import Cluster
from broker_tck.spark_fuzz.driver.manifest import FORMAT
from broker_tck.spark_fuzz.store.places import MANIFEST

LOCAL = ("--master", "local[2]")
FOUND, REFUSED, FAILED, INTERRUPTED = 1, 2, 3, 130


def refused(ended: Ended | tuple[int, str, str], *words: str, status: int = REFUSED) -> None:
    """A command was turned away in one line."""
    ended = Ended(*ended)
    assert (ended.status, ended.out) == (status, ""), ended.err
    assert ended.err.startswith("broker-tck: ")
    assert ended.err.count("\n") == 1, ended.err
    assert [word for word in words if word not in ended.err] == [], ended.err


def same(store: Path, reference: Path) -> None:
    """A campaign came to what the undisturbed run came to: every figure, rule, state and finding."""
    found, wanted = outcome(store), outcome(reference)
    for name in wanted:
        assert found[name] == wanted[name], name


def test_undisturbed_run_finds_what_there_is_to_find(reference: Path) -> None:
    found = outcome(reference)
    assert found["rounds"] == ROUNDS
    assert len(found["states"]) > 500
    wrong = {subject for subject in SUBJECTS if any(subject in finding for finding in found["findings"])}
    assert wrong == {*SUBJECTS[1:]}


# ---- Processes that die in the middle of a round


def spark_worker(cluster: Cluster, process: Process) -> Popen[bytes]:
    """The worker of Spark that has started a process; each works in a folder of its own."""
    folder = process.where.relative_to(cluster.folder).parts[0]
    return cluster.workers[int(folder.removeprefix("worker-"))]


def test_parts_of_the_cluster_that_die_change_nothing(
    cluster: Cluster, reference: Path, start: Start, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    driver = start(*campaign("store", "--conf", "spark.log.level=WARN", *on(cluster, tmp_path)))
    workers = eventually(lambda: in_shards(store, 0, cluster.folder), "shards of the first round")
    kill([workers[0].pid])
    workers = eventually(lambda: in_shards(store, 1, cluster.folder), "shards of the second round")
    kill([workers[0].parent])  # the Python in which Spark runs the task
    workers = eventually(lambda: in_shards(store, 2, cluster.folder), "shards of the third round")
    spark_worker(cluster, workers[0]).kill()
    assert driver.end().status == FOUND
    same(store, reference)
    log = (store / "driver.log").read_text(encoding="utf-8")
    assert "the worker process ended with status -9" in log
    assert "Python worker exited unexpectedly" in log
    assert "worker lost" in log
    eventually(lambda: not processes(cluster.folder, "broker_tck"), "the end of what the dead had started")


def test_driver_that_dies_is_resumed_after_the_last_whole_round(
    cluster: Cluster, reference: Path, start: Start, run: Run, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    driver = start(*campaign("store", *on(cluster, tmp_path)))
    eventually(lambda: after_rounds(store, 1, cluster.folder), "shards after the first round")
    driver.kill()
    assert whole(store) == 1
    for merged in ("states/slot=1", "findings/slot=1"):  # had it died later, it would have left these as well
        shutil.rmtree(store / merged, ignore_errors=True)
        shutil.copytree(reference / merged, store / merged)
    assert run("fuzz", "resume", "store", "--master", "local[1]").status == FOUND
    same(store, reference)


# ---- Drivers that are told to end, and second ones


def test_stopped_and_interrupted_campaign_is_resumed(reference: Path, start: Start, run: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    driver = start(*campaign("store", *LOCAL))
    eventually(lambda: in_shards(store, 0, tmp_path), "shards of the first round")
    with driver.held():
        process = f"process {driver.process.pid} on "
        refused(run("fuzz", "resume", "store", *LOCAL), process, "`broker-tck watch store` shows it")
        refused(run(*campaign("store", *LOCAL)), "holds a campaign already; `broker-tck fuzz resume store`")
        assert json.loads(run("watch", "store", "--json").out)["driver"].startswith(process)
        assert run("fuzz", "stop", "store").out.startswith(f"store: {process}")
    assert driver.end().status == FOUND
    assert whole(store) == 1

    driver = start("fuzz", "resume", "store", *LOCAL)
    eventually(lambda: after_rounds(store, 1, tmp_path), "shards after the first round")
    ended = driver.interrupt()
    assert (ended.status, ended.out) == (INTERRUPTED, "")
    assert [line for line in ended.err.splitlines() if line] == [
        "broker-tck: `broker-tck fuzz resume store` goes on after the last whole round",
        "broker-tck: interrupted",
    ]
    assert whole(store) == 1

    assert run("fuzz", "resume", "store", *LOCAL).status == FOUND
    same(store, reference)
    assert run("watch", "store").out.endswith("; nobody drives it\n")


# ---- Stores that refuse


def test_campaign_goes_on_when_its_store_takes_writes_again(
    reference: Path, start: Start, run: Run, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    driver = start(*campaign("store", *LOCAL))
    eventually(lambda: after_rounds(store, 1, tmp_path), "shards after the first round")
    java = first_of(processes(tmp_path, "SparkSubmit"))
    resource.prlimit(java.pid, resource.RLIMIT_FSIZE, (0, 0))  # the system refuses every byte, to root as well
    refused(driver.end(), "File too large; `broker-tck fuzz resume store` goes on after the last", status=FAILED)
    assert whole(store) == 1

    assert run("fuzz", "resume", "store", *LOCAL).status == FOUND
    same(store, reference)


@pytest.mark.parametrize("where", ["file/store", "file", "/proc/broker-tck", "/dev/null/store"])
def test_place_that_cannot_be_a_store_is_refused_before_anything_starts(
    spark: None, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("something", encoding="utf-8")
    refused(cli("fuzz", "--store", where, *LOCAL), where)
    assert files(tmp_path) == {"file": b"something"}


def change(store: Path, **changes: Any) -> None:
    """Change a store's manifest."""
    known = json.loads((store / MANIFEST).read_text(encoding="utf-8"))
    (store / MANIFEST).write_text(json.dumps(known | changes), encoding="utf-8")


def truncate(store: Path) -> None:
    """Lose the end of a store's manifest."""
    (store / MANIFEST).write_bytes((store / MANIFEST).read_bytes()[:100])


DAMAGES = {
    "of another version": (lambda store: change(store, format=FORMAT + 1), f"a store of format {FORMAT + 1}"),
    "with half a manifest": (truncate, "its manifest cannot be read"),
    "that is a list": (lambda store: (store / MANIFEST).write_text("[1]"), "its manifest cannot be read"),
    "without a seed": (lambda store: change(store, seed=None), "not the manifest of a campaign"),
    "that is none": (lambda store: (store / MANIFEST).unlink(), "no campaign there; `broker-tck fuzz --store"),
}


def test_store_behind_a_link_to_itself_is_not_called_missing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    refused(cli("watch", tmp_path / "loop"), "loop: cannot be read: Too many levels of symbolic links")


@pytest.mark.parametrize("kind", DAMAGES)
def test_store_that_is_not_understood_is_left_alone(
    reference: Path, cli: Cli, run: Run, tmp_path: Path, kind: str
) -> None:
    damage, says = DAMAGES[kind]
    store = Path(shutil.copytree(reference, tmp_path / "store"))
    damage(store)
    before = files(store)
    page = tmp_path / "page.html"
    for command in (("fuzz", "resume"), ("fuzz", "stop"), ("watch",), ("report", "-o", page)):
        refused(cli(*command, store), str(store), says)
    assert files(store) == before
    assert not page.exists()


def test_campaign_of_other_code_is_not_resumed_but_can_be_watched(reference: Path, run: Run, tmp_path: Path) -> None:
    store = Path(shutil.copytree(reference, tmp_path / "store"))
    code = json.loads((store / MANIFEST).read_text(encoding="utf-8"))["code"]
    change(store, code=code | {"digest": "0" * 16})
    before = files(store)
    refused(run("fuzz", "resume", "store", *LOCAL), "store: cannot go on: this is other code of broker-tck", "0" * 16)
    change(store, code=code | {"subjects": {"elsewhere:OneTooMany": "0" * 16}})
    refused(run("fuzz", "resume", "store", *LOCAL), "this is other code of the subject elsewhere:OneTooMany")
    change(store, code=code | {"digest": "0" * 16})
    assert run("watch", "store").out.startswith(f"store: {ROUNDS} rounds, ")
    assert {name for name, data in files(store).items() if before.get(name) != data} <= {MANIFEST}


# ---- Java, and executors


def test_no_java_is_one_line_with_the_command_that_installs_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = "campaigns need Java 17 or later, and there is none; `sudo apt-get install openjdk-17-jre-headless` installs"
    refused(cli("fuzz", "--store", tmp_path / "store"), said)
    assert list(tmp_path.iterdir()) == []


def test_kit_is_shipped_to_executors_that_lack_it(cluster: Cluster, reference: Path, run: Run, tmp_path: Path) -> None:
    import pyarrow as pa

    bare, libraries = tmp_path / "bare" / "bin" / "python", tmp_path / "libraries"
    assert python("-m", "venv", "--without-pip", str(tmp_path / "bare")).returncode == 0
    libraries.mkdir()
    (libraries / "pyarrow").symlink_to(Path(pa.__file__).parent)
    refused(run(*campaign("store", *on(cluster, None, bare))), "No module named 'pyarrow'", "--ship")
    refused(
        run("fuzz", "resume", "store", *on(cluster, libraries, bare)), f"{bare}: No module named 'broker_tck", "--ship"
    )
    assert whole(tmp_path / "store") == 0
    assert run("fuzz", "resume", "store", "--ship", *on(cluster, None, bare)).status == FOUND
    same(tmp_path / "store", reference)


# ---- A store at a URI


def test_campaign_in_a_store_that_is_no_folder(
    reference: Path, start: Start, run: Run, cli: Cli, tmp_path: Path
) -> None:
    """Hadoop's own file system of mount points: it needs no server, and is not known to be this machine's folders."""
    mount = "--conf", f"spark.hadoop.fs.viewfs.mounttable.tck.link./stores=file://{tmp_path}"
    where, store = "viewfs://tck/stores/night", tmp_path / "night"
    driver = start(*campaign(where, *mount, *LOCAL, rounds=1))
    eventually(lambda: in_shards(store, 0, tmp_path), "shards of the first round")
    with driver.held():
        refused(run("fuzz", "resume", where, *mount), f"process {driver.process.pid} on ", "drives this campaign")
    assert driver.end().status == FOUND
    assert whole(store) == 1

    assert run("fuzz", "resume", where, *mount, *LOCAL, "--rounds", ROUNDS).status == FOUND
    same(store, reference)
    assert cli("watch", where, *mount)[1].startswith(f"{where}: {ROUNDS} rounds, ")
    refused(cli("watch", "viewfs://nowhere/night", *mount), "viewfs://nowhere/night: cannot be read: ")


# ---- Merging


def summed(stores: list[Path]) -> Counter[tuple[Any, ...]]:
    """The counts of several campaigns' rounds by kind, lane and name: all but those of what was new."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for store in stores:
        for row in outcome_rows(store, "summary"):
            if row["subject"] and row["kind"] not in ("states", "findings"):
                counts[row["kind"], row["subject"], row["profile"], row["name"]] += row["count"]
    return counts


def outcome_rows(store: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a store's table."""
    from broker_tck.spark_fuzz.store.places import Folder

    return [row for row in Folder(str(store)).table(name).to_pylist() if row.get("name") != "milliseconds"]


def keys(store: Path, name: str, columns: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    """How often each state, or finding, was seen."""
    return Counter({tuple(row[c] for c in columns): row["count"] for row in outcome_rows(store, name)})


def test_merged_campaigns_are_summed_and_what_they_share_is_counted_once(
    reference: Path, run: Run, cli: Cli, tmp_path: Path
) -> None:
    first, other, both = reference, tmp_path / "other", tmp_path / "both"
    assert run(*campaign("other", *LOCAL, seed=SEED + 1, rounds=1)).status == FOUND
    assert outcome(other)["findings"] != outcome(first)["findings"]
    assert cli("fuzz", "merge", first, other, "--into", both) == (0, f"{both}: 2 campaigns, {ROUNDS + 1} rounds\n", "")

    assert whole(both) == ROUNDS + 1
    assert summed([both]) == summed([first, other])
    tables = {"states": ("subject", "profile", "name", "key"), "findings": ("subject", "profile", "rules", "shape")}
    for name, columns in tables.items():
        merged, parts = keys(both, name, columns), [keys(store, name, columns) for store in (first, other)]
        assert merged == parts[0] + parts[1]
        assert set(parts[0]) & set(parts[1]), "both have some in common"
        counted = sum(row["count"] for row in outcome_rows(both, "summary") if row["kind"] == name)
        assert counted == len(merged)

    refused(cli("fuzz", "merge", both, other, "--into", tmp_path / "again"), f"{other}: has walks of {both}")
    refused(cli("fuzz", "resume", both), "merged of 2 campaigns")
    refused(cli("fuzz", "stop", both), "merged of 2 campaigns")
    assert not (tmp_path / "again").exists()
