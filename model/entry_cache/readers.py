"""Readers of the entry cache: what each asked for and was given, and what the storage was asked for on the way."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Cache, Count

Run = tuple[int, int]
"""The first and the last entry of a part of a ledger."""


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


class Request:
    """A read that the storage was asked for, and who listens for it."""

    __slots__ = ("cache", "creator", "first", "last", "ledger", "listeners", "number", "reopened", "then")

    def __init__(self, creator: Reader, run: Run) -> None:
        self.creator = creator
        self.cache = creator.cache
        self.ledger = creator.ledger
        self.first, self.last = run
        self.listeners: list[tuple[Reader, int, int]] = [(creator, *run)]
        """Readers, and the part that each is to have."""
        self.number = 0
        self.reopened = False
        self.then = 0
        """What the expected reads start at, if that is asked when it is made."""

    def order(self) -> tuple[int, ...]:
        """Where it stands among what is pending."""
        return self.creator.topic, self.ledger, self.first, self.last, self.number
