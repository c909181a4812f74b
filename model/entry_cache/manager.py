"""The manager of a broker's caches: how large they may become, and when that has a size pass made."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.entry_cache.entries import Cache
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        as_the_size_is_now=(
            "Your cache keeps nothing while the largest size is 0; what it was when the topic was opened decides."
        ),
        until_it_is_raised=(
            "Your cache keeps entries of a topic that was opened at a largest size of 0 once that is raised; it may "
            "keep nothing, then or later."
        ),
        absent=(
            "Your cache keeps entries of a topic that was opened at a largest size of 0; it may keep nothing, then "
            "or later."
        ),
    )
    @rule(
        "EC-19",
        "A new largest size, or watermark, removes nothing by itself; the next pass goes by it. A cache that was "
        "opened at a largest size of 0 keeps nothing, then or later: its reads are the storage's, each on its own.",
        source="RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold",
        look="a pass inside of the setter; a trigger that was worked out once; a cache that is disabled, or no longer",
        needs="manager",
        absent=lambda m, cache: False,
        as_the_size_is_now=lambda m, cache: m.max_size == 0,
        until_it_is_raised=lambda m, cache: cache.disabled and m.max_size == 0,
    )
    def keeps_nothing(self, cache: Cache) -> bool:
        return cache.disabled

    def new_cache(self) -> Cache:
        """The cache of a topic that is opened."""
        return Cache(disabled=self.max_size == 0)

    @said(
        at_the_watermark=(
            "Your cache orders a size pass at the watermark; it has to at more than 98 % of the largest size."
        ),
        at_the_trigger="Your cache orders a size pass at exactly 98 % of the largest size; it has to be more.",
        at_the_largest="Your cache has a size pass made only beyond its largest size; 98 % of it is the trigger.",
        absent=(
            "No insertion has your cache make a size pass; one that leaves more than 98 % of the largest size has to."
        ),
    )
    @rule(
        "EC-30",
        "An insertion that leaves more than 98 % of the largest size has a size pass made soon, one at a time.",
        source="RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded",
        look="the comparison; what the percentage is of; a second pass that awaits its turn as well",
        needs="manager",
        absent=lambda m, total: False,
        at_the_trigger=lambda m, total: m.max_size is not None and total >= m.max_size * TRIGGER_PERCENT // 100,
        at_the_watermark=lambda m, total: m.max_size is not None and total > m.goal(),
        at_the_largest=lambda m, total: m.max_size is not None and total > m.max_size,
    )
    def triggers(self, total: int) -> bool:
        return self.max_size is not None and total > self.max_size * TRIGGER_PERCENT // 100

    @said(
        down_to_the_trigger=(
            "A size pass of your cache comes down to the trigger; it has to come down to the watermark."
        ),
        down_to_the_largest=(
            "A size pass of your cache comes down to the largest size; it has to come down to the watermark."
        ),
        no_watermark_is_the_usual_one=(
            "Your cache takes a watermark of 0 for none, and goes down to 90 %; a size pass has to empty it."
        ),
        absent="A size pass of your cache empties it; it has to come down to the watermark.",
    )
    @rule(
        "EC-31",
        "A size pass that was ordered is asked for what is above the watermark when it runs, if the trigger is still "
        "passed. Both are percentages of the largest size, in whole bytes, rounded down.",
        source="RangeEntryCacheManagerEvictionHandler",
        look="an amount that was worked out where the pass was ordered; what it is measured from",
        needs="manager",
        absent=lambda m, total: total,
        down_to_the_trigger=lambda m, total: total - (m.max_size or 0) * TRIGGER_PERCENT // 100,
        down_to_the_largest=lambda m, total: total - (m.max_size or 0),
        no_watermark_is_the_usual_one=lambda m, total: (
            total - (m.max_size or 0) * (m.watermark or USUAL_WATERMARK) // 100
        ),
    )
    def excess(self, total: int) -> int:
        return total - self.goal()

    @said(
        absent=(
            "A size pass that was ordered removes entries from your cache although the trigger is no longer passed."
        ),
    )
    @also(excess, absent=lambda m, total: m.max_size is not None)
    def still_triggers(self, total: int) -> bool:
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

    @said(
        absent="Your cache does not count its size passes; those that had something to do count.",
    )
    @rule(
        "EC-40",
        "Counted are insertions, entries removed in whatever way, and size passes that had something to do.",
        source="RangeEntryCacheManagerImpl",
        look="removals that are no evictions; passes of time, which do not count",
        needs="manager",
        when=lambda m: True,
        absent=lambda m: None,
    )
    def count_pass(self) -> None:
        """Count a size pass that has something to do."""
        self.passes += 1
