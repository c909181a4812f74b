"""Right but unusual entry caches."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_tck.implementations.entry_cache.reads import CacheReads
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue
from broker_tck.implementations.interface import (
    Entry,
    ExpectedReads,
    IllegalArgumentException,
    LedgerHandle,
    Position,
    ReadAnswered,
    ReadCount,
)


@dataclass
class Tally:
    """A read count that is equal to any other of its number, is false, and cannot be hashed."""

    left: int

    def __bool__(self) -> bool:
        return False

    def get_expected_read_count(self) -> int:
        return self.left

    def increment_expected_read_count(self) -> None:
        self.left += 1

    def mark_read(self) -> None:
        self.left -= 1


class NotThisOne(IllegalArgumentException):
    """What these caches refuse an argument with."""


def new_tally(expected: int) -> ReadCount | None:
    """A count, if there is something to count."""
    return Tally(expected) if expected > 0 else None


class Answer(Sequence[Entry]):
    """A sequence that is neither a list nor a tuple, and false."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = deque(entries)

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, at: Any) -> Any:
        return [*self.entries][at]


@dataclass
class Stone:
    """A cached entry. It is equal to another of the same size and time, and cannot be hashed."""

    size: int
    stamp: int
    cache: Any = None
    value: Entry | None = None
    accessed: bool = False
    requeued: int = 0


class BytesCache:
    """The cache of one topic: a sorted list of bytes, which holds what was removed until it is swept, and a dictionary.

    Ranges are answered with a sequence of a class of its own. What is inserted is buffered until a range is asked for.
    """

    def __init__(self, broker: BytesCaches) -> None:
        self.broker = broker
        self.disabled = broker.max_size == 0
        self.added = self.added_size = self.size = 0
        self.reads = CacheReads(self, broker.limiter, broker.read_counters, broker.new_read_count)
        self.stones: dict[bytes, Stone] = {}
        self.keys: list[bytes] = []
        self.fresh: list[bytes] = []

    @staticmethod
    def key(position: Position) -> bytes:
        """A position as bytes that sort as positions do, beyond 64 bits as well."""
        return b"".join((number + 2**70).to_bytes(9, "big") for number in position)

    def put(self, position: Position, value: Entry) -> bool:
        if value.position != position:
            raise NotThisOne(position)
        key = self.key(position)
        if self.disabled or key in self.stones or not value.retain():
            return False
        stone = self.stones[key] = Stone(value.length, self.broker.clock(), self, value)
        self.fresh.append(key)
        self.size += stone.size
        self.added += 1
        self.added_size += stone.size
        self.broker.added(stone)
        return True

    def get(self, position: Position) -> Entry | None:
        return self.read(self.key(position))

    def read(self, key: bytes) -> Entry | None:
        """The value of a key, retained."""
        stone = self.stones.get(key)
        if stone is None or stone.value is None:
            return None
        stone.accessed = True
        return stone.value if stone.value.retain() else None

    def between(self, first: bytes, last: bytes | None) -> list[bytes]:
        """The keys from one to another, that one not included; up to the end without it."""
        for key in self.fresh:
            at = bisect_left(self.keys, key)
            if self.keys[at : at + 1] != [key]:
                insort(self.keys, key)
        self.fresh = []
        if len(self.keys) > 2 * len(self.stones) + 16:
            self.keys = [key for key in self.keys if key in self.stones]
        found = self.keys[bisect_left(self.keys, first) : None if last is None else bisect_left(self.keys, last)]
        return [key for key in found if key in self.stones]

    def get_range(self, first: Position, last: Position) -> Sequence[Entry]:
        values = map(self.read, self.between(self.key(first), self.key(last) + b"\0"))
        return Answer([value for value in values if value is not None])

    def remove(self, keys: Sequence[bytes]) -> tuple[int, int]:
        """Remove what stands under keys."""
        gone = [stone for key in keys if (stone := self.stones.get(key)) and self.take_out(stone)]
        size = sum(stone.size for stone in gone)
        self.broker.removed(len(gone), size, blanks=len(gone))
        return len(gone), size

    def take_out(self, stone: Stone) -> bool:
        """Remove a stone; what is left of it is blank."""
        value = stone.value
        assert value is not None
        del self.stones[self.key(value.position)]
        self.size -= stone.size
        stone.value = None
        if value.count:
            value.release()
        return True

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        return self.remove(self.between(self.key(first), self.key(last) + b"\0" * last_inclusive))

    def invalidate_entries(self, last: Position) -> None:
        self.remove(self.between(self.key((-1, 0)), self.key(last)))

    def invalidate_all_entries(self, ledger: int) -> None:
        self.remove(self.between(self.key((ledger, 0)), self.key((ledger + 1, 0))))
        self.reads.forget(ledger)

    def clear(self) -> tuple[int, int]:
        self.reads.forget_all()
        return self.remove(self.between(b"", None))

    def get_number_of_entries(self) -> int:
        return len(self.stones)

    def get_size(self) -> int:
        return self.size

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        def answer(result: Sequence[Entry] | Exception) -> None:
            answered(result if isinstance(result, Exception) else Answer(result))

        self.reads.read(handle, first, last, expected, answer)

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        self.read_entries(handle, entry, entry, int, answered)


class BytesCaches(RemovalQueue):
    """The bundled queue, but caches that keep positions as bytes, and counts that are false and equal to each other."""

    cache_type: ClassVar[Any] = BytesCache

    @property
    def limiter(self) -> Any:
        """The limit of reads in flight."""
        return self._limiter

    @property
    def read_counters(self) -> list[int]:
        """Hits and misses."""
        return self._read_counters

    def get_entry_cache(self, topic: str) -> Any:
        if topic not in self._caches:
            self._caches[topic] = self.cache_type(self)
        return self._caches[topic]

    def new_read_count(self, expected: int) -> ReadCount | None:
        return new_tally(expected)

    def get_non_evictable_size(self) -> tuple[int, int]:
        living = [stone for stone in self.queue if stone.value is not None]
        counts = [(stone, stone.value.reads) for stone in living if stone.value is not None]
        sizes = [stone.size for stone, count in counts if count is None or count.get_expected_read_count() >= 1]
        return len(sizes), sum(sizes)
