"""What an index in buckets costs: ten million messages in 50, 200 or 1,000 buckets, whose snapshots are files.

Beside it are a tracker in memory and a heap of tuples. Ledgers come in order, as many as there are buckets. Each
message is for a random time within a day. In the end everything is handed out hour by hour, and compared with what
was due.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
from measuring import (
    BATCH,
    FIRST_LEDGER,
    START,
    Cells,
    Claim,
    Desk,
    Result,
    by_row,
    fresh,
    require,
    resident_bytes,
    timed,
)
from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.files import FileCursorProperties, FileSnapshotStorage
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Position

MESSAGES = 10_000_000
BUCKETS = (50, 200, 1_000)
LEDGERS = 200
"""Number of ledgers if there are no buckets."""
RECOVERIES = 5
LEAST_SPEEDUP = 100
"""A recovery takes no more than this share of the time that adding everything again takes."""
MOST_OF_HEAP = 0.25
"""At rest, an index takes no more than this share of a heap of the same messages."""
AHEAD = 1_024
HOUR = 3_515 * 1_024
"""A second less than an hour in milliseconds: whole time buckets."""
HOURS = 24


class Config(msgspec.Struct, frozen=True):
    """What the trackers are configured with."""

    min_index_count: int = 50_000
    time_step: int = 300_000
    max_indexes: int = 5_000
    max_buckets: int = -1
    tick: int = 1_000
    strict: bool = True
    lookahead: int = 0


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


# ---- The workload


def ledgers(count: int, messages: int) -> Iterator[tuple[int, list[int]]]:
    """Each ledger with the times of its messages."""
    draw = Random(messages).random
    for number in range(count):
        mine = range(messages * number // count, messages * (number + 1) // count)
        yield FIRST_LEDGER + number, [START + AHEAD + 1 + int(draw() * HOURS * HOUR) for _ in mine]


def fill(tracker: Any, count: int, messages: int) -> float:
    """Add everything; answers with the seconds."""

    def add(ledger: int, times: Sequence[int]) -> None:
        one = tracker.add_message
        for entry, at in enumerate(times):
            one(ledger, entry, at)

    return sum(timed(add, ledger, times)[0] for ledger, times in ledgers(count, messages))


def due_by_hour(count: int, messages: int) -> list[dict[int, BitMap]]:
    """What each hour has to hand out: the entries of each ledger."""
    due: list[dict[int, BitMap]] = [defaultdict(BitMap) for _ in range(HOURS)]
    for ledger, times in ledgers(count, messages):
        for entry, at in enumerate(times):
            due[(at - START - AHEAD - 1) // HOUR][ledger].add(entry)
    return due


def drain(tracker: Any, desk: Desk, count: int, messages: int) -> float:
    """Hand everything out, hour after hour; answers with the seconds."""
    seconds = 0.0
    for hour, expected in enumerate(due_by_hour(count, messages), 1):
        desk.now = START + AHEAD + hour * HOUR
        took, taken = timed(all_due, tracker.get_scheduled_messages)
        seconds += took
        found: dict[int, BitMap] = defaultdict(BitMap)
        for ledger, entry in taken:
            found[ledger].add(entry)
        require(found == expected and len(taken) == sum(map(len, expected.values())), f"hour {hour}")
    require(tracker.get_number_of_delayed_messages() == 0, "in the end")
    return seconds


def all_due(take: Callable[[int], Sequence[Position]]) -> list[Position]:
    """Everything that is due now."""
    taken: list[Position] = []
    while given := take(BATCH):
        taken += given
    return taken


# ---- The parts, each in a process of its own


class Weighed(NamedTuple):
    """What adding everything took."""

    seconds: float
    growth: int


def in_memory(name: str, messages: int) -> tuple[Weighed, float]:
    """Add everything to an index in memory, and hand it out."""
    desk = Desk()
    tracker = HeapOfTuples(desk) if name == "heap" else TimeBucketTracker(Config(), desk.clock, desk)
    before = resident_bytes()
    adding = fill(tracker, LEDGERS, messages)
    weighed = Weighed(adding, resident_bytes() - before)
    return weighed, drain(tracker, desk, LEDGERS, messages)


def opened(count: int, messages: int, folder: str, desk: Desk) -> tuple[BucketTracker, FileSnapshotStorage]:
    """A bucket tracker that has recovered what is in a folder."""
    storage = FileSnapshotStorage(Path(folder) / "snapshots")
    config = Config(min_index_count=messages // count)
    return BucketTracker(config, desk.clock, desk, storage, FileCursorProperties(Path(folder) / "cursor")), storage


def add(count: int, messages: int, folder: str) -> tuple[Weighed, int]:
    """Add everything, and a message more, so that the last bucket is sealed as well; and the bytes on the disk."""
    tracker, storage = opened(count, messages, folder, Desk())
    before = resident_bytes()
    adding = fill(tracker, count, messages)
    last, _ = timed(tracker.add_message, FIRST_LEDGER + messages, 0, START + AHEAD)
    growth = resident_bytes() - before
    require(len(storage.numbers()) == count, "on the disk")
    sizes = (path.stat().st_size for path in (Path(folder) / "snapshots").iterdir())
    return Weighed(adding + last, growth), sum(sizes)


def recover(count: int, messages: int, folder: str) -> Weighed:
    """Recover what was added."""
    before = resident_bytes()
    seconds, (tracker, _) = timed(opened, count, messages, folder, Desk())
    growth = resident_bytes() - before
    require(tracker.get_number_of_delayed_messages() == messages, "after a recovery")
    return Weighed(seconds, growth)


def take(count: int, messages: int, folder: str) -> float:
    """Recover, and hand everything out; answers with the seconds."""
    desk = Desk()
    tracker, storage = opened(count, messages, folder, desk)
    seconds = drain(tracker, desk, count, messages)
    require(not storage.numbers(), "on the disk, in the end")
    return seconds


def unsealed(messages: int, folder: str) -> float:
    """The bytes of a message in a bucket that is not sealed."""
    tracker, _ = opened(1, messages, folder, Desk())
    before = resident_bytes()
    fill(tracker, 1, messages)
    return (resident_bytes() - before) / messages


# ---- All of them


def bucket(messages: int = MESSAGES, counts: Sequence[int] = BUCKETS) -> Result:
    """What an index in buckets costs, beside one in memory and a heap. An hour, and a gigabyte of disk."""
    heap, _ = fresh(in_memory, "heap", messages)
    plain, taking = fresh(in_memory, "time-bucket", messages)
    columns = {f"{count:,} buckets": beside(count, messages, heap, plain, taking) for count in counts}
    claims = [claim for name, cells in columns.items() for claim in claims_of(name, cells)]
    columns["in memory"] = {
        MEMORY: [100 * plain.growth / max(heap.growth, 1)],
        "bytes a message, before it is sealed": [plain.growth / messages],
        "adding, times as long as in memory": [1.0],
        "handing out, times as long as in memory": [1.0],
    }
    return Result(by_row(columns), claims)


MEMORY, RECOVERY = "memory, % of a heap's", "a recovery, times as fast as adding again"


def beside(count: int, messages: int, heap: Weighed, plain: Weighed, taking: float) -> Cells:
    """What so many buckets cost, beside what has everything in memory."""
    with TemporaryDirectory() as folder:
        added, disk = fresh(add, count, messages, folder)
        recovered = [fresh(recover, count, messages, folder) for _ in range(RECOVERIES)]
        taken = fresh(take, count, messages, folder)
        before = fresh(unsealed, messages // 10, folder)
    at_rest = max(added.growth, *(each.growth for each in recovered))
    return {
        MEMORY: [100 * at_rest / max(heap.growth, 1)],
        "bytes a message, before it is sealed": [before],
        "adding, times as long as in memory": [added.seconds / plain.seconds],
        "handing out, times as long as in memory": [taken / taking],
        "bytes a message, on disk": [disk / messages],
        RECOVERY: [added.seconds / each.seconds for each in recovered],
    }


def claims_of(name: str, cells: Cells) -> Iterator[Claim]:
    """What buckets have to keep."""
    speedup, share = median(cells[RECOVERY]), cells[MEMORY][0] / 100
    says = f"{name}: a recovery takes 1/{speedup:,.0f} of the time that adding takes, at most 1/{LEAST_SPEEDUP}"
    yield Claim(says, speedup >= LEAST_SPEEDUP)
    says = f"{name}: memory at rest is {share:.1%} of a heap's, at most {MOST_OF_HEAP:.0%}"
    yield Claim(says, share <= MOST_OF_HEAP)
