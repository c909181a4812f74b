"""What eviction costs: a million entries in 5,000 caches, over one queue of removal and with a policy for each cache.

Entries are of one size, dealt out to the caches in turn, a thousandth of them each millisecond. Then come three
passes: of time, with nothing old; of time, with a tenth old; of size, for a tenth of all bytes. The policies take
turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from measuring import Claim, Result, fresh, require, resident_bytes, timed

from broker_tck.implementations.entry_cache.legacy_policy import PerCachePolicy
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot
from broker_tck.implementations.interface import EntryCaches, Position, ReadCount

ENTRIES = 1_000_000
CACHES = 5_000
TURNS = 3
SIZE = 100
"""Bytes of an entry."""
PART = 10
"""A pass removes one entry of so many."""
SPAN = 1_000
"""Milliseconds over which all are inserted."""
PROTECTED = ((10, 5), (100, 5), (1_000, 5), (1_000, 1))
"""Numbers of entries with reads expected, and how often these have them requeued."""
POLICIES: dict[str, Callable[..., EntryCaches]] = {"removal-queue": RemovalQueue, "per-cache-policy": PerCachePolicy}


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
    length = SIZE

    def __init__(self, position: Position) -> None:
        self.position = position
        self.reads: ReadCount | None = None
        self.counts_as_read = False
        self.count = 1

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


class Filled:
    """A broker's caches, and the values that are put into them."""

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

    def gone(self, removed: tuple[int, int]) -> list[int]:
        """The values that no cache refers to. They must be as many as were removed, the lowest ones of each cache."""
        gone = [i for i, value in enumerate(self.values) if value.count == 1]
        left = self.entries - len(gone)
        require((len(gone), len(gone) * SIZE) == removed and self.broker.get_size() == left * SIZE, "all caches")
        lost = [0] * self.caches
        for i in gone:
            require(i // self.caches == lost[i % self.caches], f"cache {i % self.caches}")
            lost[i % self.caches] += 1
        for number, topic in enumerate(self.topics):
            kept = len(range(number, self.entries, self.caches)) - lost[number]
            require((topic.get_number_of_entries(), topic.get_size()) == (kept, kept * SIZE), f"cache {number}")
        return gone


def passes(policy: str, entries: int, caches: int) -> dict[str, float]:
    """Fill the caches, weigh them, and make the passes; answers with the cost of each row."""
    filled = Filled(policy, entries, caches)
    before = resident_bytes()
    filling, _ = timed(filled.fill)
    growth = resident_bytes() - before
    broker, part = filled.broker, -(-entries // PART)
    filled.gone((0, 0))
    filled.gone(broker.evict_entries_before_timestamp(0))
    old, by_time = timed(broker.evict_entries_before_timestamp, SPAN // PART)
    require(filled.gone(by_time) == [*range(part)], "a pass of time")
    size, by_size = timed(broker.evict_least_accessed_entries, part * SIZE)
    gone = filled.gone((by_time[0] + by_size[0], by_time[1] + by_size[1]))
    require(policy != "removal-queue" or gone == [*range(2 * part)], "a pass of size")
    for topic in filled.topics:
        topic.clear()
    filled.gone((entries, entries * SIZE))
    return {
        "memory": growth,
        "inserting": filling,
        "a pass that finds a tenth of the entries old": old,
        "a pass for a tenth of the bytes": size,
    }


class Counting(RemovalQueue):
    """Counts its visits to entries that are cached."""

    visits = 0

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        self.visits += 1
        return super().requeues(slot)


def visits(entries: int, requeues: int) -> Claim:
    """A size pass for one byte requeues each entry that reads protect as often as it may, and removes the first."""
    queue = Counting(Settings(max_requeue_count=requeues), lambda: 0, lambda task: None)
    topic = queue.get_entry_cache("topic")
    for entry in range(entries):
        value = Value((1, entry))
        value.reads = queue.new_read_count(1)
        topic.put(value.position, value)
    queue.evict_least_accessed_entries(1)
    most = entries * requeues + 1
    says = (
        f"a size pass over {entries:,} entries that reads protect {requeues} times visits {queue.visits:,} of {most:,}"
    )
    return Claim(says, queue.visits == most)


def cache(entries: int = ENTRIES, caches: int = CACHES, protected: Sequence[tuple[int, int]] = PROTECTED) -> Result:
    """What a policy for each cache costs, beside one queue of removal. A minute."""
    samples: dict[str, list[float]] = {}
    for _ in range(TURNS):
        queue, policy = (fresh(passes, name, entries, caches) for name in POLICIES)
        for row, cost in policy.items():
            samples.setdefault(row, []).append(cost / queue[row])
    table = {row: {"times as much": ratios} for row, ratios in samples.items()}
    return Result(table, [visits(*each) for each in protected])
