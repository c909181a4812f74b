"""What an index in buckets costs: adds, seals, loads, takes, and a recovery in place of adding everything again.

The bucket tracker has ten million messages in 50, 200 or 1,000 buckets, whose snapshots are files. Beside it are a
tracker in memory, and a heap of tuples. What is measured, and how, is in :mod:`broker_tck.bench.bucket_parts`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import msgspec

from broker_tck.bench import bucket_parts
from broker_tck.bench.bucket_parts import HEAP, ROWS, Row
from broker_tck.properties.errors import BadInput

MESSAGES = 10_000_000
CHOICES = tuple(name for name in ROWS if name != HEAP.name)
"""The rows that can be chosen; the heap stands beside them in any case."""
RECOVERIES = 5
MERGES = 3
LEAST_SPEEDUP = 100
"""A recovery takes no more than this share of the time that adding everything again takes."""
MOST_OF_HEAP = 0.25
"""At rest, everything in memory takes no more than this share of a heap of the same messages."""
MESSAGE_BYTES = 60
SEGMENT_BYTES = 400
SEGMENTS = 300
"""A message and a segment take less room than that on the disk, and a bucket has less segments."""


class Spread(msgspec.Struct, frozen=True):
    """Milliseconds: the median of some, the least and the most."""

    median: float
    least: float
    most: float


class BucketRow(msgspec.Struct, frozen=True):
    """What a row costs. What it does not have is None."""

    name: str
    messages: int
    adding_seconds: float
    """What adding everything takes."""
    takes_per_second: int
    resident_bytes: int
    """The growth of the process that has added everything."""
    unsealed_bytes: float
    """Of a message that is in memory."""
    content_verified: bool
    recovered_bytes: int | None = None
    """The growth of a process that has recovered everything: the most of several."""
    disk_bytes: int | None = None
    seal: Spread | None = None
    """Adds that sealed a bucket."""
    load: Spread | None = None
    """Loads of one segment."""
    merge: Spread | None = None
    """Merges of four buckets: read, merged, stored, the sources deleted."""
    recovery: Spread | None = None

    @property
    def title(self) -> str:
        """What a table or a picture calls the row."""
        return self.name if self.recovery is None else f"{int(self.name):,} buckets"

    @property
    def adds_per_second(self) -> float:
        """How many messages are added in a second, seals included."""
        return self.messages / self.adding_seconds

    @property
    def speedup(self) -> float | None:
        """How many times as long as the median recovery adding everything again takes."""
        return None if self.recovery is None else 1_000 * self.adding_seconds / self.recovery.median

    @property
    def at_rest(self) -> int:
        """Bytes in memory, after adding or after a recovery, whichever are more."""
        return max(self.resident_bytes, self.recovered_bytes or 0)


class Claim(msgspec.Struct, frozen=True):
    """What a row of buckets has to keep."""

    row: str
    says: str
    holds: bool


class Result(msgspec.Struct, frozen=True):
    """The rows that were chosen, and the heap."""

    rows: list[BucketRow]
    heap: BucketRow

    def claims(self) -> list[Claim]:
        """What every row of buckets has to keep, and whether it does."""
        claims = []
        for row in self.rows:
            if row.speedup is not None:
                share = row.at_rest / self.heap.resident_bytes
                faster = f"a recovery takes 1/{row.speedup:,.0f} of the time that adding takes"
                claims.append(Claim(row.title, f"{faster}, at most 1/{LEAST_SPEEDUP}", row.speedup >= LEAST_SPEEDUP))
                smaller = f"in memory is {share:.1%} of what a heap takes"
                claims.append(Claim(row.title, f"{smaller}, at most {MOST_OF_HEAP:.0%}", share <= MOST_OF_HEAP))
        return claims

    @property
    def passed(self) -> bool:
        """Whether every claim holds, and all messages came out as they went in."""
        exact = all(row.content_verified for row in [*self.rows, self.heap])
        return exact and all(claim.holds for claim in self.claims())


def steps(names: Sequence[str]) -> int:
    """How many processes measure some rows and the heap."""
    return 1 + sum(4 + RECOVERIES + MERGES - 1 if ROWS[name].buckets else 1 for name in names)


def measure(
    names: Sequence[str] = CHOICES,
    messages: int = MESSAGES,
    folder: str | None = None,
    tell: Callable[[int, str], None] = lambda done, says: None,
) -> Result:
    """Measure rows one after the other, and the heap. Snapshots are put into a folder for a while.

    Tells how many processes have ended, and of which row. ``BadInput`` where the disk has not enough room; ``KeyError``
    for a name that is none of :data:`CHOICES`.
    """
    chosen = [ROWS[name] for name in names]
    done = 0

    def measured(row: Row, part: Callable[..., Any], within: str) -> dict[str, Any]:
        nonlocal done
        tell(done, row.name)
        found = in_process(row, part.__name__, messages, within)
        done += 1
        return found

    need_room(chosen, messages, folder)
    rows = [
        bucket_row(row, messages, folder, measured) if row.buckets else memory_row(row, messages, measured)
        for row in chosen
    ]
    return Result(rows, memory_row(HEAP, messages, measured))


Measured = Callable[[Row, Callable[..., Any], str], dict[str, Any]]


def memory_row(row: Row, messages: int, measured: Measured) -> BucketRow:
    """The row of what has everything in memory."""
    found = measured(row, bucket_parts.in_memory, "")
    return BucketRow(
        name=row.name,
        messages=messages,
        adding_seconds=found["adding"],
        takes_per_second=round(messages / found["taking"]),
        resident_bytes=found["growth"],
        unsealed_bytes=found["growth"] / messages,
        content_verified=found["exact"],
    )


def bucket_row(row: Row, messages: int, folder: str | None, measured: Measured) -> BucketRow:
    """A row of buckets."""
    with new_folder(folder) as within:
        added = measured(row, bucket_parts.add, within)
        recovered = [measured(row, bucket_parts.recover, within) for _ in range(RECOVERIES)]
        taken = measured(row, bucket_parts.take, within)
        held = measured(row, bucket_parts.hold, within)
    merged = []
    for _ in range(MERGES):
        with new_folder(folder) as within:
            merged.append(measured(row, bucket_parts.merge, within)["merge"])
    return BucketRow(
        name=row.name,
        messages=messages,
        adding_seconds=added["adding"],
        takes_per_second=round(messages / taken["taking"]),
        resident_bytes=added["growth"],
        unsealed_bytes=held["growth"] / (messages // 10),
        content_verified=taken["exact"] and all(each["exact"] for each in recovered),
        recovered_bytes=max(each["growth"] for each in recovered),
        disk_bytes=added["disk"],
        seal=spread(added["seals"]),
        load=spread(taken["loads"]),
        merge=spread([1_000 * seconds for seconds in merged if seconds is not None]),
        recovery=spread([1_000 * each["recovery"] for each in recovered]),
    )


def spread(milliseconds: Sequence[float]) -> Spread | None:
    """The spread of some measurements; None if there are none."""
    return Spread(median(milliseconds), min(milliseconds), max(milliseconds)) if milliseconds else None


def new_folder(folder: str | None) -> tempfile.TemporaryDirectory[str]:
    """A folder for one tracker, within another one."""
    return tempfile.TemporaryDirectory(prefix="bench-bucket-", dir=folder)


def need_room(rows: Sequence[Row], messages: int, folder: str | None) -> None:
    """``BadInput`` where snapshots may not fit on the disk."""
    where = folder or tempfile.gettempdir()
    most = max((min(messages, row.buckets * SEGMENTS) for row in rows), default=0)
    needed, free = messages * MESSAGE_BYTES + most * SEGMENT_BYTES, shutil.disk_usage(where).free
    if most and free < needed:
        raise BadInput(f"{where}: snapshots need up to {needed / 10**6:,.0f} MB, and {free / 10**6:,.0f} MB are free")


def in_process(row: Row, part: str, messages: int, folder: str) -> dict[str, Any]:
    """Measure a part of a row in a fresh process.

    ``BadInput`` where it cannot use its folder; ``subprocess.CalledProcessError`` where it fails otherwise.
    """
    command = [sys.executable, "-m", bucket_parts.__name__, row.name, part, str(messages), folder]
    ended = subprocess.run(command, check=False, capture_output=True)
    if ended.returncode == bucket_parts.NO_FOLDER:
        raise BadInput(ended.stderr.decode().strip())
    ended.check_returncode()
    return msgspec.json.decode(ended.stdout, type=dict[str, Any])
