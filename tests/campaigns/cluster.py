"""Campaigns to disturb: the command line in a process of its own, all that it has started, and the store it leaves.

Run as a program, it is the guard: it waits until nobody holds its input any more, however that comes, and then ends
every process that works below the folder that it is told.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

PATIENCE = 600.0
"""Seconds after which a wait fails: so many that only what hangs takes them, however busy the machine is."""
ROUNDS, SHARDS, OPERATIONS, SEED = 3, 2, 36_000, 11
ELSEWHERE = '''
"""A subject in a module of the current folder."""

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker


class OneTooMany(TimeBucketTracker):
    """Hands out one message more than was asked for."""

    def get_scheduled_messages(self, most):
        return super().get_scheduled_messages(most + 1)
'''
PROCESSES = ("--processes", "2")
SUBJECTS = ("time-bucket", "mutant:strict-rounded-down", "elsewhere:OneTooMany")
PROGRESS = re.compile(r"^[a-z-]+: \d+ of \d+ rounds, .*\n", re.MULTILINE)
"""A line that says how far a campaign is: how many there are depends on how busy the machine is."""
WORKER = "broker_tck.spark_fuzz.worker.process"
"""Shards run in processes of this module, and in forks of theirs."""


def eventually(found: Callable[[], T], what: str, driver: Command | None = None) -> T:
    """What is found at last, looking again and again, but not after the command has ended that makes it."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        over = driver and driver.ended
        if answer := found():
            return answer
        if driver and over:
            raise AssertionError(f"{what}: not before {driver.end()}")
        Event().wait(0.02)
    raise AssertionError(f"{what}: not within {PATIENCE:.0f} seconds")


# ---- Processes


class Process(NamedTuple):
    """A process that works below some folder."""

    pid: int
    parent: int
    where: Path
    command: str


def processes(folder: Path, command: str = "") -> list[Process]:
    """The processes whose current folder is this one or below it, and whose command has these words."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            where = (entry / "cwd").readlink()
            if where == folder or folder in where.parents:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found.append(Process(int(entry.name), parent, where, words))
    return [process for process in found if command in process.command]


def walking(folder: Path) -> list[Process]:
    """The processes below a folder that have a shard's walks made by a fork of theirs."""
    workers = processes(folder, WORKER)
    parents = {process.parent for process in workers}
    return [process for process in workers if process.pid in parents]


def kill(pids: Sequence[int]) -> None:
    """End processes, if they are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_all(folder: Path) -> None:
    """End every process that works below a folder."""
    while left := processes(folder):
        kill([process.pid for process in left])
        Event().wait(0.02)


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """No process that works below a folder outlives this block, nor this very process."""
    guard = subprocess.Popen(
        [sys.executable, __file__, str(folder)], stdin=subprocess.PIPE, cwd="/", start_new_session=True
    )
    try:
        yield
    finally:
        guard.communicate(timeout=PATIENCE)


@contextmanager
def interruptible() -> Iterator[None]:
    """Processes started in the block take SIGINT, also where this one was started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Ended(NamedTuple):
    """How a command ended, and what it printed but how far it was."""

    status: int
    out: str
    err: str


class Command:
    """``broker-tck`` with arguments, in a process group of its own. Its current folder has the subject's module."""

    def __init__(self, folder: Path, *arguments: Any, **variables: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "elsewhere.py").exists():  # a worker may be reading it
            (folder / "elsewhere.py").write_text(ELSEWHERE, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}
        with interruptible():
            self.process = subprocess.Popen(
                [sys.executable, "-m", "broker_tck.cli.main", *map(str, arguments)],
                cwd=folder,
                env=environment | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    def end(self) -> Ended:
        """Wait until it has ended, and all that it has started has let go of its output."""
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
        return Ended(self.process.returncode, out, PROGRESS.sub("", err))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have the driver stand still during this block."""
        self.process.send_signal(signal.SIGSTOP)
        yield
        self.process.send_signal(signal.SIGCONT)

    def interrupt(self) -> Ended:
        """Interrupt it as a terminal does: the signal goes to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()

    def kill(self) -> Ended:
        """End the driver, and nothing but the driver."""
        self.process.kill()
        return self.end()


# ---- Stores


def campaign(store: Any, *arguments: Any, seed: int = SEED, rounds: int = ROUNDS) -> list[Any]:
    """The arguments that begin the campaign which every test disturbs in its own way."""
    subjects = [word for name in SUBJECTS for word in ("--subject", name)]
    limits = ["--rounds", rounds, "--shards", SHARDS, "--operations", OPERATIONS, "--seed", seed]
    return ["fuzz", "--store", store, *subjects, *limits, *arguments]


def whole(store: Path) -> int:
    """How many rounds of a store are whole."""
    from broker_tck.spark_fuzz.store.tables import Store

    return Store(str(store)).rounds()


def after_rounds(store: Path, number: int, folder: Path) -> list[Process]:
    """The processes below a folder in which shards run, if so many rounds are whole, or more."""
    return walking(folder) if whole(store) >= number else []


def outcome(store: Path | str) -> dict[str, Any]:
    """All that a campaign came to, times aside: every row of its tables."""
    from broker_tck.spark_fuzz.store.tables import Store

    known = Store(str(store))
    tables = {name: known.read(name).to_pylist() for name in ("figures", "states", "findings")}
    tables["figures"] = [row for row in tables["figures"] if row["name"] != "milliseconds"]
    return {"rounds": known.rounds(), **{name: sorted(map(str, rows)) for name, rows in tables.items()}}


def same(store: Path, reference: Path) -> None:
    """A campaign came to what the undisturbed run came to: every figure, rule, state and finding."""
    found, wanted = outcome(store), outcome(reference)
    for name in wanted:
        assert found[name] == wanted[name], name


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


if __name__ == "__main__":
    sys.stdin.read()
    kill_all(Path(sys.argv[1]))
