"""Entries, in a cache and in the queue of removal, and the caches that hold them."""

from __future__ import annotations

Position = tuple[int, int]
"""Ledger id and entry id."""
Removed = list[int]
"""How many entries were removed, and their bytes."""


def add(to: Removed, more: Removed) -> None:
    """Count more as removed."""
    to[0] += more[0]
    to[1] += more[1]


class Count:
    """Reads of an entry that are still expected, shared by the cache and all who were given the entry."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Cached:
    """An entry that was inserted: in its cache until it is removed, in the queue until a pass has met it."""

    __slots__ = ("accessed", "blank", "cache", "count", "counter", "position", "requeued", "size", "stamp")

    def __init__(self, cache: Cache, position: Position, size: int, count: Count | None, stamp: int) -> None:
        self.cache = cache
        self.position = position
        self.size = size
        self.counter = count
        """Reads still expected; None: nobody counts them."""
        self.stamp = stamp
        """When it was put into the queue, for the first time or again."""
        self.requeued = 0
        self.accessed = False
        self.blank = False
        """Whether its place in the queue stands for nothing any more."""
        self.count = 1
        """References to the value: that of its cache, and those of readers."""

    @property
    def reads(self) -> int | None:
        """How many reads are still expected."""
        return None if self.counter is None else self.counter.left

    @property
    def cached(self) -> bool:
        """Whether it is in its cache."""
        return self.cache.entries.get(self.position) is self


class Cache:
    """The cache of one topic."""

    __slots__ = ("added", "added_size", "disabled", "entries", "size")

    def __init__(self, disabled: bool) -> None:
        self.disabled = disabled
        """Whether it was opened while the largest size was 0."""
        self.entries: dict[Position, Cached] = {}
        self.size = 0
        self.added = self.added_size = 0
        """How many entries it was ever given, and their bytes."""

    def average_added(self) -> int:
        """The average size of what it was ever given; 0 where that is nothing."""
        return self.added_size // self.added if self.added else 0
