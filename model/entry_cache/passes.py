"""What a pass over the queue judges: what is old, when enough is gone, and which entries have another turn."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.entry_cache.entries import Cached, Removed
from broker_tck.model.rules import Part, rule


class Config(Protocol):
    """What a trace configures of it."""

    @property
    def max_requeue_count(self) -> int:
        """How often reads that are expected have an entry requeued."""

    @property
    def extend_ttl_of_recently_accessed(self) -> bool:
        """Whether access has an entry requeued."""


class Passes(Part):
    """When passes end, and what they requeue."""

    def __init__(self, config: Config) -> None:
        self.most_requeued = config.max_requeue_count
        self.extends_accessed = config.extend_ttl_of_recently_accessed

    # ---- Time passes

    @rule("EC-20", source="RangeCacheRemovalQueue, PR 24363")
    def expired(self, entry: Cached, threshold: int) -> bool:
        """An entry has expired when it is older than the TTL: one exactly as old stays."""
        return entry.stamp < threshold

    @rule("EC-21", source="RangeCacheRemovalQueue, PR 24363")
    def stops_time_pass(self, entry: Cached, threshold: int, removed: Removed) -> bool:
        """A time pass ends at the first entry that has not expired."""
        return not self.expired(entry, threshold)

    # ---- Size passes

    @rule("EC-32", source="RangeCacheRemovalQueue, PR 24623")
    def stops_size_pass(self, entry: Cached, removed: Removed, asked: int) -> bool:
        """A size pass ends as soon as enough bytes are removed, before it looks at what the next entry deserves."""
        return removed[1] >= asked

    @rule("EC-32")
    def refuses(self, asked: int) -> bool:
        """A size pass has to be asked for something."""
        return asked <= 0

    @rule("EC-34", source="RangeCacheRemovalQueue, PR 24623", when=lambda p, first_round: not first_round)
    def spares(self, first_round: bool) -> bool:
        """A size pass goes round the queue as often as it must: what it requeued it meets again."""
        return True

    # ---- Which entries have another turn

    @rule("EC-24", source="RangeCacheRemovalQueue, PR 24623")
    def should_requeue(self, entry: Cached) -> bool:
        """An entry is requeued if it was accessed and that extends its life, however often, or if reads are expected
        and it was requeued less often than is allowed; one counter counts both.
        """
        return (self.extends_accessed and entry.accessed) or (self.has_expected_reads(entry) and self.allowed(entry))

    @rule("EC-24")
    def allowed(self, entry: Cached) -> bool:
        """Expected reads have an entry requeued only so often."""
        return entry.requeued < self.most_requeued

    @rule("RC-02", source="EntryReadCountHandlerImpl, PR 24623")
    def has_expected_reads(self, entry: Cached) -> bool:
        """Reads are expected of an entry whose count is at least 1; without a count none are, though it is told among
        what is not to be evicted.
        """
        return entry.reads is not None and entry.reads >= 1

    @rule("RC-02", needs="pinned")
    def told_as_pinned(self, entry: Cached) -> bool:
        """Whether an entry is told among what is not to be evicted."""
        return entry.reads is None or entry.reads >= 1
