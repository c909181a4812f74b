"""Smaller numbers and plainer names, and less in bulk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from broker_tck.properties.engine.operation import (
    BULK,
    HANDLE,
    POSITION,
    TIME,
    Operation,
    clock_of,
    letters,
    marked,
)
from broker_tck.properties.search.reduction.plainer import much_smaller_numbers
from broker_tck.properties.search.reduction.prober import Prober

Numbers = Callable[[Operation], list[tuple[str, int]]]
"""The fields of an operation that hold numbers of one kind, with what is in them."""


def simpler_positions(prober: Prober) -> None:
    """Make ledgers and entries plain, each wherever it is named."""
    for field, value in dict.fromkeys(part for operation in prober.operations for part in position(operation)):
        prober.plainer(value, partial(all_renumbered, field))


def nearer_positions(prober: Prober) -> None:
    """Close the gaps between ledgers and entries; neighbours, which may matter, stay neighbours."""
    nearer(prober, numbered, 0)


def nearer_times(prober: Prober) -> None:
    """Close the gaps between times: each alone may not come nearer, as it stands to others as it must."""
    nearer(prober, timed, clock_of(prober.config) or 0)


def nearer(prober: Prober, numbers: Numbers, zero: int) -> None:
    """Close the gaps between numbers, the lowest of which is as far above ``zero``."""
    rank = 0
    while rank < len(ranked(prober.operations, numbers)):
        gap = gap_below(ranked(prober.operations, numbers), rank, zero)
        prober.plainer(gap, partial(closed_up, numbers, rank, zero))
        rank += 1


def renamed(prober: Prober) -> None:
    """Name handles in the order of their first use."""
    other = by_first_use(prober.operations)
    if other != prober.operations:
        prober.cut(other)


def simpler_fields(prober: Prober) -> None:
    """Make fields as plain as the failure allows."""
    for i in range(len(prober.operations)):
        for field in prober.operations[i].__struct_fields__ if i < len(prober.operations) else ():
            operation = prober.operations[i]
            zero = (clock_of(prober.config) or 0) if field in marked(type(operation), TIME) else 0
            prober.plainer(getattr(operation, field), partial(with_field, i, field), zero)


def smaller_bulk(prober: Prober) -> None:
    """Make bulk operations small first of all, as each probe pays for them."""
    for i in range(len(prober.operations) - 1, -1, -1):
        for field in marked(type(prober.operations[i]), BULK) if i < len(prober.operations) else ():
            if not prober.left_out((i,)):
                value = getattr(prober.operations[i], field)
                prober.tried(value, partial(with_field, i, field), much_smaller_numbers(value))


# ---- The operations with something else in their place


def position(operation: Operation) -> list[tuple[str, Any]]:
    """The fields that name a message, with what is in them."""
    return [(field, getattr(operation, field)) for field in marked(type(operation), POSITION)]


def ranked(operations: Sequence[Operation], numbers: Numbers) -> list[int]:
    """Some numbers of all operations, in order."""
    return sorted({number for operation in operations for _, number in numbers(operation)})


def numbered(operation: Operation) -> list[tuple[str, int]]:
    """The fields that name a message by a number, with what is in them."""
    return [(field, named) for field, named in position(operation) if isinstance(named, int)]


def timed(operation: Operation) -> list[tuple[str, int]]:
    """The fields that hold a time, with what is in them; one below zero is none."""
    return [(field, at) for field in marked(type(operation), TIME) if (at := getattr(operation, field)) >= 0]


def gap_below(numbers: list[int], rank: int, zero: int) -> int:
    """How far the number of a rank is from the one below it, or from zero."""
    return numbers[rank] - (numbers[rank - 1] if rank else zero)


def closed_up(
    numbers: Numbers, rank: int, zero: int, operations: Sequence[Operation], _gap: int, other: int
) -> list[Operation] | None:
    """The operations with another gap below the number of a rank; what is not below it moves along.

    None if no number has that rank: the trace fails before it now.
    """
    order = ranked(operations, numbers)
    if rank >= len(order):
        return None
    by = other - gap_below(order, rank, zero)

    def along(operation: Operation) -> Operation:
        changed = {field: number + by for field, number in numbers(operation) if number >= order[rank]}
        return structs.replace(operation, **changed) if changed else operation

    return [along(operation) for operation in operations]


def by_first_use(operations: Sequence[Operation]) -> list[Operation]:
    """The operations with handles named 0, 1, 2 or A, B, C in the order in which they come up."""
    names: dict[Any, int] = {}

    def renamed(operation: Operation) -> Operation:
        changed = {}
        for field in marked(type(operation), HANDLE):
            handle = getattr(operation, field)
            number = names.setdefault(handle, len(names))
            changed[field] = number if isinstance(handle, int) else letters(number)
        return structs.replace(operation, **changed) if changed else operation

    return [renamed(operation) for operation in operations]


def all_renumbered(field: str, operations: Sequence[Operation], value: Any, other: Any) -> list[Operation]:
    """The operations with another value for one of a field that names a message, wherever it is named."""
    return [structs.replace(o, **{field: other}) if (field, value) in position(o) else o for o in operations]


def with_field(i: int, field: str, operations: list[Operation], _value: Any, other: Any) -> list[Operation] | None:
    """The operations with another value in a field of one of them; None if the trace fails before it now."""
    if i >= len(operations):
        return None
    return [*operations[:i], structs.replace(operations[i], **{field: other}), *operations[i + 1 :]]
