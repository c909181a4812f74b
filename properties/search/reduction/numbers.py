"""Smaller numbers, and operations in bulk."""

from __future__ import annotations

from functools import partial
from typing import Any

from broker_tck.properties.engine.operation import BULK, TIME, Operation, clock_of, marked
from broker_tck.properties.search.reduction.instead import (
    Numbers,
    all_renumbered,
    by_first_use,
    closed_up,
    gap_below,
    numbered,
    position,
    ranked,
    timed,
    with_field,
)
from broker_tck.properties.search.reduction.plainer import much_smaller_numbers
from broker_tck.properties.search.reduction.prober import Prober, Trace


def simpler_positions(prober: Prober, trace: Trace) -> Trace:
    """Make ledgers and entries plain, each wherever it is named."""
    config, operations = trace
    for field, value in dict.fromkeys(part for operation in operations for part in position(operation)):
        operations = prober.plainer(config, operations, value, partial(all_renumbered, field))
    return config, operations


def nearer_positions(prober: Prober, trace: Trace) -> Trace:
    """Close the gaps between ledgers and entries; neighbours, which may matter, stay neighbours."""
    return nearer(prober, trace, numbered, 0)


def nearer_times(prober: Prober, trace: Trace) -> Trace:
    """Close the gaps between times: each alone may not come nearer, as it stands to others as it must."""
    return nearer(prober, trace, timed, clock_of(trace[0]) or 0)


def nearer(prober: Prober, trace: Trace, numbers: Numbers, zero: int) -> Trace:
    """Close the gaps between numbers, the lowest of which is as far above ``zero``."""
    config, operations = trace
    rank = 0
    while rank < len(ranked(operations, numbers)):
        gap = gap_below(ranked(operations, numbers), rank, zero)
        operations = prober.plainer(config, operations, gap, partial(closed_up, numbers, rank, zero))
        rank += 1
    return config, operations


def renamed(prober: Prober, trace: Trace) -> Trace:
    """Name handles in the order of their first use."""
    config, operations = trace
    other = by_first_use(operations)
    return trace if other == operations else prober.cut(config, other) or trace


def simpler_fields(prober: Prober, trace: Trace) -> Trace:
    """Make fields as plain as the failure allows."""
    config, operations = trace
    for i in range(len(operations)):
        for field in operations[i].__struct_fields__ if i < len(operations) else ():
            operations = simpler_field(prober, config, operations, i, field)
    return config, operations


def simpler_field(prober: Prober, config: Any, operations: list[Operation], i: int, field: str) -> list[Operation]:
    """Try plainer values of one field."""
    zero = (clock_of(config) or 0) if field in marked(type(operations[i]), TIME) else 0
    return prober.plainer(config, operations, getattr(operations[i], field), partial(with_field, i, field), zero)


def smaller_bulk(prober: Prober, trace: Trace) -> Trace:
    """Make bulk operations small first of all, as each probe pays for them."""
    config, operations = trace
    for i in range(len(operations) - 1, -1, -1):
        for field in marked(type(operations[i]), BULK) if i < len(operations) else ():
            without = prober.left_out(config, operations, (i,))
            operations = without[1] if without else fewer(prober, config, operations, i, field)
    return config, operations


def fewer(prober: Prober, config: Any, operations: list[Operation], i: int, field: str) -> list[Operation]:
    """Have an operation do much less in bulk."""
    value = getattr(operations[i], field) if i < len(operations) else 0
    return prober.tried(config, operations, value, partial(with_field, i, field), much_smaller_numbers(value))
