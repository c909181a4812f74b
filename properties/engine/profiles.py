"""The names of profiles, and the reference model that each stands for.

A name is that of a contract's profile, or ``package.module:Class`` for one of somebody's own: a subclass of one of the
contract's models in which clauses are replaced. What follows changes it: ``+RULE`` keeps a rule as specified from which
the profile deviates, ``~RULE:WAY`` does a rule otherwise, in one of the ways that the kit knows to be wrong.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from broker_tck.implementations.naming import asked_back, unknown
from broker_tck.model.reference import Reference
from broker_tck.model.rules import Way, deviations_of, replaced, rules_of, ways_of

KEPT, ACCEPTED = "+", "~"


def base_of(profile: str) -> str:
    """The name that a profile's begins with, without what changes it."""
    return profile.partition(ACCEPTED)[0].partition(KEPT)[0]


def model_of(profile: str, known: Mapping[str, type[Reference]], contract: str) -> type[Reference]:
    """The reference model of a profile of a contract, whose own are ``known``. ValueError says what there is."""
    kept, *accepted = profile.split(ACCEPTED)
    name, *rules = kept.split(KEPT)
    model = own_profile(name, known, contract) if ":" in name else known.get(name)
    if model is None:
        raise ValueError(unknown("profile", name, known, of=contract))
    if rules:
        model = keeping(model, name, rules)
    for text in accepted:
        model = accepting(model, name, text)
    return model if profile == model.PROFILE else replaced(model, {"PROFILE": profile}, profile)


def own_profile(name: str, known: Mapping[str, type[Reference]], contract: str) -> type[Reference]:
    """A profile of somebody's own: a class with clauses of its own, below one of the contract's models."""
    found = imported(name)
    if not (isinstance(found, type) and any(issubclass(found, model) for model in known.values())):
        raise ValueError(f"{name} is no subclass of a reference model of {contract}")
    return found


def imported(name: str) -> Any:
    """What ``package.module:Class`` names, also in the current folder. ValueError where there is no such thing."""
    module, _, attribute = name.partition(":")
    found: Any = module_named(module, name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{name}: the module {module!r} has no {attribute!r}")
        found = getattr(found, part)
    return found


def module_named(module: str, name: str) -> ModuleType:
    """A module, also in the current folder. ValueError where it cannot be imported: for ``name`` it is wanted."""
    find_here()
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name}: the module {module!r} cannot be imported: {type(error).__name__}: {error}") from None


def find_here() -> None:
    """Have modules in the current folder found."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def keeping(model: type[Reference], name: str, rules: Sequence[str]) -> type[Reference]:
    """A model that keeps some rules as specified from which its profile deviates."""
    ways = deviations_of(model)
    for number in rules:
        if number not in {way.rule.number for way in ways}:
            known = ", ".join(sorted({way.rule.number for way in ways})) or "none"
            raise ValueError(f"profile {name} does not deviate from {number}; of its rules {known} can be kept")
    clauses = {way.clause: way.instead for way in ways if way.rule.number in rules}
    laws = {"BREAKS": (), "MOOT": (*model.MOOT, *model.BREAKS)}  # which of them it breaks now, nobody says
    return replaced(model, {**clauses, **laws}, name)


def accepting(model: type[Reference], name: str, text: str) -> type[Reference]:
    """A model that does a rule otherwise, as ``RULE:WAY`` or ``RULE:CLAUSE:WAY`` says."""
    way = way_named(model, name, text)
    changed = way.applied_to(model)
    return replaced(changed, {"ACCEPTS": (*model.ACCEPTS, way)}, name)


def way_named(model: type[Reference], name: str, text: str) -> Way:
    """One known way to do a rule otherwise. ValueError says which there are, or that several are so called."""
    number, _, wanted = text.partition(":")
    ways = [way for way in ways_of(model) if way.rule.number == number]
    if not ways:
        rules = [rule.number for rule in rules_of(model)]
        if number in rules:
            raise ValueError(f"profile {name} knows no way to do {number} otherwise")
        raise ValueError(f"profile {name} has no rule {number!r}{asked_back(number, rules)}")
    fitting = [way for way in ways if wanted in called(way)]
    if len(fitting) > 1:
        there = ", ".join(repr(in_words(called(way)[-1])) for way in fitting)
        raise ValueError(f"{in_words(wanted)!r} is one of several ways of {number}; say which: {there}")
    if not fitting:
        raise ValueError(unknown("way", in_words(wanted), names_of(ways), of=number))
    return fitting[0]


def names_of(ways: Sequence[Way]) -> dict[str, Way]:
    """Ways of one rule by the names that a subject may accept them by: with the clause where several have a name."""
    often = Counter(way.name for way in ways)
    return {in_words(called(way)[often[way.name] > 1]): way for way in ways}


def called(way: Way) -> tuple[str, str]:
    """What a way is called in the name of a profile: alone, and with its clause."""
    name = way.name.replace(" ", "_")
    return name, f"{way.clause}:{name}"


def in_words(name: str) -> str:
    """What a way is called in a profile, as a subject may accept it."""
    clause, colon, way = name.rpartition(":")
    return f"{clause}{colon and ': '}{way.replace('_', ' ')}"


def accepted_by(profile: str) -> list[tuple[str, str]]:
    """What is accepted in the name of a profile, in order, and for each the profile that does not accept it."""
    kept, *accepted = profile.split(ACCEPTED)
    return [
        (text, ACCEPTED.join([kept, *(other for j, other in enumerate(accepted) if j != i)]))
        for i, text in enumerate(accepted)
    ]
