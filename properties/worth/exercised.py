"""Vacuity: how often the condition of each rule was met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.model.rules import ABSENT, Clause, Embodiment, clause_of, deviates, embodiments, replaced


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
        number, absent, when = embodiment.rule.number, embodiment.ways.get(ABSENT), embodiment.when

        def asked_when(model: Any, *arguments: Any) -> Any:
            if not self.paused and when and self.aside(when, model, *arguments):
                self.met[number] += 1
            return clause(model, *arguments)

        def ask(model: Any, *arguments: Any) -> Any:
            answer = clause(model, *arguments)
            if not self.paused and absent and answer != self.aside(absent, model, *arguments):
                self.met[number] += 1
            return answer

        return asked_when if when else ask

    def aside(self, clause: Clause, model: Any, *arguments: Any) -> Any:
        """What a clause answers that is no part of the model: the clauses that it asks do not count as met."""
        self.paused = True
        try:
            return clause(model, *arguments)
        finally:
            self.paused = False


@cache
def deviating(model: type[Reference]) -> frozenset[str]:
    """The rules of which the model's profile replaces a clause."""
    return frozenset(e.rule.number for e in embodiments(model) if deviates(model, e))
