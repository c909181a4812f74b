"""What a step of a call that was begun may do, while other calls are under way."""

from __future__ import annotations

from broker_tck.model.entry_cache.caches import Caches
from broker_tck.model.entry_cache.entries import Cached, Removed
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


class Steps(Part):
    """What calls under way know of each other."""

    def __init__(self) -> None:
        self.putting: list[Cached] = []
        """Entries whose insertion has not ended."""
        self.unqueued: list[Cached] = []
        """Those of them that are mapped and not yet in the queue."""
        self.passing: list[Removed] = []
        """What each of the passes has removed so far that have begun to look at the queue."""

    @said(
        absent="Your cache removes an entry whose insertion has not queued it yet.",
    )
    @rule(
        "IL-1",
        "An insertion maps its entry, queues it, and counts its size; until it is queued no removal takes it.",
        source="RangeCache.put, under the wrapper's lock",
        look="a removal that does not wait for the lock; a size that is read from an entry which may be gone",
        needs="steps",
        absent=lambda s, entry: True,
    )
    def removable(self, entry: Cached) -> bool:
        return entry not in self.unqueued

    @said(
        absent=(
            "A pass of your cache judges the head as it was when it was looked at; it has to when it has its lock."
        ),
    )
    @rule(
        "IL-2",
        "A pass judges the head when it has its lock: what has left its cache by then is dropped, uncounted.",
        source="RangeCacheRemovalQueue, PR 18076",
        look="what happens between the look at the head and the removal: which entry is taken then; what is recycled",
        needs="steps",
        absent=lambda s, now, then: then or now,
    )
    def judged(self, now: str, then: str) -> str:
        """What becomes of the head: by what it deserves now, not when it was looked at."""
        return now

    @said(
        never_a_hit="A read of your cache misses an entry that is there.",
        absent=(
            "A read of your cache answers with what was so at no moment of it: a miss of what was there, or a hit of "
            "what was not."
        ),
    )
    @rule(
        "IL-3",
        "A read answers with what was so at a moment of it: a hit if its entry was there, a miss if it was not.",
        source="RangeCacheEntryWrapper, optimistic reads",
        look="a value that cannot be retained any more; a miss where the entry was there all along",
        needs="steps",
        absent=lambda s, was: ("hit", "miss"),
        never_a_hit=lambda s, was: ("miss",),
    )
    def answers(self, was: tuple[str, ...]) -> tuple[str, ...]:
        """What a read may answer, by what was so while it was under way."""
        return was

    @said(
        absent="A read of your cache answers with the value of another position.",
    )
    @rule(
        "IL-4",
        "A read never answers with the value of another position, although wrappers are used again.",
        source="RangeCacheEntryWrapper, recycled wrappers",
        look="a key that is not compared once the wrapper is read",
        needs="steps",
        absent=lambda s, answer: "hit of 0 0" if answer == "hit" else answer,
    )
    def named(self, answer: str) -> str:
        """What a read ends with, by whether it found its entry."""
        return answer

    @said(
        absent="A removal of your cache ends where another call has taken an entry; it owes all that was there.",
    )
    @rule(
        "IL-5",
        "A removal takes all that was in its range from its begin on; what comes in meanwhile may go or stay.",
        source="RangeCache, weakly consistent iteration",
        look="entries that are skipped because another was removed beside them",
        needs="steps",
        absent=lambda s, due: [],
    )
    def owed(self, due: list[Cached]) -> list[Cached]:
        """What a removal still has to take."""
        return [entry for entry in due if entry.cached]

    @said(
        absent=(
            "A clear of your cache answers with what was there when it began; it has to answer with what it removed "
            "itself."
        ),
    )
    @also(Caches.empty, absent=lambda s, due, removed: [len(due), sum(entry.size for entry in due)])
    def removed_by(self, due: list[Cached], removed: Removed) -> Removed:
        """What a removal answers with: what it took itself, not what was there before it."""
        return [*removed]

    @said(
        absent="Two passes of your cache run side by side; one has to wait for the other.",
    )
    @rule(
        "IL-11",
        "Passes are made one after the other: one that is begun while another is under way waits for its end.",
        source="RangeCacheRemovalQueue, the monitor of the queue",
        look="two passes that look at one head",
        needs="steps",
        absent=lambda s, others: False,
    )
    def waits_for(self, others: int) -> bool:
        """Whether a pass has to wait, given how many others are going on."""
        return others > 0

    def removed_in_passes(self) -> int:
        """The bytes that passes under way have removed so far."""
        return sum(removed[1] for removed in self.passing)
