"""What a tracked message weighs: the growth of a fresh process that tracks many, and hands every one out again.

Delayed delivery has the workload of the broker's own experiment: ledger after ledger of 50,000 entries, ``x``
messages a millisecond, the ``y`` low bits of a time cleared. Negative acks come at a rate, with a new ledger every
50,000 entries.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from measuring import BATCH, FIRST_LEDGER, START, Claim, Desk, Result, Silent, fresh, require, resident_bytes

from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import MessageId, NackFired, NegativeAcksTracker, Position
from broker_tck.implementations.negative_acks.clients import CppOld
from broker_tck.implementations.negative_acks.parts import MS
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker

LEDGER_ENTRIES = 50_000

# ---- Delayed delivery

MESSAGES = 10_000_000
LIMIT_BYTES = 2_516_582
"""Maximum growth of a dense row of time buckets: 2.4 MiB."""
HOUR = 3_600_000


class Row(NamedTuple):
    """A workload and a tracker."""

    per_ms: int
    bits: int
    tracker: Callable[..., Any] = TimeBucketTracker
    is_dense: bool = True
    """Whether each message is delayed, all by as much; otherwise one in ten, by up to an hour."""


ROWS = {
    "heap": Row(1, 10, HeapTracker),
    "1-10": Row(1, 10),
    "4-10": Row(4, 10),
    "8-10": Row(8, 10),
    "8-15": Row(8, 15),
    "random": Row(8, 10, is_dense=False),
}
"""By name: ``x-y``, or what is different."""


class Width(Desk):
    """A configuration with buckets of some width, whose clock stands long before the first message is due."""

    strict = False
    lookahead = 0

    def __init__(self, bits: int) -> None:
        super().__init__(START - 1_000_000)
        self.tick = 1 << bits


def batches(row: Row, messages: int) -> Iterator[tuple[int, Sequence[int], list[int]]]:
    """The workload: a ledger, its entries, and their times."""
    choices = random.Random(0)
    for first in range(0, messages, BATCH):
        batch = range(first, min(first + BATCH, messages))
        entries: Sequence[int] = range(first % LEDGER_ENTRIES, first % LEDGER_ENTRIES + len(batch))
        times = [START + 1 + i // row.per_ms for i in batch]
        if not row.is_dense:
            entries = [entry for entry in entries if choices.random() < 0.1]
            times = [times[0] + int(choices.random() * HOUR) for _ in entries]
        yield FIRST_LEDGER + first // LEDGER_ENTRIES, entries, times


def content(row: Row, messages: int) -> Iterator[tuple[int, list[Position]]]:
    """The buckets in order of time: the first time of each, and its positions in order."""
    triples: Iterable[tuple[int, int, int]] = (
        (at & -(1 << row.bits), ledger, entry)
        for ledger, entries, times in batches(row, messages)
        for entry, at in zip(entries, times, strict=True)
    )
    for key, bucket in groupby(triples if row.is_dense else sorted(triples), key=itemgetter(0)):
        yield key, [triple[1:] for triple in bucket]


def tracked(name: str, messages: int, in_batches: bool) -> float:
    """Fill a tracker and empty it, bucket after bucket; answers with how many bytes the process has grown by."""
    row = ROWS[name]
    desk = Width(row.bits)
    tracker = row.tracker(desk, desk.clock, desk)
    before = resident_bytes()
    for ledger, entries, times in batches(row, messages):
        if in_batches:
            tracker.add_messages(ledger, entries, times)
        else:
            for entry, at in zip(entries, times, strict=True):
                tracker.add_message(ledger, entry, at)
    growth = resident_bytes() - before
    for key, positions in content(row, messages):
        desk.now = key - 1 - desk.tick
        require(not tracker.has_message_available(), f"{name}: before bucket {key}")
        desk.now = key - 1
        taken: list[Position] = []
        while tracker.has_message_available():
            taken.extend(tracker.get_scheduled_messages(BATCH))
        require(taken == positions, f"{name}: bucket {key}")
    require(tracker.get_number_of_delayed_messages() == 0, f"{name}: in the end")
    return growth


def memory(names: Sequence[str] = tuple(ROWS), messages: int = MESSAGES) -> Result:
    """How many bytes the process grows by that tracks ten million delayed messages. Ten minutes."""
    table: dict[str, dict[str, list[float]]] = {}
    claims = []
    for name in names:
        cells = table.setdefault(f"`{name}`", {"one by one": [fresh(tracked, name, messages, False)]})
        if ROWS[name].tracker is TimeBucketTracker:
            cells["in batches"] = [fresh(tracked, name, messages, True)]
            most = max(max(samples) for samples in cells.values())
            says = f"{name}: {most:,.0f} bytes, at most {LIMIT_BYTES:,}"
            claims += [Claim(says, most <= LIMIT_BYTES)] if ROWS[name].is_dense else []
    return Result(table, claims)


# ---- Negative acks

NACKS = 1_000_000
DELAY_US = 10**15
"""How long all are delayed: long enough for none to be due while they are added."""
FIRINGS = 50
"""Number of steps in which everything is emitted."""
TRACKERS: dict[str, Callable[..., NegativeAcksTracker]] = {"sorted-buckets": SortedBucketsTracker, "pair-map": CppOld}
RATES = (1, 10, 100, 1_000, 10_000, 100_000)
"""Nacks a second."""
JAVA = {8: (808, 316, 33.8, 5.7, 2.4, 0.50), 10: (None, 81, None, 2.9, 0.98, 0.24)}
"""Bytes of a nack in Java, by the bits of a bucket's width, for each rate."""
MOST_BYTES = 120.0
"""Maximum bytes of a nack that has a bucket of its own."""
PAYS_FROM = 10
"""From so many nacks a second on, buckets take less than the pair map."""


class Nacking:
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

    def new_timeout(self, deadline: int, fired: NackFired) -> Silent:
        """Fire it when told to."""
        timeout = Silent()
        self.fire = lambda: fired(timeout)
        return timeout

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """Note what is emitted."""
        self.emitted.extend(ids)

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """Send nothing."""


def workload(rate: int, number: int) -> Iterator[tuple[int, Position]]:
    """The nacks in order: milliseconds from the start, and the position."""
    for i in range(number):
        ledger, entry = divmod(i, LEDGER_ENTRIES)
        yield i * 1_000 // rate, (FIRST_LEDGER + ledger, entry)


def nacked(name: str, rate: int, bits: int, number: int) -> float:
    """Fill a tracker, weigh it, and empty it; answers with the bytes of a nack."""
    desk = Nacking(bits)
    tracker = TRACKERS[name](desk, desk, desk, desk)
    before = resident_bytes()
    for ms, position in workload(rate, number):
        desk.now = START + ms
        tracker.add_message(MessageId(*position), 0)
    growth = resident_bytes() - before
    require(tracker.get_nacked_messages_count() == number, "all added")
    emit_all(desk, rate, number)
    require(tracker.get_nacked_messages_count() == 0, "in the end")
    return growth / number


def emit_all(desk: Nacking, rate: int, number: int) -> None:
    """Fire at times when ever more is due, each the end of a bucket; each time exactly that has to come out."""
    due, delay, width = workload(rate, number), DELAY_US // 1_000, 1 << desk.precision_bits
    desk.ahead = 1
    following = next(due, None)
    for step in count(1):
        at = START + delay + number * 1_000 // rate * step // FIRINGS + width
        desk.now = at - at % width + width - 1
        desk.emitted = []
        desk.fire()
        expected = []
        while following and START + following[0] + delay <= desk.now:
            expected.append(following[1])
            following = next(due, None)
        require(sorted(desk.emitted) == expected, f"firing {step}")
        if following is None:
            return


def nacks(number: int = NACKS, rates: Sequence[int] = RATES) -> Result:
    """How many bytes a nack takes. Two minutes."""
    pair_map = fresh(nacked, "pair-map", rates[0], 8, number)
    table: dict[str, dict[str, list[float]]] = {}
    claims = []
    for place, rate in enumerate(rates):
        cells = table.setdefault(f"{rate:,}", {})
        for bits, java in JAVA.items():
            mine = fresh(nacked, "sorted-buckets", rate, bits, number)
            cells[f"k = {bits}"] = [mine]
            if (known := java[place]) is not None:
                cells[f"Java, k = {bits}"] = [known]
            most = min(MOST_BYTES, pair_map) if rate >= PAYS_FROM else MOST_BYTES
            claims.append(
                Claim(f"{rate:,} nacks a second, k = {bits}: {mine:.1f} bytes, at most {most:.1f}", mine <= most)
            )
    table["any, in the pair map"] = {"k = 8": [pair_map]}
    return Result(table, claims)
