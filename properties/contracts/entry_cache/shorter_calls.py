"""Shorter traces of calls that overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from broker_tck.properties.contracts.entry_cache.operations import Fill, Put
from broker_tck.properties.engine.operation import Operation, belongings

ROUNDS = (1, 2, 3, 4, 6, 10)
"""How many steps of a call in a row are left out at once: those of a blank head, say, or of so many requeueings."""

FEW = 2
"""So many insertions at once are written each by itself."""


def rewrites(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Shorter traces: few insertions each by itself, a call made at once, steps of one left out, no expected reads."""
    for at, operation in enumerate(operations):
        if isinstance(operation, Fill) and operation.n <= FEW:
            yield [*operations[:at], *operation.puts(), *operations[at + 1 :]]
    for call in belongings(operations):
        rest = {i for i in range(len(operations)) if i not in call}
        at_once = ordinary(operations[call[0]])
        for place in {call[0], call[-1]}:
            yield [at_once if i == place else operations[i] for i in sorted({*rest, place})]
    if any(plain(o) is not o for o in operations):
        yield [plain(o) for o in operations]
    for call in belongings(operations):
        for size in ROUNDS:
            for start in range(1, len(call) - size + 1):
                gone = {*call[start : start + size]}
                yield [o for i, o in enumerate(operations) if i not in gone]


def plain(operation: Operation) -> Operation:
    """An insertion without reads that are expected; anything else as it is."""
    if isinstance(operation, Put) and operation.expected_reads:
        return msgspec.structs.replace(operation, expected_reads=0)
    return operation


def ordinary(operation: Operation) -> Operation:
    """The ordinary call of one that is begun: that of the other base of its class."""
    kind: type[Operation] = type(operation).__bases__[1]
    return kind(*(getattr(operation, name) for name in kind.__struct_fields__))
