"""Rounds on Spark: shards' rows are made and written, then merged with what the rounds before came to.

While a round is merged, the shards of the next one run, and those of the one after it wait for cores: no core waits for
a round's slowest shard. Spark serves what was begun first, so a round is merged when the next one needs no more cores.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from broker_tck.properties.errors import BadInput, Failed
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.store.places import Store, frame
from broker_tck.spark_fuzz.store.rows import (
    FIGURE,
    FINDING,
    FINDINGS,
    REFUSED,
    ROWS,
    STATE,
    STATES,
    SUMMARY,
    UNFIT,
    arrow_schema,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

LANE = ("subject", "profile")
AHEAD = 2
"""How many rounds may have begun while one is merged."""
SummaryRow = dict[str, Any]
Another = Callable[[int], bool]
"""Whether a round, given by its number, is to be made."""
LACKING = re.compile(r"ModuleNotFoundError: (No module named '[\w.]+')")


class Rounds:
    """Makes the rounds of one campaign."""

    def __init__(self, spark: SparkSession, store: Store, manifest: Manifest) -> None:
        self.spark = spark
        self.store = store
        self.manifest = manifest
        self.driver = uuid4().hex
        self.found = store.findings().num_rows > 0

    def made(self, first: int, another: Another, ahead: int = AHEAD) -> Iterator[pa.Table]:
        """Make rounds as long as there is to be another; yields the summary of each as soon as it is whole.

        So many others may have begun by then; 0: whether there is another is known only when a round is whole.
        BadInput where an executor refused.
        """
        line = Line(self.write_rows, first, another)
        try:
            line.begin(1)
            began, number = perf_counter(), first
            while line.rounds:
                ended = line.rounds.popleft().result()
                rows = self.merge(number, lambda: line.begin(ahead))
                if not line.rounds:  # nothing else went on meanwhile
                    ended = perf_counter()
                spent = {"kind": "round", "name": "milliseconds", "count": round(1000 * (ended - began))}
                yield self.finish(number, [*rows, spent])
                began, number = ended, number + 1
                line.begin(max(1, ahead))
        finally:
            line.end()

    def merge(self, number: int, counted: Callable[[], None]) -> list[SummaryRow]:
        """Merge the rows of a round; ``counted`` is called once it is known that they are all there."""
        rows = self.rows(number)
        with ThreadPoolExecutor(2) as beside:  # Spark is idle for the most of each job
            written = [beside.submit(self.write_states, number, rows)]
            if self.found:
                written.append(beside.submit(self.write_findings, number, rows))
            counts = self.counts(rows).toArrow().to_pylist()
            self.check(number, rows, counts)
            counted()
            if not self.found and FINDING in {row["kind"] for row in counts}:
                self.found = True
                written.append(beside.submit(self.write_findings, number, rows))
        new = [row for table in written for row in table.result()]
        return [*(row for row in counts if row["kind"] != FINDING), *new]

    def check(self, number: int, rows: DataFrame, counts: list[SummaryRow]) -> None:
        """BadInput where an executor refused, Failed where rows are missing."""
        kinds = {row["kind"] for row in counts}
        if REFUSED in kinds:
            self.refuse(rows)
        told = {row["shard"] for row in counts} - {None}
        if len(told) != self.manifest.shards:
            shards = f"rows of {len(told)} of {self.manifest.shards} shards"
            raise Failed(f"round {number}: {shards} are in the store; all machines have to see it by one name")

    def write_rows(self, number: int) -> None:
        """Have the shards run. BadInput where the executors' Python lacks what Spark itself needs there."""
        run = task(msgspec.json.encode(self.manifest), number, self.driver)
        shards = self.spark.range(0, self.manifest.shards, 1, self.manifest.shards)
        rows = shards.mapInArrow(run, ROWS).write.mode("overwrite")
        try:
            rows.parquet(self.store.path("rows", f"round={number}"))
        except Exception as error:
            if lacking := LACKING.search(str(error)):
                raise self.refusal(f"the executors' Python: {lacking[1]}") from None
            raise

    def rows(self, number: int) -> DataFrame:
        """The rows that this driver's shards wrote."""
        written = self.spark.read.schema(ROWS).parquet(self.store.path("rows", f"round={number}"))
        return written.where(written.driver == self.driver)

    def refuse(self, rows: DataFrame) -> None:
        """Raise BadInput with what an executor had to say."""
        row = rows.where(rows.kind == REFUSED).limit(1).collect()[0]
        raise BadInput(f"{self.store.where}: {row.text}") if row["name"] == UNFIT else self.refusal(row.text)

    def refusal(self, why: str) -> BadInput:
        """What is said where executors cannot run the shards."""
        return BadInput(f"{self.store.where}: {why}; `fuzz resume` with --ship sends along what it needs")

    def write_states(self, number: int, rows: DataFrame) -> list[SummaryRow]:
        """Merge the round's states with those before; answers with how many it was the first to reach."""
        from pyspark.sql import functions as f

        new = rows.where(rows.kind == STATE).select(*LANE, "name", "key", "count", f.lit(number).alias("round"))
        return self.write("states", number, merged_states(self.with_before(new, "states", STATES, number)))

    def write_findings(self, number: int, rows: DataFrame) -> list[SummaryRow]:
        """Merge the round's findings with those before; answers with how many it was the first to make."""
        from pyspark.sql import functions as f

        columns = [c.split()[0] for c in FINDINGS.split(",")]
        new = rows.where(rows.kind == FINDING).withColumnsRenamed({"name": "rules", "key": "shape"})
        new = new.withColumn("round", f.lit(number)).select(*columns)
        return self.write("findings", number, merged_findings(self.with_before(new, "findings", FINDINGS, number)))

    def with_before(self, new: DataFrame, name: str, columns: str, number: int) -> DataFrame:
        """A round's rows of a merged table, and those of the table as it was before the round, if one was."""
        return frame(self.spark, columns, self.store.slot(name, number)).unionByName(new) if number else new

    def write(self, name: str, number: int, merged: DataFrame) -> list[SummaryRow]:
        """Write a merged table as it is after a round; answers with how much of it is new, by lane."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        new = Observation()
        lanes = self.manifest.lanes
        of_lane = [(merged.subject == lane.subject) & (merged.profile == lane.profile) for lane in lanes]
        counts = [f.count_if(mine & (merged["round"] == number)).alias(str(i)) for i, mine in enumerate(of_lane)]
        observed = merged.coalesce(1).observe(new, *counts)
        observed.write.mode("overwrite").parquet(self.store.slot(name, number + 1))
        found = new.get
        return [
            {"kind": name, "subject": lane.subject, "profile": lane.profile, "name": "", "count": found[str(i)]}
            for i, lane in enumerate(lanes)
            if found[str(i)]
        ]

    def counts(self, rows: DataFrame) -> DataFrame:
        """The round's figures and rules by lane, and what each shard did in which time."""
        from pyspark.sql import functions as f

        kept = rows.where(rows.kind != STATE)
        keys = [kept[name] for name in ("kind", *LANE, "shard", "name")]
        kind, subject, profile, shard, name = keys
        sets = kept.groupingSets([[kind, subject, profile, name], [kind, shard, name]], *keys)
        sums = sets.agg(f.sum("count").alias("count"))
        speeds = (sums.kind == FIGURE) & sums.name.isin("operations", "milliseconds")
        return sums.where(sums.shard.isNull() | speeds)

    def finish(self, number: int, rows: list[SummaryRow]) -> pa.Table:
        """Write what the round came to. With it, the round is whole."""
        import pyarrow as pa

        summary = pa.Table.from_pylist(rows, arrow_schema(SUMMARY))
        self.store.write_table(summary, "summary", f"round={number}")
        return summary


class Line:
    """The rounds that have begun and are not merged, first come, first served."""

    def __init__(self, write: Callable[[int], None], first: int, another: Another) -> None:
        self.write = write
        self.next = first
        self.another = another
        self.threads = ThreadPoolExecutor(AHEAD)
        self.rounds: deque[Future[float]] = deque()
        """Each answers with the time at which its shards had ended."""

    def begin(self, most: int) -> None:
        """Begin one more round, if there is to be another, unless so many have begun."""
        if len(self.rounds) < most and self.another(self.next):
            self.rounds.append(self.threads.submit(self.run, self.next))
            self.next += 1

    def run(self, number: int) -> float:
        """Have the shards of a round run; answers with the time at which they had ended."""
        self.write(number)
        return perf_counter()

    def end(self) -> None:
        """Wait for none of them: what they do ends with the session."""
        self.threads.shutdown(wait=False, cancel_futures=True)


def merged_states(states: DataFrame) -> DataFrame:
    """States as one row each, with the round in which each was first reached."""
    from pyspark.sql import functions as f

    groups = states.groupBy(*LANE, "name", "key")
    return groups.agg(f.sum("count").alias("count"), f.min("round").alias("round"))


def merged_findings(findings: DataFrame) -> DataFrame:
    """Findings as one row for all that are alike: how many, where the first was, and the shortest trace."""
    from pyspark.sql import functions as f

    first = f.min(f.struct("round", "shard", "walk")).alias("first")
    shortest = f.min_by(f.struct("length", "text"), f.struct("length", "round", "shard", "walk")).alias("shortest")
    groups = findings.groupBy(*LANE, "rules", "shape").agg(f.sum("count").alias("count"), first, shortest)
    return groups.select(*LANE, "rules", "shape", "count", "first.*", "shortest.*")


def new_in_rounds(known: DataFrame, name: str) -> DataFrame:
    """How many states, or findings, each round was the first to see, by lane, as rows of a summary."""
    from pyspark.sql import functions as f

    counts = known.groupBy(*LANE, "round").agg(f.count("*").alias("count"))
    words = f.lit(name).alias("kind"), *LANE, f.lit(None).cast("int").alias("shard"), f.lit("").alias("name")
    return counts.select(*words, "count", "round")


def task(manifest: bytes, number: int, driver: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a task runs. It is sent by value: an executor without the kit shall say so, not fail to load it."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import socket
        import sys

        import pyarrow as pa

        for batch in batches:
            for shard in batch.column(0).to_pylist():
                try:
                    from broker_tck.spark_fuzz.worker.task import shard_batches
                except ImportError as error:
                    yield refusal(pa, shard, f"the executor on {socket.gethostname()}, {sys.executable}: {error}")
                    return
                yield from shard_batches(manifest, number, shard, driver)

    def refusal(pa: Any, shard: int, text: str) -> Any:
        row = {"driver": driver, "shard": shard, "kind": "refused", "count": 0, "length": 0, "text": text}
        types = {"shard": pa.int32(), "count": pa.int64(), "length": pa.int32()}
        names = ["driver", "shard", "kind", "subject", "profile", "name", "key", "count", "walk", "length", "text"]
        schema = pa.schema([(name, types.get(name, pa.string())) for name in names])
        return pa.RecordBatch.from_pylist([row], schema)

    return run
