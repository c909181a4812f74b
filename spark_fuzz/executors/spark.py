"""Spark as the executor: a shard is a task, and DataFrames reduce a round's rows before they reach the driver."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.compute as pc

from broker_tck.properties.errors import BadInput, Failed
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.executors import SPARK
from broker_tck.spark_fuzz.store.reduce import MOST_SHAPES, OTHERS
from broker_tck.spark_fuzz.store.rows import FINDING, KEYS, REFUSED, ROWS, UNFINISHED, names, trouble
from broker_tck.spark_fuzz.worker.task import SCHEMA, Worker, batch_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

TRIES = 3
"""A job is given up after this number of failures in a row."""
ATTEMPTS = 3
"""A task that was started this often and never ended is given up without walking, as it may end its executors."""
FULL = re.compile("No space left on device|Disk quota exceeded|File too large")
"""Errors that another try would not avoid."""
LACKING = re.compile(r"ModuleNotFoundError: (No module named '[\w.]+')")


class Spark:
    """A session of Spark."""

    way = SPARK

    def __init__(self, session: SparkSession, name: str) -> None:
        self.session = session
        self.name = name
        self.refusals: frozenset[str] = frozenset()
        """The reasons of executors that refused so far. Tasks that refuse again fail, so Spark excludes these."""

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Run shards of a round; yields their reduced rows. Raises BadInput if an executor's Python lacks a library."""
        for tried in range(1, TRIES + 1):
            try:
                rows = self.rows(manifest, number, shards).toArrow()
                break
            except ConnectionError:
                raise Failed("the Java process of the Spark driver has ended") from None
            except Exception as error:
                if lacking := LACKING.search(str(error)):
                    raise BadInput(f"the executors' Python: {lacking[1]}") from None
                if known := sorted(
                    text for text in self.refusals if text in str(error)
                ):  # none is left that does not refuse
                    yield from (batch_of([trouble(REFUSED, known[0], shard)], shard) for shard in shards)
                    return
                if tried == TRIES or FULL.search(str(error)):
                    raise
        self.refusals |= {*rows.filter(pc.equal(rows["kind"], REFUSED))["name"].to_pylist()}
        yield from rows.to_batches()

    def rows(self, manifest: Manifest, number: int, shards: Sequence[int]) -> DataFrame:
        """The reduced rows of shards, each of which is a task."""
        run = task(msgspec.json.encode(manifest), number, [*shards], self.refusals)
        count = len(shards)
        return reduced(self.session.range(0, count, 1, count).mapInArrow(run, ROWS))


def reduced(rows: DataFrame) -> DataFrame:
    """The rows of a round, one for all that have their keys in common, as `reduce.reduced` has them."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    first, short = f.min(f.struct("shard", "walk")), f.min(f.struct("length", "text"))
    groups = rows.groupBy(*KEYS).agg(f.sum("count").alias("count"), first.alias("first"), short.alias("short"))
    # What a window compares stays within Spark's own engine: a group of rows in Python would cost a process more.
    key = f.col("key")
    rank = [key == OTHERS, ~key.endswith("]"), f.length(key), key]
    place = f.row_number().over(Window.partitionBy("kind", "subject", "profile", "name").orderBy(*rank))
    left = (f.col("kind") == FINDING) & (f.col("place") > MOST_SHAPES)
    pooled = groups.withColumn("place", place).withColumn("key", f.when(left, OTHERS).otherwise(key))
    sums = pooled.groupBy(*KEYS).agg(f.sum("count").alias("count"), *(f.min(n).alias(n) for n in ("first", "short")))
    return sums.select(*KEYS, "count", "first.walk", "short.length", "short.text", "first.shard").select(*names(ROWS))


def task(
    manifest: bytes, number: int, shards: list[int], refusals: frozenset[str]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function of a task. It is sent by value, so an executor without the kit can report that."""
    (refused,), schema = batch_of([trouble(REFUSED, "", 0)], 0).to_pylist(), SCHEMA

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                try:
                    from broker_tck.spark_fuzz.executors.spark import answer
                except ImportError as error:
                    yield refusal(shards[index], str(error))
                    return
                yield answer(manifest, number, shards[index], refusals)

    def refusal(shard: int, why: str) -> pa.RecordBatch:
        import socket
        import sys

        import pyarrow as pa

        text = f"the executor on {socket.gethostname()}, {sys.executable}: {why}"
        if text in refusals:
            raise RuntimeError(text)
        row = {**refused, "name": text, "key": f"shard {shard}", "shard": shard}
        return pa.RecordBatch.from_pylist([row], schema)

    return run


# ---- In an executor


def answer(manifest: bytes, number: int, shard: int, refusals: Collection[str]) -> pa.RecordBatch:
    """The rows of a shard. Raises RuntimeError if this executor refuses it, and has been named for that before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() >= ATTEMPTS:
        return batch_of(
            [trouble(UNFINISHED, f"Spark started it {ATTEMPTS} times, and it never finished", shard)], shard
        )
    rows = worker().batch(manifest, number, shard)
    if rows["kind"][0].as_py() == REFUSED and (text := rows["name"][0].as_py()) in refusals:
        raise RuntimeError(text)
    return rows


@cache
def worker() -> Worker:
    """The worker of this process, which Spark uses for one task after the other."""
    return Worker()
