"""Known mistakes of caches, and of what is stored, that take more than a clause."""

from __future__ import annotations

from broker_tck.model.entry_cache.caches import Caches, Config
from broker_tck.model.entry_cache.entries import Cache, Cached, Count, Position, Removed
from broker_tck.model.entry_cache.store import Store
from broker_tck.properties.mistakes.book import mistake

# ---- Inserting


@mistake(
    "EC-04",
    "a new entry goes to the head",
    "Your cache puts a new entry at the head of its queue; it goes to the tail.",
)
class EntersAtHead(Store):
    """What came last is looked at first."""

    def enqueue(self, entry: Cached) -> None:
        """Give an entry the first place in the queue."""
        self.queue.appendleft(entry)


@mistake("EC-04", "a new entry is as old as the clock")
class EntersOld(Store):
    """Nobody notes when an entry came."""

    def map(self, entry: Cached) -> None:
        """Put an entry into its cache with the time 0."""
        entry.stamp = 0
        super().map(entry)


@mistake(
    "EC-05",
    "a new entry takes the old one's place",
    "Your cache replaces an entry that is there; it must refuse the new one.",
)
class ReplacesThere(Store):
    """A put is a replacement."""

    def enter(self, entry: Cached) -> bool:
        """Remove what is there, and take the entry in."""
        if there := entry.cache.entries.get(entry.position):
            self.remove(there)
        self.accept(entry)
        return True


@mistake("EC-05", "a refused entry adds its size", "Your cache adds the size of an entry that it refused.")
class AddsRefusedSize(Store):
    """Bytes are counted before it is known whether the entry is taken."""

    def take_over(self, there: Cached, refused: Cached) -> None:
        """Count the bytes of the refused entry."""
        self.grow(there, refused.size)


@mistake(
    "EC-05",
    "a refused entry has the old one go to the tail",
    "A refused insertion moves the entry that is there to the tail of your cache's queue; it must stay.",
)
class MovesThere(Store):
    """An insertion made again gives a fresh place in the queue."""

    def take_over(self, there: Cached, refused: Cached) -> None:
        """Give the entry that is there the last place."""
        self.queue.remove(there)
        self.queue.append(there)


@mistake("EC-05", "a refused value is not released", "Your cache does not let go of a value that it refused.")
class KeepsRefused(Store):
    """The cache goes on holding a value that it refused."""

    def enter(self, entry: Cached) -> bool:
        """Keep a reference, taken or not."""
        taken = super().enter(entry)
        self.references += not taken
        return taken


@mistake(
    "EC-11",
    "a refused insertion marks the entry that is there",
    "A refused insertion marks the entry that is there as accessed; your cache must leave it as it is.",
)
class RefusalMarks(Caches):
    """A look at what is there is taken for a read."""

    def enter(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry, and mark the one that is there where it is refused."""
        there = cache.entries.get(position)
        inserted = super().enter(cache, position, size, count)
        if there and not inserted:
            there.accessed = True
        return inserted


@mistake(
    "EC-11",
    "an entry that is inserted again is as accessed as it was",
    "An entry that is inserted again counts as accessed in your cache where it was before; it must be read anew.",
)
class AccessedBefore(Caches):
    """What was read is kept in mind by its position."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.marked: set[tuple[Cache, Position]] = set()

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry, and keep its position in mind if it is read alone."""
        super().touch(entry, alone)
        if alone:
            self.marked.add((entry.cache, entry.position))

    def enter(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry, with the mark of its position."""
        inserted = super().enter(cache, position, size, count)
        if inserted and (cache, position) in self.marked:
            inserted.accessed = True
        return inserted


# ---- Reading


@mistake(
    "EC-11", "a single read marks nothing", "A read of one entry does not mark it as accessed in your cache; it must."
)
class SingleReadsUnmarked(Caches):
    """Only ranges mark what they read."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry that is read in a range."""
        if not alone:
            super().touch(entry, alone)


@mistake(
    "EC-11",
    "a range marks nothing",
    "A read of a range does not mark its entries as accessed in your cache; it must.",
)
class RangesUnmarked(Caches):
    """Only single reads mark what they read."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry that is read alone."""
        if alone:
            super().touch(entry, alone)


@mistake("EC-11", "a single read renews the time")
class SingleReadsRenew(Caches):
    """What was read is as young as if it were new."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry, and make it young if it is read alone."""
        super().touch(entry, alone)
        if alone:
            entry.stamp = self.now


@mistake(
    "EC-11",
    "a single read moves the entry to the tail",
    "A read moves the entry to the end of your cache's queue; it must stay where it is.",
)
class SingleReadsMove(Caches):
    """What was read longest ago goes first."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry, and give it the last place if it is read alone."""
        super().touch(entry, alone)
        if alone:
            self.store.queue.remove(entry)
            self.store.queue.append(entry)


# ---- Removing


@mistake(
    "EC-13",
    "a removal frees what readers hold",
    "Your cache frees a value that a reader still holds; the last holder frees it.",
)
class FreesHeld(Store):
    """The cache takes itself for the only holder."""

    def let_go(self, entry: Cached) -> None:
        """Give all references back."""
        self.release(entry, entry.count)


@mistake("EC-16", "a clear leaves the last entry")
class ClearLeavesLast(Caches):
    """One entry is not thought of."""

    def empty(self, cache: Cache) -> Removed:
        """Remove all but what came last."""
        return self.store.remove_all([*cache.entries.values()][:-1])
