"""The broker of the caches: passes over the queue, when they are made, and what is set at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.model.entry_cache.caches import Caches, Config
from broker_tck.model.entry_cache.entries import Cached, Removed, add
from broker_tck.model.entry_cache.passes import Passes
from broker_tck.model.reference import Fault
from broker_tck.model.rules import rule

Stops = Callable[[Cached, Removed], bool]
"""Whether a pass ends before an entry, by what is removed already."""
Keeps = Callable[[Cached, bool], bool]
"""Whether a pass requeues an entry, told whether it is on its first round of the queue."""


class Broker(Caches):
    """Caches, and what takes entries out of them by age or for want of space."""

    Passes = Passes

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.passes = self.Passes(config)

    # ---- A pass

    @rule("EC-23", source="RangeCacheRemovalQueue, PR 24363")
    def head(self) -> Cached:
        """The queue is one for all caches: a pass looks at its head, whichever topic that is of."""
        return self.store.queue[0]

    def take_from_head(self, stops: Stops, keeps: Keeps) -> Removed:
        """A pass: visit the head until that ends it. Answers with what was removed."""
        removed = [0, 0]
        queue = self.store.queue
        queued, visits = len(queue), 0
        while queue:
            if (visits := visits + 1) > (queued + 1) * (self.passes.most_requeued + 3):
                raise Fault("RuntimeError")  # in a wrong way only: the pass would go round and round
            if not self.visit(self.head(), removed, stops, keeps, visits <= queued):
                break
        return removed

    @rule(
        "EC-03",
        source="RangeCacheRemovalQueue, PR 24363",
        when=lambda m, head, removed, stops, keeps, first_round: head.blank,
    )
    def visit(self, head: Cached, removed: Removed, stops: Stops, keeps: Keeps, first_round: bool) -> bool:
        """A blank head does not stop a pass."""
        if head.blank:
            self.drop_blank(head, removed)
            return True
        if stops(head, removed):
            return False
        self.store.queue.remove(head)
        if keeps(head, first_round):
            self.requeue(head)
        else:
            add(removed, self.store.remove(head))
        return True

    @rule("EC-02", source="RangeCacheRemovalQueue, PR 24363")
    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """An entry that has left its cache stays in the queue; a pass that meets it drops it, and counts nothing."""
        self.store.queue.remove(blank)

    def requeue(self, entry: Cached) -> None:
        """A pass gives an entry another turn."""
        self.store.requeue(entry, self.now)

    # ---- Passes that are asked for

    def evict_old(self, age: int) -> Removed:
        """A time pass: what is older goes."""
        return self.time_pass(self.now - age)

    def time_pass(self, threshold: int) -> Removed:
        """Remove from the head what was put there before a time."""
        passes = self.passes
        return self.take_from_head(
            lambda head, removed: passes.stops_time_pass(head, threshold, removed),
            lambda head, first_round: passes.should_requeue(head),
        )

    def evict_size(self, asked: int) -> Removed:
        """A size pass: so many bytes go at least, if there are as many."""
        if self.passes.refuses(asked):
            raise Fault("IllegalArgumentException")
        return self.size_pass(asked)

    def size_pass(self, asked: int) -> Removed:
        """Remove from the head until so many bytes are gone."""
        passes = self.passes
        return self.take_from_head(
            lambda head, removed: passes.stops_size_pass(head, removed, asked), self.kept_in_size_pass
        )

    @rule("EC-33", source="RangeCacheRemovalQueue, PR 24623")
    def keeps_in_size_pass(self, entry: Cached) -> bool:
        """A size pass asks no entry's age."""
        return self.passes.should_requeue(entry)

    def kept_in_size_pass(self, entry: Cached, first_round: bool) -> bool:
        """Whether a size pass requeues an entry."""
        return self.keeps_in_size_pass(entry) and self.passes.spares(first_round)

    def pinned(self) -> Removed:
        """The entries, and their bytes, that are not to be evicted."""
        pinned = [entry for entry in self.store.queue if not entry.blank and self.passes.told_as_pinned(entry)]
        return [len(pinned), sum(entry.size for entry in pinned)]

    # ---- Passes that are due

    def background(self) -> int:
        """The pass that awaits its turn is made; answers how many there were."""
        if not self.manager.takes_turn():
            return 0
        self.relieve()
        return 1

    def relieve(self) -> None:
        """Make a size pass if one is needed."""
        if asked := self.manager.asks_for(self.store.total):
            self.manager.count_pass()
            self.size_pass(asked)

    @rule(
        "EC-38",
        source="RangeEntryCacheManagerImpl.doCacheEviction",
        needs="manager",
        when=lambda m: any(entry.stamp < m.now - m.config.ttl for entry in m.store.queue),
    )
    def run(self) -> None:
        """A scheduled run is a time pass, then a size pass if the trigger is still passed."""
        self.time_pass(self.now - self.config.ttl)
        self.relieve()

    # ---- What is set, and what is told

    @rule("EC-19", needs="manager", when=lambda m, size: m.store.total > size)
    def resize(self, size: int) -> None:
        """Set the largest size."""
        self.manager.max_size = size

    def set_watermark(self, percent: int) -> None:
        """Set the watermark."""
        self.manager.watermark = percent

    def requeues(self, n: int) -> None:
        """Set how often reads that are expected extend a life."""
        self.passes.most_requeued = n

    def extend(self, on: int) -> None:
        """Set whether access extends a life."""
        self.passes.extends_accessed = bool(on)

    def advance(self, n: int) -> None:
        """Time passes."""
        self.now += n

    def counters(self) -> list[int]:
        """Insertions, removals, size passes."""
        return [self.store.inserted, self.store.evicted, self.manager.passes]

    def size_of_all(self) -> Any:
        """The bytes of all caches, those that were left included."""
        return self.store.total

    def seen(self) -> tuple[Any, ...]:
        """Entries and bytes of each cache, and the values that somebody holds a reference of."""
        a, b, c = self.caches  # written out, as it is asked after each operation
        sizes = [[len(a.entries), a.size], [len(b.entries), b.size], [len(c.entries), c.size]]
        return sizes, self.store.references
