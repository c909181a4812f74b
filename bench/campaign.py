"""``bench campaign``: what Spark and isolation cost, measured in turns: the same walks plain, isolated, and on Spark.

Each way has a process of its own, which makes a few rounds whenever it is told to and is stopped otherwise: Java is
never quite idle. Walks are unequal, and so are rounds; ways are compared by how long they take over the same shards of
the same rounds.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from time import perf_counter

import msgspec

from broker_tck.bench.loopback import Cluster
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.run import Run, checked
from broker_tck.properties.engine.subjects import bundled, resolve
from broker_tck.spark_fuzz.driver.campaign import planned
from broker_tck.spark_fuzz.driver.manifest import Goal, Lane, Manifest
from broker_tck.spark_fuzz.driver.rounds import Rounds
from broker_tck.spark_fuzz.executors.session import session
from broker_tck.spark_fuzz.store.places import Folder
from broker_tck.spark_fuzz.worker.shard import COUNTED, SHARDS_A_CORE, shard_rows, shard_seed

ONE, TWO = "one plain process", "two plain processes"
ISOLATED = "one process, isolated"
LOCAL_1, LOCAL_2, STANDALONE = "local[1]", "local[2]", "standalone, 2 workers"
PROCESSES = {ONE: 1, TWO: 2, ISOLATED: 1, LOCAL_1: 1, LOCAL_2: 2, STANDALONE: 2}
NOTES = {
    ONE: "the walks alone, as `broker-tck walk` makes them",
    TWO: "half of the walks each, at the same time: what the cores can do",
    ISOLATED: "subjects in processes of their own, a batch of walks each",
    LOCAL_1: "with Spark: rows written as Parquet, merged with all before",
    LOCAL_2: "likewise",
    STANDALONE: "likewise, on a cluster on this machine",
}
STOPPED = "3600s"
"""For so long may a process be stopped before Spark takes it for dead."""
CALIBRATION = 200_000
"""Operations that tell how many a round of so many seconds makes."""


class Turn(msgspec.Struct):
    """Rounds of one way, one after the other, or a part of them: the shards of one core."""

    operations: int
    seconds: float


class Way(msgspec.Struct):
    """What one way of making walks came to."""

    name: str
    processes: int
    median: float
    """Operations a second, as low and high."""
    low: float
    high: float
    times: float
    """As many times one plain process over the same walks; the median of the turns."""
    times_by_turn: list[float]
    note: str


class Size(msgspec.Struct):
    """What a campaign writes."""

    rows_a_million: float
    """Rows that shards answer with, for each million operations."""
    bytes_a_million: float
    summary_bytes_a_round: float
    states: int
    states_bytes: int
    """All states reached, as they are kept beside the rounds."""


class Result(msgspec.Struct):
    """What ``bench campaign`` measured."""

    subjects: list[str]
    operations: int
    """Operations of a shard in a round."""
    rounds: int
    """How many make a turn."""
    turns: int
    ways: list[Way]
    isolation: float
    """The share of the time that isolation takes, with one process."""
    spark_and_isolation: float
    """The share that both take, with one core."""
    two_cores: float
    """Two local cores of Spark to one plain process."""
    of_two_processes: float
    """Two local cores of Spark to two plain processes."""
    size: Size


def manifest_of(operations: int, shards: int, seed: int = 1) -> Manifest:
    """A campaign over all bundled subjects."""
    contract = next(iter(CONTRACTS.values()))
    lanes = [Lane(s.name, p) for s in bundled(contract) for p in s.profiles]
    return planned(
        contract,
        lanes,
        Goal(),
        seed=seed,
        shards=shards,
        operations=operations,
        walk_seconds=5.0,
        walk_memory=512,
        master="",
    )


def plain_shard(manifest: Manifest, number: int, shard: int) -> int:
    """The walks of a shard in this very process; answers with their operations."""
    total = 0
    for lane in manifest.lanes:
        run = Run(resolve(lane.subject), lane.profile, shard_seed(manifest, number, shard))
        for _ in checked(run, range(2**62), COUNTED, COUNTED):
            if run.operations >= manifest.operations // len(manifest.lanes):
                break
        total += run.operations
    return total


def isolated_shard(manifest: Manifest, number: int, shard: int) -> int:
    """The same walks in processes of their own."""
    return sum(row.count for row in shard_rows(manifest, number, shard) if row.name == "operations")


# ---- A way's process: it makes rounds for each line that it reads

Make = Callable[[range], Turn]
"""Makes rounds, given by their numbers."""


def serve(way: str, operations: int, core: int, where: str, master: str) -> None:
    """Make rounds, or a core's part of them, as long as there are lines to read."""
    with ExitStack() as stack:
        manifest = manifest_of(operations, SHARDS_A_CORE * PROCESSES[way])
        make: Make
        if way in (ONE, TWO, ISOLATED):
            make = on_its_own(isolated_shard if way == ISOLATED else plain_shard, manifest, core)
        else:
            make = stack.enter_context(on_spark(manifest, where, master))
        gc.freeze()  # as in a worker
        for line in sys.stdin:
            sys.stdout.write(msgspec.json.encode(make(range(*map(int, line.split())))).decode() + "\n")
            sys.stdout.flush()


def on_its_own(run: Callable[[Manifest, int, int], int], manifest: Manifest, core: int) -> Make:
    """The shards of one core, without Spark."""
    shards = range(core * SHARDS_A_CORE, (core + 1) * SHARDS_A_CORE)

    def make(rounds: range) -> Turn:
        began = perf_counter()
        operations = sum(run(manifest, number, shard) for number in rounds for shard in shards)
        return Turn(operations, perf_counter() - began)

    return make


@contextmanager
def on_spark(manifest: Manifest, where: str, master: str) -> Iterator[Make]:
    """Rounds of a campaign. Spark lets idle processes of Python go, so each turn begins with a few walks unmeasured."""
    store, before = Folder(where), Folder(f"{where}-before")
    store.create(manifest)
    before.create(few := msgspec.structs.replace(manifest, operations=1))
    settings = {"spark.driver.host": "127.0.0.1", "spark.network.timeout": STOPPED}
    with session(master, settings, sys.executable, Path(where) / "driver.log") as spark:
        campaign, waking = Rounds(spark, store, manifest), Rounds(spark, before, few)

        def make(rounds: range) -> Turn:
            next(waking.made(rounds.start, lambda number: number == rounds.start))
            began = perf_counter()
            summaries = list(campaign.made(rounds.start, lambda number: number < rounds.stop))
            seconds = perf_counter() - began
            rows = [row for summary in summaries for row in summary.to_pylist()]
            return Turn(sum(r["count"] for r in rows if r["name"] == "operations" and r["subject"]), seconds)

        yield make


# ---- The bench


class Process:
    """The process of a way, or of one core of it."""

    def __init__(self, way: str, operations: int, core: int, where: str, master: str) -> None:
        arguments = [way, str(operations), str(core), where, master]
        command = [sys.executable, "-m", "broker_tck.bench.campaign", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0
        )

    def signal(self, number: int) -> None:
        """Send a signal to it and to Java below it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def tell(self, rounds: range) -> None:
        """Have it make its part of rounds."""
        assert self.process.stdin
        self.process.stdin.write(f"{rounds.start} {rounds.stop}\n")
        self.process.stdin.flush()

    def turn(self) -> Turn:
        """What its part came to."""
        assert self.process.stdout
        return msgspec.json.decode(self.process.stdout.readline(), type=Turn)

    def end(self) -> None:
        """Have it end."""
        self.signal(signal.SIGCONT)
        self.process.communicate()


@contextmanager
def going(parts: Sequence[Process | Cluster]) -> Iterator[None]:
    """Have these go on while the block runs, and stop them after it."""
    for part in parts:
        part.signal(signal.SIGCONT)
    yield
    for part in parts:
        part.signal(signal.SIGSTOP)


def made(way: str, processes: Sequence[Process], rounds: range) -> list[Turn]:
    """Rounds of a way, as one turn; of one plain process a turn for each core, one after the other."""
    if way == ONE:
        return [turn for process in processes for turn in made("", [process], rounds)]
    for process in processes:
        process.tell(rounds)
    turns = [process.turn() for process in processes]
    return [Turn(sum(t.operations for t in turns), max(t.seconds for t in turns))]


def campaign(seconds: float, rounds: int, count: int, tell: Callable[[int, str], None]) -> Result:
    """Measure every way in so many turns, each of so many rounds of about so many seconds."""
    operations = calibrated(seconds)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-tck-")))
        os.environ["SPARK_MASTER_OPTS"] = f"-Dspark.worker.timeout={STOPPED.removesuffix('s')}"
        cluster = stack.enter_context(Cluster(folder / "cluster", workers=2))
        masters = {LOCAL_1: LOCAL_1, LOCAL_2: LOCAL_2, STANDALONE: cluster.url}
        ways: dict[str, list[Process]] = {}
        for way in PROCESSES:
            cores = range(2) if way in (ONE, TWO) else range(1)
            where = str(folder / str(len(ways)))
            ways[way] = [Process(way, operations, core, where, masters.get(way, "")) for core in cores]
            for process in ways[way]:
                stack.callback(process.end)
        stack.callback(cluster.signal, signal.SIGCONT)
        turns: dict[str, list[list[Turn]]] = {way: [] for way in ways}
        for number in range(count + 1):
            numbers = (
                range(1 + (number - 1) * rounds, 1 + number * rounds) if number else range(1)
            )  # a round to warm up
            for way, processes in ways.items():
                tell(number, way)
                parts: list[Process | Cluster] = [*processes, *[cluster] * (way == STANDALONE)]
                with going(parts):
                    turn = made(way, processes, numbers)
                if number:
                    turns[way].append(turn)
        size = size_of(Folder(str(folder / str(list(ways).index(LOCAL_2)))))
    return result(operations, rounds, turns, size)


def calibrated(seconds: float) -> int:
    """How many operations a shard makes, where a core makes all of its shards in about so many seconds."""
    manifest = manifest_of(CALIBRATION, 1)
    plain_shard(manifest, 0, 0)
    began = perf_counter()
    done = plain_shard(manifest, 1, 0)
    return 10_000 * max(1, round(done / (perf_counter() - began) * seconds / SHARDS_A_CORE / 10_000))


def result(operations: int, rounds: int, turns: dict[str, list[list[Turn]]], size: Size) -> Result:
    """The figures of all ways."""
    rates = {way: [t.operations / t.seconds for turn in found for t in turn] for way, found in turns.items()}
    times_by_turn = {way: [*map(times_plain, turns[ONE], found)] for way, found in turns.items()}
    times = {way: median(found) for way, found in times_by_turn.items()}
    return Result(
        subjects=[lane.subject for lane in manifest_of(1, 1).lanes],
        operations=operations,
        rounds=rounds,
        turns=len(turns[ONE]),
        ways=[
            Way(way, PROCESSES[way], median(found), min(found), max(found), times[way], times_by_turn[way], NOTES[way])
            for way, found in rates.items()
        ],
        isolation=1 - times[ISOLATED],
        spark_and_isolation=1 - times[LOCAL_1],
        two_cores=times[LOCAL_2],
        of_two_processes=median(
            two[0].seconds / cores[0].seconds for two, cores in zip(turns[TWO], turns[LOCAL_2], strict=True)
        ),
        size=size,
    )


def times_plain(plain: list[Turn], turn: list[Turn]) -> float:
    """How many times as fast a turn was as one plain process over the same walks."""
    operations = sum(t.operations for t in turn)
    of_one_core = operations < sum(t.operations for t in plain)
    return sum(t.seconds for t in (plain[:1] if of_one_core else plain)) / sum(t.seconds for t in turn)


def size_of(store: Folder) -> Size:
    """What a campaign has written."""
    import pyarrow.parquet as pq

    def parts(name: str) -> list[Path]:
        return sorted((store.folder / name).rglob("*.parquet"))

    summary = store.summary().to_pylist()
    operations = sum(r["count"] for r in summary if r["name"] == "operations" and r["subject"])
    states = max(parts("states"), key=lambda part: part.stat().st_mtime)
    return Size(
        rows_a_million=sum(pq.read_metadata(part).num_rows for part in parts("rows")) / operations * 1e6,
        bytes_a_million=sum(part.stat().st_size for part in parts("rows")) / operations * 1e6,
        summary_bytes_a_round=sum(part.stat().st_size for part in parts("summary")) / store.rounds(),
        states=pq.read_metadata(states).num_rows,
        states_bytes=states.stat().st_size,
    )


if __name__ == "__main__":
    name, count, place, folder, url = sys.argv[1:]
    serve(name, int(count), int(place), folder, url)
