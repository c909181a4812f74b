"""What eviction costs: a million entries in 5,000 caches, over one queue of removal and with a policy for each cache.

Entries are of one size, dealt out to the caches in turn, a thousandth of them each millisecond. Then come three passes:
of time, with nothing old; of time, with a tenth old; of size, for a tenth of all bytes. A policy is measured in a fresh
process, which prints a line of JSON: ``python -m broker_tck.bench.cache POLICY [ENTRIES [CACHES]]``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter
from typing import TypeVar

import msgspec

from broker_tck.bench.memory import resident_bytes
from broker_tck.implementations.entry_cache.legacy_policy import PerCachePolicy
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot
from broker_tck.implementations.interface import EntryCaches, Position, ReadCount

T = TypeVar("T")

ENTRIES = 1_000_000
CACHES = 5_000
SIZE = 100
"""Bytes of an entry."""
PART = 10
"""A pass removes one entry of so many."""
SPAN = 1_000
"""Milliseconds over which all are inserted."""
IDLE = 7
"""How often the pass that finds nothing is made in one process."""
PROTECTED = ((10, 5), (100, 5), (1_000, 5), (1_000, 1))
"""Entries with reads expected, and how often these have them requeued."""

POLICIES: dict[str, Callable[..., EntryCaches]] = {
    "removal-queue": RemovalQueue,
    "per-cache-policy": PerCachePolicy,
}
PASSES = ("time, nothing old", "time, a tenth", "size, a tenth")


class Settings(msgspec.Struct, frozen=True):
    """The broker's settings: no limit, so that no pass is made by itself."""

    max_requeue_count: int = 5
    extend_ttl_of_recently_accessed: bool = False
    ttl: int = SPAN
    max_size: int | None = None
    watermark: int = 90
    max_reads_in_flight: int = 0
    acquire_timeout: int = 60_000
    acquire_queue: int = 10_000


class Value:
    """A value with a reference count."""

    __slots__ = ("count", "counts_as_read", "position", "reads")

    def __init__(self, position: Position) -> None:
        self.position = position
        self.reads: ReadCount | None = None
        self.counts_as_read = False
        self.count = 1

    @property
    def length(self) -> int:
        """Its bytes."""
        return SIZE

    def copy(self) -> Value:
        """A value of its own."""
        return Value(self.position)

    def on_freed(self, call: Callable[[], object]) -> None:
        """Nothing is called: nobody reads here."""

    def retain(self) -> bool:
        """Take a reference."""
        self.count += 1
        return self.count > 1

    def release(self) -> None:
        """Give a reference back."""
        self.count -= 1


class Measurement(msgspec.Struct, frozen=True):
    """One policy, in a process of its own; ``seconds`` are of :data:`PASSES`."""

    policy: str
    entries: int
    caches: int
    growth_bytes: int
    puts_per_second: int
    seconds: tuple[float, float, float]
    content_verified: bool

    @property
    def bytes_an_entry(self) -> float:
        """How much the process has grown for each entry, its value aside."""
        return self.growth_bytes / self.entries


class Visits(msgspec.Struct, frozen=True):
    """A size pass for one byte over entries with reads expected: what it visited, and what it may."""

    entries: int
    requeues: int
    visits: int

    @property
    def most(self) -> int:
        """Each is requeued as often as is allowed, then the first is removed."""
        return self.entries * self.requeues + 1


class Result(msgspec.Struct, frozen=True):
    """All measurements, by policy and in the order in which they were made, and visits counted."""

    measurements: list[Measurement]
    visits: list[Visits]

    @property
    def passed(self) -> bool:
        """Whether every entry was where it had to be, and no pass visited more than it may."""
        return all(m.content_verified for m in self.measurements) and all(v.visits == v.most for v in self.visits)


class Desk:
    """A broker's caches that are filled, and who looks which values are still referred to."""

    def __init__(self, policy: str, entries: int, caches: int) -> None:
        self.now = 0
        self.entries, self.caches = entries, caches
        self.broker = POLICIES[policy](Settings(), lambda: self.now, lambda task: None)
        self.topics = [self.broker.get_entry_cache(f"topic-{number:06}") for number in range(caches)]
        self.values = [Value((1, i // caches)) for i in range(entries)]

    def fill(self) -> None:
        """Insert all values."""
        topics, caches = self.topics, self.caches
        for i, value in enumerate(self.values):
            self.now = i * SPAN // self.entries
            topics[i % caches].put(value.position, value)

    def gone(self) -> list[int]:
        """The numbers of the values that no cache refers to."""
        return [i for i, value in enumerate(self.values) if value.count == 1]

    def exact(self, gone: list[int], removed: tuple[int, int]) -> bool:
        """Whether so many entries and bytes are gone, the lowest positions of each cache, and sizes are right."""
        left = self.entries - len(gone)
        told = [(topic.get_number_of_entries(), topic.get_size()) for topic in self.topics]
        counted = (len(gone), len(gone) * SIZE) == removed and self.broker.get_size() == left * SIZE
        lowest: list[int] = [0] * self.caches
        for i in gone:
            counted = counted and i // self.caches == lowest[i % self.caches]
            lowest[i % self.caches] += 1
        dealt = [len(range(number, self.entries, self.caches)) - lowest[number] for number in range(self.caches)]
        return counted and told == [(number, number * SIZE) for number in dealt]


def measure(policy: str, entries: int = ENTRIES, caches: int = CACHES) -> Measurement:
    """Fill the caches, weigh them, and make the passes, all in this process."""
    desk = Desk(policy, entries, caches)
    before = resident_bytes()
    filling = timed(desk.fill)[0]
    growth = resident_bytes() - before
    broker, part = desk.broker, -(-entries // PART)
    exact = desk.exact([], (0, 0))

    idle = [timed(lambda: broker.evict_entries_before_timestamp(0)) for _ in range(IDLE)]
    exact &= all(removed == (0, 0) for _, removed in idle)
    old, removed = timed(lambda: broker.evict_entries_before_timestamp(SPAN // PART))
    first = desk.gone()
    exact &= first == [*range(part)] and desk.exact(first, removed)
    size, more = timed(lambda: broker.evict_least_accessed_entries(part * SIZE))
    gone = desk.gone()
    exact &= desk.exact(gone, (removed[0] + more[0], removed[1] + more[1]))
    exact &= policy != "removal-queue" or gone == [*range(2 * part)]
    for topic in desk.topics:
        topic.clear()
    exact &= len(desk.gone()) == entries and broker.get_size() == 0
    seconds = median(taken for taken, _ in idle), old, size
    return Measurement(policy, entries, caches, growth, round(entries / filling), seconds, exact)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The seconds that something takes, and its answer."""
    began = perf_counter()
    answer = work()
    return perf_counter() - began, answer


class Counting(RemovalQueue):
    """Counts its visits to entries that are cached."""

    visits = 0

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        self.visits += 1
        return super().requeues(slot)


def visited(entries: int, requeues: int) -> Visits:
    """Count what a size pass for one byte visits where reads of all entries are expected."""
    queue = Counting(Settings(max_requeue_count=requeues), lambda: 0, lambda task: None)
    topic = queue.get_entry_cache("topic")
    for entry in range(entries):
        value = Value((1, entry))
        value.reads = queue.new_read_count(1)
        topic.put(value.position, value)
    queue.evict_least_accessed_entries(1)
    return Visits(entries, requeues, queue.visits)


def measured(policy: str, entries: int = ENTRIES, caches: int = CACHES) -> Measurement:
    """Measure in a fresh process. Raises ``subprocess.CalledProcessError`` if that fails."""
    command = [sys.executable, "-m", __spec__.name, policy, str(entries), str(caches)]
    return msgspec.json.decode(subprocess.run(command, check=True, capture_output=True).stdout, type=Measurement)


def rounds(number: int, entries: int = ENTRIES, caches: int = CACHES) -> Iterator[Measurement]:
    """Measure each policy so often; they take turns."""
    for _ in range(number):
        for policy in POLICIES:
            yield measured(policy, entries, caches)


def result(measurements: Sequence[Measurement]) -> Result:
    """The measurements with visits counted."""
    return Result(list(measurements), [visited(*row) for row in PROTECTED])


def main(policy: str, entries: str = str(ENTRIES), caches: str = str(CACHES)) -> None:
    """Measure a policy in this process and print it."""
    sys.stdout.write(msgspec.json.encode(measure(policy, int(entries), int(caches))).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
