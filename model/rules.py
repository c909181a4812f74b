"""Rules as data: a clause is a method that decides one thing, and its docstring is the rule's sentence.

The decorator :func:`rule` registers a clause and hands back the function itself, so a rule costs nothing when it is
applied. A profile, a count of what was exercised and a known mistake are subclasses in which a clause is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from inspect import getdoc
from typing import Any, TypeVar

Method = Callable[..., Any]
F = TypeVar("F", bound=Method)


class Strength(StrEnum):
    """How binding a rule is."""

    REQUIRED = "required"
    INFORMATIVE = "informative"
    """Cannot be checked at this interface; the rule says why."""


@dataclass(frozen=True)
class Rule:
    """A numbered rule of the specification, with the sentences of all its clauses.

    ``invariant`` says that the rule is judged on what is observed, without the model. ``needs`` names the capability
    without which a subject cannot be seen to keep the rule, with spaces between them if contracts share it. ``why``
    says of an informative rule why it cannot be checked.
    """

    number: str
    sentence: str
    source: str
    strength: Strength = Strength.REQUIRED
    invariant: bool = False
    needs: str = ""
    why: str = ""

    @property
    def checkable(self) -> bool:
        """Whether a subject can be seen to break it."""
        return self.strength is not Strength.INFORMATIVE


class Part:
    """A piece of a reference model, with rules and state of its own.

    Its class is an attribute of the class that has it: ``Timer = Timer``. A clause is named by its path, as
    ``timer.settled``. A profile replaces a clause of a part in a subclass of the part.
    """


@dataclass(frozen=True)
class Clause:
    """A method that embodies a rule, or one claim of it; its sentence is the method's docstring."""

    number: str
    source: str
    path: str
    """The parts on the way to the method, and its name, with dots between them."""
    method: Method = field(compare=False)
    needs: str = ""
    when: Method | None = field(compare=False, default=None)
    """Called with the clause's arguments: whether the rule matters there."""

    @property
    def sentence(self) -> str:
        """What the clause says, in one line."""
        return " ".join((getdoc(self.method) or "").split())


_CLAUSES: dict[Method, Clause] = {}


def rule(number: str, *, source: str = "", needs: str = "", when: Method | None = None) -> Callable[[F], F]:
    """Declare the method below as a clause of a rule.

    A clause is exercised by a call for which ``when`` is true. Without ``when``, a clause that answers yes or no is
    exercised when it has given both answers, and any other clause by every call. The first clause of a rule must name
    its ``source``.
    """

    def register(method: F) -> F:
        _CLAUSES[method] = Clause(number, source, method.__name__, method, needs, when)
        return method

    return register


def clause_of(method: Method) -> Clause | None:
    """The clause that a method is, if it is one."""
    return _CLAUSES.get(method)


def invariant(number: str, sentence: str, *, source: str, needs: str = "") -> Rule:
    """A rule that follows from others. It is judged on what is observed of a subject, without the model."""
    return Rule(number, sentence, source, invariant=True, needs=needs)


def informative(number: str, sentence: str, *, source: str, why: str) -> Rule:
    """A rule that no subject can be seen to break at this interface."""
    return Rule(number, sentence, source, Strength.INFORMATIVE, why=why)


# ---- A model and its parts


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


def method_of(model: type, path: str) -> Method:
    """The method of a path. LookupError if the model has no such method."""
    head, _, rest = path.partition(".")
    if rest:
        for name, part in parts_of(model).items():
            if step(name) == head:
                return method_of(part, rest)
    elif hasattr(model, head):
        found: Method = getattr(model, head)
        return found
    raise LookupError(f"{model.__name__} has no {path}")


# ---- Its rules


def clauses_of(model: type) -> Iterator[Clause]:
    """Every clause of the specification that the model is based on, in reading order, those of its parts last.

    A clause that the model's profile replaces is among them.
    """
    for path, part in tree_of(model):
        methods = (method for base in reversed(part.__mro__) for method in vars(base).values())
        for method in dict.fromkeys(m for m in methods if callable(m) and m in _CLAUSES):
            found = _CLAUSES[method]
            yield replace(found, path=f"{path}{found.path}") if path else found


def rules_of(model: type) -> list[Rule]:
    """Every rule of the model's contract, by number."""
    found: dict[str, Rule] = {}
    for clause in clauses_of(model):
        first = found.get(clause.number)
        found[clause.number] = joined(first, clause) if first else _rule_of(clause)
    found |= {r.number: r for r in getattr(model, "WITHOUT_CLAUSE", ())}
    return [found[number] for number in sorted(found, key=by_number)]


def _rule_of(clause: Clause) -> Rule:
    return Rule(clause.number, clause.sentence, clause.source, needs=clause.needs)


def joined(found: Rule, clause: Clause) -> Rule:
    """A rule with the sentence of one more clause. It needs what all its clauses need."""
    said = clause.sentence
    sentence = found.sentence if said in found.sentence else f"{found.sentence} {said}".strip()
    needs = " ".join(word for word in found.needs.split() if word in clause.needs.split())
    return replace(found, sentence=sentence, source=found.source or clause.source, needs=needs)


def by_number(number: str) -> tuple[str, int]:
    """Sorts the numbers of rules: by what comes before the digits, then by what they say."""
    letters = number.rstrip("0123456789")
    return letters, int(number[len(letters) :] or 0)


# ---- Replacing


def deviates(model: type, clause: Clause) -> bool:
    """Whether the model's profile has another method in place of a clause."""
    return method_of(model, clause.path) not in _CLAUSES


def replaced(model: type, methods: dict[str, Any], name: str) -> type:
    """A subclass of the model with some methods replaced, by their paths. LookupError if it has no such path."""
    own = {path: method for path, method in methods.items() if "." not in path}
    for path in methods:
        method_of(model, path)
    for attribute, part in parts_of(model).items():
        here = f"{step(attribute)}."
        inside = {path.removeprefix(here): method for path, method in methods.items() if path.startswith(here)}
        if inside:
            own[attribute] = replaced(part, inside, name)
    return type(name, (model,), {"__doc__": f"{model.__name__} with other methods.", **own})
