"""How time moves in a walk, which passes are asked for, and what is set while it goes on."""

from __future__ import annotations

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.configs import (
    LARGEST,
    MANY_REQUEUES,
    REQUEUES,
    WATERMARKS,
    has_exact_goal,
)
from broker_tck.properties.contracts.entry_cache.entries import may_visit
from broker_tck.properties.contracts.entry_cache.operations import (
    Advance,
    EvictOld,
    EvictSize,
    Requeues,
    Resize,
    SetWatermark,
)
from broker_tck.properties.engine.choices import Choices, one_of

FAR = (2**31 - 1, 2**31, 2**32, 2**40, 86_400_000, 7 * 86_400_000)
"""Steps of time in milliseconds beyond the widths of integers, and over days."""
LATEST = 2**42
"""Time goes no further: in nanoseconds a long has room for twice as much."""
MANY = 64
"""Of more entries than these, passes are asked for any part."""


class Passes:
    """How time moves in one walk, and what passes are asked for."""

    def __init__(self, model: EntryCaches, choices: Choices) -> None:
        self.model = model
        self.choices = choices
        self.below = choices.below
        ttl = model.config.ttl
        self.steps = [0, 1, 1, 2, 10, ttl, ttl + 1, max(ttl - 1, 0)]
        if choices.below(8) == 0:
            self.steps += FAR[choices.below(3) :: 3]
        self.largest = model.manager.max_size or 0
        self.often = model.passes.most_requeued > max(REQUEUES)
        """Whether entries are requeued often in this walk."""

    def advance(self) -> Advance:
        """A step of time."""
        step = self.steps[self.below(len(self.steps))]
        return Advance(min(step, max(LATEST - self.model.now, 0)))

    def evict_old(self) -> EvictOld:
        """A time pass, by the age of an entry near the head and one more or less, or by the TTL."""
        queue = self.model.store.queue
        if not queue or self.below(6) == 0:
            return EvictOld(self.model.config.ttl)
        age = self.model.now - queue[self.below(min(len(queue), 4))].stamp
        return EvictOld(max(age + self.below(3) - 1, 0))

    def evict_size(self) -> EvictSize:
        """A size pass, by the first entries of the queue and one byte more or less, by all, or by nothing."""
        kind, total = self.below(16), self.model.store.total
        if kind == 0:
            return EvictSize(-self.below(2))
        if kind < 4:
            return EvictSize(max(total // 2 if kind == 1 else total + kind - 2, 1))
        queue = self.model.store.queue
        if len(queue) > MANY and kind < 10:
            return EvictSize(1 + self.below(total + 1))
        sizes = [queue[i].size for i in range(min(len(queue), 1 + self.below(4)))]
        return EvictSize(max(sum(sizes) + self.below(3) - 1, 1))

    def requeues(self) -> Requeues:
        """Another limit; in a walk of large ones another large one, as far as passes end soon with it."""
        limit = one_of(self.choices, MANY_REQUEUES if self.often else REQUEUES)
        return Requeues(limit if may_visit(self.model, 0, limit) else 0)

    def resize(self) -> Resize:
        """Another largest size."""
        watermark = self.model.manager.watermark
        all_sizes = [*filter(None, LARGEST), 0, self.largest, max(self.largest - 1, 0), self.largest // 2]
        fit = [size for size in all_sizes if has_exact_goal(size, watermark)]
        return Resize(fit[self.below(len(fit))])

    def watermark(self) -> SetWatermark:
        """Another watermark."""
        fit = [percent for percent in WATERMARKS if has_exact_goal(self.model.manager.max_size, percent)]
        return SetWatermark(fit[self.below(len(fit))])
