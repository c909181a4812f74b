"""What an index in buckets costs: adds, seals, loads, takes, and a recovery in place of adding everything again.

Ten million messages of ledgers in order, each for a random time within a day, one second and more ahead. The bucket
tracker has them in 50, 200 or 1,000 buckets, whose snapshots are files; beside it a tracker in memory, and a heap of
tuples. Each row is measured in fresh processes, one of which only recovers: ``python -m broker_tck.bench.buckets ROW
PART MESSAGES FOLDER`` prints a line of JSON.

Growth is that of ``VmRSS``, read after a garbage collection and a ``malloc_trim``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from broker_tck.bench.memory import Unarmed, resident_bytes
from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, FileSnapshotStorage
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Fired, Position

MESSAGES = 10_000_000
FIRST_LEDGER = 10_000
START = 1_700_000_000_000
AHEAD = 1_000
SPREAD = 24 * 3_600_000
BATCH = 1_000
LEAST_SPEEDUP = 100
"""A recovery takes no more than this share of the time that adding everything again takes."""
MOST_OF_HEAP = 0.25
"""At rest, the loaded segments and what is held take no more than this share of a heap of the same messages."""


@dataclass(frozen=True)
class Row:
    """A way to hold the messages; ``buckets`` is None where there are none."""

    name: str
    buckets: int | None


ROWS = {
    row.name: row
    for row in (Row("50", 50), Row("200", 200), Row("1000", 1_000), Row("time-bucket", None), Row("heap", None))
}
"""By name: the number of buckets, or what holds all in memory."""


class Config(msgspec.Struct, frozen=True):
    """What both trackers are configured with."""

    min_index_count: int = 50_000
    time_step: int = 300_000
    max_indexes: int = 5_000
    max_buckets: int = -1
    tick: int = 1_000
    strict: bool = True
    lookahead: int = 0


class BucketRow(msgspec.Struct, frozen=True):
    """What a row costs. What it does not have is None."""

    name: str
    messages: int
    adds_per_second: int
    seal_worst_ms: float | None
    """The slowest add that sealed a bucket."""
    seal_median_ms: float | None
    growth_bytes: int
    """Of the process that added, with everything in memory that the row keeps there."""
    disk_bytes: int | None
    recovery_seconds: float | None
    recovered: int | None
    """How many messages a recovery holds."""
    recovery_growth_bytes: int | None
    """Of a process that has recovered, at rest: a segment of each bucket, and what is held."""
    takes_per_second: int
    merge_seconds: float | None
    """Four neighbours merged into one: read, merged, written, the sources deleted."""

    @property
    def speedup(self) -> float | None:
        """How many times faster a recovery is than adding everything again."""
        if self.recovery_seconds is None:
            return None
        return self.messages / self.adds_per_second / self.recovery_seconds


class Desk:
    """A clock that is set by hand, and a timer that never fires."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def clock(self) -> int:
        """The time that was set."""
        return self.now

    def new_timeout(self, deadline: int, fired: Fired) -> Unarmed:
        """Arm nothing."""
        return Unarmed()


def ledgers(messages: int, size: int) -> Iterator[tuple[int, list[int]]]:
    """Ledgers of so many messages, with the times of these; the same for each row."""
    draw = Random(messages).random
    for number, first in enumerate(range(0, messages, size)):
        count = min(size, messages - first)
        yield FIRST_LEDGER + number, [START + AHEAD + int(draw() * SPREAD) for _ in range(count)]


class HeapOfTuples:
    """The plainest index: a heap of time, ledger and entry."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.heap: list[tuple[int, int, int]] = []

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        heappush(self.heap, (deliver_at, ledger_id, entry_id))
        return True

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out what is due."""
        heap, now = self.heap, self.desk.now
        taken: list[Position] = []
        while heap and heap[0][0] <= now and len(taken) < max_messages:
            taken.append(heappop(heap)[1:])
        return taken


def made(row: Row, desk: Desk, messages: int, folder: Path, limit: int = -1) -> Any:
    """A fresh tracker of a row; one of buckets recovers from a folder."""
    if row.name == "heap":
        return HeapOfTuples(desk)
    if row.buckets is None:
        return TimeBucketTracker(Config(), desk.clock, desk)
    config = Config(min_index_count=ledger_size(row, messages), max_buckets=limit)
    storage, cursor = FileSnapshotStorage(folder / "snapshots"), FileCursorProperties(folder / "cursor")
    return BucketTracker(config, desk.clock, desk, storage, cursor)


def ledger_size(row: Row, messages: int) -> int:
    """How many messages a ledger has: those of one bucket, or as many as a broker's ledger has by default."""
    return max(1, messages // (row.buckets or 200))


# ---- What is measured, each in a process of its own


def add_all(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Add everything; the first add of a ledger seals the one before."""
    desk = Desk()
    tracker = made(row, desk, messages, folder)
    add: Callable[[int, int, int], bool] = tracker.add_message
    before, seconds, seals = resident_bytes(), 0.0, []
    for ledger, times in ledgers(messages, ledger_size(row, messages)):
        start = perf_counter()
        add(ledger, 0, times[0])
        sealed = perf_counter()
        for entry in range(1, len(times)):
            add(ledger, entry, times[entry])
        seconds += perf_counter() - start
        seals.append(1_000 * (sealed - start))
    return {
        "adds_per_second": round(messages / seconds),
        "seal_worst_ms": max(seals[1:], default=0.0) if row.buckets else None,
        "seal_median_ms": median(seals[1:]) if row.buckets and seals[1:] else None,
        "growth_bytes": resident_bytes() - before,
        "disk_bytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if row.buckets else None,
    }


def recover(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Recover what was added, in a process that has added nothing."""
    before = resident_bytes()
    start = perf_counter()
    tracker = made(row, Desk(), messages, folder)
    seconds = perf_counter() - start
    growth = resident_bytes() - before
    count = tracker.get_number_of_delayed_messages()
    return {"recovery_seconds": seconds, "recovered": count, "recovery_growth_bytes": growth}


def merge(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Recover with a limit, and seal one bucket more."""
    tracker = made(row, Desk(), messages, folder, limit=1)
    size, ledger = ledger_size(row, messages), FIRST_LEDGER + 10**6
    for entry in range(size):
        tracker.add_message(ledger, entry, START + AHEAD + SPREAD + entry)
    start = perf_counter()
    tracker.add_message(ledger + 1, 0, START + AHEAD + SPREAD)
    return {"merge_seconds": perf_counter() - start}


def take_all(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Hand everything out, an hour's messages at a time, loading on the way."""
    desk = Desk()
    tracker = made(row, desk, messages, folder)
    if row.buckets is None:
        for ledger, times in ledgers(messages, ledger_size(row, messages)):
            for entry, at in enumerate(times):
                tracker.add_message(ledger, entry, at)
    taken, start = 0, perf_counter()
    for hour in range(1, 26):
        desk.now = START + AHEAD + hour * 3_600_000
        while given := tracker.get_scheduled_messages(BATCH):
            taken += len(given)
    return {"takes_per_second": round(taken / (perf_counter() - start))}


PARTS = {"add": add_all, "recover": recover, "merge": merge, "take": take_all}


def rows(names: Sequence[str] = tuple(ROWS), messages: int = MESSAGES) -> Iterator[BucketRow]:
    """Measure rows one after the other, each in a folder of its own. Raises ``KeyError`` for an unknown name."""
    for row in [ROWS[name] for name in names]:
        with tempfile.TemporaryDirectory() as folder:
            found: dict[str, Any] = {}
            for part in ("add", "recover", "take") if row.buckets else ("add", "take"):
                found |= measured(row, part, messages, folder)
        with tempfile.TemporaryDirectory() as folder:
            if row.buckets:
                measured(row, "add", messages // 10, folder)
                found |= measured(row, "merge", messages // 10, folder)
        nothing = dict.fromkeys(("recovery_seconds", "recovered", "recovery_growth_bytes", "merge_seconds"))
        yield msgspec.convert({"name": row.name, "messages": messages, **nothing, **found}, BucketRow)


def measured(row: Row, part: str, messages: int, folder: str) -> dict[str, Any]:
    """Measure in a fresh process. Raises ``subprocess.CalledProcessError`` if that fails."""
    command = [sys.executable, "-m", __spec__.name, row.name, part, str(messages), folder]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return msgspec.json.decode(output, type=dict[str, Any])


def main(name: str, part: str, messages: str, folder: str) -> None:
    """Measure a part of a row in this process and print it."""
    found = PARTS[part](ROWS[name], int(messages), Path(folder))
    sys.stdout.write(msgspec.json.encode(found).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
