"""Traces that do less in bulk: each probe of a trace that adds thousands costs as much as a walk."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import structs

from broker_tck.properties.engine.operation import BULK, Operation, bulk, marked
from broker_tck.properties.search.reduction.instead import passed, with_fewer, with_field
from broker_tck.properties.search.reduction.plainer import much_smaller_numbers
from broker_tck.properties.search.reduction.prober import Prober, Trace

LARGE = 256
"""So much is much in bulk: it is tried whether all of it does at once, and whether all before it can go."""


def at_once(prober: Prober, trace: Trace) -> Trace:
    """Try one operation in bulk that does as much as all together, and the last: none of many can be left out."""
    config, operations = trace
    much = bulk(operations) + len(operations)
    for operation in operations if much > LARGE else ():
        for field in marked(type(operation), BULK):
            more = structs.replace(operation, **{field: much})
            if shorter := prober.cut(config, [more, operations[-1]]):
                return shorter
    return trace


def from_bulk_on(prober: Prober, trace: Trace) -> Trace:
    """Leave out all before an operation that does much in bulk, the last that will do, but for clock steps."""
    config, operations = trace
    much = (i for i in range(len(operations) - 1, 0, -1) if bulk(operations[i : i + 1]) > LARGE)
    suffixes = ([*passed(operations[:i]), *operations[i:]] for i in much)
    return next((shorter for suffix in suffixes if (shorter := prober.cut(config, suffix))), trace)


def smaller_bulk(prober: Prober, trace: Trace) -> Trace:
    """Make bulk operations small first of all, as each probe pays for them."""
    config, operations = trace
    for i in range(len(operations) - 1, -1, -1):
        for field in marked(type(operations[i]), BULK) if i < len(operations) else ():
            without = prober.left_out(config, operations, (i,))
            operations = without[1] if without else fewer(prober, config, operations, i, field)
    return config, operations


def fewer(prober: Prober, config: Any, operations: list[Operation], i: int, field: str) -> list[Operation]:
    """Have an operation do much less in bulk; if it does much still, with as much less asked for after it."""
    for changed in (with_field, with_fewer):
        value = getattr(operations[i], field) if i < len(operations) else 0
        if value > 1:
            values = much_smaller_numbers(value)
            operations = prober.tried(config, operations, value, partial(changed, i, field), values)
    return operations
