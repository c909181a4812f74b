"""A shard as a task: it is handed to a worker process, whose answers become rows of Arrow."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from threading import TIMEOUT_MAX, Event, Lock, Timer

import msgspec
import pyarrow as pa

from broker_tck.spark_fuzz.driver.manifest import RACES, WALKS, Manifest
from broker_tck.spark_fuzz.store.rows import FIGURE, MACHINE, ROWS, UNFINISHED, Row, arrow_schema, trouble

SCHEMA = arrow_schema(ROWS)


class Worker:
    """A worker process, for one shard after the other. It ends with this process, however this one ends."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.starting = Lock()
        self.over = False

    def batch(self, manifest: bytes, number: int, shard: int) -> pa.RecordBatch:
        """The rows of a shard; if it was not finished, the one row that says why."""
        request = b'{"manifest":%b,"round":%d,"shard":%d}\n' % (manifest, number, shard)
        try:
            rows = self.answered(request, msgspec.json.decode(manifest, type=Manifest).shard_seconds)
        except (RuntimeError, OSError) as error:
            self.end()
            rows = [trouble(UNFINISHED, str(error), shard)]
        if rows[0].kind == FIGURE:  # it was walked
            rows += machine(rows)
        return batch_of(rows, shard)

    def answered(self, request: bytes, seconds: float) -> list[Row]:
        """The rows that answer a request. Raises RuntimeError if the worker ends or takes longer."""
        process, late = self.running(), Event()
        assert process.stdin
        assert process.stdout

        def stop() -> None:
            late.set()
            process.kill()

        alarm = Timer(min(seconds, TIMEOUT_MAX), stop)
        alarm.start()
        try:
            with suppress(BrokenPipeError):  # it has ended, which its output tells as well
                process.stdin.write(request)
                process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            alarm.cancel()
        if answer.endswith(b"\n"):
            return msgspec.json.decode(answer, type=list[Row])
        if late.is_set():
            raise RuntimeError(f"it took more than {seconds:,.0f} seconds")
        raise RuntimeError(f"its process ended with status {process.wait()}")

    def running(self) -> subprocess.Popen[bytes]:
        """The process; a new one if there is none, or if it ended. Raises RuntimeError if this worker was closed."""
        with self.starting:
            if self.over:
                raise RuntimeError("its executor has ended")
            if self.process is None or self.process.poll() is not None:
                self.close()
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "broker_tck.spark_fuzz.worker.process"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    process_group=0,  # a terminal interrupts the driver alone, which ends this one
                )
            return self.process

    def end(self, *, for_good: bool = False) -> None:
        """End the process; for good: no other one is started after it."""
        with self.starting:
            self.over |= for_good
            self.close()

    def close(self) -> None:
        """End the process, if there is one, and close what connected this one with it."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def machine(rows: list[Row]) -> list[Row]:
    """The work of this machine in a shard, as rows."""
    done: Counter[str] = Counter(shards=1)
    for row in rows:
        if row.kind == FIGURE:
            done[row.name] += row.count
    names = ("shards", WALKS.steps, RACES.steps, "milliseconds")
    return [Row(MACHINE, "", "", name, socket.gethostname(), done[name]) for name in names if name in done]


def batch_of(rows: list[Row], shard: int) -> pa.RecordBatch:
    """Rows as one Arrow batch."""
    columns = [*zip(*map(msgspec.structs.astuple, rows), strict=True), [shard] * len(rows)]
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
