"""Positions, sizes and ranges of entries in a walk: out of a small pool over three topics, so that they meet again."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.configs import REQUEUES
from broker_tck.properties.contracts.entry_cache.fills import Fills, Out
from broker_tck.properties.contracts.entry_cache.operations import Fill, Invalidate, Range, Remove, Trim
from broker_tck.properties.contracts.entry_cache.pools import (
    LARGEST_ENTRY,
    MOST_SPANNED,
    expected_reads,
    positions,
    sizes,
)
from broker_tck.properties.engine.choices import Choices, weighted

AIMING = 12
"""One size of so many is the one with which the caches come to a limit."""


class Entries:
    """Positions, sizes and read counts of one walk."""

    def __init__(self, model: EntryCaches, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        self.pool = positions(choices, few=model.passes.most_requeued > max(REQUEUES))
        self.topics = weighted([(0, 4), (1, 1 + choices.below(3)), (2, choices.below(3))])
        self.sizes, self.reads = sizes(choices, model.manager.max_size), expected_reads(choices)
        self.fills = Fills(model, choices)

    def topic(self) -> int:
        """A topic."""
        return self.topics[self.below(len(self.topics))]

    def key(self) -> tuple[int, int, int]:
        """A topic and a position out of the pool."""
        return self.topic(), *self.pool[self.below(len(self.pool))]

    def somewhere(self) -> tuple[int, int, int]:
        """The same, or in the midst of what was inserted at once."""
        return self.fills.inside() if self.fills.last and self.below(2) else self.key()

    def known(self) -> tuple[int, int, int]:
        """A topic and a position, mostly of what was inserted."""
        stored = self.model.stored
        if self.fills.last and self.below(4) == 0:
            return self.fills.inside()
        if not stored or self.below(8) == 0:
            return self.key()
        cache, position = self.place()
        return cache, *position

    def place(self) -> tuple[int, Position]:
        """The topic and position of an entry in the queue."""
        queue = self.model.store.queue
        if not queue:
            return self.topics[0], self.pool[0]
        entry = queue[self.below(min(len(queue), 8))]
        caches = self.model.caches
        return caches.index(entry.cache) if entry.cache in caches else 0, entry.position

    def entry(self) -> tuple[int, int]:
        """A size and a read count."""
        return self.size(), self.reads[self.below(len(self.reads))]

    def size(self) -> int:
        """A size, now and then the one with which the caches come to a limit, or a byte beside it."""
        manager = self.model.manager
        if manager.max_size is not None and self.below(AIMING) == 0:
            limits = manager.max_size * 98 // 100, manager.max_size, manager.goal()
            left = limits[self.below(3)] - self.model.store.total + self.below(3) - 1
            if 0 <= left <= LARGEST_ENTRY:
                return left
        return self.sizes[self.below(len(self.sizes))]

    def fill(self) -> Fill | Out:
        """Many insertions, or all of the last of them out again, at once."""
        if self.fills.last and self.below(2):
            return self.fills.out()
        return self.fills.fill(self.key(), *self.entry())

    def range(self) -> Range:
        """A range, now and then the wrong way round: the rig refuses it."""
        cache, l1, e1 = self.somewhere()
        _, l2, e2 = self.somewhere()
        if self.fills.last and self.below(2):
            e2 = self.fills.page_end(e2)
        if l1 == l2 and abs(e1 - e2) > MOST_SPANNED:
            e2 = e1 + 2
        if (l2, e2) < (l1, e1) and self.below(8):
            l1, e1, l2, e2 = l2, e2, l1, e1
        return Range(cache, l1, e1, l2, e2)

    def remove(self) -> Remove:
        """A range to remove."""
        range_ = self.range()
        return Remove(range_.cache, range_.l1, range_.e1, range_.l2, range_.e2, self.below(2))

    def invalidate(self) -> Invalidate:
        """What is before a position, now and then before all."""
        if self.below(12) == 0:
            return Invalidate(self.topics[0], -1, self.below(2) - 1)
        cache, ledger, entry = self.somewhere()
        at_page = self.fills.last and self.below(2)
        return Invalidate(cache, ledger, self.fills.page_end(entry) if at_page else entry)

    def trim(self) -> Trim:
        """A ledger."""
        cache, ledger, _ = self.somewhere()
        return Trim(cache, ledger - (self.below(4) == 0))
