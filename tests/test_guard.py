"""The guarded process: what becomes of it is an answer or an end, and nothing that it did is left."""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import misbehaving
import pytest
import refresh
from conftest import Cli
from kit import PATIENCE, ROOT, python, subject_of, trace_of

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.model.reference import Reference
from broker_tck.properties.contracts.delayed_delivery.operations import Fill
from broker_tck.properties.engine.blackbox import BOX, DEEPEST
from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.errors import BadInput, KitFailed
from broker_tck.properties.explain import guarding
from broker_tck.properties.explain.finding import Finding, unreduced
from broker_tck.properties.report.parts import came_to
from broker_tck.properties.search.isolation import apart, unloaded
from broker_tck.properties.search.isolation.guard import End, Limits, guarded
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.spark_fuzz.driver.manifest import Pair
from broker_tck.spark_fuzz.worker.shard import shard_rows

pytestmark = pytest.mark.slow

IDEAL = "timebucket-ideal"
DEEP = {"HasNoTimeLeft", "EatsMemory", "PrintsForEver", "Spins", "SpinsInC"}
"""Subjects that take long, and end as others do: out of time, or out of memory."""
TRACE = "delayed-delivery timebucket-ideal; add 1 0 +2000; add 1 1 +2000; adv 3000; get 10"
ENDS = {
    "ExitsWithSeven": "it ended its process with status 7",
    "WaitsDeaf": "no answer within the limit",
}
"""One end of each kind: by the subject itself, and by the guard."""


DOORS = "walk", "replay", "pytest", "campaign"


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    with refresh.quickly():
        yield


SEEN = json.loads(refresh.MISBEHAVIOUR.read_text(encoding="utf-8"))


def test_table_has_each_subject_that_misbehaves() -> None:
    assert [*SEEN] == [each.__name__ for each in misbehaving.subjects()]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] if name in DEEP else []) for name in SEEN]
)
def test_what_is_seen_of_a_subject_that_misbehaves(cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of misbehaviour is a finding, worded as stored; `python tests/refresh.py` writes the words.

    No trace is made shorter, which takes dozens of processes; campaigns of fatal subjects see that it is.
    """
    monkeypatch.setattr(guarding, "find_fatal", as_it_is)
    assert refresh.misbehaviour(getattr(misbehaving, name), cli) == SEEN[name]


def as_it_is(subject: Subject, model: type[Reference], failed: Walk, limits: Limits) -> Finding:
    """The finding of a trace on which a subject ends its process, nothing replayed."""
    return unreduced(subject, model.PROFILE, failed)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ENDS)
def test_every_way_to_run_a_check_says_how_the_process_ended(cli: Cli, name: str, door: str) -> None:
    told = through(door, f"misbehaving:{name}", cli)
    assert ENDS[name] in told


def through(door: str, subject: str, cli: Cli) -> str:
    """What a door says of a subject that is broken."""
    if door == "campaign":
        return "".join(row.text for row in shard_rows(refresh.manifest([Pair(subject, IDEAL)], 1_000), 0, 0))
    if door == "pytest":
        found = came_to(resolve_unloaded(subject), IDEAL, "walks")
        return "".join(told.story for told in found[0].findings) if isinstance(found, tuple) else found
    words: dict[str, list[str]] = {
        "walk": ["walk", "--walks", "3"],
        "replay": ["replay", TRACE],
    }
    status, out, _ = cli(*words[door], "--subject", subject)
    assert status == 1
    return " ".join(out.split())


# ---- The process


def test_answer_comes_back_and_what_is_told_on_the_way() -> None:
    told: list[int] = []

    def work(tell: Any) -> int:
        tell(1)
        tell(2)
        return os.getpid()

    assert guarded(work, told=told.append) != os.getpid()
    assert told == [1, 2]


def test_errors_come_back_as_what_they_are() -> None:
    def bad(_tell: Any) -> None:
        raise BadInput("no such thing")

    def missing(_tell: Any) -> None:
        raise Unavailable("a class is missing")

    def wrong(_tell: Any) -> None:
        raise ZeroDivisionError("of the kit")

    with pytest.raises(BadInput, match="no such thing"):
        guarded(bad)
    with pytest.raises(BadInput, match="a class is missing"):
        guarded(missing)
    with pytest.raises(KitFailed, match="ZeroDivisionError: of the kit"):
        guarded(wrong)


def test_first_walk_has_not_the_time_that_the_first_subject_has_to_be_made() -> None:
    def spins(_tell: Any) -> None:
        BOX.walk(7)
        BOX.made(object())
        while True:
            pass

    end = guarded(spins, Limits(0.2, None, making=1000))
    assert isinstance(end, End)
    assert (end.error, end.trace) == ("Hang", (b"walk 7",))


def test_end_has_the_trace_that_it_was_on() -> None:
    subject, trace = subject_of(misbehaving.ExitsWithZero), trace_of("add 1 0 +2000; add 1 1 +2000; get 10; has")

    def work(_tell: Any) -> None:
        first_difference(
            trace.operations,
            subject.contract.specification(trace.config),
            subject.adapter(trace.config, subject.capabilities),
        )

    end = guarded(work)
    assert isinstance(end, End)
    failed = apart.walk_of(end, subject, subject.contract.specification)
    assert (failed.config, failed.operations) == (trace.config, [*trace.operations][:3])


def test_trace_of_a_call_that_came_back_twice_ends_with_the_first_such_call() -> None:
    def work(_tell: Any) -> None:
        BOX.begin(0)
        for number in range(1, 4):
            BOX.write(number)
            if child := os.fork():
                os.waitpid(child, 0)

    end = guarded(work)
    assert isinstance(end, End)
    assert end.trace == (b"0", b"1")


@pytest.mark.parametrize(("deep", "ends"), [(DEEPEST, False), (DEEPEST + 1, True)])
def test_forks_of_forks_end_before_the_machine_does(deep: int, ends: bool) -> None:
    def work(_tell: Any) -> None:
        BOX.begin(0)
        first = os.getpid()
        for _ in range(deep):
            if child := os.fork():
                os.waitpid(child, 0)
                break
        if os.getpid() != first:
            os._exit(0)

    assert isinstance(guarded(work), End) is ends


def test_nothing_is_left_of_a_process(tmp_path: Path) -> None:
    def work(_tell: Any) -> None:
        for number in range(3):
            if os.fork() == 0:
                (tmp_path / str(number)).write_text(str(os.getpid()))
                misbehaving.FOREVER.wait()
        while len([*tmp_path.iterdir()]) < 3:
            misbehaving.FOREVER.wait(0.01)
        os._exit(3)

    assert guarded(work) == End("Exited", "it ended its process with status 3")
    for file in tmp_path.iterdir():
        assert ends(int(file.read_text()))


def ends(pid: int) -> bool:
    """Whether a process ends at last."""
    until = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < until:
        misbehaving.FOREVER.wait(0.01)
    return not alive(pid)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_guard_that_is_killed_takes_its_process_along() -> None:
    code = (
        "import os, sys; from pathlib import Path; from threading import Event\n"
        "from broker_tck.properties.search.isolation.guard import FREE, guarded\n"
        "guarded(lambda tell: (print(os.getpid(), flush=True), Event().wait()), FREE)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as guard:
        assert guard.stderr
        pid = int(guard.stderr.readline())
        guard.kill()
    assert ends(pid)


def test_process_that_was_stopped_does_not_hang() -> None:
    def work(_tell: Any) -> str:
        waker = subprocess.Popen(["/bin/sh", "-c", f"sleep 1.5; kill -CONT {os.getpid()}"])
        os.kill(os.getpid(), signal.SIGSTOP)
        waker.wait()
        return "done"

    assert guarded(work, Limits(0.5)) == "done"


def test_memory_is_limited_by_what_is_taken_and_not_by_what_is_reserved() -> None:
    def work(takes: bool) -> str:
        memory = mmap.mmap(-1, 2**28)
        for page in range(0, 2**28, mmap.PAGESIZE) if takes else ():
            memory[page] = 1
        misbehaving.FOREVER.wait(0.3)
        return "done"

    limits = Limits(5.0, 64)
    assert guarded(lambda tell: work(False), limits) == "done"
    assert guarded(lambda tell: work(True), limits) == End("MemoryError", "it takes too much memory")


def test_operation_that_does_much_in_bulk_is_given_time() -> None:
    def work(n: int) -> str:
        BOX.begin({})
        next(iter(BOX.writing([Fill(1, 0, 1, n, 5)])))
        misbehaving.FOREVER.wait(1.2)
        return "done"

    assert guarded(lambda tell: work(4_000), Limits(0.4)) == "done"
    assert isinstance(guarded(lambda tell: work(0), Limits(0.4)), End)


class Slow(TimeBucketTracker):
    """Takes a while for each get, and less than it may."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        misbehaving.FOREVER.wait(0.05)
        return super().get_scheduled_messages(max_messages)


def test_subject_that_is_slow_does_not_hang(cli: Cli) -> None:
    words = "--subject", "test_guard:Slow", "--walks", "1", "--examples", "0", "--isolated"
    status, out, err = cli("check", *words)
    assert (status, err) == (4, ""), out


# ---- What a subject prints, and the modules of others


def test_what_a_subject_prints_is_passed_on_as_far_as_there_is_room(capsys: pytest.CaptureFixture[str]) -> None:
    guarded(lambda tell: sys.stdout.write("here\n"))
    assert capsys.readouterr().err == "here\n"
    guarded(lambda tell: sys.stdout.write("x" * 2**20), name="mine")
    err = capsys.readouterr().err
    assert err.startswith("x" * 2**16)
    assert err.endswith("broker-tck: mine prints more than 64 KiB; the rest is left out\n")
    assert len(err) < 2**16 + 100


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os._exit(0)", "it ended its process with status 0"),
        ("while True: pass", "no answer within the limit"),
        ("import threading; threading.Event().wait()", "no answer within the limit"),
    ],
)
def test_module_that_does_not_come_back_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli, code: str, why: str
) -> None:
    (tmp_path / "leaves.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(unloaded, "IMPORTING", Limits(0.5))
    status, out, err = cli("check", "--subject", "leaves:Tracker")
    assert (status, out, err) == (2, "", f"broker-tck: leaves:Tracker: it cannot be imported: {why}\n")
    assert "leaves" not in sys.modules


def test_module_of_a_subject_is_imported_where_it_runs_alone() -> None:
    code = (
        "import sys; from broker_tck.cli.main import run\n"
        "status = run(['check', '--isolated', '--subject', 'misbehaving:Seeds', '--walks', '2', '--examples', '0'])\n"
        "print(status, 'misbehaving' in sys.modules)\n"
    )
    done = python("-c", code, cwd=ROOT / "tests")
    assert done.stdout.splitlines()[-1] == "4 False", done.stderr
