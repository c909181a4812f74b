"""Rules as data: what a clause of a reference model embodies, and the ways in which it is got wrong.

A *clause* is a small method of a reference model, or of a part of one. The decorators below register it and hand back
the function itself, so a rule costs nothing where it is applied. Everything that is done with rules (profiles, counting
how often one was met, the known wrong ways, diagnosis) is done by replacing a clause in a subclass, or by a class that
stands before the model in the order of bases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

Clause = Callable[..., Any]
F = TypeVar("F", bound=Clause)
M = TypeVar("M", bound=type)

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
    ``law`` tells that the rule is judged on what is observed, without the model (see ``properties``). ``needs`` is the
    capability without which a subject cannot be seen to keep it, with spaces between where contracts share the rule.
    """

    number: str
    sentence: str
    source: str
    look: str
    strength: Strength = Strength.REQUIRED
    law: bool = False
    needs: str = ""

    @property
    def checkable(self) -> bool:
        """Whether a subject can be seen to break it."""
        return self.strength is not Strength.INFORMATIVE


class Part:
    """A piece of a reference model, with rules and state of its own. It is told what it needs, and asks for nothing.

    Its class is an attribute of the class that has it: ``Timer = Timer``. A clause is named by its path, as
    ``timer.settled``. A profile replaces a clause of a part in a subclass of the part.
    """


@dataclass(frozen=True)
class Embodiment:
    """A clause that embodies a rule, by its path, with its wrong ways: ``absent`` first, then the others by name."""

    rule: Rule
    clause: str
    ways: dict[str, Clause] = field(compare=False)
    when: Clause | None = field(compare=False, default=None)
    """Whether the rule matters in what the clause is asked; None: it does where ``absent`` answers otherwise."""


@dataclass(frozen=True)
class Way:
    """One known wrong way of one rule: a clause replaced, or a class that stands before a model, or a part of one."""

    rule: Rule
    clause: str
    """The path of what is replaced, or of the class that stands before."""
    name: str
    instead: Clause = field(compare=False)

    def __str__(self) -> str:
        short = self.name == ABSENT or self.stands_before
        return f"{self.rule.number} {self.name}" if short else f"{self.rule.number} {self.clause}: {self.name}"

    @property
    def stands_before(self) -> bool:
        """Whether it is a class that stands before a model, and no clause in place of another."""
        return isinstance(self.instead, type)

    def applied_to(self, model: type) -> type:
        """The model got wrong in this way."""
        name = f"{model.__name__} ~ {self}"
        if isinstance(self.instead, type):
            return before(model, self.clause.rpartition(".")[0], self.instead, name)
        return replaced(model, {self.clause: self.instead}, name)


_EMBODIMENTS: dict[Clause, Embodiment] = {}
_WRONG: dict[type, list[tuple[str, str, type]]] = {}
"""By the class that one is of: numbers of rules, names of wrong ways, and the classes that go wrong so."""


def rule(
    number: str,
    sentence: str,
    *,
    source: str,
    look: str,
    needs: str = "",
    absent: Clause | None = None,
    when: Clause | None = None,
    **wrong: Clause,
) -> Callable[[F], F]:
    """Declare a rule beside the clause that embodies it.

    ``absent`` answers as if there were no such rule: the rule is *met* whenever the clause answers otherwise. With
    ``when`` it is met whenever that says so of what the clause is asked. Each further keyword is a known wrong way,
    called with the arguments of the clause. TypeError where nothing tells when the rule is met.
    """
    return _embodied(Rule(number, sentence, source, look, needs=needs), absent, when, wrong)


def also(of: Clause, *, absent: Clause | None = None, when: Clause | None = None, **wrong: Clause) -> Callable[[F], F]:
    """Declare one more clause of the rule that the clause ``of`` embodies."""
    return _embodied(embodied(of).rule, absent, when, wrong)


def embodied(clause: Clause) -> Embodiment:
    """What a clause embodies. KeyError where it is none."""
    return _EMBODIMENTS[clause]


def _embodied(rule: Rule, absent: Clause | None, when: Clause | None, wrong: dict[str, Clause]) -> Callable[[F], F]:
    if absent is None and when is None:
        raise TypeError(f"{rule.number} says neither what its absence is like nor when it is met")
    ways = {ABSENT: absent, **wrong} if absent else wrong

    def register(clause: F) -> F:
        _EMBODIMENTS[clause] = Embodiment(rule, clause.__name__, ways, when)
        return clause

    return register


def wrong(number: str, name: str) -> Callable[[M], M]:
    """Declare a known wrong way that takes more than a clause: a class that stands before any profile's model.

    It is a subclass of a specification, or of a part of one, which it changes in flow or state. LookupError where that
    has no such rule.
    """

    def register(way: M) -> M:
        base = specification_of(way)
        if number not in numbers_in(base):
            raise LookupError(f"{way.__name__} breaks {number}, of which {base.__name__} has no clause")
        _WRONG.setdefault(base, []).append((number, name, way))
        return way

    return register


def specification_of(way: type) -> type:
    """The class, a model or a part of one, that a wrong way changes: the nearest of its bases with a clause."""
    return next(base for base in way.__mro__[1:] if any(callable(c) and c in _EMBODIMENTS for c in vars(base).values()))


@cache
def numbers_in(model: type) -> frozenset[str]:
    """The numbers of the rules that clauses of the model embody; kept, as most models have many wrong ways."""
    return frozenset(e.rule.number for e in embodiments(model))


def law(number: str, sentence: str, *, source: str, look: str, needs: str = "") -> Rule:
    """A rule that follows from others; it is judged on what is observed of a subject, without the model."""
    return Rule(number, sentence, source, look, law=True, needs=needs)


def informative(number: str, sentence: str, *, source: str, why: str) -> Rule:
    """A rule that nothing at this interface can be seen to break."""
    return Rule(number, sentence, source, why, Strength.INFORMATIVE)


def parts_of(model: type) -> dict[str, type]:
    """The parts that a model has itself, by the attribute that is its class."""
    names = dict.fromkeys(name for base in reversed(model.__mro__) for name in vars(base))
    found = {name: getattr(model, name) for name in names}
    return {name: part for name, part in found.items() if isinstance(part, type) and issubclass(part, Part)}


def tree_of(model: type, path: str = "") -> Iterator[tuple[str, type]]:
    """A model and its parts, and theirs, each with the path that its clauses begin with."""
    yield path, model
    for name, part in parts_of(model).items():
        yield from tree_of(part, f"{path}{step(name)}.")


def step(attribute: str) -> str:
    """The word in a path for a part, by the attribute that is its class: ``read_limit`` for ``ReadLimit``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", attribute).lower()


def clause_of(model: type, path: str) -> Clause:
    """The clause of a path. LookupError where there is no such clause."""
    head, _, rest = path.partition(".")
    if rest:
        for name, part in parts_of(model).items():
            if step(name) == head:
                return clause_of(part, rest)
    elif hasattr(model, head):
        found: Clause = getattr(model, head)
        return found
    raise LookupError(f"{model.__name__} has no {path}")


def embodiments(model: type) -> Iterator[Embodiment]:
    """Every clause of the model that embodies a rule, in the order of their declaration, those of its parts last.

    A clause that a subclass takes back is the same one.
    """
    for path, part in tree_of(model):
        clauses = (clause for base in reversed(part.__mro__) for clause in vars(base).values())
        for clause in dict.fromkeys(c for c in clauses if callable(c) and c in _EMBODIMENTS):
            found = _EMBODIMENTS[clause]
            yield replace(found, clause=f"{path}{found.clause}") if path else found


def rules_of(model: type) -> list[Rule]:
    """Every rule of the model's contract, by number."""
    found = {e.rule.number: e.rule for e in embodiments(model)}
    found |= {r.number: r for r in getattr(model, "UNEMBODIED", ())}
    return [found[number] for number in sorted(found, key=by_number)]


def by_number(number: str) -> tuple[str, int]:
    """Sorts the numbers of rules: by what comes before the digits, then by what they say."""
    letters = number.rstrip("0123456789")
    return letters, int(number[len(letters) :] or 0)


@cache
def ways_of(model: type, number: str = "") -> tuple[Way, ...]:
    """Every known wrong way of the model's rules, or of one, but for what its profile replaces."""
    return tuple(way for way, replacing in known_ways(model, number) if not replacing)


def known_ways(model: type, number: str = "") -> Iterator[tuple[Way, list[str]]]:
    """Every known wrong way of the model's rules, or of one, each with the paths of what its profile has in its place.

    Those that are classes come last.
    """
    for e in embodiments(model):
        if number in ("", e.rule.number):
            replacing = [e.clause] if e.ways and deviates(model, e) else []
            yield from ((Way(e.rule, e.clause, name, instead), replacing) for name, instead in e.ways.items())
    yield from known_classes(model, number)


def standing_before(model: type) -> Iterator[Way]:
    """The wrong ways that are classes, but for those that change what the model's profile changes."""
    return (way for way, replacing in known_classes(model) if not replacing)


def known_classes(model: type, number: str = "") -> Iterator[tuple[Way, list[str]]]:
    """The wrong ways that are classes, likewise."""
    rules = {rule.number: rule for rule in rules_of(model) if number in ("", rule.number)}
    for path, part in tree_of(model):
        for base in reversed(part.__mro__):
            for of_rule, name, way in _WRONG.get(base, ()):
                if of_rule in rules:
                    changed = (each for each in changed_by(way, base) if getattr(part, each) is not getattr(base, each))
                    yield Way(rules[of_rule], f"{path}{way.__name__}", name, way), [f"{path}{each}" for each in changed]


def changed_by(way: type, base: type) -> list[str]:
    """What a wrong way changes of the class that it stands before."""
    own = way.__mro__[: way.__mro__.index(base)]
    names = dict.fromkeys(name for each in own for name in vars(each))
    return [name for name in names if name in vars(base) and not name.startswith("_")]


def deviates(model: type, embodiment: Embodiment) -> bool:
    """Whether the model's profile has another clause in this place."""
    return clause_of(model, embodiment.clause) not in _EMBODIMENTS


def deviations_of(model: type) -> list[Way]:
    """The clauses that the model's profile replaces, each as the way back to the rule as it stands."""
    origins = {
        f"{path}{_EMBODIMENTS[clause].clause}": clause
        for path, part in tree_of(model)
        for base in part.__mro__
        for clause in vars(base).values()
        if callable(clause) and clause in _EMBODIMENTS
    }
    return [Way(e.rule, e.clause, AS_SPECIFIED, origins[e.clause]) for e in embodiments(model) if deviates(model, e)]


def replaced(model: type, clauses: dict[str, Any], name: str) -> type:
    """A subclass of the model with some clauses replaced, by their paths."""
    own = {path: clause for path, clause in clauses.items() if "." not in path}
    for path in clauses:
        clause_of(model, path)
    for attribute, part in parts_of(model).items():
        here = f"{step(attribute)}."
        inside = {path.removeprefix(here): clause for path, clause in clauses.items() if path.startswith(here)}
        if inside:
            own[attribute] = replaced(part, inside, name)
    return type(name, (model,), {"__doc__": f"{model.__name__} with other clauses.", **own})


def before(model: type, path: str, way: type, name: str) -> type:
    """The model with a class before it in the order of bases; with a path, before the part that is there."""
    if not path:
        return type(name, (way, model), {"__doc__": f"{model.__name__} after {way.__name__}."})
    head, _, rest = path.partition(".")
    attribute, part = next((name, part) for name, part in parts_of(model).items() if step(name) == head)
    return replaced(model, {attribute: before(part, rest, way, name)}, name)
