"""What campaigns cost: the same walks in plain processes, isolated, and as campaigns of each executor, in turns.

A way is a command, or two at the same time. In each turn it makes a campaign of nothing, one walk a shard, and then the
whole one: what the first costs is left out when walks are compared. Processor time is that of all processes below.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, time
from typing import NamedTuple

import msgspec
import psutil
from first import FIRST, First
from loopback import Cluster
from measuring import Cells, Result

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled, resolve
from broker_tck.properties.errors import Failed
from broker_tck.properties.search.run import Run, checked
from broker_tck.spark_fuzz.driver.campaign import planned
from broker_tck.spark_fuzz.driver.manifest import Manifest, Pair
from broker_tck.spark_fuzz.driver.sizes import sizes
from broker_tck.spark_fuzz.worker.shard import COUNTED, shard_rows, shard_seed

ONE, TWO, ISOLATED = "one plain process", "two plain processes", "one process, isolated"
STANDALONE = "Spark, a cluster of two workers"
CAMPAIGNS = {
    "a campaign on one process": ("--processes", "1"),
    "a campaign on two processes": ("--processes", "2"),
    "Spark, local[2]": ("--master", "local[2]"),
    STANDALONE: ("--python", sys.executable, "--master"),
}
"""Ways that are campaigns, with their options."""
WAYS = (ONE, TWO, ISOLATED, *CAMPAIGNS)
OPERATIONS = 2_000_000
TURNS = 2
NOTHING = 4
"""Operations of a campaign of nothing: one for each of its shards, which then makes one walk."""
SUBJECT = f"{First.__module__}:{First.__name__}"
PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 30.0
"""Seconds until processes have ended that a command left behind."""


class Cost(NamedTuple):
    """What a command cost."""

    operations: int
    seconds: float
    processor: float
    """Seconds of the processor."""


class Turn(NamedTuple):
    """A campaign of nothing, and a whole one."""

    first: float
    """Seconds until the first walk began."""
    nothing: Cost
    whole: Cost

    @property
    def rate(self) -> float:
        """Operations a second, without what a campaign of nothing takes."""
        return self.whole.operations / (self.whole.seconds - self.nothing.seconds)

    @property
    def thrift(self) -> float:
        """Operations a second of the processor, likewise."""
        return self.whole.operations / (self.whole.processor - self.nothing.processor)


def cells(turns: Sequence[Turn], plain: Sequence[Turn]) -> Cells:
    """The row of a way, beside the turns of one plain process."""
    pairs = [*zip(turns, plain, strict=True)]
    return {
        "operations a processor-second, times one plain process's": [turn.thrift / of.thrift for turn, of in pairs],
        "operations a second, times one plain process's": [turn.rate / of.rate for turn, of in pairs],
        "first walk, seconds": [turn.first for turn in turns],
        "a campaign of nothing, processor-seconds": [turn.nothing.processor for turn in turns],
    }


# ---- Plain and isolated processes


def manifest_of(operations: int, seed: int) -> Manifest:
    """The campaign that all ways make: all bundled subjects of the first contract, or one that notes its first walk."""
    contract = next(iter(CONTRACTS.values()))
    pairs = [Pair(s.name, p) for s in bundled(contract) for p in s.profiles]
    if operations == NOTHING:
        pairs = [Pair(SUBJECT, First.profiles[0])]
    plan = sizes(operations, None, None, None, None)
    return planned(contract, pairs, plan, seed=seed, walk_seconds=5.0, walk_memory=512, executor="")


def plain_shard(manifest: Manifest, number: int, shard: int) -> int:
    """The walks of a shard in this very process; answers with their operations."""
    total = 0
    for pair in manifest.pairs:
        run = Run(resolve(pair.subject), pair.profile, shard_seed(manifest, number, shard))
        for _ in checked(run, range(2**62), COUNTED, COUNTED):
            if run.operations >= manifest.operations // len(manifest.pairs):
                break
        total += run.operations
    return total


def isolated_shard(manifest: Manifest, number: int, shard: int) -> int:
    """The same walks in processes of their own."""
    return sum(row.count for row in shard_rows(manifest, number, shard) if row.name == "operations")


def walked(way: str, operations: int, seed: int, part: int, parts: int) -> int:
    """Walk the shards of a campaign that are this process's share. Returns how many operations they made."""
    manifest = manifest_of(operations, seed)
    run = isolated_shard if way == ISOLATED else plain_shard
    shards = [(number, shard) for number in range(manifest.goal.rounds or 0) for shard in range(manifest.shards)]
    return sum(run(manifest, *shard) for shard in shards[part::parts])


# ---- Measuring


def campaign(operations: int = OPERATIONS, turns: int = TURNS, ways: Sequence[str] = WAYS) -> Result:
    """What campaigns cost. Five minutes, with Java 17 and an idle machine."""
    found: dict[str, list[Turn]] = {way: [] for way in ways}
    take_over()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="broker-tck-")))
        os.environ[FIRST] = str(folder / "first")
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")])
        )
        cluster = stack.enter_context(Cluster(folder / "cluster")) if STANDALONE in ways else None
        for turn in range(turns):
            for way in ways:
                sys.stderr.write(f"measuring {way}\n")
                found[way].append(turn_of(way, operations, turn, folder / f"{turn}-{ways.index(way)}", cluster))
    return Result({way: cells(mine, found[ONE]) for way, mine in found.items()})


def turn_of(way: str, operations: int, seed: int, folder: Path, cluster: Cluster | None) -> Turn:
    """A turn of a way."""
    path, began = Path(os.environ[FIRST]), time()
    path.unlink(missing_ok=True)
    nothing = cost(commands(way, NOTHING, seed, folder / "nothing", cluster), cluster)
    first = path.stat().st_mtime - began
    return Turn(first, nothing, cost(commands(way, operations, seed, folder / "whole", cluster), cluster))


def commands(way: str, operations: int, seed: int, store: Path, cluster: Cluster | None) -> list[list[str]]:
    """The commands of a way; they run at the same time."""
    if way not in CAMPAIGNS:
        parts = 2 if way == TWO else 1
        words = [sys.executable, __file__, way, str(operations), str(seed)]
        return [[*words, str(part), str(parts)] for part in range(parts)]
    words = ["fuzz", "--store", str(store), "--seed", str(seed), "--operations", str(operations), "--json"]
    subject = ["--subject", SUBJECT] if operations == NOTHING else []
    url = [cluster.url] if way == STANDALONE and cluster else []
    return [[sys.executable, "-m", "broker_tck", *words, *subject, *CAMPAIGNS[way], *url]]


def cost(commands: Sequence[Sequence[str]], cluster: Cluster | None) -> Cost:
    """What commands cost that run at the same time, with all processes below them, and below a cluster."""
    others, before, began = children(), spent(cluster), perf_counter()
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for words in commands]
    said = [process.communicate() for process in running]
    seconds = perf_counter() - began
    for words, process, (_, err) in zip(commands, running, said, strict=True):
        if process.returncode not in (0, 4):  # 4: a campaign of nothing meets few rules
            raise Failed(f"{' '.join(words)}: exit status {process.returncode}: {err.strip()[-300:]}")
    while left := children() - others:  # what commands, and executors of a cluster, left behind
        if psutil.wait_procs(left, PATIENCE)[1]:
            raise Failed(f"{PATIENCE:.0f} seconds after a command, processes below it go on: {left}")
    return Cost(sum(operations_of(out) for out, _ in said), seconds, spent(cluster) - before)


def take_over() -> None:
    """Have this process be the parent of what processes below it leave behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def children() -> set[psutil.Process]:
    """The processes that this one started, or took over."""
    return set(psutil.Process().children())


def operations_of(out: str) -> int:
    """The operations in what a command prints: their number, or a campaign's summary."""
    found = msgspec.json.decode(out)
    return found if isinstance(found, int) else sum(pair["operations"] for pair in found["lanes"])


def spent(cluster: Cluster | None) -> float:
    """The seconds of the processor that ended processes below this one took, and a cluster's."""
    ended = getrusage(RUSAGE_CHILDREN)
    parts = [psutil.Process(p.pid).cpu_times() for p in cluster.parts] if cluster else []
    return ended.ru_utime + ended.ru_stime + sum(sum(times[:4]) for times in parts)


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    sys.stdout.write(str(walked(name, *map(int, numbers))))
