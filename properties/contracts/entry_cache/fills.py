"""Many entries at once, no two of them alike, and what is asked in the midst of them."""

from __future__ import annotations

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import Clear, Fill, Invalidate, Remove, Trim
from broker_tck.properties.contracts.entry_cache.pools import LARGEST_ENTRY, LAST_ID, MOST_SPANNED
from broker_tck.properties.engine.choices import Choices, one_of, weighted

FILLS = (2, 5, 17, 40, 100, 127, 128, 200, 256, 257, 1_000, 1_025, 1_100, 1_300, 4_095, 4_097)
"""How many. With more than 1,024 blanks a queue is rid of them; 4,096 are a container."""
IN_A_WALK = weighted([(60, 18), (400, 9), (1_300, 5), (2_600, 1), (5_000, 1)])
"""So many in a walk at most. Large ones are rare, as each costs as much as walks do."""
LARGE_ONES = 2
"""What is drawn is one of the largest that are left in one of so many cases."""
MANY = 1_000
"""Of more than so many, all are taken out at once in one of two cases."""
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
        self.due = False
        """Whether they are to be taken out soon, before passes have met them."""
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
        self.due = self.last.n > MANY and choices.below(2) == 0
        return self.last

    def number(self) -> int:
        """How many, out of what is left for the walk."""
        fitting = [n for n in FILLS if n <= self.left] or FILLS[:1]
        large = self.choices.below(LARGE_ONES) == 0
        return one_of(self.choices, fitting[-4:] if large else fitting)

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
            return Remove(last.cache, last.ledger, last.entry, ledger, entry, self.choices.below(2))
        return Clear(last.cache)

    def inside(self) -> tuple[int, int, int]:
        """A topic and a position in the midst of the last."""
        assert self.last
        last, i = self.last, self.choices.below(self.last.n + 1)
        return last.cache, last.ledger + i % last.across, last.entry + i // last.across * last.step
