"""The manager of a broker's caches: how large they may become, and when that has a size pass made."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.entry_cache.entries import Cache
from broker_tck.model.rules import Part, rule

TRIGGER_PERCENT = 98
"""Of the largest size, in percent: beyond it a size pass is due."""
USUAL_WATERMARK = 90
"""What a broker has where nothing else is configured, in percent; a rule does not know it, one wrong way does."""


class Config(Protocol):
    """What a trace configures of it."""

    @property
    def max_size(self) -> int | None:
        """The largest size in bytes; None for no limit."""

    @property
    def watermark(self) -> int:
        """The percentage of it that a size pass goes down to."""


class Manager(Part):
    """The largest size, the watermark below it, and at most one pass that awaits its turn."""

    def __init__(self, config: Config) -> None:
        self.max_size = config.max_size
        self.watermark = config.watermark
        self.pass_awaits = False
        self.passes = 0

    @rule("EC-19", source="RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold", needs="manager")
    def keeps_nothing(self, cache: Cache) -> bool:
        """A new largest size, or watermark, removes nothing by itself; the next pass goes by it. A cache that was
        opened at a largest size of 0 keeps nothing, then or later: its reads are the storage's, each on its own.
        """
        return cache.disabled

    def new_cache(self) -> Cache:
        """The cache of a topic that is opened."""
        return Cache(disabled=self.max_size == 0)

    @rule("EC-30", source="RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded", needs="manager")
    def triggers(self, total: int) -> bool:
        """An insertion that leaves more than 98 % of the largest size has a size pass made soon, one at a time."""
        return self.max_size is not None and total > self.max_size * TRIGGER_PERCENT // 100

    @rule("EC-31", source="RangeEntryCacheManagerEvictionHandler", needs="manager")
    def excess(self, total: int) -> int:
        """A size pass that was ordered is asked for what is above the watermark when it runs, if the trigger is still
        passed. Both are percentages of the largest size, in whole bytes, rounded down.
        """
        return total - self.goal()

    @rule("EC-31", needs="manager")
    def still_triggers(self, total: int) -> bool:
        """A size pass that was ordered removes nothing if the trigger is no longer passed when it runs."""
        return self.triggers(total)

    def goal(self) -> int:
        """The size at the watermark."""
        return (self.max_size or 0) * self.watermark // 100

    def asks_for(self, total: int) -> int:
        """The bytes that a pass is asked for now; 0 where none is needed."""
        return max(self.excess(total), 0) if self.still_triggers(total) else 0

    def order_pass(self, total: int) -> None:
        """Have a pass made soon if one is due and none is ordered."""
        self.pass_awaits = self.pass_awaits or self.triggers(total)

    def takes_turn(self) -> bool:
        """Whether a pass awaited its turn, which it has now."""
        awaited, self.pass_awaits = self.pass_awaits, False
        return awaited

    @rule("EC-40", source="RangeEntryCacheManagerImpl", needs="manager")
    def count_pass(self) -> None:
        """Counted are insertions, entries removed in whatever way, and size passes that had something to do."""
        self.passes += 1
