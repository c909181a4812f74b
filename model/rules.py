"""Rules as data: what a clause of a reference model embodies, and the ways in which it is got wrong.

A *clause* is a small pure method of a reference model. The decorators below register it and hand back the
function itself, so a rule costs nothing where it is applied. Everything that is done with rules (profiles,
counting how often one was met, the known wrong ways, diagnosis) is done by replacing a clause in a subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

Clause = Callable[..., Any]
F = TypeVar("F", bound=Clause)

ABSENT = "absent"
AS_SPECIFIED = "as specified"


class Strength(StrEnum):
    """How binding a rule is."""

    REQUIRED = "required"
    INFORMATIVE = "informative"
    """Cannot be checked at this interface; the rule says why."""


@dataclass(frozen=True)
class Rule:
    """One numbered sentence of the specification.

    ``look`` is what to look at first where the rule is broken; of an informative rule, why it cannot be checked.
    ``law`` tells that the rule is judged on what is observed, without the model (see ``properties``).
    """

    number: str
    sentence: str
    source: str
    look: str
    strength: Strength = Strength.REQUIRED
    law: bool = False

    @property
    def checkable(self) -> bool:
        """Whether a subject can be seen to break it."""
        return self.strength is not Strength.INFORMATIVE


@dataclass(frozen=True)
class Embodiment:
    """A clause that embodies a rule, with its wrong ways: ``absent`` first, then the others by name."""

    rule: Rule
    clause: str
    ways: dict[str, Clause] = field(compare=False)


@dataclass(frozen=True)
class Way:
    """One known wrong way of one rule: the clause to replace, and by what."""

    rule: Rule
    clause: str
    name: str
    instead: Clause = field(compare=False)

    def __str__(self) -> str:
        return (
            f"{self.rule.number} {self.name}"
            if self.name == ABSENT
            else f"{self.rule.number} {self.clause}: {self.name}"
        )

    def applied_to(self, model: type) -> type:
        """The model with this clause got wrong."""
        return replaced(model, {self.clause: self.instead}, f"{model.__name__} ~ {self}")


_EMBODIMENTS: dict[Clause, Embodiment] = {}


def rule(number: str, sentence: str, *, source: str, look: str, absent: Clause, **wrong: Clause) -> Callable[[F], F]:
    """Declare a rule beside the clause that embodies it.

    ``absent`` answers as if there were no such rule: the rule is *met* whenever the clause answers otherwise.
    Each further keyword is a known wrong way, called with the arguments of the clause.
    """
    return _embodied(Rule(number, sentence, source, look), {ABSENT: absent, **wrong})


def also(of: Clause, *, absent: Clause, **wrong: Clause) -> Callable[[F], F]:
    """Declare one more clause of the rule that the clause ``of`` embodies."""
    return _embodied(_EMBODIMENTS[of].rule, {ABSENT: absent, **wrong})


def _embodied(rule: Rule, ways: dict[str, Clause]) -> Callable[[F], F]:
    def register(clause: F) -> F:
        _EMBODIMENTS[clause] = Embodiment(rule, clause.__name__, ways)
        return clause

    return register


def law(number: str, sentence: str, *, source: str, look: str) -> Rule:
    """A rule that follows from others; it is judged on what is observed of a subject, without the model."""
    return Rule(number, sentence, source, look, law=True)


def informative(number: str, sentence: str, *, source: str, why: str) -> Rule:
    """A rule that nothing at this interface can be seen to break."""
    return Rule(number, sentence, source, why, Strength.INFORMATIVE)


def embodiments(model: type) -> Iterator[Embodiment]:
    """Every clause of the model that embodies a rule, in the order of their declaration."""
    for part in reversed(model.__mro__):
        for clause in vars(part).values():
            if callable(clause) and clause in _EMBODIMENTS:
                yield _EMBODIMENTS[clause]


def rules_of(model: type) -> list[Rule]:
    """Every rule of the model's contract, by number."""
    found = {e.rule.number: e.rule for e in embodiments(model)}
    found |= {r.number: r for r in getattr(model, "UNEMBODIED", ())}
    return [found[number] for number in sorted(found, key=by_number)]


def by_number(number: str) -> tuple[str, int]:
    """Sorts the numbers of rules: by what comes before the digits, then by what they say."""
    letters = number.rstrip("0123456789")
    return letters, int(number[len(letters) :] or 0)


def ways_of(model: type) -> list[Way]:
    """Every known wrong way of the model's rules, those of clauses that its profile replaces left out."""
    return [
        Way(e.rule, e.clause, name, instead)
        for e in embodiments(model)
        if not deviates(model, e)
        for name, instead in e.ways.items()
    ]


def deviates(model: type, embodiment: Embodiment) -> bool:
    """Whether the model's profile has another clause in this place."""
    return getattr(model, embodiment.clause) not in _EMBODIMENTS


def deviations_of(model: type) -> list[Way]:
    """The clauses that the model's profile replaces, each as the way back to the rule as it stands."""
    origins = {e.clause: clause for clause, e in _EMBODIMENTS.items() if clause in _declared(model)}
    return [Way(e.rule, e.clause, AS_SPECIFIED, origins[e.clause]) for e in embodiments(model) if deviates(model, e)]


def _declared(model: type) -> set[Clause]:
    return {c for part in model.__mro__ for c in vars(part).values() if callable(c)}


def replaced(model: type, clauses: dict[str, Any], name: str) -> type:
    """A subclass of the model with some clauses replaced."""
    return type(name, (model,), {"__doc__": f"{model.__name__} with other clauses.", **clauses})
