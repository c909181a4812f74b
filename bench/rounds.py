"""``bench rounds``: what a campaign costs its driver, round after round, if the shards cost nothing.

An executor answers with rows that are made up: as many lanes, rules and machines as a large campaign has, states that
level off, and findings. All else is what `fuzz` does: the rounds are merged, committed to a store, and read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import msgspec

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled
from broker_tck.spark_fuzz.driver.campaign import planned, run, totals_of
from broker_tck.spark_fuzz.driver.manifest import Goal, Lane, Manifest
from broker_tck.spark_fuzz.driver.rounds import Rounds
from broker_tck.spark_fuzz.driver.sizes import Sizes
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.store.reduce import MOST_SHAPES
from broker_tck.spark_fuzz.store.rows import (
    FIGURE,
    FINDING,
    MACHINE,
    ROWS,
    RULE,
    RULE_WALKS,
    STATE,
    TABLES,
    Row,
    arrow_schema,
)
from broker_tck.spark_fuzz.store.tables import Store
from broker_tck.spark_fuzz.worker.task import batch_of

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

RULES = 60
MACHINES = 100
BROKEN = 3
"""Lanes with findings."""
TEXT = 5_000
"""Characters of a finding's document."""
HALF = 20
"""After so many rounds half of all states are reached, after twice as many three quarters."""

STAGES = (1, 10, 30, 100, 300, 1_000, 3_000, 10_000)
"""After so many rounds the driver is looked at."""


class Stage(msgspec.Struct):
    """How the driver stands after so many rounds."""

    rounds: int
    seconds: float
    """Of the processor for a round: the median since the stage before."""
    most: float
    resident: int
    """Bytes of the driver's memory."""
    live: int
    """Bytes of the rows in the store."""
    store: int
    """Bytes of all its files: also the log, and what was put together in the last hour."""
    files: int


class Result(msgspec.Struct):
    """What ``bench rounds`` measured."""

    shards: int
    lanes: int
    states: int
    stages: list[Stage]
    reading: dict[str, float]
    """Seconds until the store, opened anew, is ready to go on, to be watched, and to be reported."""


class MadeUp:
    """An executor that walks nothing: the reduced rows of a round follow from its number."""

    name = "made up"

    def __init__(self, manifest: Manifest, states: int) -> None:
        import pyarrow as pa

        self.lanes = manifest.lanes
        rows = [Row(STATE, *self.lane(n), "add", f"{n // len(self.lanes)} {n % 7} {n % 3}", 5) for n in range(states)]
        self.states = table_of(rows)
        self.counts = table_of(row for lane in range(len(self.lanes)) for row in counts_of(*self.lane(lane)))
        self.noise = pa.array([Random(n).randrange(100_000) for n in range(2 * len(self.counts))])
        self.machines = table_of(machines(manifest))

    def lane(self, number: int) -> tuple[str, str]:
        """The subject and profile of a lane."""
        lane = self.lanes[number % len(self.lanes)]
        return lane.subject, lane.profile

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The rows of a round. Half of all states are met in each, the others once, in the round that reaches them."""
        half = len(self.states) // 2
        before, after = (half + round(half * (1 - 0.5 ** (n / HALF))) for n in (number, number + 1))
        count = self.counts.schema.get_field_index("count")
        noise = self.noise.slice(number % len(self.counts), len(self.counts))
        counts = self.counts.set_column(count, "count", noise)
        states = self.states.slice(0, half), self.states.slice(before, after - before)
        for rows in (counts, self.machines, table_of(self.findings(number)), *states):
            yield from rows.to_batches()

    def findings(self, number: int) -> Iterator[Row]:
        """The findings of a round: shapes that each round has, and one that it alone has."""
        for lane in range(BROKEN):
            for shape in range(MOST_SHAPES):
                name = f"round {number}" if shape == 2 else str(shape)
                yield Row(FINDING, *self.lane(lane), "DD-01", f"add get {name}", 9, "7", 20 + shape, "x" * TEXT)


def counts_of(subject: str, profile: str) -> Iterator[Row]:
    """The figures of a lane, and its rules; how much they count differs from round to round."""
    for name in ("walks", "operations", "counted", "failing", "milliseconds"):
        yield Row(FIGURE, subject, profile, name)
    for kind in (RULE, RULE_WALKS):
        for rule in range(RULES):
            yield Row(kind, subject, profile, f"R-{rule:02}")


def machines(manifest: Manifest) -> Iterator[Row]:
    """What each machine did in a round."""
    for number in range(MACHINES):
        shards = len(range(number, manifest.shards, MACHINES))
        done = {"shards": shards, "operations": shards * manifest.operations, "milliseconds": 9_000 * shards}
        for name, count in done.items():
            yield Row(MACHINE, "", "", name, f"worker-{number}", count)


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Rows as a table of Arrow."""
    import pyarrow as pa

    return pa.Table.from_batches([batch_of([*rows], 0)], arrow_schema(ROWS))


def simulate(
    where: str, rounds: int, shards: int, states: int, tell: Callable[[int], None] = lambda number: None
) -> Result:
    """Make so many rounds of so many shards, which reach so many states in all; the store is left there."""
    contract = next(iter(CONTRACTS.values()))
    lanes = [Lane(s.name, p) for each in CONTRACTS.values() for s in bundled(each) for p in s.profiles]
    goal = Goal(rounds=rounds)
    sizes = Sizes(shards, 500_000, goal)
    manifest = planned(contract, lanes, sizes, seed=0, walk_seconds=5.0, walk_memory=512, executor=MadeUp.name)
    store, stages, spent, last = Store(where), [], [], process_time()

    def told(totals: Totals) -> None:
        nonlocal last
        if number := totals.rounds:
            spent.append(process_time() - last)
            if number in STAGES or number == rounds:
                middle, most = median(spent), max(spent)
                stages.append(Stage(number, middle, most, resident(), live(store), *size_of(Path(where))))
                spent.clear()
        tell(number)
        last = process_time()

    with store.driven(manifest):
        run(MadeUp(manifest, states), store, goal, told, lambda text: None)
    return Result(shards, len(lanes), states, stages, reading(where))


def reading(where: str) -> dict[str, float]:
    """How long it takes to open a store for each purpose, in seconds of the processor."""
    found: dict[str, float] = {}

    @contextmanager
    def timed(name: str) -> Iterator[Store]:
        began = process_time()
        yield Store(where)
        found[name] = process_time() - began

    with timed("resume") as store:
        totals_of(store)
        Rounds(MadeUp(store.manifest, 1), store, lambda text: None)
    with timed("watch") as store:
        totals_of(store)
        store.driver()
    with timed("report") as store:
        store.figures()
        findings = store.findings().to_pylist()
        store.texts([(row["subject"], row["profile"], row["rules"], row["shape"]) for row in findings])
    return found


def live(store: Store) -> int:
    """The bytes of the files that its tables have now."""
    tables = [table for name in TABLES if (table := store.table(name))]
    return sum(sum(sizes_of(table)) for table in tables)


def sizes_of(table: DeltaTable) -> list[int]:
    """The bytes of a table's files."""
    import pyarrow as pa

    sizes: list[int] = pa.table(table.get_add_actions(flatten=True))["size_bytes"].to_pylist()
    return sizes


def resident() -> int:
    """The bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def size_of(folder: Path) -> tuple[int, int]:
    """The bytes of the files below a folder, and how many they are."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes), len(sizes)
