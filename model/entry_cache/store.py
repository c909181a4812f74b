"""What is stored: entries in their caches and in the queue of removal, their bytes, and references to their values.

An entry of a cache stays in the queue until a pass meets it at the head, even when it has left its cache.
"""

from __future__ import annotations

from collections import deque

from broker_tck.model.entry_cache.entries import Cached, Removed, add
from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


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

    @rule(
        "EC-04",
        "A new entry goes to the tail of the queue with the time of its insertion, and its size is added.",
        source="RangeCache, PR 24363",
        look="where in the queue an entry is put; which time it is given",
        when=lambda s, entry: s.queue,
    )
    def accept(self, entry: Cached) -> None:
        """Take an entry in."""
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

    @said(
        the_time="An insertion that your cache refuses still gives the old entry a new time; it has to stay as it is.",
        the_count=(
            "An insertion that your cache refuses still gives the old entry a new read count; it has to stay as it is."
        ),
        the_access=(
            "An insertion that your cache refuses still has the old entry no longer accessed; it has to stay as it is."
        ),
        the_requeueings=(
            "An insertion that your cache refuses still has the old entry's requeueings forgotten; it has to stay as "
            "it is."
        ),
    )
    @rule(
        "EC-05",
        "Where a position is cached already, the insertion is refused, and the old entry stays as it is.",
        source="RangeCache, put-if-absent",
        look="a put that replaces; counters that are raised before it is known; a fresh place in the queue",
        when=lambda s: True,
        the_time=lambda s: ("stamp",),
        the_count=lambda s: ("counter",),
        the_access=lambda s: ("accessed",),
        the_requeueings=lambda s: ("requeued",),
    )
    def taken_over(self) -> tuple[str, ...]:
        """What the entry that is there takes over from one that is refused."""
        return ()

    def take_over(self, there: Cached, refused: Cached) -> None:
        """Change the entry that is there as far as one that is refused changes it."""
        for what in self.taken_over():
            setattr(there, what, getattr(refused, what))

    # ---- Ways out

    @said(
        twice="Your cache lets go of a removed entry twice; once is right.",
        absent="Your cache never lets go of an entry that it removed.",
        of_a_freed_value_too=(
            "Your cache lets go of a value that is freed already when it removes it; it may let go once only."
        ),
    )
    @rule(
        "EC-12",
        "An entry is removed once: its size as it was inserted is taken off, and the cache lets go of it once.",
        source="RangeCacheEntryWrapper, PRs 10480, 22789, 23955",
        look="two ways out that both count; a reference that is not given back, or given back twice",
        absent=lambda s, entry: 0,
        twice=lambda s, entry: 2 * (entry.count > 0),
        of_a_freed_value_too=lambda s, entry: 1,
    )
    def gives_back(self, entry: Cached) -> int:
        """How many references the cache gives back: its own, unless somebody did so that should not have."""
        return 1 if entry.count else 0

    @said(
        the_size_that_it_has_now=(
            "Your cache takes off the size that an entry has now; it has to be the size as it was inserted."
        ),
        absent=(
            "Your cache counts nothing for a removed entry whose value is freed already; its size as it was inserted "
            "has to be taken off."
        ),
    )
    @also(
        gives_back,
        absent=lambda s, entry: [1, entry.size] if entry.count else [0, 0],
        the_size_that_it_has_now=lambda s, entry: [1, entry.size if entry.count else 0],
    )
    def counted(self, entry: Cached) -> Removed:
        """What a removed entry counts as, whatever became of its value."""
        return [1, entry.size]

    @said(
        absent="Your cache tells what has left it among what is not to be evicted.",
        unless_it_was_freed=(
            "Your cache tells an entry that has left among what is not to be evicted, while a reader still holds it."
        ),
    )
    @rule(
        "EC-26",
        "What has left its cache is not told among what is not to be evicted.",
        source="RangeCacheRemovalQueue.getNonEvictableSize",
        look="every way out of the cache, and whether the place in the queue is blank afterwards",
        needs="pinned",
        when=lambda s, entry: entry.reads is None or entry.reads > 0,
        absent=lambda s, entry: False,
        unless_it_was_freed=lambda s, entry: entry.count > 0,
    )
    def blanks(self, entry: Cached) -> bool:
        """Whether the place of an entry in the queue is blank once it is removed."""
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

    @rule(
        "EC-13",
        "A value that a reader holds stays valid when it leaves the cache, and is freed when the last holder lets go.",
        source="RangeCache, reference counts",
        look="a removal that frees what others hold",
        when=lambda s, entry: entry.count > 1,
    )
    def let_go(self, entry: Cached) -> None:
        """The cache lets go of a value."""
        self.release(entry, self.gives_back(entry))

    def release(self, entry: Cached, times: int) -> None:
        """Give references to a value back. With the last it is freed, and there are no more."""
        self.references -= 0 < entry.count <= times
        entry.count, missing = max(entry.count - times, 0), times > entry.count
        if missing:
            raise Fault("RuntimeError")

    # ---- Another turn

    @rule(
        "EC-22",
        "A requeued entry goes to the tail with the time of now, no longer accessed, and requeued once more.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="each of the four; a time that is not renewed lets a pass go round",
        when=lambda s, entry, now: True,
    )
    def requeue(self, entry: Cached, now: int) -> None:
        """Give an entry that has left the head of the queue another turn."""
        entry.requeued += 1
        entry.stamp = now
        entry.accessed = False
        self.queue.append(entry)
