"""A task of Spark: it hands its shards to a worker process, and the worker's answers to Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import pyarrow as pa

from broker_tck.spark_fuzz.store.rows import ROWS, Row, arrow_schema
from broker_tck.spark_fuzz.worker.process import Failure

AT_A_TIME = 5_000
"""How many rows are handed over together."""
SCHEMA = arrow_schema(ROWS)

_workers: list[Worker] = []
"""The worker of this process, which Spark uses for one task after the other."""


class Worker:
    """A worker process. It ends with this one, however this one ends: its input does."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "broker_tck.spark_fuzz.worker.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def rows(self, request: bytes) -> Iterator[Row]:
        """The rows that answer a request. RuntimeError where the worker failed or died."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(request + b"\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line == b"[]\n":
                return
            answer = msgspec.json.decode(line, type=Failure | list[Any])
            yield row_of(answer)
        raise RuntimeError(f"the worker process ended with status {self.process.wait()}")


def row_of(answer: Failure | list[Any]) -> Row:
    """An answer of the worker. RuntimeError where it says that the kit failed."""
    if isinstance(answer, list):
        return Row(*answer)
    raise RuntimeError(answer.text)


def worker() -> Worker:
    """The worker of this process, a new one where there is none or it has died."""
    if _workers and _workers[0].process.poll() is not None:
        _workers.clear()
    if not _workers:
        _workers.append(Worker())
    return _workers[0]


def shard_batches(manifest: bytes, round_number: int, shard: int, driver: str) -> Iterator[pa.RecordBatch]:
    """The rows of a shard as Arrow batches."""
    request = b'{"manifest":%b,"round":%d,"shard":%d}' % (manifest, round_number, shard)
    rows = worker().rows(request)
    while some := list(islice(rows, AT_A_TIME)):
        yield batch_of(some, shard, driver)


def batch_of(rows: list[Row], shard: int, driver: str) -> pa.RecordBatch:
    """Rows as one Arrow batch."""
    columns = [[driver] * len(rows), [shard] * len(rows), *zip(*map(msgspec.structs.astuple, rows), strict=True)]
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
