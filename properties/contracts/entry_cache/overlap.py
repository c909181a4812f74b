"""Traces in which calls overlap: the rule to name for a difference, and laws that are not about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from broker_tck.properties.contracts.entry_cache.operations import (
    Begin,
    BeginClear,
    BeginGet,
    BeginInvalidate,
    BeginOld,
    BeginPut,
    BeginRemove,
    BeginSize,
    BeginTrim,
    GoOn,
    Pinned,
    SizeOfAll,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Law, Step, Variation
from broker_tck.properties.engine.operation import Operation

REMOVALS = (BeginRemove, BeginInvalidate, BeginTrim, BeginClear)
PASSES = (BeginOld, BeginSize)


def overlap(operations: Sequence[Operation]) -> bool:
    """Whether calls are begun in a trace."""
    return any(isinstance(operation, GoOn) for operation in operations)


def blame(operations: Sequence[Operation]) -> str:
    """The rule to name for a difference between the steps of calls: by the call of the last step, and the others."""
    last = operations[-1]
    if isinstance(last, SizeOfAll):
        return "EC-17"
    begun: dict[int, Operation] = {}
    others: list[Operation] = []
    for operation in operations:
        if isinstance(operation, Begin):
            others += [begun[operation.thread]] if operation.thread in begun else []
            begun[operation.thread] = operation
    own = begun.pop(next(o.thread for o in reversed(operations) if isinstance(o, GoOn)), None)
    others += begun.values()
    puts, removals, passes = (sum(isinstance(o, kinds) for o in others) for kinds in (BeginPut, REMOVALS, PASSES))
    removing = any(isinstance(o, REMOVALS) for o in begun.values())
    if isinstance(last, Pinned) and (passes or isinstance(own, PASSES)) and not removing:
        return "IL-2"
    if puts and removals and removals + passes > 1:
        return "EC-12"
    if isinstance(own, BeginGet):
        elsewhere = any(isinstance(o, BeginPut) and place(o) != place(own) for o in others)
        return "IL-4" if elsewhere else "IL-3"
    if isinstance(own, REMOVALS):
        return "IL-1" if puts and not (removals or passes) else "EC-12"
    if isinstance(own, PASSES):
        return "IL-11" if passes else "IL-2"
    return ("EC-12" if removals > 1 else "IL-1") if isinstance(own, BeginPut) else "IL-2"


def place(call: BeginPut | BeginGet) -> tuple[int, int, int]:
    """The cache and the position that an insertion or a read is about."""
    return call.cache, call.ledger, call.entry


def without_overlap(law: Law) -> Law:
    """A law of calls that are made one after the other, judged of such traces alone."""

    def judge(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
        return iter(()) if overlap([step.operation for step in steps]) else law.judge(config, steps)

    return Law(law.number, judge)


def unless_overlapping(variation: Variation) -> Variation:
    """A variation of calls that are made one after the other, of such traces alone."""

    def vary(config: Any, operations: Sequence[Operation], choices: Choices) -> Any:
        return None if overlap(operations) else variation.vary(config, operations, choices)

    return replace(variation, vary=vary)
