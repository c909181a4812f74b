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
from broker_tck.properties.search.reduction.prober import Prober, Trace

Pass = Callable[[Prober, Trace], Trace]
"""Makes a trace shorter or plainer, as far as it goes."""

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

    def reduce(self, config: Any, operations: Sequence[Operation]) -> Trace:
        """The shortest trace found. It fails, and unless the work ran out, nothing can be left out of it."""
        trace = self.cut(config, list(operations)) or (config, list(operations))
        for smaller in FIRST:
            trace = smaller(self, trace)
        before = None
        while trace != before and not self.is_spent():
            before = trace
            for smaller in PASSES:
                trace = trace if self.is_tired() else smaller(self, trace)
        return trace if self.is_tired() else one_by_one(self, trace)
