"""What a campaign costs its driver, round after round, if the shards cost nothing.

An executor answers with rows that are made up: as many pairs, rules and machines as a large campaign has, states that
level off, and findings. All else is what `fuzz` does: the rounds are merged, committed to a store, and read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING

from measuring import Cells, Result, Table, resident_bytes

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled
from broker_tck.spark_fuzz.driver.campaign import planned, run, totals_of
from broker_tck.spark_fuzz.driver.manifest import Goal, Manifest, Pair
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
"""Pairs with findings."""
TEXT = 5_000
"""Characters of a finding's document."""
HALF = 20
"""After so many rounds half of all states are reached, after twice as many three quarters."""

ROUNDS, SHARDS, STATES = 3_000, 2_000, 100_000
SECONDS = "processor-seconds a round"
STAGES = (1, 10, 30, 100, 300, 1_000, 3_000, 10_000)
"""After so many rounds the driver is looked at."""


class MadeUp:
    """An executor that walks nothing: the reduced rows of a round follow from its number."""

    name = "made up"

    def __init__(self, manifest: Manifest, states: int) -> None:
        import pyarrow as pa

        self.pairs = manifest.pairs
        rows = [Row(STATE, *self.pair(n), "add", f"{n // len(self.pairs)} {n % 7} {n % 3}", 5) for n in range(states)]
        self.states = table_of(rows)
        self.counts = table_of(row for pair in range(len(self.pairs)) for row in counts_of(*self.pair(pair)))
        self.noise = pa.array([Random(n).randrange(100_000) for n in range(2 * len(self.counts))])
        self.machines = table_of(machines(manifest))

    def pair(self, number: int) -> tuple[str, str]:
        """The subject and profile of a pair."""
        pair = self.pairs[number % len(self.pairs)]
        return pair.subject, pair.profile

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
        for pair in range(BROKEN):
            for shape in range(MOST_SHAPES):
                name = f"round {number}" if shape == 2 else str(shape)
                yield Row(FINDING, *self.pair(pair), "DD-01", f"add get {name}", 9, "7", 20 + shape, "x" * TEXT)


def counts_of(subject: str, profile: str) -> Iterator[Row]:
    """The figures of a pair, and its rules; how much they count differs from round to round."""
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


def rounds(number: int = ROUNDS, shards: int = SHARDS, states: int = STATES) -> Result:
    """What a campaign of many rounds costs its driver. Ten minutes."""
    with TemporaryDirectory() as folder:
        return Result(simulate(f"{folder}/store", number, shards, states))


def simulate(where: str, number: int, shards: int, states: int) -> Table:
    """Make so many rounds of so many shards, which reach so many states in all; the store is left there."""
    contract = next(iter(CONTRACTS.values()))
    pairs = [Pair(s.name, p) for each in CONTRACTS.values() for s in bundled(each) for p in s.profiles]
    goal = Goal(rounds=number)
    sizes = Sizes(shards, 500_000, goal)
    manifest = planned(contract, pairs, sizes, seed=0, walk_seconds=5.0, walk_memory=512, executor=MadeUp.name)
    store, spent, last = Store(where), [], process_time()
    table: dict[str, Cells] = {}

    def told(totals: Totals) -> None:
        nonlocal last
        if totals.rounds:
            spent.append(process_time() - last)
            if totals.rounds in (*STAGES, number):
                table[f"{totals.rounds:,}"] = standing(store, Path(where), median(spent))
                spent.clear()
        last = process_time()

    with store.driven(manifest):
        run(MadeUp(manifest, states), store, goal, told, lambda text: None)
    return table | {f"then, opened to {name}": {SECONDS: [value]} for name, value in reading(where).items()}


def standing(store: Store, folder: Path, seconds: float) -> Cells:
    """How the driver stands: its memory, and the files of its store, the log and what was put together as well."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return {
        SECONDS: [seconds],
        "the driver's memory, MB": [resident_bytes() / 1e6],
        "rows, MB": [live(store) / 1e6],
        "whole store, MB": [sum(sizes) / 1e6],
        "files": [len(sizes)],
    }


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
