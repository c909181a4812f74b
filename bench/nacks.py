"""What a nack weighs: a million of them, the growth of the process, and every id emitted again.

Workload A is the one that Java's figures are of: 100 ledgers of 10,000 entries, each due a millisecond after the one
before. The others nack at a rate, with a new ledger every 50,000 entries. A row is measured in a fresh process, which
prints a line of JSON: ``python -m broker_tck.bench.nacks TRACKER ROW [NACKS]``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count

import msgspec

from broker_tck.bench.memory import resident_bytes
from broker_tck.implementations.interface import MessageId, NackFired, NegativeAcksTracker, Position
from broker_tck.implementations.negative_acks.clients import CppOld
from broker_tck.implementations.negative_acks.parts import MS
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker

NACKS = 1_000_000
START = 1_700_000_000_000
DELAY_US = 10**15
"""How long all are delayed: long enough for none to be due while they are added."""
FIRST_LEDGER = 10_000
FIRINGS = 50
"""In so many steps everything is emitted."""

TRACKERS: dict[str, Callable[..., NegativeAcksTracker]] = {"sorted-buckets": SortedBucketsTracker, "pair-map": CppOld}
MOST_BYTES = 120.0
"""The most that an entry may take where each has a bucket of its own."""
PAYS_FROM = 10
"""From so many nacks a second on, buckets take less than the pair map."""


class Row(msgspec.Struct, frozen=True):
    """A workload: nacks a second, the bits of a bucket's width, and what an entry takes in Java."""

    name: str
    a_second: int
    bits: int
    java_bytes: float | None
    ledger_entries: int = 50_000
    first_entry: int = 0


def _workload_a(bits: int, java_bytes: float) -> Row:
    return Row(f"a-{bits}", 1_000, bits, java_bytes, 10_000, 10_000)


def _rate(a_second: int, bits: int, java_bytes: float | None) -> Row:
    return Row(f"{a_second}-{bits}", a_second, bits, java_bytes)


ROWS = {
    row.name: row
    for row in (
        *(
            _workload_a(bits, java)
            for bits, java in zip(
                (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12),
                (808, 404, 202, 102, 52.0, 27.0, 14.5, 8.5, 5.7, 3.0, 2.3),
                strict=True,
            )
        ),
        *(
            _rate(a_second, 8, java)
            for a_second, java in zip(
                (1, 10, 100, 1_000, 10_000, 100_000), (808, 316, 33.8, 5.7, 2.4, 0.50), strict=True
            )
        ),
        *(
            _rate(a_second, 10, java)
            for a_second, java in zip(
                (1, 10, 100, 1_000, 10_000, 100_000), (None, 81, None, 2.9, 0.98, 0.24), strict=True
            )
        ),
    )
}
"""By name: ``a-BITS`` for workload A, ``RATE-BITS`` for the others."""


class Measurement(msgspec.Struct, frozen=True):
    """One row with one tracker, in a process of its own."""

    tracker: str
    row: str
    nacks: int
    growth_bytes: int
    nacks_per_second: int
    redeliveries_per_second: int
    content_verified: bool

    @property
    def bytes_an_entry(self) -> float:
        """How much the process has grown for each entry."""
        return self.growth_bytes / self.nacks


class MemoryRow(msgspec.Struct, frozen=True):
    """A row with all that stands beside each other in it; the pair map does not depend on it."""

    name: str
    a_second: int
    bits: int
    java_bytes: float | None
    buckets: Measurement
    pair_map: Measurement

    @property
    def passed(self) -> bool:
        """Whether all ids came out as they went in, and memory stayed within its limits."""
        mine, other = self.buckets.bytes_an_entry, self.pair_map.bytes_an_entry
        small = mine <= MOST_BYTES and (mine < other or self.a_second < PAYS_FROM or self.bits < 8)
        return small and self.buckets.content_verified and self.pair_map.content_verified


class Desk:
    """A configuration, clocks set by hand, a timer that fires when it is told to, and a consumer that takes notes."""

    backoff_ms = None
    multiplier = None
    delay_us = DELAY_US

    def __init__(self, bits: int) -> None:
        self.precision_bits = bits
        self.now = START
        self.ahead = 0
        """Nanoseconds by which the monotonic clock is ahead: what is due at a time is due before it, too."""
        self.fire: Callable[[], None] = lambda: None
        self.emitted: list[Position] = []

    def wall(self) -> int:
        """The time that was set."""
        return self.now

    def monotonic(self) -> int:
        """The same, in nanoseconds."""
        return self.now * MS + self.ahead

    def new_timeout(self, deadline: int, fired: NackFired) -> Armed:
        """Fire it when told to."""
        timeout = Armed()
        self.fire = lambda: fired(timeout)
        return timeout

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """Note what is emitted."""
        self.emitted.extend(ids)

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """Send nothing."""


class Armed:
    """A timeout."""

    cancelled = False

    def cancel(self) -> None:
        """Be cancelled."""
        self.cancelled = True


def nacks(row: Row, number: int) -> Iterator[tuple[int, Position]]:
    """The row's nacks in order: milliseconds from the start, and the position."""
    for i in range(number):
        ledger, entry = divmod(i, row.ledger_entries)
        yield i * 1_000 // row.a_second, (FIRST_LEDGER + ledger, row.first_entry + entry)


def measure(tracker: str, row: Row, number: int = NACKS) -> Measurement:
    """Fill a tracker, weigh it, and empty it, all in this process."""
    desk = Desk(row.bits)
    tracked = TRACKERS[tracker](desk, desk, desk, desk)
    before = resident_bytes()
    began = time.perf_counter()
    add = tracked.add_message
    for ms, position in nacks(row, number):
        desk.now = START + ms
        add(MessageId(*position), 0)
    adding = time.perf_counter() - began
    growth = resident_bytes() - before
    counted = tracked.get_nacked_messages_count()
    firing, exact = drain(desk, row, number)
    exact &= counted == number and tracked.get_nacked_messages_count() == 0
    return Measurement(tracker, row.name, number, growth, round(number / adding), round(number / firing), exact)


def drain(desk: Desk, row: Row, number: int) -> tuple[float, bool]:
    """Fire at times when ever more is due; answers with the seconds, and whether each time exactly that came out."""
    due = nacks(row, number)
    delay = DELAY_US // 1_000
    last = number * 1_000 // row.a_second
    width = 1 << row.bits
    ahead = next(due, None)
    seconds, exact = 0.0, True
    desk.ahead = 1
    for step in count(1):
        at = START + delay + last * step // FIRINGS + width
        desk.now = at - at % width + width - 1  # the end of a bucket: all that is in it is due, by the instant as well
        desk.emitted = []
        began = time.perf_counter()
        desk.fire()
        seconds += time.perf_counter() - began
        expected = []
        while ahead and START + ahead[0] + delay <= desk.now:
            expected.append(ahead[1])
            ahead = next(due, None)
        exact &= sorted(desk.emitted) == expected
        if ahead is None:
            break
    return seconds, exact


def measured(tracker: str, row: str, number: int = NACKS) -> Measurement:
    """Measure in a fresh process. Raises ``subprocess.CalledProcessError`` if that fails."""
    command = [sys.executable, "-m", __spec__.name, tracker, row, str(number)]
    return msgspec.json.decode(subprocess.run(command, check=True, capture_output=True).stdout, type=Measurement)


def rows(names: Sequence[str] = tuple(ROWS), number: int = NACKS) -> Iterator[MemoryRow]:
    """Measure rows one after the other. Raises ``KeyError`` for a name not in :data:`ROWS`."""
    chosen = [ROWS[name] for name in names]
    pair_map = measured("pair-map", names[0], number)
    for row in chosen:
        mine = measured("sorted-buckets", row.name, number)
        yield MemoryRow(row.name, row.a_second, row.bits, row.java_bytes, mine, pair_map)


def main(tracker: str, row: str, number: str = str(NACKS)) -> None:
    """Measure a row in this process and print it."""
    sys.stdout.write(msgspec.json.encode(measure(tracker, ROWS[row], int(number))).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
