"""Vacuity: how often the condition of each rule was met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, signature
from types import CodeType
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.model.rules import ABSENT, Clause, Embodiment, clause_of, deviates, embodiments, replaced

ASKED_WHEN = """
def counted({arguments}):
    if not counting.paused:
        counting.paused = True
        try:
            if aside({arguments}):
                counting.met[number] += 1
        finally:
            counting.paused = False
    return clause({arguments})
"""
ASKED = """
def counted({arguments}):
    answer = clause({arguments})
    if not counting.paused:
        counting.paused = True
        try:
            if answer != aside({arguments}):
                counting.met[number] += 1
        finally:
            counting.paused = False
    return answer
"""
"""A clause that counts, as text: there are many calls of each, and most are asked for the sake of another one."""


class Exercised:
    """A model that counts. A rule is met when a clause answers other than if it were absent, or ``when`` says so."""

    def __init__(self, model: type[Reference]) -> None:
        self.met: Counter[str] = Counter()
        self.paused = False
        counting = {e.clause: self._counting(e, clause_of(model, e.clause)) for e in embodiments(model)}
        self.model: type[Reference] = replaced(model, counting, f"{model.__name__} (counting)")

    @contextmanager
    def but_for(self, paused: bool) -> Iterator[None]:
        """Count in this block, but for the one where it is not to."""
        self.paused = paused
        try:
            yield
        finally:
            self.paused = False

    def _counting(self, embodiment: Embodiment, clause: Clause) -> Callable[..., Any]:
        when = embodiment.when
        made: dict[str, Any] = {
            "clause": clause,
            "aside": when or embodiment.ways[ABSENT],
            "counting": self,
            "number": embodiment.rule.number,
        }
        exec(compiled(ASKED_WHEN if when else ASKED, arguments_of(clause)), made)
        counted: Callable[..., Any] = made["counted"]
        return counted

    def aside(self, clause: Clause, model: Any, *arguments: Any) -> Any:
        """What is asked of a model by the way: the clauses that it asks do not count as met."""
        self.paused = True
        try:
            return clause(model, *arguments)
        finally:
            self.paused = False


@cache
def compiled(text: str, arguments: str) -> CodeType:
    """The code of a clause that counts, for clauses with these arguments."""
    return compile(text.format(arguments=arguments), "<counting>", "exec")


@cache
def arguments_of(clause: Clause) -> str:
    """The arguments of a clause, as they are written where it is defined and where it is called."""
    kinds = enumerate(parameter.kind for parameter in signature(clause).parameters.values())
    return ", ".join(f"{'*' * (kind is Parameter.VAR_POSITIONAL)}argument_{i}" for i, kind in kinds)


@cache
def deviating(model: type[Reference]) -> frozenset[str]:
    """The rules of which the model's profile replaces a clause."""
    return frozenset(e.rule.number for e in embodiments(model) if deviates(model, e))
