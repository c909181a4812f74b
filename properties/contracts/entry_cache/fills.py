"""Many entries at once, no two of them alike, and what is asked in the midst of them."""

from __future__ import annotations

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import Fill
from broker_tck.properties.contracts.entry_cache.pools import LARGEST_ENTRY, LAST_ID
from broker_tck.properties.engine.choices import Choices, one_of, weighted

FILLS = weighted(
    [
        ((2, 5, 17, 40), 50),
        ((100, 127, 128, 200, 256, 257), 24),
        ((1_000, 1_025, 1_100, 1_300), 8),
        ((4_095, 4_097), 1),
    ]
)
"""How many: large ones are rare, as each costs as much as a walk. With more than 1,024 blanks a queue is rid of them."""
MOST_VISITS = 30_000
"""So often at most a pass looks at entries of which reads are expected: it goes round them as often as they may be
requeued."""


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

    def fill(self, key: tuple[int, int, int], size: int, reads: int) -> Fill:
        """Many entries, from a position on, the first of a size and with expected reads."""
        choices = self.choices
        n = one_of(choices, one_of(choices, FILLS))
        across, step = one_of(choices, (1, 1, 1, 2, 7, n)), one_of(choices, (1, 1, 1, 1, 2, 65))
        apart, turns = one_of(choices, (0, 0, 1, 1, 3)), one_of(choices, (1, 1, 2, 3, 9))
        made = Fill(*key, n, across, step, size, apart, reads, turns)
        self.last = made if may_fill(self.model, made) else Fill(*key, 1, size=min(size, LARGEST_ENTRY))
        return self.last

    def inside(self) -> tuple[int, int, int]:
        """A topic and a position in the midst of the last."""
        assert self.last
        last, i = self.last, self.choices.below(self.last.n + 1)
        return last.cache, last.ledger + i % last.across, last.entry + i // last.across * last.step
