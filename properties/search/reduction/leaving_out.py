"""Shorter traces: operations are left out, alone, in runs, in pairs, or two at once; clock steps are made one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from broker_tck.properties.engine.operation import BUDGET, BULK, DURATION, PLACE, Operation, belongings, marked
from broker_tck.properties.search.reduction.numbers import position
from broker_tck.properties.search.reduction.prober import Prober

MOST_IN_PAIRS = 24
"""Of longer traces no two operations are left out at once."""
MOST_PLACED = 14
"""Of longer traces no operation is left out with another done at another time or place instead."""


def in_chunks(prober: Prober) -> None:
    """Leave out runs of operations, ever shorter ones."""
    size = len(prober.operations) // 2
    while size > 1:
        start = 0
        while start < len(prober.operations):
            start += 0 if prober.left_out(range(start, start + size)) else size
        size //= 2


def one_by_one(prober: Prober) -> None:
    """Leave out single operations until none can be."""
    again = True
    while again:
        again = False
        for i in range(len(prober.operations) - 1, -1, -1):
            again |= i < len(prober.operations) and prober.left_out((i,))


def rewritten(prober: Prober) -> None:
    """Try traces without all that belongs to a handle, and the contract's own shorter ones, until none helps."""
    before = None
    while prober.operations != before:
        before = prober.operations
        if not any(map(prober.cut, rewrites_of(prober))):
            return


def rewrites_of(prober: Prober) -> Iterator[list[Operation]]:
    """Shorter traces to try."""
    operations = prober.operations
    for places in belongings(operations):
        yield [o for i, o in enumerate(operations) if i not in places]
    yield from prober.rewrites(operations)


def merged(prober: Prober) -> None:
    """Make one of two clock steps that follow each other."""
    i = 0
    while i + 1 < len(prober.operations):
        a, b = prober.operations[i : i + 2]
        steps = {field: getattr(a, field) + getattr(b, field) for field in marked(type(a), DURATION) if a.tag == b.tag}
        both = [*prober.operations[:i], structs.replace(a, **steps), *prober.operations[i + 2 :]]
        i += 0 if steps and prober.cut(both) else 1


def pairs(prober: Prober) -> None:
    """Leave out one operation and change another for it: a longer clock step, a smaller budget, a place."""
    i = 0
    while i < len(prober.operations):
        i += 0 if any(map(prober.cut, made_up_for(prober.operations, i))) else 1


def two_at_once(prober: Prober) -> None:
    """Leave out two operations of a short trace, as neither may go without the other."""
    j = 1
    while j < len(prober.operations) <= MOST_IN_PAIRS:
        j = 1 if any(prober.left_out((i, j)) for i in range(j)) else j + 1


# ---- What makes up for an operation


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
