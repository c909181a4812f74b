"""Traces in which calls overlap: the rule to name for a difference, and laws that are not about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
    Step,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Fallback, Law, Variation
from broker_tck.properties.engine.operation import Operation

REMOVALS = (BeginRemove, BeginInvalidate, BeginTrim, BeginClear)
PASSES = (BeginOld, BeginSize)


def overlap(trace: Sequence[Operation]) -> bool:
    """Whether calls are begun in a trace."""
    return any(operation.tag == "step" for operation in trace)


class Calls(NamedTuple):
    """The calls of a trace in which calls overlap."""

    own: Operation | None
    """The call whose step is the last."""
    others: Sequence[Operation]
    """All others that were begun."""
    removing: bool
    """Whether one of them removes, and has not ended."""

    def number(self, *kinds: type[Operation]) -> int:
        """How many of the others are of some kinds."""
        return sum(isinstance(call, kinds) for call in self.others)

    @property
    def puts(self) -> int:
        """How many of the others insert."""
        return self.number(BeginPut)

    @property
    def removals(self) -> int:
        """How many of the others remove."""
        return self.number(*REMOVALS)

    @property
    def passes(self) -> int:
        """How many of the others are passes."""
        return self.number(*PASSES)

    @property
    def reads_beside_another(self) -> bool:
        """Whether the call reads an entry while another is inserted."""
        return any(isinstance(call, BeginPut) and place(call) != place(self.own) for call in self.others)


def calls(trace: Sequence[Operation]) -> Calls:
    """The calls of a trace in which calls overlap."""
    begun: dict[int, Operation] = {}
    others: list[Operation] = []
    for operation in trace:
        if isinstance(operation, Begin):
            others += [begun[operation.thread]] if operation.thread in begun else []
            begun[operation.thread] = operation
    own = begun.pop(next(o.thread for o in reversed(trace) if isinstance(o, Step)), None)
    return Calls(own, [*others, *begun.values()], any(isinstance(o, REMOVALS) for o in begun.values()))


def place(call: Any) -> tuple[int, int, int]:
    """The cache and the position that an insertion or a read is about."""
    return call.cache, call.ledger, call.entry


def of(*kinds: type[Operation], where: Callable[[Calls], Any] = lambda calls: True) -> Callable[[Sequence[Any]], bool]:
    """The condition of a row: calls overlap, the call whose step is the last is of some kinds, and more besides."""

    def holds(trace: Sequence[Any]) -> bool:
        if not overlap(trace):
            return False
        found = calls(trace)
        return isinstance(found.own, kinds or object) and bool(where(found))

    return holds


FALLBACKS = (
    Fallback("EC-17", "total", given=overlap),
    Fallback("IL-2", "pinned", given=of(*PASSES, where=lambda calls: not calls.removing)),
    Fallback("IL-2", "pinned", given=of(where=lambda calls: calls.passes and not calls.removing)),
    Fallback(
        "EC-12", given=of(where=lambda calls: calls.puts and calls.removals and calls.removals + calls.passes > 1)
    ),
    Fallback("IL-4", given=of(BeginGet, where=lambda calls: calls.reads_beside_another)),
    Fallback("IL-3", given=of(BeginGet)),
    Fallback("IL-1", given=of(*REMOVALS, where=lambda calls: calls.puts and not (calls.removals or calls.passes))),
    Fallback("EC-12", given=of(*REMOVALS)),
    Fallback("IL-11", given=of(*PASSES, where=lambda calls: calls.passes)),
    Fallback("EC-12", given=of(BeginPut, where=lambda calls: calls.removals > 1)),
    Fallback("IL-1", given=of(BeginPut)),
    Fallback("IL-2", given=overlap),
)
"""The rule to name for a difference between the steps of calls: by the call of the last step, and the others."""


def without_overlap(law: Law) -> Law:
    """A law of calls that are made one after the other, judged of such traces alone."""

    def judge(config: Any, steps: Sequence[Any]) -> Iterator[tuple[int, str | None]]:
        return iter(()) if overlap([step.operation for step in steps]) else law.judge(config, steps)

    return Law(law.number, judge)


def unless_overlapping(variation: Variation) -> Variation:
    """A variation of calls that are made one after the other, of such traces alone."""

    def vary(config: Any, operations: Sequence[Operation], choices: Choices) -> Any:
        return None if overlap(operations) else variation.vary(config, operations, choices)

    return replace(variation, vary=vary)
