"""Processes of this machine as the executor: as many workers as there are cores, each on one shard at a time."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.executors import PROCESSES
from broker_tck.spark_fuzz.worker.task import Worker

if TYPE_CHECKING:
    import pyarrow as pa


class Processes:
    """So many worker processes. Shards are served first come, first served."""

    way = PROCESSES

    def __init__(self, number: int) -> None:
        self.name = f"{number} processes"
        self.threads = ThreadPoolExecutor(number)
        self.workers = [Worker() for _ in range(number)]
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.workers:
            self.idle.put(worker)

    def run(self, manifest: Manifest, number: int, shards: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Run shards of a round; yields the rows of each as soon as it has ended."""
        encoded = msgspec.json.encode(manifest)
        ended: queue.SimpleQueue[Future[pa.RecordBatch]] = queue.SimpleQueue()
        for shard in shards:
            self.threads.submit(self.shard, encoded, number, shard).add_done_callback(ended.put)
        for _ in shards:  # `as_completed` would wait for ever for those that `end` cancels
            yield ended.get().result()

    def shard(self, manifest: bytes, number: int, shard: int) -> pa.RecordBatch:
        """The rows of a shard, made by a worker that is idle."""
        worker = self.idle.get()
        try:
            return worker.batch(manifest, number, shard)
        finally:
            self.idle.put(worker)

    def end(self) -> None:
        """End all workers, whatever they are at."""
        self.threads.shutdown(wait=False, cancel_futures=True)
        for worker in self.workers:
            worker.end(for_good=True)


def cores() -> int:
    """How many cores this process may use, or has, where the system does not tell the first."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def processes(number: int | None = None) -> Iterator[Processes]:
    """So many processes while the block runs; by default, as many as this process may use cores."""
    made = Processes(number or cores())
    try:
        yield made
    finally:
        made.end()
