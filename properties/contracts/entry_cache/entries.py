"""Positions and entries of a walk, one by one and many at once: out of a small pool, so that they meet again."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.configs import REQUEUES
from broker_tck.properties.contracts.entry_cache.operations import Clear, Fill, Invalidate, Range, Remove, Trim
from broker_tck.properties.contracts.entry_cache.pools import (
    LARGEST_ENTRY,
    LAST_ID,
    MOST_SPANNED,
    expected_reads,
    positions,
    sizes,
)
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.sizes import Sizes

AIMING = 12
"""One size of so many is the one with which the caches come to a limit."""
BUDGETS = weighted([(65, 18), (513, 9), (1_025, 9), (4_097, 2)])
"""How many come in a walk at once. Large ones are rare, as each costs as much as walks do."""
BATCHES = (1_000, 1_024, 4_096)
"""A batch, as many blanks as a queue keeps, and a container."""
MOST_IGNORED = 64
"""So many at most where caches keep nothing."""
PAGE = 64
"""Entries whose ids differ in the low bits only are in one page."""
MOST_VISITS = 10_000
"""So often at most a pass looks at entries of which reads are expected: it goes round them as often as they may be
requeued."""

Out = Clear | Trim | Invalidate | Remove
"""What takes many out at once."""


def may_visit(model: EntryCaches, entries: int, requeues: int) -> bool:
    """Whether passes over so many entries more end soon, with so many requeueings allowed."""
    return (len(model.store.queue) + entries) * (requeues + 1) <= MOST_VISITS


def may_fill(model: EntryCaches, fill: Fill) -> bool:
    """Whether all of many entries are possible ones, and passes over them end soon."""
    after = fill.n // fill.across * fill.step
    possible = fill.ledger + fill.across <= LAST_ID and fill.entry + after <= LAST_ID
    return (
        possible
        and fill.size + fill.n * fill.apart <= LARGEST_ENTRY
        and fill.expected_reads - fill.turns > -(2**31)
        and may_visit(model, fill.n, model.passes.most_requeued)
    )


class Fills:
    """Makes them, and remembers the last of them."""

    def __init__(self, model: EntryCaches, choices: Choices) -> None:
        self.model = model
        self.choices = choices
        self.last: Fill | None = None
        self.sizes = Sizes(choices, BATCHES, BUDGETS)

    def fill(self, key: tuple[int, int, int], size: int, reads: int) -> Fill:
        """Many entries, from a position on, the first of a size and with expected reads."""
        choices = self.choices
        n = max(self.sizes.next(), 1)
        n = n if self.model.manager.max_size != 0 else min(n, MOST_IGNORED)
        across, step = one_of(choices, (1, 1, 1, 2, 7, n)), one_of(choices, (1, 1, 1, 1, 2, 65))
        apart, turns = one_of(choices, (0, 0, 1, 1, 3)), one_of(choices, (1, 1, 2, 3, 9))
        made = Fill(*key, n, across, step, size, apart, reads, turns)
        self.last = made if may_fill(self.model, made) else Fill(*key, 1, size=min(size, LARGEST_ENTRY))
        return self.last

    def out(self) -> Out:
        """What takes the last of them out of their cache, and leaves their places in the queue."""
        assert self.last
        last, way = self.last, self.choices.below(4)
        ledger, entry = last.ledger + last.across - 1, last.entry + last.n // last.across * last.step
        if way == 0:
            return Trim(last.cache, last.ledger)
        if way == 1:
            return Invalidate(last.cache, ledger, entry + 1)
        if way == 2 and (ledger > last.ledger or entry - last.entry <= MOST_SPANNED):
            if self.choices.below(2):
                entry = self.page_end(entry)
            return Remove(last.cache, last.ledger, last.entry, ledger, entry, self.choices.below(2))
        return Clear(last.cache)

    def page_end(self, entry: int) -> int:
        """Where the page of an entry begins, or the last place before it."""
        return max(entry - entry % PAGE - self.choices.below(2), 0)

    def inside(self) -> tuple[int, int, int]:
        """A topic and a position in the midst of the last."""
        assert self.last
        return self.at(self.choices.below(self.last.n + 1))

    def at(self, i: int) -> tuple[int, int, int]:
        """The topic and the position of one of the last."""
        assert self.last
        last = self.last
        return last.cache, last.ledger + i % last.across, last.entry + i // last.across * last.step


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
        below = self.below
        return self.topics[below(len(self.topics))], *self.pool[below(len(self.pool))]

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
        """A range, now and then the wrong way round: the adapter refuses it."""
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
