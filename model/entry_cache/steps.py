"""What a step of a call that was begun may do, while other calls are under way."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Cached, Removed
from broker_tck.model.rules import Part, rule


class Steps(Part):
    """What calls under way know of each other."""

    def __init__(self) -> None:
        self.putting: list[Cached] = []
        """Entries whose insertion has not ended."""
        self.unqueued: list[Cached] = []
        """Those of them that are mapped and not yet in the queue."""
        self.passing: list[Removed] = []
        """What each of the passes has removed so far that have begun to look at the queue."""

    @rule("IL-1", source="RangeCache.put, under the wrapper's lock", needs="steps")
    def removable(self, entry: Cached) -> bool:
        """An insertion maps its entry, queues it, and counts its size; until it is queued no removal takes it."""
        return entry not in self.unqueued

    @rule("IL-2", source="RangeCacheRemovalQueue, PR 18076", needs="steps")
    def judged(self, now: str, then: str) -> str:
        """A pass judges the head when it has its lock: what has left its cache by then is dropped, uncounted."""
        return now

    @rule("IL-3", source="RangeCacheEntryWrapper, optimistic reads", needs="steps")
    def answers(self, was: tuple[str, ...]) -> tuple[str, ...]:
        """A read answers with what was so at a moment of it: a hit if its entry was there, a miss if it was not."""
        return was

    @rule("IL-4", source="RangeCacheEntryWrapper, recycled wrappers", needs="steps")
    def named(self, answer: str) -> str:
        """A read never answers with the value of another position, although wrappers are used again."""
        return answer

    @rule("IL-5", source="RangeCache, weakly consistent iteration", needs="steps")
    def owed(self, due: list[Cached]) -> list[Cached]:
        """A removal takes all that was in its range from its begin on; what comes in meanwhile may go or stay."""
        return [entry for entry in due if entry.cached]

    @rule("EC-16", needs="steps")
    def removed_by(self, due: list[Cached], removed: Removed) -> Removed:
        """What a removal answers with: what it took itself, not what was there before it."""
        return [*removed]

    @rule("IL-11", source="RangeCacheRemovalQueue, the monitor of the queue", needs="steps")
    def waits_for(self, others: int) -> bool:
        """Passes are made one after the other: one that is begun while another is under way waits for its end."""
        return others > 0

    def removed_in_passes(self) -> int:
        """The bytes that passes under way have removed so far."""
        return sum(removed[1] for removed in self.passing)
