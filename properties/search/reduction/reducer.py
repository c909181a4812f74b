"""Reduction: the shortest trace that still breaks the same rule.

What is done in bulk is made little first, and runs of operations are left out. Then the passes follow each other:
operations go, numbers and names become plain, times come nearer together, and the configuration becomes plain. It all
begins again while anything got shorter, and while there is work to be put into it. Deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.search.reduction.configuration import (
    shorter_lists,
    simpler_config,
    smaller_config,
)
from broker_tck.properties.search.reduction.leaving_out import (
    in_chunks,
    merged,
    one_by_one,
    pairs,
    rewritten,
    two_at_once,
)
from broker_tck.properties.search.reduction.numbers import (
    nearer_positions,
    nearer_times,
    renamed,
    simpler_fields,
    simpler_positions,
    smaller_bulk,
)
from broker_tck.properties.search.reduction.prober import Prober

Pass = Callable[[Prober], None]
"""Makes its trace shorter or plainer, as far as it goes."""

FIRST: tuple[Pass, ...] = (smaller_bulk, in_chunks)
"""What is tried once, before all else: it makes each later probe cheap."""
PASSES: tuple[Pass, ...] = (
    one_by_one,
    rewritten,
    merged,
    simpler_positions,
    nearer_positions,
    renamed,
    simpler_fields,
    nearer_times,
    pairs,
    two_at_once,
    simpler_config,
    smaller_config,
    shorter_lists,
)
"""What is tried again and again, while anything gets shorter or plainer."""


class Reducer(Prober):
    """Reduces one trace."""

    def reduce(self, config: Any, operations: Sequence[Operation]) -> tuple[Any, list[Operation]]:
        """The shortest trace found. It fails, and unless the work ran out, nothing can be left out of it."""
        self.config, self.operations = config, [*operations]
        self.cut(self.operations)
        for smaller in FIRST:
            smaller(self)
        before = None
        while (self.config, self.operations) != before and not self.is_spent():
            before = self.config, self.operations
            for smaller in PASSES:
                if not self.is_tired():
                    smaller(self)
        if not self.is_tired():
            one_by_one(self)
        return self.config, self.operations
