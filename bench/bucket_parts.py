"""What ``bench bucket`` measures, part by part.

A part is measured in a fresh process, which prints a line of JSON: ``python -m broker_tck.bench.bucket_parts ROW PART
MESSAGES FOLDER``. Ledgers come in order, as many as the row has buckets. Each message is for a random time within a
day, a second and more ahead. Growth is that of ``VmRSS``, read after a garbage collection and a ``malloc_trim``.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import msgspec
from pyroaring import BitMap

from broker_tck.bench.memory import Unarmed, resident_bytes
from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, FileSnapshotStorage
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Done, Fired, Position

FIRST_LEDGER = 10_000
START = 1_700_000_000_000 // 1_024 * 1_024
"""When all messages are added, in milliseconds."""
AHEAD = 1_024
HOUR = 3_515 * 1_024
"""A second less than an hour: whole time buckets."""
HOURS = 24
BATCH = 1_000
LEDGERS = 200
"""How many ledgers there are where there are no buckets."""
MERGED = 4
"""So many buckets are merged into one."""
SNAPSHOTS = "snapshots"
NO_FOLDER = 2
"""The exit status where the folder cannot be used."""


@dataclass(frozen=True)
class Row:
    """A way to hold the messages; ``buckets`` is 0 where there are none."""

    name: str
    buckets: int = 0

    def ledgers(self, messages: int) -> int:
        """How many ledgers the messages are in: as many as there are buckets, but none is empty."""
        return min(messages, self.buckets or LEDGERS)

    def least(self, messages: int) -> int:
        """How many messages a ledger has at least."""
        return messages // self.ledgers(messages)


HEAP = Row("heap")
ROWS = {row.name: row for row in (Row("50", 50), Row("200", 200), Row("1000", 1_000), Row("time-bucket"), HEAP)}
"""By name: the number of buckets, or what has everything in memory."""


class Config(msgspec.Struct, frozen=True):
    """What the trackers are configured with; where it is not the row's, the broker's defaults."""

    min_index_count: int = 50_000
    time_step: int = 300_000
    max_indexes: int = 5_000
    max_buckets: int = -1
    tick: int = 1_000
    strict: bool = True
    lookahead: int = 0


class Desk:
    """A clock that is set by hand, and a timer that never fires."""

    def __init__(self) -> None:
        self.now = START

    def clock(self) -> int:
        """The time that was set."""
        return self.now

    def new_timeout(self, deadline: int, fired: Fired) -> Unarmed:
        """Arm nothing."""
        return Unarmed()


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

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked."""
        return len(self.heap)


class TimedStorage(FileSnapshotStorage):
    """Takes the time of each load, from the call until the segment is in the tracker's memory; milliseconds."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.loads: list[float] = []

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[tuple[int, int, int]]]]
    ) -> None:
        """Read some segments."""
        start = perf_counter()
        super().get_bucket_snapshot_segment(bucket_id, first, last, done)
        self.loads.append(1_000 * (perf_counter() - start))


def buckets(row: Row, messages: int, desk: Desk, folder: Path, limit: int = -1) -> tuple[BucketTracker, TimedStorage]:
    """A bucket tracker that has recovered what is in a folder."""
    config = Config(min_index_count=row.least(messages), max_buckets=limit)
    storage = TimedStorage(folder / SNAPSHOTS)
    return BucketTracker(config, desk.clock, desk, storage, FileCursorProperties(folder / "cursor")), storage


def ledgers(row: Row, messages: int) -> Iterator[tuple[int, list[int]]]:
    """Each ledger with the times of its messages."""
    draw, n = Random(messages).random, row.ledgers(messages)
    for number in range(n):
        mine = range(messages * number // n, messages * (number + 1) // n)
        yield FIRST_LEDGER + number, [START + AHEAD + 1 + int(draw() * HOURS * HOUR) for _ in mine]


def fill(add: Callable[[int, int, int], Any], workload: Iterator[tuple[int, list[int]]]) -> tuple[float, list[float]]:
    """Add everything. The seconds that it takes, and the milliseconds of the first add of each ledger."""
    seconds, firsts = 0.0, []
    for ledger, times in workload:
        start = perf_counter()
        add(ledger, 0, times[0])
        sealed = perf_counter()
        for entry in range(1, len(times)):
            add(ledger, entry, times[entry])
        seconds += perf_counter() - start
        firsts.append(1_000 * (sealed - start))
    return seconds, firsts


def drain(take: Callable[[int], Sequence[Position]], desk: Desk, row: Row, messages: int) -> tuple[float, bool]:
    """Hand everything out, hour after hour. The seconds that it takes, and whether each hour exactly its own came."""
    due: list[dict[int, BitMap]] = [{} for _ in range(HOURS)]
    for ledger, times in ledgers(row, messages):
        of_hour = defaultdict(list)
        for entry, at in enumerate(times):
            of_hour[(at - START - AHEAD - 1) // HOUR].append(entry)
        for hour, entries in of_hour.items():
            due[hour][ledger] = BitMap(entries)
    seconds, exact = 0.0, True
    for hour, expected in enumerate(due, 1):
        desk.now = START + AHEAD + hour * HOUR
        taken: list[Position] = []
        start = perf_counter()
        while given := take(BATCH):
            taken += given
        seconds += perf_counter() - start
        found = defaultdict(list)
        for ledger, entry in taken:
            found[ledger].append(entry)
        exact &= {ledger: BitMap(entries) for ledger, entries in found.items()} == expected
        exact &= len(taken) == sum(map(len, expected.values()))
    return seconds, exact


# ---- The parts


def in_memory(row: Row, messages: int, _folder: Path) -> dict[str, Any]:
    """Add everything to what has all in memory, weigh it, and hand everything out."""
    desk = Desk()
    tracker = HeapOfTuples(desk) if row is HEAP else TimeBucketTracker(Config(), desk.clock, desk)
    before = resident_bytes()
    adding, _ = fill(tracker.add_message, ledgers(row, messages))
    growth = resident_bytes() - before
    taking, exact = drain(tracker.get_scheduled_messages, desk, row, messages)
    exact &= tracker.get_number_of_delayed_messages() == 0
    return {"adding": adding, "growth": growth, "taking": taking, "exact": exact}


def add(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Add everything, and a message of one ledger more, so that the last bucket is sealed as well."""
    desk = Desk()
    tracker, _ = buckets(row, messages, desk, folder)
    before = resident_bytes()
    adding, firsts = fill(tracker.add_message, ledgers(row, messages))
    start = perf_counter()
    tracker.add_message(FIRST_LEDGER + messages, 0, START + AHEAD)
    last = perf_counter() - start
    growth = resident_bytes() - before
    sizes = [path.stat().st_size for path in (folder / SNAPSHOTS).iterdir()]
    if len(sizes) != len(firsts):
        raise OSError(f"{len(firsts) - len(sizes)} of {len(firsts)} snapshots could not be stored")
    return {"adding": adding + last, "growth": growth, "disk": sum(sizes), "seals": [*firsts[1:], 1_000 * last]}


def recover(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Recover what was added."""
    before = resident_bytes()
    start = perf_counter()
    tracker, _ = buckets(row, messages, Desk(), folder)
    seconds = perf_counter() - start
    growth = resident_bytes() - before
    exact = tracker.get_number_of_delayed_messages() == messages
    return {"recovery": seconds, "growth": growth, "exact": exact}


def take(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Recover, and hand everything out; segments are loaded on the way, and snapshots deleted."""
    desk = Desk()
    tracker, storage = buckets(row, messages, desk, folder)
    storage.loads = []
    taking, exact = drain(tracker.get_scheduled_messages, desk, row, messages)
    exact &= tracker.get_number_of_delayed_messages() == 0 and not storage.numbers()
    return {"taking": taking, "loads": storage.loads, "exact": exact}


def hold(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Weigh a bucket that is not sealed, a tenth of all messages."""
    desk = Desk()
    tracker, _ = buckets(row, messages, desk, folder)
    before = resident_bytes()
    fill(tracker.add_message, ledgers(Row("one", 1), messages // 10))
    return {"growth": resident_bytes() - before}


def merge(row: Row, messages: int, folder: Path) -> dict[str, Any]:
    """Seal one bucket more than is allowed: what that takes longer than the seals before is the merge of four."""
    desk = Desk()
    tracker, storage = buckets(row, messages, desk, folder, limit=MERGED)
    few = (MERGED + 1) * row.least(messages)
    _, firsts = fill(tracker.add_message, ledgers(Row("few", MERGED + 1), few))
    start = perf_counter()
    tracker.add_message(FIRST_LEDGER + messages, 0, START + AHEAD)
    seconds = perf_counter() - start - median(firsts[1:]) / 1_000
    # Buckets are not merged whose messages are all in memory.
    return {"merge": seconds if len(storage.numbers()) == 2 else None}


PARTS = {part.__name__: part for part in (in_memory, add, recover, take, hold, merge)}


def main(name: str, part: str, messages: str, folder: str) -> None:
    """Measure a part of a row in this process and print it. Exit with :data:`NO_FOLDER` where the folder fails."""
    try:
        found = PARTS[part](ROWS[name], int(messages), Path(folder))
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(NO_FOLDER)
    sys.stdout.write(msgspec.json.encode(found).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
