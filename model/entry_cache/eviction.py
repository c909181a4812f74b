"""Eviction by age or size: passes over the queue, and the manager that orders them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_tck.model.entry_cache.entries import COUNTS, Cache, Cached, Config, Removed, Store, add
from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, rule

TRIGGER_PERCENT = 98
"""Percentage of the largest size above which a size pass is due."""
QUEUE = "RangeCacheRemovalQueue, PR 24363"
REQUEUES = "RangeCacheRemovalQueue, PR 24623"

Stops = Callable[[Cached, Removed], bool]
"""Whether a pass ends before an entry, by what is removed already."""
Keeps = Callable[[Cached, bool], bool]
"""Whether a pass requeues an entry, told whether it is on its first round of the queue."""
Judges = tuple[Stops, Keeps]


class Passes(Part):
    """Passes over the queue of all caches: what they look at, when they end, and what they requeue."""

    def __init__(self, config: Config, store: Store, caches: Sequence[Cache]) -> None:
        self.config = config
        self.store = store
        self.caches = caches
        self.most_requeued = config.max_requeue_count
        self.extends_accessed = config.extend_ttl_of_recently_accessed

    # ---- A pass

    def take_from_head(self, judges: Judges) -> Removed:
        """Visit the head of the queue until that ends the pass. Answers with what was removed."""
        removed = [0, 0]
        queue = self.store.queue
        queued, visits = len(queue), 0
        while queue:
            if (visits := visits + 1) > (queued + 1) * (self.most_requeued + 3):
                raise Fault("RuntimeError")  # with a known mistake only: the pass would go round and round
            if not self.visit(self.head(), removed, judges, visits <= queued):
                break
        return removed

    @rule("EC-23", source=QUEUE)
    def head(self) -> Cached:
        """All caches share one queue: a pass looks at its head, whichever topic the head belongs to."""
        return self.store.queue[0]

    @rule("EC-03", source=QUEUE, when=lambda p, head, removed, judges, first_round: head.blank)
    def visit(self, head: Cached, removed: Removed, judges: Judges, first_round: bool) -> bool:
        """A blank head, whose entry has left its cache, does not stop a pass."""
        if head.blank:
            self.drop_blank(head, removed)
            return True
        stops, keeps = judges
        if stops(head, removed):
            return False
        self.store.queue.remove(head)
        if keeps(head, first_round):
            self.store.requeue(head)
        else:
            add(removed, self.store.remove(head))
        return True

    @rule("EC-02", source=QUEUE)
    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """An entry that has left its cache stays in the queue; a pass that meets it drops it, and counts nothing."""
        self.store.queue.remove(blank)

    # ---- Time passes

    def time_pass(self, threshold: int) -> Removed:
        """Remove entries from the head that were put there before a time."""
        return self.take_from_head(self.by_age(threshold))

    def by_age(self, threshold: int) -> Judges:
        """How a time pass judges entries."""
        return (
            lambda head, removed: self.stops_time_pass(head, threshold, removed),
            lambda head, first_round: self.should_requeue(head),
        )

    @rule("EC-20", source=QUEUE)
    def expired(self, entry: Cached, threshold: int) -> bool:
        """An entry has expired if it is older than the TTL; an entry exactly as old stays."""
        return entry.stamp < threshold

    @rule("EC-21", source=QUEUE)
    def stops_time_pass(self, entry: Cached, threshold: int, removed: Removed) -> bool:
        """A time pass ends at the first entry that has not expired."""
        return not self.expired(entry, threshold)

    # ---- Size passes

    def size_pass(self, asked: int) -> Removed:
        """Remove from the head until as many bytes are gone as are asked for."""
        return self.take_from_head(self.by_size(asked))

    def by_size(self, asked: int) -> Judges:
        """How a size pass judges entries."""
        return lambda head, removed: self.stops_size_pass(head, removed, asked), self.spares

    @rule("EC-32", source=REQUEUES)
    def stops_size_pass(self, entry: Cached, removed: Removed, asked: int) -> bool:
        """A size pass ends as soon as enough bytes are removed, before it judges the next entry."""
        return removed[1] >= asked

    @rule("EC-32")
    def refuses(self, asked: int) -> bool:
        """A size pass for no bytes is refused with an error."""
        return asked <= 0

    @rule("EC-34", source=REQUEUES, when=lambda p, entry, first_round: not first_round)
    def spares(self, entry: Cached, first_round: bool) -> bool:
        """A size pass goes round the queue as often as it must, and meets again the entries that it requeued."""
        return self.keeps_in_size_pass(entry)

    @rule("EC-33", source=REQUEUES)
    def keeps_in_size_pass(self, entry: Cached) -> bool:
        """A size pass does not look at the age of entries."""
        return self.should_requeue(entry)

    # ---- Which entries have another turn

    @rule("EC-24", source=REQUEUES)
    def should_requeue(self, entry: Cached) -> bool:
        """If access extends life, an accessed entry is always requeued; one with expected reads, up to a limit."""
        return (self.extends_accessed and entry.accessed) or (self.has_expected_reads(entry) and self.allowed(entry))

    @rule("EC-24")
    def allowed(self, entry: Cached) -> bool:
        """One counter counts both kinds of requeueing; the limit applies to expected reads only."""
        return entry.requeued < self.most_requeued

    @rule("RC-02", source=COUNTS)
    def has_expected_reads(self, entry: Cached) -> bool:
        """An entry has expected reads if its count is at least 1; an entry without a count never has any."""
        return entry.reads is not None and entry.reads >= 1

    @rule("RC-02", needs="pinned")
    def told_as_pinned(self, entry: Cached) -> bool:
        """Entries with expected reads, and those without a count, are reported as protected."""
        return entry.reads is None or entry.reads >= 1


class Manager(Part):
    """The largest size of all caches, the watermark below it, and the passes that await their turn."""

    def __init__(self, config: Config) -> None:
        self.max_size = config.max_size
        self.watermark = config.watermark
        self.pass_awaits = False
        """Whether a pass counts as ordered: no other is ordered then."""
        self.waiting = 0
        """Number of passes that await their turn.

        If no calls overlap, it is one if a pass counts as ordered, else none. A scheduled run that overlaps others
        counts as an ordered pass, and its end forgets one that awaits its turn.
        """
        self.passes = 0

    @rule("EC-19", source="RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold", needs="manager")
    def keeps_nothing(self, cache: Cache) -> bool:
        """A cache that was opened at a largest size of 0 keeps nothing, then or later."""
        return cache.disabled

    def new_cache(self) -> Cache:
        """The cache of a topic that is opened."""
        return Cache(disabled=self.max_size == 0)

    @rule("EC-30", source="RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded", needs="manager")
    def triggers(self, total: int) -> bool:
        """If an insertion leaves more than 98 % of the largest size, it orders a size pass, one at a time."""
        return self.max_size is not None and total > self.max_size * TRIGGER_PERCENT // 100

    def order_pass(self, total: int) -> None:
        """Have a pass made soon if one is due and none is ordered."""
        self.pass_awaits = self.pass_awaits or self.triggers(total)
        self.waiting = int(self.pass_awaits)

    def take_turns(self) -> int:
        """How many passes awaited their turn, which they have now."""
        waited, self.pass_awaits, self.waiting = self.waiting, False, 0
        return waited

    @rule("EC-31", source="RangeEntryCacheManagerEvictionHandler", needs="manager")
    def excess(self, total: int) -> int:
        """A size pass that was ordered removes the bytes that are above the watermark when it runs."""
        return total - self.goal()

    @rule("EC-31", needs="manager")
    def asks_for(self, total: int) -> int:
        """A size pass that was ordered removes nothing if the trigger is no longer passed when it runs."""
        return max(self.excess(total), 0) if self.triggers(total) else 0

    @rule("EC-31", needs="manager")
    def goal(self) -> int:
        """Trigger and watermark are percentages of the largest size, in whole bytes, rounded down."""
        return (self.max_size or 0) * self.watermark // 100

    @rule("EC-40", source="RangeEntryCacheManagerImpl", needs="manager")
    def count_pass(self) -> None:
        """The counters count insertions, removals of entries, and ordered or scheduled size passes with work to do."""
        self.passes += 1
