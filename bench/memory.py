"""What a tracker's index weighs: ten million messages, the growth of the process, and every message handed out again.

The workload is the one of the broker's own experiment: ledger after ledger of 50,000 entries, ``x`` messages a
millisecond, the ``y`` low bits of a time cleared. A row is measured in a fresh process, which prints a line of JSON:
``python -m broker_tck.bench.memory ROW single|batch``.

Growth is that of ``VmRSS`` over the adds, read after a garbage collection and a ``malloc_trim`` both times. Nothing is
warmed up, so it has in it whatever the interpreter and its libraries touch for the first time.
"""

from __future__ import annotations

import ctypes
import gc
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.in_memory import InMemoryTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import BatchAdds, Clock, DelayedDeliveryConfig, Fired, Position, Timer

MESSAGES = 10_000_000
LIMIT_BYTES = 2_516_582
"""The most that a row of time buckets may grow by: 2.4 MiB."""

FIRST_LEDGER = 10_000
LEDGER_ENTRIES = 50_000
START = 1_700_000_000_000
"""The time before the first message's, in milliseconds."""

PUBLISHED = START - 1_000_000
"""When all messages are added: long enough before for none to be due."""

BATCH = 1_000
HOUR = 3_600_000
MIB = 1 << 20


class Row(msgspec.Struct, frozen=True):
    """A workload and a tracker, and what the broker's experiment had for them."""

    name: str
    per_ms: int
    bits: int
    tracker: Callable[[DelayedDeliveryConfig, Clock, Timer], InMemoryTracker] = TimeBucketTracker
    random_delays: bool = False
    reported_bytes: int | None = None
    reported_buckets: int | None = None
    limit_bytes: int | None = None

    @property
    def tick(self) -> int:
        """Milliseconds; also the width of a bucket."""
        return 1 << self.bits


ROWS = {
    row.name: row
    for row in (
        Row("heap", 1, 10, HeapTracker, reported_bytes=240 * MIB),
        Row("1-10", 1, 10, reported_bytes=25 * MIB, reported_buckets=9767, limit_bytes=LIMIT_BYTES),
        Row("4-10", 4, 10, reported_bytes=int(20.48 * MIB), reported_buckets=2443, limit_bytes=LIMIT_BYTES),
        Row("8-10", 8, 10, reported_bytes=11 * MIB, limit_bytes=LIMIT_BYTES),
        Row("8-15", 8, 15, reported_bytes=int(2.25 * MIB), limit_bytes=LIMIT_BYTES),
        Row("random", 8, 10, random_delays=True),
    )
}
"""By name: ``x-y`` for the experiment's; ``random`` delays one message in ten, by up to an hour."""


class Measurement(msgspec.Struct, frozen=True):
    """One row, filled in one way in a process of its own."""

    row: str
    adding: str
    messages: int
    buckets: int
    bitmaps: int
    growth_bytes: int
    estimate_bytes: int
    adds_per_second: int
    content_verified: bool
    usable_afterwards: bool


class MemoryRow(msgspec.Struct, frozen=True):
    """One row as a table shows it; ``bitmaps`` are the pairs of bucket and ledger.

    What was not measured (a heap takes no batches), or what the broker's experiment does not tell, is None.
    """

    name: str
    messages: int
    buckets: int
    bitmaps: int
    growth_bytes_single: int
    growth_bytes_batch: int | None
    bytes_per_message: float
    adds_per_second_single: int
    adds_per_second_batch: int | None
    content_verified: bool
    usable_afterwards: bool
    limit_bytes: int | None
    reported_bytes: int | None
    reported_buckets: int | None

    @property
    def passed(self) -> bool:
        """Whether all messages came out as they went in, and memory stayed within the limit."""
        growth = max(self.growth_bytes_single, self.growth_bytes_batch or 0)
        within = self.limit_bytes is None or growth <= self.limit_bytes
        return within and self.content_verified and self.usable_afterwards


class Desk:
    """A configuration, a clock that is set by hand, and a timer that never fires."""

    strict = False
    lookahead = 0

    def __init__(self, tick: int) -> None:
        self.tick = tick
        self.now = PUBLISHED

    def clock(self) -> int:
        """The time that was set."""
        return self.now

    def new_timeout(self, deadline: int, fired: Fired) -> Unarmed:
        """Arm nothing."""
        return Unarmed()


class Unarmed:
    """A timeout that never fires."""

    cancelled = False

    def cancel(self) -> None:
        """Stop nothing."""
        self.cancelled = True


Batch = tuple[int, Sequence[int], Sequence[int]]
"""Messages of one ledger: its id, the entry ids, and the deliver-at times."""


def batches(row: Row, messages: int = MESSAGES) -> Iterator[Batch]:
    """Give the row's workload, in the order in which messages are read."""
    choices = random.Random(row.name)
    for first in range(0, messages, BATCH):
        ledger = FIRST_LEDGER + first // LEDGER_ENTRIES
        batch = range(first, min(first + BATCH, messages))
        entries: Sequence[int] = range(first % LEDGER_ENTRIES, first % LEDGER_ENTRIES + len(batch))
        if row.random_delays:
            entries = [entry for entry in entries if choices.random() < 0.1]
            published = START + first // row.per_ms
            yield ledger, entries, [published + int(choices.random() * HOUR) for _ in entries]
        else:
            yield ledger, entries, [START + 1 + i // row.per_ms for i in batch]


def content(row: Row, messages: int = MESSAGES) -> Iterator[tuple[int, list[Position]]]:
    """Give the row's buckets, in order of time: the first time of each, and its positions in order."""
    triples: Iterator[tuple[int, int, int]] = (
        (at & -row.tick, ledger, entry)
        for ledger, entries, deliver_at in batches(row, messages)
        for entry, at in zip(entries, deliver_at, strict=True)
    )
    if row.random_delays:
        triples = iter(sorted(triples))
    for key, bucket in groupby(triples, key=lambda triple: triple[0]):
        yield key, [triple[1:] for triple in bucket]


def measure(row: Row, *, batch: bool, messages: int = MESSAGES) -> Measurement:
    """Fill a tracker, weigh it, and empty it, all in this process.

    Raises ``RuntimeError`` where the system does not tell what is resident, and ``ValueError`` for a batch to a tracker
    that takes none.
    """
    desk = Desk(row.tick)
    tracker = row.tracker(desk, desk.clock, desk)
    before = resident_bytes()
    seconds = fill(tracker, batches(row, messages), batch=batch)
    growth = resident_bytes() - before
    tracked = tracker.get_number_of_delayed_messages()
    estimate = tracker.get_buffer_memory_usage()
    buckets, bitmaps, verified = drain(tracker, desk, content(row, messages))
    return Measurement(
        row=row.name,
        adding="batch" if batch else "single",
        messages=tracked,
        buckets=buckets,
        bitmaps=bitmaps,
        growth_bytes=growth,
        estimate_bytes=estimate,
        adds_per_second=round(tracked / seconds),
        content_verified=verified,
        usable_afterwards=still_works(tracker, desk),
    )


def fill(tracker: InMemoryTracker, workload: Iterator[Batch], *, batch: bool) -> float:
    """Add a workload, one message at a time or batch by batch; answers with the seconds that the adds took."""

    def add_each(ledger: int, entries: Sequence[int], deliver_at: Sequence[int]) -> None:
        add = tracker.add_message
        for entry, at in zip(entries, deliver_at, strict=True):
            add(ledger, entry, at)

    if batch and not isinstance(tracker, BatchAdds):
        raise ValueError(f"{type(tracker).__name__} takes no batches")
    add_all = tracker.add_messages if isinstance(tracker, BatchAdds) and batch else add_each
    seconds = 0.0
    for ledger, entries, deliver_at in workload:
        start = time.perf_counter()
        add_all(ledger, entries, deliver_at)
        seconds += time.perf_counter() - start
    return seconds


def drain(tracker: InMemoryTracker, desk: Desk, buckets: Iterator[tuple[int, list[Position]]]) -> tuple[int, int, bool]:
    """Take each bucket when its last time has come, and nothing just before its first.

    Answers with the number of buckets, of pairs of bucket and ledger, and whether it was exactly what was to be there.
    """
    count = pairs = 0
    exact = True
    for key, positions in buckets:
        count += 1
        pairs += len({ledger for ledger, _ in positions})
        desk.now = key - 1 - desk.tick
        exact &= not tracker.has_message_available()
        desk.now = key + desk.tick - 1 - desk.tick
        taken: list[Position] = []
        while tracker.has_message_available():
            taken.extend(tracker.get_scheduled_messages(BATCH))
        exact &= taken == positions
    empty = tracker.get_number_of_delayed_messages() == 0 == tracker.get_buffer_memory_usage()
    return count, pairs, exact and empty


def still_works(tracker: InMemoryTracker, desk: Desk) -> bool:
    """Whether an emptied tracker takes messages and hands them out."""
    at = desk.now + 10 * desk.tick
    taken = [tracker.add_message(2, 1, at), tracker.add_message(1, 2, at), tracker.add_message(1, 1, at + desk.tick)]
    early = tracker.has_message_available()
    desk.now = at + 2 * desk.tick
    handed_out = [tracker.get_scheduled_messages(2), tracker.get_scheduled_messages(2)]
    return all(taken) and not early and handed_out == [[(1, 2), (2, 1)], [(1, 1)]]


def resident_bytes() -> int:
    """Give the resident set of this process after what is garbage was given back.

    Raises ``RuntimeError`` where there is no ``/proc/self/status``.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except FileNotFoundError:
        raise RuntimeError("memory is measured on Linux only: there is no /proc/self/status here") from None
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def measured(row: Row, *, batch: bool, messages: int = MESSAGES) -> Measurement:
    """Measure in a fresh process. Raises ``subprocess.CalledProcessError`` if that fails."""
    command = [sys.executable, "-m", __spec__.name, row.name, "batch" if batch else "single", str(messages)]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return msgspec.json.decode(output, type=Measurement)


def rows(names: Sequence[str] = tuple(ROWS), messages: int = MESSAGES) -> Iterator[MemoryRow]:
    """Measure rows one after the other.

    Raises ``KeyError`` for a name that is not in :data:`ROWS`.
    """
    for row in [ROWS[name] for name in names]:
        single = measured(row, batch=False, messages=messages)
        batch = None if row.tracker is HeapTracker else measured(row, batch=True, messages=messages)
        yield memory_row(row, single, batch)


def memory_row(row: Row, single: Measurement, batch: Measurement | None) -> MemoryRow:
    """Join what was measured of a row."""
    both = [single] if batch is None else [single, batch]
    return MemoryRow(
        name=row.name,
        messages=single.messages,
        buckets=single.buckets,
        bitmaps=single.bitmaps,
        growth_bytes_single=single.growth_bytes,
        growth_bytes_batch=batch.growth_bytes if batch else None,
        bytes_per_message=max(one.growth_bytes for one in both) / single.messages,
        adds_per_second_single=single.adds_per_second,
        adds_per_second_batch=batch.adds_per_second if batch else None,
        content_verified=all(one.content_verified for one in both),
        usable_afterwards=all(one.usable_afterwards for one in both),
        limit_bytes=row.limit_bytes,
        reported_bytes=row.reported_bytes,
        reported_buckets=row.reported_buckets,
    )


def main(name: str, adding: str, messages: str = str(MESSAGES)) -> None:
    """Measure a row in this process and print it."""
    measurement = measure(ROWS[name], batch=adding == "batch", messages=int(messages))
    sys.stdout.write(msgspec.json.encode(measurement).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
