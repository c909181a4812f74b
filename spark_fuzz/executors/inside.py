"""What runs inside an executor of Spark: a task's shard, by a worker that all tasks of its Python process share."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from broker_tck.spark_fuzz.store.rows import REFUSED, UNFINISHED, trouble
from broker_tck.spark_fuzz.worker.task import Worker, batch_of

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS = 3
"""A task that was begun so often, and did not end, is answered for without walking: it may end its executors."""


def answer(manifest: bytes, number: int, shard: int, refusals: Collection[str]) -> pa.RecordBatch:
    """The rows of a shard. RuntimeError if this executor refuses it, and has been named for that before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() >= ATTEMPTS:
        why = f"Spark began it {ATTEMPTS} times, and it did not end"
        return batch_of([trouble(UNFINISHED, why, shard)], shard)
    rows = worker().batch(manifest, number, shard)
    if rows["kind"][0].as_py() == REFUSED and (text := rows["name"][0].as_py()) in refusals:
        raise RuntimeError(text)
    return rows


@cache
def worker() -> Worker:
    """The worker of this process, which Spark uses for one task after the other."""
    return Worker()
