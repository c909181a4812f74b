"""The book of mistakes: what each known mistake does in place of a clause, what to tell its author, where it was seen.

A mistake has one of three forms. A row, ``of(Buckets.key)(instead("rounded down", "Your tracker …", lambda …))``, is
another body for a clause. A function under :func:`around` surrounds a clause or a flow, and gets the method that it
surrounds as its first argument. A class under :func:`mistake` is a subclass of a model, or of a part, that goes before
it in the order of bases: for mistakes with a state of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from inspect import getdoc
from pkgutil import iter_modules
from typing import Any, TypeVar

from broker_tck.model.rules import (
    Clause,
    Method,
    Rule,
    clause_of,
    clauses_of,
    deviates,
    method_of,
    parts_of,
    replaced,
    rules_of,
    step,
    tree_of,
)

F = TypeVar("F", bound=Method)
C = TypeVar("C", bound=type)

ABSENT = "absent"
AS_SPECIFIED = "as specified"
SPECIFICATIONS, MISTAKES = "broker_tck.model.", "broker_tck.properties.mistakes."


@dataclass(frozen=True)
class Mistake:
    """A known mistake in one rule of a model: a method replaced or surrounded, or a class that stands before a part."""

    rule: Rule
    clause: str
    """The path of the method that is replaced, or of the class that stands before."""
    name: str
    instead: Method = field(compare=False)
    says: str = field(compare=False, default="")
    """What is said to the author of a subject that makes it."""
    seen: str = field(compare=False, default="")
    """The real implementation that made it; empty if it is only likely."""
    surrounds: bool = field(compare=False, default=False)
    was: str = field(compare=False, default="")
    """The clause and name under which it was known before, as ``timer.settled: only if sooner``."""

    def __str__(self) -> str:
        short = self.name == ABSENT or self.stands_before
        name = self.name.replace(" ", "_")
        return f"{self.rule.number} {self.name}" if short else f"{self.rule.number} {self.clause}: {name}"

    @property
    def stands_before(self) -> bool:
        """Whether it is a class that stands before a part."""
        return isinstance(self.instead, type)

    def applied_to(self, model: type) -> type:
        """The model with this mistake."""
        name = f"{model.__name__} ~ {self}"
        if isinstance(self.instead, type):
            return before(model, self.clause.rpartition(".")[0], self.instead, name)
        body = surrounding(self.instead, method_of(model, self.clause)) if self.surrounds else self.instead
        return replaced(model, {self.clause: body}, name)


@dataclass(frozen=True)
class Entry:
    """A row of the book, before it is known of which model."""

    name: str
    says: str
    body: Method
    seen: str = ""
    number: str = ""
    """The rule that it breaks; empty: the rule of the clause that it replaces."""
    surrounds: bool = False
    was: str = ""
    """The clause and name under which it was known before, if they have changed."""


_OF_METHODS: dict[Method, list[Entry]] = {}
_OF_CLASSES: dict[type, list[Entry]] = {}
_LOOK: dict[str, str] = {}


def instead(name: str, says: str, body: Method, *, seen: str = "", was: str = "") -> Entry:
    """Another body for a clause, called with the clause's arguments."""
    return Entry(name, says, body, seen, was=was)


def of(method: Method, *, breaks: str = "", look: str = "") -> Callable[..., None]:
    """The mistakes in a method, as rows. They break the rule of the clause, or the one that ``breaks`` names.

    ``look`` says what to look at first if the rule is broken.
    """
    clause = clause_of(method)
    number = breaks or (clause.number if clause else "")
    if not number:
        raise TypeError(f"{method.__qualname__} is no clause: say which rule its mistakes break")
    if look:
        look_at(number, look)

    def write(*rows: Entry) -> None:
        for row in rows:
            _OF_METHODS.setdefault(method, []).append(replace(row, number=number))

    return write


def around(method: Method, number: str, name: str, *, seen: str = "", was: str = "") -> Callable[[F], F]:
    """A mistake that surrounds a method: the function below; its docstring is what is said of it."""

    def register(body: F) -> F:
        entry = Entry(name, " ".join((getdoc(body) or "").split()), body, seen, number, True, was)
        _OF_METHODS.setdefault(method, []).append(entry)
        return body

    return register


def mistake(number: str, name: str, says: str = "", *, seen: str = "", was: str = "") -> Callable[[C], C]:
    """A mistake with a state of its own: the class below, a subclass of a model or of a part."""

    def register(body: C) -> C:
        _OF_CLASSES.setdefault(changed_class(body), []).append(Entry(name, says, body, seen, number, was=was))
        return body

    return register


def look_at(number: str, where: str) -> None:
    """Say what to look at first if a rule is broken."""
    _LOOK[number] = f"{_LOOK[number]}; {where}" if number in _LOOK else where


# ---- Reading the book


def look(number: str) -> str:
    """What to look at first if a rule is broken; empty if the book does not say."""
    opened()
    return _LOOK.get(number, "")


@cache
def opened() -> None:
    """Import every chapter of the book."""
    import broker_tck.properties.mistakes as book

    for chapter in iter_modules(book.__path__):
        if chapter.ispkg:
            package = import_module(f"{MISTAKES}{chapter.name}")
            for page in iter_modules(package.__path__):
                import_module(f"{package.__name__}.{page.name}")


@cache
def mistakes_of(model: type, number: str = "") -> tuple[Mistake, ...]:
    """Every known mistake in the model's rules, or in one, except in what its profile replaces."""
    return tuple(known for known, replacing in mistakes_with_replaced(model, number) if not replacing)


def mistakes_with_replaced(model: type, number: str = "") -> Iterator[tuple[Mistake, list[str]]]:
    """Every known mistake in the model's rules, or in one, each with the paths of what its profile has in its place.

    Classes come last.
    """
    opened()
    rules = {rule.number: rule for rule in rules_of(model) if number in ("", rule.number)}
    clauses = {clause.path: clause for clause in clauses_of(model)}
    for path, method in methods_of(model, clauses):
        clause = clauses.get(path)
        for entry in _OF_METHODS.get(method, ()):
            if entry.number in rules:
                own = clause is not None and not entry.surrounds and deviates(model, clause)
                yield mistake_of(entry, rules, path), [path] if own else []
    yield from _known_classes(model, rules)


def methods_of(model: type, clauses: dict[str, Clause]) -> Iterator[tuple[str, Method]]:
    """The clauses of a model, then its other methods that have mistakes, by their paths."""
    yield from ((path, clause.method) for path, clause in clauses.items())
    for path, part in tree_of(model):
        for base in reversed(part.__mro__):
            for name, method in vars(base).items():
                if callable(method) and method in _OF_METHODS and f"{path}{name}" not in clauses:
                    yield f"{path}{name}", method


def standing_before(model: type) -> Iterator[Mistake]:
    """The mistakes that are classes, except those that change what the model's profile changes."""
    opened()
    rules = {rule.number: rule for rule in rules_of(model)}
    return (known for known, replacing in _known_classes(model, rules) if not replacing)


def _known_classes(model: type, rules: dict[str, Rule]) -> Iterator[tuple[Mistake, list[str]]]:
    for path, part in tree_of(model):
        for base in reversed(part.__mro__):
            for entry in _OF_CLASSES.get(base, ()):
                if entry.number in rules:
                    body: Any = entry.body
                    changed = (n for n in changed_by(body, base) if getattr(part, n) is not getattr(base, n))
                    yield mistake_of(entry, rules, f"{path}{body.__name__}"), [f"{path}{name}" for name in changed]


def mistake_of(entry: Entry, rules: dict[str, Rule], path: str) -> Mistake:
    """A row of the book as a mistake of a model."""
    rule = rules[entry.number]
    return Mistake(rule, path, entry.name, entry.body, entry.says, entry.seen, entry.surrounds, entry.was)


def changed_by(known: type, base: type) -> list[str]:
    """The names that a mistake changes in the class that it stands before."""
    own = known.__mro__[: known.__mro__.index(base)]
    names = dict.fromkeys(name for each in own for name in vars(each))
    return [name for name in names if name in vars(base) and not name.startswith("_")]


def deviations_of(model: type) -> list[Mistake]:
    """The clauses that the model's profile replaces, each as the way back to the rule as it stands."""
    rules = {rule.number: rule for rule in rules_of(model)}
    replacing = (clause for clause in clauses_of(model) if deviates(model, clause))
    return [Mistake(rules[c.number], c.path, AS_SPECIFIED, c.method) for c in replacing]


# ---- Placing a class


def changed_class(known: type) -> type:
    """The class, a model or a part, that a mistake changes: the nearest of its bases in the specification."""
    return next(base for base in known.__mro__[1:] if base.__module__.startswith(SPECIFICATIONS))


def surrounding(body: Method, method: Method) -> Method:
    """A method that calls a mistake with the method that it surrounds."""
    return lambda *arguments: body(method, *arguments)


def before(model: type, path: str, known: type, name: str) -> type:
    """The model with a class before it in the order of bases; with a path, before the part that is there."""
    if not path:
        return type(name, (known, model), {"__doc__": f"{model.__name__} after {known.__name__}."})
    head, _, rest = path.partition(".")
    attribute, part = next((name, part) for name, part in parts_of(model).items() if step(name) == head)
    return replaced(model, {attribute: before(part, rest, known, name)}, name)
