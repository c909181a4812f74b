"""Reduction: the shortest trace that still breaks the same rule.

A configuration with a long list is made plain first, and it is tried whether one operation in bulk does. Then
operations are left out (delta debugging, then one at a time, then all that belong to one handle) and clock steps
merged. Ledgers and entries are made plain and come nearer together, handles are named by first use, the other fields
are made plain, times come nearer together, and the configuration is made plain, or small where that helps, and its
lists short; again from the start while anything got shorter, and there is work to be put into it. Deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import structs

from broker_tck.properties.engine.operation import (
    BULK,
    CLOCK,
    DURATION,
    TIME,
    Operation,
    belongings,
    bulk,
    clock_of,
    marked,
    shifted,
    valid,
)
from broker_tck.properties.findings.instead import (
    Numbers,
    all_renumbered,
    by_first_use,
    closed_up,
    gap_below,
    made_up_for,
    numbered,
    passed,
    position,
    ranked,
    timed,
    with_fewer,
    with_field,
)
from broker_tck.properties.findings.plainer import Values, much_smaller_numbers, plainer_lists, plainer_values, try_each
from broker_tck.properties.findings.shorter import kept

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
SMALL = (1, 2)
"""Numbers of a configuration with which few operations may do: so many of something make something happen."""
FEW = 6
"""So many operations are few enough, whatever is configured."""
LARGE = 256
"""Where so much is done in bulk it is tried whether all of it does at once."""
LONG_LIST = 16
"""Longer lists of a configuration are such as make a walk dear: a backoff of hundreds of delays."""
MOST_IN_PAIRS = 24
"""Of longer traces no two operations are left out at once."""


class Reducer:
    """Reduces one trace."""

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
        self.first = self.without_long_lists, self.at_once, self.from_bulk_on, self.smaller_bulk, self.in_chunks
        self.passes = (
            self.one_by_one,
            self.rewritten,
            self.merged,
            self.simpler_positions,
            self.nearer_positions,
            self.renamed,
            self.simpler_fields,
            self.nearer_times,
            self.pairs,
            self.two_at_once,
            self.simpler_config,
            self.smaller_config,
            self.shorter_lists,
        )

    def reduce(self, config: Any, operations: Sequence[Operation]) -> Trace:
        """The shortest trace found. It fails, and no single operation can be left out."""
        trace = self.cut(config, list(operations)) or (config, list(operations))
        for smaller in self.first:
            trace = smaller(trace)
        before = None
        while trace != before and not self.is_spent():
            before = trace
            for smaller in self.passes:
                trace = trace if self.is_tired() else smaller(trace)
        return trace if self.is_tired() else self.one_by_one(trace)

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

    def at_once(self, trace: Trace) -> Trace:
        """Try one operation in bulk that does as much as all together, and the last: none of many can be left out."""
        config, operations = trace
        much = bulk(operations) + len(operations)
        for operation in operations if much > LARGE else ():
            for field in marked(type(operation), BULK):
                more = structs.replace(operation, **{field: much})
                if shorter := self.cut(config, [more, operations[-1]]):
                    return shorter
        return trace

    def from_bulk_on(self, trace: Trace) -> Trace:
        """Leave out all before an operation that does much in bulk, the last that will do, but for clock steps."""
        config, operations = trace
        much = (i for i in range(len(operations) - 1, 0, -1) if bulk(operations[i : i + 1]) > LARGE)
        suffixes = ([*passed(operations[:i]), *operations[i:]] for i in much)
        return next((shorter for suffix in suffixes if (shorter := self.cut(config, suffix))), trace)

    def smaller_bulk(self, trace: Trace) -> Trace:
        """Make bulk operations small first of all, as each probe pays for them."""
        config, operations = trace
        for i in range(len(operations) - 1, -1, -1):
            for field in marked(type(operations[i]), BULK) if i < len(operations) else ():
                without = self.left_out(config, operations, (i,))
                operations = without[1] if without else self.fewer(config, operations, i, field)
        return config, operations

    def fewer(self, config: Any, operations: list[Operation], i: int, field: str) -> list[Operation]:
        """Have an operation do much less in bulk; if it does much still, with as much less asked for after it."""
        for changed in (with_field, with_fewer):
            value = getattr(operations[i], field) if i < len(operations) else 0
            if value > 1:
                values = much_smaller_numbers(value)
                operations = self.tried(config, operations, value, partial(changed, i, field), values)
        return operations

    def in_chunks(self, trace: Trace) -> Trace:
        """Leave out runs of operations, ever shorter ones."""
        config, operations = trace
        size = len(operations) // 2
        while size > 1:
            start = 0
            while start < len(operations):
                if shorter := self.left_out(config, operations, range(start, start + size)):
                    operations = shorter[1]
                else:
                    start += size
            size //= 2
        return config, operations

    def one_by_one(self, trace: Trace) -> Trace:
        """Leave out single operations until none can be."""
        config, operations = trace
        again = True
        while again:
            again = False
            for i in range(len(operations) - 1, -1, -1):
                if i < len(operations) and (shorter := self.left_out(config, operations, (i,))):
                    operations = shorter[1]
                    again = True
        return config, operations

    def rewritten(self, trace: Trace) -> Trace:
        """Try traces without all that belongs to a handle, and the contract's own shorter ones, until none helps."""
        config, operations = trace
        while shorter := next((s for o in self.rewrites_of(operations) if (s := self.cut(config, o))), None):
            if shorter[1] == operations:
                break
            operations = shorter[1]
        return config, operations

    def rewrites_of(self, operations: list[Operation]) -> Iterator[list[Operation]]:
        """Shorter traces to try."""
        for places in belongings(operations):
            yield [o for i, o in enumerate(operations) if i not in places]
        yield from self.rewrites(operations)

    def merged(self, trace: Trace) -> Trace:
        """Make one of two clock steps that follow each other."""
        config, operations = trace
        i = 0
        while i + 1 < len(operations):
            a, b = operations[i], operations[i + 1]
            steps = {
                field: getattr(a, field) + getattr(b, field) for field in marked(type(a), DURATION) if a.tag == b.tag
            }
            both = structs.replace(a, **steps)
            if steps and (shorter := self.cut(config, [*operations[:i], both, *operations[i + 2 :]])):
                operations = shorter[1]
            else:
                i += 1
        return config, operations

    def simpler_positions(self, trace: Trace) -> Trace:
        """Make ledgers and entries plain, each wherever it is named."""
        config, operations = trace
        for field, value in dict.fromkeys(part for operation in operations for part in position(operation)):
            operations = self.plainer(config, operations, value, partial(all_renumbered, field))
        return config, operations

    def nearer_positions(self, trace: Trace) -> Trace:
        """Close the gaps between ledgers and entries; neighbours, which may matter, stay neighbours."""
        return self.nearer(trace, numbered, 0)

    def nearer_times(self, trace: Trace) -> Trace:
        """Close the gaps between times: each alone may not come nearer, as it stands to others as it must."""
        return self.nearer(trace, timed, clock_of(trace[0]) or 0)

    def nearer(self, trace: Trace, numbers: Numbers, zero: int) -> Trace:
        """Close the gaps between numbers, the lowest of which is as far above ``zero``."""
        config, operations = trace
        rank = 0
        while rank < len(ranked(operations, numbers)):
            gap = gap_below(ranked(operations, numbers), rank, zero)
            operations = self.plainer(config, operations, gap, partial(closed_up, numbers, rank, zero))
            rank += 1
        return config, operations

    def renamed(self, trace: Trace) -> Trace:
        """Name handles in the order of their first use."""
        config, operations = trace
        other = by_first_use(operations)
        return trace if other == operations else self.cut(config, other) or trace

    def simpler_fields(self, trace: Trace) -> Trace:
        """Make fields as plain as the failure allows."""
        config, operations = trace
        for i in range(len(operations)):
            for field in operations[i].__struct_fields__ if i < len(operations) else ():
                operations = self.simpler_field(config, operations, i, field)
        return config, operations

    def simpler_field(self, config: Any, operations: list[Operation], i: int, field: str) -> list[Operation]:
        """Try plainer values of one field."""
        zero = (clock_of(config) or 0) if field in marked(type(operations[i]), TIME) else 0
        return self.plainer(config, operations, getattr(operations[i], field), partial(with_field, i, field), zero)

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

    def pairs(self, trace: Trace) -> Trace:
        """Leave out one operation and change another for it: a longer clock step, a smaller budget, a place."""
        config, operations = trace
        i = 0
        while i < len(operations):
            shorter = next((s for o in made_up_for(operations, i) if (s := self.cut(config, o))), None)
            if shorter:
                operations = shorter[1]
            else:
                i += 1
        return config, operations

    def two_at_once(self, trace: Trace) -> Trace:
        """Leave out two operations of a short trace, as neither may go without the other."""
        config, operations = trace
        j = 1
        while j < len(operations) <= MOST_IN_PAIRS:
            shorter = next((s for i in range(j) if (s := self.left_out(config, operations, (i, j)))), None)
            operations, j = (shorter[1], 1) if shorter else (operations, j + 1)
        return config, operations

    def smaller_config(self, trace: Trace) -> Trace:
        """Configure small numbers, field by field, where fewer operations will do then."""
        config, operations = trace
        for field in numbers_of(config) if len(operations) > FEW else ():
            for small in (small for small in SMALL if small < getattr(config, field)):
                less = self.cut(structs.replace(config, **{field: small}), operations)
                less = less and self.one_by_one(less)
                if less and len(less[1]) < len(operations):
                    config, operations = less
                    break
        return config, operations

    def shorter_lists(self, trace: Trace) -> Trace:
        """Make the lists of the configuration short, and their numbers plain."""
        config, operations = trace

        def attempt(plainer: Any) -> bool:
            nonlocal config, operations
            other = set_to(config, field, plainer)
            shorter = self.cut(other, operations) if other else None
            config, operations = shorter or (config, operations)
            return shorter is not None

        for field in config.__struct_fields__:
            if isinstance(value := getattr(config, field), tuple):
                try_each(plainer_lists(value), attempt)
        return config, operations

    def without_long_lists(self, trace: Trace) -> Trace:
        """Make the configuration plain first of all where it has a long list: each probe takes its time with it."""
        lists = (value for value in structs.astuple(trace[0]) if isinstance(value, tuple))
        return self.simpler_config(trace) if max(map(len, lists), default=0) > LONG_LIST else trace

    def simpler_config(self, trace: Trace) -> Trace:
        """Put the configuration back to its defaults, field by field."""
        for field in trace[0].__struct_fields__:
            trace = self.put_back(trace, field)
        return trace

    def put_back(self, trace: Trace, field: str) -> Trace:
        """Put a field of the configuration back to its default, and times with the clock."""
        config, operations = trace
        default = getattr(self.defaults, field)
        if getattr(config, field) == default:
            return trace
        if field in marked(type(config), CLOCK):
            operations = [shifted(o, default - getattr(config, field)) for o in operations]
        return self.cut(structs.replace(config, **{field: default}), operations) or trace


def set_to(config: Any, field: str, value: Any) -> Any:
    """A configuration with another value of a field; None where it may not have that: a multiplier has three parts."""
    try:
        return msgspec.convert({**msgspec.to_builtins(config), field: value}, type(config))
    except msgspec.ValidationError:
        return None


def numbers_of(config: Any) -> list[str]:
    """The fields of a configuration that have numbers which are no times."""
    clocks = marked(type(config), CLOCK)
    return [f for f in config.__struct_fields__ if type(getattr(config, f)) is int and f not in clocks]
