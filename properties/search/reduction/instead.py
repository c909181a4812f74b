"""Operations with something else in their place: other numbers and names, another field, one less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import structs

from broker_tck.properties.engine.operation import (
    BUDGET,
    BULK,
    DURATION,
    HANDLE,
    PLACE,
    POSITION,
    TIME,
    Operation,
    letters,
    marked,
)

Numbers = Callable[[Operation], list[tuple[str, int]]]
"""The fields of an operation that hold numbers of one kind, with what is in them."""

MOST_PLACED = 14
"""Of longer traces no operation is left out with another done at another time or place instead."""


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

    None where no number has that rank: the trace fails before it now.
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
    return [renumbered(operation, field, value, other) for operation in operations]


def renumbered(operation: Operation, field: str, value: Any, other: Any) -> Operation:
    """The operation with another value in one of these fields, if this one is in it."""
    return structs.replace(operation, **{field: other}) if (field, value) in position(operation) else operation


def with_field(i: int, field: str, operations: list[Operation], _value: Any, other: Any) -> list[Operation] | None:
    """The operations with another value in a field of one of them; None where the trace fails before it now."""
    if i >= len(operations):
        return None
    return [*operations[:i], structs.replace(operations[i], **{field: other}), *operations[i + 1 :]]


def made_up_for(operations: list[Operation], i: int) -> Iterator[list[Operation]]:
    """The operations without one of them, where another makes up for what may have gone with it."""
    rest = operations[:i] + operations[i + 1 :]
    dropped = sum(getattr(operations[i], field) for field in marked(type(operations[i]), DURATION)) or 1
    places = dict.fromkeys(getattr(o, f) for o in operations for f in marked(type(o), PLACE))
    for j, o in enumerate(rest):
        if handed := {field: getattr(operations[i], field) for field in shared_places(o, operations[i])}:
            yield [*rest[:j], structs.replace(o, **handed), *rest[j + 1 :]]
        for field in marked(type(o), PLACE) if len(rest) < MOST_PLACED else ():
            yield from ([*rest[:j], structs.replace(o, **{field: at}), *rest[j + 1 :]] for at in places)
            others = rest[:j] + rest[j + 1 :]
            yield from ([*others[:k], o, *others[k:]] for k in range(len(rest)) if k != j)
        for mark, change in ((DURATION, dropped), (BUDGET, -1), (BULK, -1)):
            for field in marked(type(o), mark):
                if (value := getattr(o, field) + change) >= 0:
                    yield [*rest[:j], structs.replace(o, **{field: value}), *rest[j + 1 :]]


def shared_places(one: Operation, other: Operation) -> list[str]:
    """The fields in which two operations that name the same put it somewhere."""
    places = marked(type(other), PLACE)
    return [f for f in marked(type(one), PLACE) if f in places and position(one) == position(other)]
