"""Shorter traces: operations are left out, alone, in runs, in pairs, or two at once; clock steps are made one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from broker_tck.properties.engine.operation import BUDGET, BULK, DURATION, PLACE, Operation, belongings, marked
from broker_tck.properties.search.reduction.numbers import position
from broker_tck.properties.search.reduction.prober import Prober, Trace

MOST_IN_PAIRS = 24
"""Of longer traces no two operations are left out at once."""
MOST_PLACED = 14
"""Of longer traces no operation is left out with another done at another time or place instead."""


def in_chunks(prober: Prober, trace: Trace) -> Trace:
    """Leave out runs of operations, ever shorter ones."""
    config, operations = trace
    size = len(operations) // 2
    while size > 1:
        start = 0
        while start < len(operations):
            if shorter := prober.left_out(config, operations, range(start, start + size)):
                operations = shorter[1]
            else:
                start += size
        size //= 2
    return config, operations


def one_by_one(prober: Prober, trace: Trace) -> Trace:
    """Leave out single operations until none can be."""
    config, operations = trace
    again = True
    while again:
        again = False
        for i in range(len(operations) - 1, -1, -1):
            if i < len(operations) and (shorter := prober.left_out(config, operations, (i,))):
                operations = shorter[1]
                again = True
    return config, operations


def rewritten(prober: Prober, trace: Trace) -> Trace:
    """Try traces without all that belongs to a handle, and the contract's own shorter ones, until none helps."""
    config, operations = trace
    while shorter := next((s for o in rewrites_of(prober, operations) if (s := prober.cut(config, o))), None):
        if shorter[1] == operations:
            break
        operations = shorter[1]
    return config, operations


def rewrites_of(prober: Prober, operations: list[Operation]) -> Iterator[list[Operation]]:
    """Shorter traces to try."""
    for places in belongings(operations):
        yield [o for i, o in enumerate(operations) if i not in places]
    yield from prober.rewrites(operations)


def merged(prober: Prober, trace: Trace) -> Trace:
    """Make one of two clock steps that follow each other."""
    config, operations = trace
    i = 0
    while i + 1 < len(operations):
        a, b = operations[i], operations[i + 1]
        steps = {field: getattr(a, field) + getattr(b, field) for field in marked(type(a), DURATION) if a.tag == b.tag}
        both = structs.replace(a, **steps)
        if steps and (shorter := prober.cut(config, [*operations[:i], both, *operations[i + 2 :]])):
            operations = shorter[1]
        else:
            i += 1
    return config, operations


def pairs(prober: Prober, trace: Trace) -> Trace:
    """Leave out one operation and change another for it: a longer clock step, a smaller budget, a place."""
    config, operations = trace
    i = 0
    while i < len(operations):
        shorter = next((s for o in made_up_for(operations, i) if (s := prober.cut(config, o))), None)
        if shorter:
            operations = shorter[1]
        else:
            i += 1
    return config, operations


def two_at_once(prober: Prober, trace: Trace) -> Trace:
    """Leave out two operations of a short trace, as neither may go without the other."""
    config, operations = trace
    j = 1
    while j < len(operations) <= MOST_IN_PAIRS:
        shorter = next((s for i in range(j) if (s := prober.left_out(config, operations, (i, j)))), None)
        operations, j = (shorter[1], 1) if shorter else (operations, j + 1)
    return config, operations


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
