"""Many entries at once, no two of them alike, and what is asked in the midst of them."""

from __future__ import annotations

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import (
    Clear,
    Fill,
    Invalidate,
    Remove,
    Trim,
)
from broker_tck.properties.contracts.entry_cache.pools import LARGEST_ENTRY, LAST_ID, MOST_SPANNED
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.sizes import Sizes

BUDGETS = weighted([(65, 18), (513, 9), (1_025, 9), (4_097, 2)])
"""How many come in a walk at once. Large ones are rare, as each costs as much as walks do."""
SIZES = (1_000, 1_024, 4_096)
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
        self.sizes = Sizes(choices, SIZES, BUDGETS)

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
