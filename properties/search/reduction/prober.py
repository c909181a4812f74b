"""Tries whether a shorter trace still fails, and counts what that costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from broker_tck.properties.engine.operation import Operation, bulk, valid
from broker_tck.properties.search.reduction.plainer import Values, plainer_values, try_each
from broker_tck.properties.search.reduction.shorter import kept

Fails = Callable[[Any, Sequence[Operation]], int | None]
"""Whether a trace still fails in the same way, and at which operation."""
Changed = Callable[[list[Operation], Any, Any], list[Operation] | None]
"""The operations with another value in place of one; None if there is no place for it any more."""
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
    """A trace that fails, and what may take its place: traces that fail as it did, while there is work to be put in."""

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
        self.config: Any = defaults
        self.operations: list[Operation] = []

    def cut(self, operations: list[Operation], config: Any = None) -> bool:
        """Take a trace, up to its failure, if it fails, and there is still work to be put into it."""
        config = self.config if config is None else config
        self.probes += 1
        self.work += len(operations) + bulk(operations) // BULK_TO_ONE
        if self.is_tired() or not (valid(config) and all(map(valid, operations))):
            return False
        at = self.fails(config, operations)
        if at is not None:
            self.config, self.operations = config, operations[: at + 1]
        return at is not None

    def is_tired(self) -> bool:
        """Whether as much work was put into it as there is."""
        return self.work > MOST_WORK

    def is_spent(self) -> bool:
        """Whether it ends with what it has: a shorter trace may do."""
        return self.probes > MOST_PROBES or self.is_tired()

    def left_out(self, gone: Collection[int]) -> bool:
        """Leave out the operations at some places."""
        return any(map(self.cut, self.without(self.config, self.operations, gone)))

    def plainer(self, value: Any, changed: Changed, zero: int = 0) -> None:
        """Try plainer values in place of one."""
        self.tried(value, changed, plainer_values(value, zero))

    def tried(self, value: Any, changed: Changed, values: Values) -> None:
        """Try values in place of one."""

        def attempt(plainer: Any) -> bool:
            nonlocal value
            other = changed(self.operations, value, plainer)
            taken = bool(other) and self.cut(other or [])
            value = plainer if taken else value
            return taken

        try_each(values, attempt)
