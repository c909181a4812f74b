"""Shards that are not walked: what becomes of them when workers die, hang or refuse."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from socket import gethostname
from threading import Thread
from typing import Any

import msgspec
import pyarrow as pa
import pytest
import refresh
from campaigns import resident
from campaigns.cluster import WORKER, eventually, kill, outcome, processes, walking
from campaigns.conftest import Start
from conftest import Cli

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.campaign import code_of
from broker_tck.spark_fuzz.driver.manifest import Manifest, Pair
from broker_tck.spark_fuzz.driver.rounds import TRIES, Rounds
from broker_tck.spark_fuzz.executors.spark import Spark, task
from broker_tck.spark_fuzz.store.rows import REFUSED, UNFINISHED, Row, trouble
from broker_tck.spark_fuzz.store.tables import Store
from broker_tck.spark_fuzz.worker import process as worker_process
from broker_tck.spark_fuzz.worker.shard import shard_rows, shard_seed
from broker_tck.spark_fuzz.worker.task import SCHEMA, Worker, batch_of, machine

PLAIN = Pair("time-bucket", "timebucket-ideal")
HOURS = 10**12
"""Operations that nobody waits for."""
LEAVES = '''
import os
import time

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker


class Behind(TimeBucketTracker):
    """Leaves a process behind that no signal to its group reaches, and goes on for ever."""

    def get_scheduled_messages(self, most):
        if os.fork() == 0:
            os.setsid()
            with open("left", "a") as left:
                print(os.getpid(), file=left)
            time.sleep(600)
        while True:
            time.sleep(0.01)


class Killer(TimeBucketTracker):
    """Ends the worker that guards it, once it holds so many messages that not every shard comes to it."""

    def get_scheduled_messages(self, most):
        if self.get_number_of_delayed_messages() >= 40:
            os.kill(os.getppid(), 9)
            time.sleep(600)  # until it ends as well: its parent is another process by then
        return super().get_scheduled_messages(most)
'''


def manifest(operations: int = 500, shards: int = 1, *pairs: Pair) -> Manifest:
    """A campaign of code that is here."""
    known = refresh.manifest([*pairs] or [PLAIN], operations)
    return msgspec.structs.replace(known, shards=shards, code=code_of(known.pairs))


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker."""
    made = Worker()
    yield made
    made.end(for_good=True)


def batch(worker: Worker, known: Manifest) -> tuple[list[str], list[str]]:
    """The kinds of a shard's rows, and why it was not walked."""
    rows = worker.batch(msgspec.json.encode(known), 0, 3).to_pylist()
    return sorted({row["kind"] for row in rows}), [row["name"] for row in rows if row["kind"] == UNFINISHED]


def soon(do: Callable[[], Any], folder: Path) -> None:
    """Do something as soon as a shard is walked by a process that works below a folder."""
    Thread(target=lambda: (eventually(lambda: walking(folder), "a shard"), do())).start()


def signalled(worker: Worker, number: int) -> Callable[[], None]:
    """Sends a worker a signal."""
    return lambda: os.kill(worker.process.pid, number) if worker.process else None


def test_worker_that_is_killed_is_told_and_another_one_walks(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    soon(signalled(worker, signal.SIGKILL), tmp_path)
    assert batch(worker, manifest(HOURS)) == ([UNFINISHED], ["its process ended with status -9"])
    assert batch(worker, manifest()) == (["figure", "machine", "rule", "rule_walks", "state"], [])
    before = worker.process
    assert batch(worker, manifest())[1] == []
    assert worker.process is before, "it walks one shard after the other"
    assert before
    os.kill(before.pid, signal.SIGKILL)
    before.wait()
    assert batch(worker, manifest())[1] == [], "one that ended between two shards is no trouble"


def test_worker_that_stands_still_is_ended_after_its_time(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Manifest, "shard_seconds", 2.0)
    soon(signalled(worker, signal.SIGSTOP), tmp_path)
    assert batch(worker, manifest(HOURS)) == ([UNFINISHED], ["it took more than 2 seconds"])
    eventually(lambda: not processes(tmp_path, WORKER), "the end of its fork as well")


def test_process_that_a_subject_leaves_behind_holds_nobody_up(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leaves.py").write_text(LEAVES, encoding="utf-8")
    known = manifest(HOURS, 1, Pair("leaves:Behind", PLAIN.profile))
    left: list[int] = []

    def end() -> None:
        eventually(
            lambda: Path("left").exists() and Path("left").read_text(encoding="utf-8").endswith("\n"), "a process"
        )
        left.extend(map(int, Path("left").read_text(encoding="utf-8").split()))
        signalled(worker, signal.SIGKILL)()

    Thread(target=end).start()
    assert batch(worker, known)[1] == ["its process ended with status -9"]
    assert left
    kill(left)


def test_worker_that_was_ended_for_good_starts_no_other(worker: Worker) -> None:
    worker.end(for_good=True)
    assert batch(worker, manifest()) == ([UNFINISHED], ["its executor has ended"])


def test_failure_of_the_kit_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: Any) -> Iterator[Row]:
        yield Row("figure", "a", "b", "walks")
        raise ZeroDivisionError("of the kit")

    monkeypatch.setattr(worker_process, "shard_rows", fails)
    answers = io.BytesIO()
    worker_process.serve(worker_process.Request(manifest(), 0, 0), answers)
    (row,) = msgspec.json.decode(answers.getvalue(), type=list[Row])
    assert row == trouble(UNFINISHED, "the kit failed: ZeroDivisionError: of the kit", 0)
    assert "in fails" in capsys.readouterr().err


# ---- Rounds: what is done about it


class Troubled:
    """Walks shards here; some it does not walk, as a list of what happens to each of them tells."""

    name = "troubled"

    def __init__(self, **happens: list[tuple[str, str] | None]) -> None:
        self.happens = {int(name.removeprefix("shard")): [*troubles] for name, troubles in happens.items()}
        self.asked: list[list[int]] = []

    def run(self, known: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        self.asked.append([*shards])
        for shard in shards:
            left = self.happens.get(shard)
            if left and (what := left.pop(0)):
                yield batch_of([trouble(*what, shard)], shard)
            else:
                rows = [*shard_rows(known, number, shard)]
                yield batch_of([*rows, *machine(rows)], shard)


def made(folder: Path, executor: Troubled, rounds: int = 1) -> tuple[dict[str, Any], list[str]]:
    """What rounds of three shards came to, and what was said."""
    store, said = Store(str(folder)), list[str]()
    with store.driven(manifest(600, 3)):
        assert len([*Rounds(executor, store, said.append).made(0, lambda number: number < rounds, 0)]) == rounds
    return outcome(folder), said


@pytest.fixture
def calm(tmp_path: Path) -> dict[str, Any]:
    """What two rounds come to that nothing happens to."""
    return made(tmp_path / "calm", Troubled(), 2)[0]


def test_executors_that_refuse_are_named_once_and_left_out(tmp_path: Path, calm: dict[str, Any]) -> None:
    """However many there are: a shard that was refused was not tried."""
    often = [(REFUSED, f"host {letter}") for letter in "abcde"]
    executor = Troubled(shard0=often, shard1=often[:1], shard2=[None, often[0]])
    found, said = made(tmp_path / "store", executor, 2)
    assert (found, said) == (calm, [f"executor excluded: host {letter}" for letter in "abcde"])
    assert len(executor.asked) == 1 + len(often) + 2


def test_shard_that_nothing_finishes_is_a_figure_and_the_rounds_go_on(tmp_path: Path, calm: dict[str, Any]) -> None:
    found, said = made(tmp_path / "store", Troubled(shard1=[(UNFINISHED, "it ended")] * TRIES), 2)
    assert said == ["shard not finished: it ended"]
    rows = Store(str(tmp_path / "store")).figures().to_pylist()
    (row,) = [row for row in rows if row["kind"] == UNFINISHED]
    seed = shard_seed(manifest(600, 3), 0, 1)
    assert (row["round"], row["name"], row["key"]) == (0, "it ended", f"round 0, shard 1, seed {seed}")
    assert row["count"] == 1
    assert len([row for row in rows if (row["kind"], row["name"]) == ("machine", "shards")]) == 2
    assert found != calm


# ---- What a worker, or an executor without the kit, says of itself


def refusals(known: Manifest) -> list[str]:
    """Why this process would not walk a shard."""
    rows = [*worker_process.rows(worker_process.Request(known, 0, 5))]
    assert [(row.kind, row.key) for row in rows] == [(REFUSED, "shard 5")]
    return [row.name for row in rows]


def test_worker_with_other_code_or_without_a_file_refuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(resident.__file__).parent))
    monkeypatch.syspath_prepend(str(Path(resident.__file__).parent))
    (tmp_path / "kit.jar").write_text("jar", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    known = manifest(500, 1, Pair("resident:Jarred", PLAIN.profile))
    (tmp_path / "kit.jar").unlink()
    assert refusals(known) == [
        f"the executor on {gethostname()} has no such subject: resident:Jarred: its file kit.jar does not exist"
    ]
    known = manifest()
    other = msgspec.structs.replace(known, code=msgspec.structs.replace(known.code, libraries={"pyroaring": "0.0.1"}))
    (text,) = refusals(other)
    assert re.fullmatch(rf"the executor on {gethostname()} has pyroaring [\d.]+, not 0\.0\.1", text)


def test_executor_without_the_kit_says_so_and_fails_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "broker_tck.spark_fuzz.executors.spark", None)
    batches = [pa.record_batch({"id": [0, 1]})]
    (rows,) = task(b"", 0, [7, 8], frozenset())(iter(batches))
    (row,) = rows.to_pylist()
    assert (row["kind"], row["key"], row["shard"], row["count"]) == (REFUSED, "shard 7", 7, 1)
    assert row["name"].startswith(f"the executor on {gethostname()}, {sys.executable}: ")
    assert rows.schema == SCHEMA
    with pytest.raises(RuntimeError, match=re.escape(row["name"])):
        [*task(b"", 0, [7], frozenset([row["name"]]))(iter(batches))]


class Fails(Spark):
    """A session whose jobs fail."""

    def __init__(self, *errors: str) -> None:
        super().__init__(None, "fails")  # type: ignore[arg-type]
        self.errors = [*errors]

    def rows(self, known: Manifest, number: int, shards: Sequence[int]) -> Any:
        raise RuntimeError(self.errors.pop(0))


def test_jobs_that_fail_are_begun_again_unless_the_reason_is_known() -> None:
    reasons = [f"host {name} lacks it" for name in "hgfedcba"]
    refused = Fails(f"PythonException: RuntimeError: {', '.join(reasons)}\nat java")
    refused.refusals = frozenset(reasons)
    found = [row for rows in refused.run(manifest(), 0, [4, 2]) for row in rows.to_pylist()]
    assert [(row["kind"], row["name"], row["shard"]) for row in found] == [
        (REFUSED, "host a lacks it", 4),
        (REFUSED, "host a lacks it", 2),
    ]
    with pytest.raises(BadInput, match="the executors' Python: No module named 'pyarrow'"):
        [*Fails("ModuleNotFoundError: No module named 'pyarrow'").run(manifest(), 0, [0])]
    often = Fails("lost", "lost", "at last")
    with pytest.raises(RuntimeError, match="at last"):
        [*often.run(manifest(), 0, [0])]
    assert often.errors == []


# ---- Campaigns


def test_campaign_goes_on_when_a_worker_stands_still(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Manifest, "shard_seconds", 30.0)  # all others need less, on a slow machine too
    limits = ("--rounds", 2, "--shards", 2, "--operations", 60_000, "--processes", 2, "--subject", PLAIN.subject)
    calm = cli("fuzz", "--store", "calm", *limits)
    soon(lambda: os.kill(walking(tmp_path)[0].pid, signal.SIGSTOP), tmp_path)
    status, _, err = cli("fuzz", "--store", "store", *limits)
    assert (status, err) == (calm[0], "")
    assert outcome(tmp_path / "store") == outcome(tmp_path / "calm")


def test_campaign_goes_on_when_workers_always_die(start: Start, tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES, encoding="utf-8")
    limits = ["--rounds", 2, "--shards", 3, "--operations", 6_000, "--processes", 2, "--json"]
    ended = start("fuzz", "--store", "store", "--subject", "leaves:Killer", *limits).end()
    told = json.loads(ended.out)
    assert (ended.status, told["rounds"], told["findings"]) == (1, 2, [])
    assert 0 < told["unfinished"] < 6
    assert ended.err == "broker-tck: shard not finished: its process ended with status -9\n"
    text = start("fuzz", "resume", "store", "--processes", 2).end().out
    assert f"{told['unfinished']} shard" in text
    assert "could not be finished; the report names them and says why\n" in text
