"""Right but unusual entry caches."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_tck.implementations.entry_cache.reads import CacheReads, Running
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, TopicCache
from broker_tck.implementations.interface import (
    Entry,
    ExpectedReads,
    IllegalArgumentException,
    LedgerHandle,
    Position,
    ReadAnswered,
    ReadCount,
    ReadFailed,
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


class AnsweringCache(TopicCache):
    """A cache that answers with sequences of a class of its own, and refuses with an error of its own."""

    def put(self, position: Position, value: Entry) -> bool:
        if value.position != position:
            raise NotThisOne(position)
        return super().put(position, value)

    def get_range(self, first: Position, last: Position) -> Any:
        return Answer(super().get_range(first, last))

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        def answer(result: Sequence[Entry] | Exception) -> None:
            answered(result if isinstance(result, Exception) else Answer(result))

        super().read_entries(handle, first, last, expected, answer)

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        self.read_entries(handle, entry, entry, int, answered)


class WholeAnswers(CacheReads):
    """Reads that fail if the storage answers in part."""

    def came(self, running: Running, handle: LedgerHandle, values: Sequence[Entry]) -> None:
        running.came += values
        if len(values) <= running.last - running.first:
            self.failed(running, ReadFailed("not all has come"))
        else:
            self.completed(running, values)


class AnsweringCaches(RemovalQueue):
    """The bundled queue with such caches and reads, and with counts that are false and equal to each other."""

    cache_type = AnsweringCache
    reads = WholeAnswers

    def new_read_count(self, expected: int) -> ReadCount | None:
        return Tally(expected) if expected > 0 else None


class CopiesAtOnce(CacheReads):
    """Of several listeners all have their copies, and the originals are freed, before the first one is told."""

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        if len(running.listeners) == 1:
            return super().deliver(running, values)
        for reader, first, last in running.listeners:
            for value in values:
                if first <= value.position[1] <= last:
                    reader.take(value.copy())
        for value in values:
            value.counts_as_read = False
            value.release()
        for reader, *_ in running.listeners:
            self.arrived(reader)
        return None


class CopyingCaches(RemovalQueue):
    """The bundled queue with such reads."""

    reads = CopiesAtOnce


class PassingCache(TopicCache):
    """A cache whose answer for a range can be gone through once, and has no length."""

    def get_range(self, first: Position, last: Position) -> Any:
        return iter(super().get_range(first, last))


class PassingCaches(RemovalQueue):
    """The bundled queue with such caches."""

    cache_type = PassingCache
    capabilities: ClassVar[dict[str, object]] = {"reads": False, "steps": False}
