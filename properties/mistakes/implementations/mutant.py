"""The record of a mutant, and its decorator. The docstring of the decorated class says how it is broken."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class Mutant:
    """A production subject that was broken on purpose."""

    name: str
    factory: Callable[..., Any]
    rule: str
    """The one rule that it breaks."""
    wrong: str
    """What it does wrong, in a sentence."""
    shows: str = ""
    """What no other mutant, and no known mistake of a clause, shows."""
    source: str = ""
    """The report or change of the real broker in which this was seen; empty: made up."""


_DECLARED: dict[type, Mutant] = {}


def mutant(
    rule: str,
    *,
    shows: str = "",
    source: str = "",
    inside: Callable[[Any], Callable[..., Any]] = lambda broken: broken,
) -> Callable[[T], T]:
    """Declare a mutant, named after its class. If only a part is broken, ``inside`` makes a subject of it."""

    def declare(broken: T) -> T:
        name = re.sub(r"\B([A-Z])", r"-\1", broken.__name__).lower()
        _DECLARED[broken] = Mutant(name, inside(broken), rule, broken.__doc__ or "", shows, source)
        return broken

    return declare


def declared_in(*modules: ModuleType) -> dict[str, Mutant]:
    """The mutants of some modules, by name, in the order of their declaration. ValueError if two have one name."""
    found: dict[str, Mutant] = {}
    for declared in (_DECLARED[c] for m in modules for c in vars(m).values() if isinstance(c, type) and c in _DECLARED):
        if found.setdefault(declared.name, declared) is not declared:
            raise ValueError(f"two mutants are called {declared.name}")
    return found
