"""A shard as a task: it is handed to a worker process, whose answers become rows of Arrow."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import Any

import msgspec
import pyarrow as pa

from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.store.rows import FIGURE, MACHINE, ROWS, UNFINISHED, Row, arrow_schema
from broker_tck.spark_fuzz.worker.process import Failure
from broker_tck.spark_fuzz.worker.shard import shard_seed

SCHEMA = arrow_schema(ROWS)


class Worker:
    """A worker process, for one shard after the other. It ends with this process, however this one ends."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def batch(self, manifest: bytes, number: int, shard: int) -> pa.RecordBatch:
        """The rows of a shard; if it was not finished, the one row that says why."""
        decoded = msgspec.json.decode(manifest, type=Manifest)
        try:
            request = b'{"manifest":%b,"round":%d,"shard":%d}\n' % (manifest, number, shard)
            rows = self.answered(request, decoded.shard_seconds)
        except (RuntimeError, OSError) as error:
            self.end()
            rows = [unfinished(decoded, number, shard, str(error))]
        return batch_of([*rows, *machine(rows)], shard)

    def answered(self, request: bytes, seconds: float) -> list[Row]:
        """The rows that answer a request. RuntimeError if the worker fails, ends, or takes longer."""
        process = self.running()
        assert process.stdin
        assert process.stdout
        alarm = threading.Timer(seconds, process.kill)
        alarm.start()
        rows: list[Row] = []
        try:
            process.stdin.write(request)
            process.stdin.flush()
            for line in process.stdout:
                if line == b"[]\n":
                    return rows
                rows.append(row_of(msgspec.json.decode(line, type=Failure | list[Any])))
            late = alarm.finished.is_set()
        finally:
            alarm.cancel()
        if late:
            raise RuntimeError(f"it took more than {seconds:,.0f} seconds")
        raise RuntimeError(f"its process ended with status {process.wait()}")

    def running(self) -> subprocess.Popen[bytes]:
        """The process, a new one if there is none or it has ended."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "broker_tck.spark_fuzz.worker.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        return self.process

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def row_of(answer: Failure | list[Any]) -> Row:
    """An answer of the worker. RuntimeError if it says that the kit failed."""
    if isinstance(answer, list):
        return Row(*answer)
    raise RuntimeError(f"the kit failed: {answer.text}")


def unfinished(manifest: Manifest, number: int, shard: int, why: str) -> Row:
    """The row of a shard that was not finished."""
    return Row(UNFINISHED, "", "", why, f"round {number}, shard {shard}, seed {shard_seed(manifest, number, shard)}", 1)


def machine(rows: list[Row]) -> list[Row]:
    """What this machine did in a shard, as rows."""
    host, figures = socket.gethostname(), [row for row in rows if row.kind == FIGURE]
    done = {name: sum(row.count for row in figures if row.name == name) for name in ("operations", "milliseconds")}
    return [Row(MACHINE, "", "", name, host, count) for name, count in {"shards": 1, **done}.items() if figures]


def batch_of(rows: list[Row], shard: int) -> pa.RecordBatch:
    """Rows as one Arrow batch."""
    columns = [*zip(*map(msgspec.structs.astuple, rows), strict=True), [shard] * len(rows)]
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
