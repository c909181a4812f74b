"""What is stored: entries in their caches and in the queue of removal, their bytes, and references to their values.

An entry of a cache stays in the queue until a pass meets it at the head, even when it has left its cache.
"""

from __future__ import annotations

from collections import deque

from broker_tck.model.entry_cache.entries import Cached, Removed, add
from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, rule


class Store(Part):
    """The entries of all caches, over one queue."""

    def __init__(self) -> None:
        self.queue: deque[Cached] = deque()
        self.total = 0
        """The bytes of all caches."""
        self.references = 0
        """Values that somebody holds a reference of."""
        self.inserted = self.evicted = 0

    # ---- Ways in

    def enter(self, entry: Cached) -> bool:
        """Take an entry in, unless its position is cached already; answers whether it was taken."""
        there = entry.cache.entries.get(entry.position)
        if there:
            self.take_over(there, entry)
            return False
        self.accept(entry)
        return True

    @rule("EC-04", source="RangeCache, PR 24363", when=lambda s, entry: s.queue)
    def accept(self, entry: Cached) -> None:
        """A new entry goes to the tail of the queue with the time of its insertion, and its size is added."""
        self.map(entry)
        self.enqueue(entry)
        self.count_in(entry)

    def map(self, entry: Cached) -> None:
        """Put an entry into its cache, which has a reference then."""
        entry.cache.entries[entry.position] = entry
        self.references += 1

    def enqueue(self, entry: Cached) -> None:
        """Give an entry the last place in the queue."""
        self.queue.append(entry)

    def count_in(self, entry: Cached) -> None:
        """Count an entry and its size."""
        self.grow(entry, entry.size)
        entry.cache.added += 1
        entry.cache.added_size += entry.size
        self.inserted += 1

    def grow(self, entry: Cached, size: int) -> None:
        """Count bytes more, or fewer, in an entry's cache and in the broker."""
        entry.cache.size += size
        self.total += size

    @rule("EC-05", source="RangeCache, put-if-absent")
    def taken_over(self) -> tuple[str, ...]:
        """Where a position is cached already, the insertion is refused, and the old entry stays as it is."""
        return ()

    def take_over(self, there: Cached, refused: Cached) -> None:
        """Change the entry that is there as far as one that is refused changes it."""
        for what in self.taken_over():
            setattr(there, what, getattr(refused, what))

    # ---- Ways out

    @rule("EC-12", source="RangeCacheEntryWrapper, PRs 10480, 22789, 23955")
    def gives_back(self, entry: Cached) -> int:
        """An entry is removed once: its size as it was inserted is taken off, and the cache lets go of it once."""
        return 1 if entry.count else 0

    @rule("EC-12")
    def counted(self, entry: Cached) -> Removed:
        """What a removed entry counts as, whatever became of its value."""
        return [1, entry.size]

    @rule(
        "EC-26",
        source="RangeCacheRemovalQueue.getNonEvictableSize",
        needs="pinned",
        when=lambda s, entry: entry.reads is None or entry.reads > 0,
    )
    def blanks(self, entry: Cached) -> bool:
        """What has left its cache is not told among what is not to be evicted."""
        return True

    def remove(self, entry: Cached) -> Removed:
        """Take an entry out of its cache; in the queue it stays. Answers with what was removed."""
        entry.blank = self.blanks(entry)
        if entry.cached:
            del entry.cache.entries[entry.position]
        counts = self.counted(entry)
        self.grow(entry, -counts[1])
        self.evicted += counts[0]
        self.let_go(entry)
        return counts

    def remove_all(self, entries: list[Cached]) -> Removed:
        """Take entries out of their caches."""
        removed = [0, 0]
        for entry in entries:
            add(removed, self.remove(entry))
        return removed

    @rule("EC-13", source="RangeCache, reference counts", when=lambda s, entry: entry.count > 1)
    def let_go(self, entry: Cached) -> None:
        """A value that a reader holds stays valid outside the cache, and is freed when the last holder lets go."""
        self.release(entry, self.gives_back(entry))

    def release(self, entry: Cached, times: int) -> None:
        """Give references to a value back. With the last it is freed, and there are no more."""
        self.references -= 0 < entry.count <= times
        entry.count, missing = max(entry.count - times, 0), times > entry.count
        if missing:
            raise Fault("RuntimeError")

    # ---- Another turn

    @rule("EC-22", source="RangeCacheRemovalQueue, PR 24623")
    def requeue(self, entry: Cached, now: int) -> None:
        """A requeued entry goes to the tail with the time of now, no longer accessed, and requeued once more."""
        entry.requeued += 1
        entry.stamp = now
        entry.accessed = False
        self.queue.append(entry)
