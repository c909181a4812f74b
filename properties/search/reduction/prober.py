"""Tries whether a trace still fails, and counts what that costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from broker_tck.properties.engine.operation import Operation, bulk, valid
from broker_tck.properties.search.reduction.plainer import Values, plainer_values, try_each
from broker_tck.properties.search.reduction.shorter import kept

Trace = tuple[Any, list[Operation]]
"""Configuration and operations."""
Fails = Callable[[Any, Sequence[Operation]], int | None]
"""Whether a trace still fails in the same way, and at which operation."""
Changed = Callable[[list[Operation], Any, Any], list[Operation] | None]
"""The operations with another value in place of one; None where there is no place for it any more."""
Rewrites = Callable[[Sequence[Operation]], Iterator[list[Operation]]]
"""Shorter traces to try."""
Without = Callable[[Any, Sequence[Operation], Collection[int]], Iterator[list[Operation]]]
"""The traces to try for one without the operations at some places, given with its configuration."""

MOST_PROBES = 20_000
MOST_WORK = 500_000
"""A reduction that has replayed so many operations ends with what it has: each probe of a trace that needs thousands of
something costs as much as a walk."""
BULK_TO_ONE = 4
"""So many in bulk are as much work as one operation."""


class Prober:
    """Tries traces that may fail as one did, while there is work to be put into it."""

    def __init__(
        self,
        fails: Fails,
        defaults: Any,
        rewrites: Rewrites = lambda operations: iter(()),
        without: Without = lambda _, operations, gone: iter((kept(operations, gone),)),
    ) -> None:
        self.fails = fails
        self.defaults = defaults
        self.rewrites = rewrites
        self.without = without
        self.probes = self.work = 0

    def cut(self, config: Any, operations: list[Operation]) -> Trace | None:
        """The trace up to its failure, if it fails, and there is still work to be put into it."""
        self.probes += 1
        self.work += len(operations) + bulk(operations) // BULK_TO_ONE
        if self.is_tired() or not (valid(config) and all(map(valid, operations))):
            return None
        at = self.fails(config, operations)
        return None if at is None else (config, operations[: at + 1])

    def is_tired(self) -> bool:
        """Whether as much work was put into it as there is."""
        return self.work > MOST_WORK

    def is_spent(self) -> bool:
        """Whether it ends with what it has: a shorter trace may do."""
        return self.probes > MOST_PROBES or self.is_tired()

    def left_out(self, config: Any, operations: list[Operation], gone: Collection[int]) -> Trace | None:
        """The trace without the operations at some places, if it fails."""
        return next((s for o in self.without(config, operations, gone) if (s := self.cut(config, o))), None)

    def plainer(
        self, config: Any, operations: list[Operation], value: Any, changed: Changed, zero: int = 0
    ) -> list[Operation]:
        """Try plainer values in place of one."""
        return self.tried(config, operations, value, changed, plainer_values(value, zero))

    def tried(
        self, config: Any, operations: list[Operation], value: Any, changed: Changed, values: Values
    ) -> list[Operation]:
        """Try values in place of one."""

        def attempt(plainer: Any) -> bool:
            nonlocal operations, value
            other = changed(operations, value, plainer)
            if shorter := self.cut(config, other) if other else None:
                operations, value = shorter[1], plainer
            return shorter is not None

        try_each(values, attempt)
        return operations
