"""Vacuity: how often each clause of a model was exercised, and with which answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.model.rules import Clause, Method, clauses_of, deviates, method_of, replaced

YES, NO = " yes", " no"
"""The suffixes of a situation's name, for a clause that answers yes or no."""


class Exercised:
    """A model that counts in which situations its clauses are: see :func:`situations_of`."""

    def __init__(self, model: type[Reference]) -> None:
        self.met: Counter[str] = Counter()
        self.paused = False
        counting = {clause.path: self._counting(clause, method_of(model, clause.path)) for clause in clauses_of(model)}
        self.model: type[Reference] = replaced(model, counting, f"{model.__name__} (counting)")

    @contextmanager
    def but_for(self, paused: bool) -> Iterator[None]:
        """Count in this block, unless ``paused``."""
        self.paused = paused
        try:
            yield
        finally:
            self.paused = False

    def _counting(self, clause: Clause, method: Method) -> Method:
        """The method of a clause, which counts. Each is called often, so it asks no more than it must."""
        when, met, name = clause.when, self.met, name_of(clause)
        yes, no = name + YES, name + NO

        def by_condition(*arguments: Any) -> Any:
            if when and not self.paused and self.aside(when, *arguments):
                met[name] += 1
            return method(*arguments)

        def by_answer(*arguments: Any) -> Any:
            answer = method(*arguments)
            if not self.paused:
                met[yes if answer else no] += 1
            return answer

        def by_call(*arguments: Any) -> Any:
            if not self.paused:
                met[name] += 1
            return method(*arguments)

        return by_condition if when else by_answer if answers_yes_or_no(clause) else by_call

    def aside(self, method: Method, model: Any, *arguments: Any) -> Any:
        """Ask a model something without counting its clauses."""
        self.paused = True
        try:
            return method(model, *arguments)
        finally:
            self.paused = False


def name_of(clause: Clause) -> str:
    """The name of a clause in counts: the number of its rule, and its path."""
    return f"{clause.number} {clause.path}"


def answers_yes_or_no(clause: Clause) -> bool:
    """Whether a clause answers yes or no."""
    return clause.method.__annotations__.get("return") == "bool"


@cache
def situations_of(model: type[Reference], lacked: frozenset[str] = frozenset()) -> dict[str, str]:
    """The situations that a run must meet, by name, each with the number of its rule.

    There is one for each clause, and two for a clause without a condition that answers yes or no. ``lacked`` names the
    capabilities that the subject lacks.
    """
    found = dict[str, str]()
    for clause in (clause for clause in clauses_of(model) if required(model, clause, lacked)):
        answers = (YES, NO) if answers_yes_or_no(clause) and not clause.when else ("",)
        found |= {f"{name_of(clause)}{answer}": clause.number for answer in answers}
    return found


def required(model: type[Reference], clause: Clause, lacked: frozenset[str]) -> bool:
    """Whether a clause must be exercised under the model's profile.

    One that the profile replaces is a deviation, which has a check of its own; one that ``NOT_APPLICABLE`` names
    decides nothing; one that needs what the subject lacks cannot come up.
    """
    inapplicable = getattr(model, "NOT_APPLICABLE", ())
    return not (deviates(model, clause) or clause.path in inapplicable or lacked.intersection(clause.needs.split()))


def by_rule(model: type[Reference], met: Mapping[str, int], lacked: frozenset[str] = frozenset()) -> dict[str, int]:
    """How often each rule was met: as often as the rarest of its situations; invariants as often as ``met`` says.

    A rule of which the profile replaces every clause is left out. Counts without situations are by rule.
    """
    counts = {name: count for name, count in met.items() if " " not in name}
    for number, names in names_of(model, lacked).items():
        counts[number] = min(met.get(name, met.get(number, 0)) for name in names)
    return counts


@cache
def names_of(model: type[Reference], lacked: frozenset[str] = frozenset()) -> dict[str, list[str]]:
    """The situations of each rule, by its number."""
    found = dict[str, list[str]]()
    for name, number in situations_of(model, lacked).items():
        found.setdefault(number, []).append(name)
    return found


def unmet(
    model: type[Reference], met: Mapping[str, int], number: str, lacked: frozenset[str] = frozenset()
) -> list[str]:
    """The situations of a rule that never came up, each without the rule's number; empty if none has come up."""
    names = names_of(model, lacked).get(number, [])
    missing = [name for name in names if not met.get(name)]
    return [name.partition(" ")[2] for name in missing] if len(missing) < len(names) else []


@cache
def deviating(model: type[Reference]) -> frozenset[str]:
    """The rules of which the model's profile replaces a clause."""
    return frozenset(clause.number for clause in clauses_of(model) if deviates(model, clause))
