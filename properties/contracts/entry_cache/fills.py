"""Many entries at once, no two of them alike, and what is asked in the midst of them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import (
    CACHES,
    Clear,
    EvictSize,
    Fill,
    Invalidate,
    Late,
    Remove,
    Reopen,
    Trim,
)
from broker_tck.properties.contracts.entry_cache.pools import LARGEST_ENTRY, LAST_ID, MOST_SPANNED
from broker_tck.properties.engine.choices import Choices, one_of, weighted

FILLS = (2, 5, 17, 40, 100, 127, 128, 200, 256, 257, 1_000, 1_025, 1_100, 1_300, 4_095, 4_097)
"""How many. With more than 1,024 blanks a queue is rid of them; 4,096 are a container."""
IN_A_WALK = weighted([(60, 18), (400, 9), (1_300, 12), (2_600, 1), (5_000, 1)])
"""So many in a walk at most. Large ones are rare, as each costs as much as walks do."""
MOST_IGNORED = 64
"""So many at most where caches keep nothing."""
LARGE_ONES = 2
"""What is drawn is one of the largest that are left in one of so many cases."""
MANY = 1_000
"""Of more than so many, all are taken out at once in one of two cases, or all but a few that a pass has requeued."""
BLANKS, FEW = 1_024, 40
"""A queue that is rid of more blanks has to keep what is left as it is: these few."""
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
        self.due: list[Callable[[], EvictSize | Out | Reopen | Late]] = []
        """What is to be done soon, before other passes have met them; the last of it first."""
        self.left = one_of(choices, IN_A_WALK)

    def fill(self, key: tuple[int, int, int], size: int, reads: int) -> Fill:
        """Many entries, from a position on, the first of a size and with expected reads."""
        choices = self.choices
        n = self.number()
        across, step = one_of(choices, (1, 1, 1, 2, 7, n)), one_of(choices, (1, 1, 1, 1, 2, 65))
        apart, turns = one_of(choices, (0, 0, 1, 1, 3)), one_of(choices, (1, 1, 2, 3, 9))
        made = Fill(*key, n, across, step, size, apart, reads, turns)
        self.last = made if may_fill(self.model, made) else Fill(*key, 1, size=min(size, LARGEST_ENTRY))
        self.left -= self.last.n
        kind = choices.below(4) if self.last.n > PAGE else 0
        if kind and (kind == 1 or self.last.n <= MANY) and self.last.n // self.last.across > PAGE:
            self.due += [self.out_to_a_page] * 3
        elif kind > 1 and MANY < self.last.n <= BLANKS + FEW:
            self.due += [self.out, self.late, self.reopen] if choices.below(2) else [self.out]
        elif kind > 1 and self.last.n > BLANKS:
            self.last = structs.replace(self.last, across=1, expected_reads=1 + choices.below(3), turns=1)
            self.due += [self.out_but_few, self.pass_over]
        return self.last

    def number(self) -> int:
        """How many, out of what is left for the walk."""
        left = self.left if self.model.manager.max_size != 0 else min(self.left, MOST_IGNORED)
        fitting = [n for n in FILLS if n <= left] or FILLS[:1]
        large = self.choices.below(LARGE_ONES) == 0
        return one_of(self.choices, fitting[-4:] if large else fitting)

    def pass_over(self) -> EvictSize:
        """A pass that evicts what was there before them; it requeues them all and evicts the first."""
        assert self.last
        total = self.model.store.total
        before = total - sum(put.size for put in self.last.puts())
        return EvictSize(max(1, before + 1 + self.choices.below(self.last.size + 1)))

    def reopen(self) -> Reopen:
        """Another topic is reopened."""
        assert self.last
        return Reopen((self.last.cache + 1) % CACHES)

    def late(self) -> Late:
        """An insertion into the old cache of that one: it has to stay when the queue is rid of blanks."""
        assert self.last
        return Late((self.last.cache + 1) % CACHES, self.last.ledger, self.last.entry, self.last.size, 0)

    def out_but_few(self) -> Remove:
        """What takes the last of them out of their cache but for a few, which the pass has requeued."""
        assert self.last
        _, ledger, first = self.at(FEW // 2 + self.choices.below(FEW // 2))
        cache, to_ledger, last = self.at(self.last.n)
        return Remove(cache, ledger, first, to_ledger, last, 1)

    def out_to_a_page(self) -> Remove | Invalidate:
        """What takes some of the last out, up to where a page ends or begins; some after it stay."""
        assert self.last
        last = self.last
        length = min(last.n // last.across * last.step, MOST_SPANNED - PAGE)
        end = self.page_end(last.entry + PAGE + self.choices.below(length))
        if self.choices.below(2):
            return Invalidate(last.cache, last.ledger, end)
        return Remove(last.cache, last.ledger, last.entry, last.ledger, end, int(self.choices.below(4) == 0))

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
