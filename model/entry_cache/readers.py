"""Readers of the entry cache: what each asked for and was given, and what the storage was asked for on the way."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.entry_cache.entries import Cache, Count

Run = tuple[int, int]
"""The first and the last entry of a part of a ledger."""
SINGLE = -1
"""In place of a cursor: a read of a single entry, which is not a cursor's."""


class Returned:
    """An entry as one reader has it, until it is freed."""

    __slots__ = ("count", "entry", "reader")

    def __init__(self, entry: int, count: Count | None) -> None:
        self.entry = entry
        self.count = count
        self.reader: Reader | None = None


class Reader:
    """Somebody who reads a part of a ledger, from the request until what was returned is freed."""

    __slots__ = (
        "again",
        "awaited",
        "cache",
        "cursor",
        "failed",
        "first",
        "got",
        "last",
        "ledger",
        "left",
        "number",
        "partial",
        "permits",
        "since",
        "topic",
        "within",
    )

    def __init__(self, cache: Cache, topic: int, cursor: int, ledger: int, run: Run, again: bool) -> None:
        self.within: Reader | None = None
        """The reader that this one reads a part for."""
        self.cache = cache
        self.topic = topic
        self.cursor = cursor
        self.ledger = ledger
        self.first, self.last = run
        self.again = again
        """Whether it reads the same once more when it is answered, before it returns."""
        self.number = 0
        self.got: dict[int, Returned] = {}
        self.awaited = 0
        """Parts that have not come yet."""
        self.failed = False
        self.partial = False
        """Whether a part of it was cached."""
        self.permits = 0
        self.since = 0
        """When it began to wait for permits."""
        self.left = 0
        """Returned entries that are not freed yet."""

    @property
    def entries(self) -> range:
        """The entries that it asked for."""
        return range(self.first, self.last + 1)

    def part(self, run: Run) -> Reader:
        """One who reads a part for this reader."""
        other = Reader(self.cache, self.topic, self.cursor, self.ledger, run, again=False)
        other.within = self
        return other

    def listed(self) -> list[Returned]:
        """What it was given, in the order of the entries."""
        return [self.got[entry] for entry in sorted(self.got)]

    def take_all(self) -> list[Returned]:
        """What it was given, which it has no longer."""
        got, self.got = [*self.got.values()], {}
        return got


class Request:
    """A read that the storage was asked for, and who listens for it."""

    __slots__ = ("cache", "creator", "first", "last", "ledger", "listeners", "number", "reopened")

    def __init__(self, creator: Reader, run: Run) -> None:
        self.creator = creator
        self.cache = creator.cache
        self.ledger = creator.ledger
        self.first, self.last = run
        self.listeners: list[tuple[Reader, int, int]] = [(creator, *run)]
        """Readers, and the part that each is to have."""
        self.number = 0
        self.reopened = False

    @property
    def entries(self) -> range:
        """The entries that were asked for."""
        return range(self.first, self.last + 1)

    def order(self) -> tuple[int, ...]:
        """Where it stands among what is pending."""
        return self.creator.topic, self.ledger, self.first, self.last, self.number


def runs(entries: Iterable[int]) -> list[Run]:
    """Entries in ascending order as runs without a gap, each as long as can be."""
    found: list[Run] = []
    for entry in entries:
        if found and found[-1][1] == entry - 1:
            found[-1] = found[-1][0], entry
        else:
            found.append((entry, entry))
    return found


def spanned(entries: list[int]) -> list[Run]:
    """Entries in ascending order as a single run, gaps included."""
    return [(entries[0], entries[-1])] if entries else []


def lefts(entries: Iterable[Returned]) -> list[int | None]:
    """The counts of entries; none where they are not counted."""
    return [entry.count.left if entry.count else None for entry in entries]
