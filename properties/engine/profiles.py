"""The names of profiles, and the reference model that each stands for.

A name is that of a contract's profile, or ``package.module:Class`` for one of the user's own: a subclass of one of the
contract's models in which clauses are replaced. What follows changes it: ``+RULE`` keeps a rule as specified from which
the profile deviates, ``~RULE:WAY`` deviates from a rule by a known mistake.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from broker_tck.implementations.naming import unknown
from broker_tck.model.reference import Reference
from broker_tck.model.rules import replaced
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.mistakes import mistake_named
from broker_tck.properties.mistakes.book import deviations_of

KEPT, ACCEPTED = "+", "~"


def base_of(profile: str) -> str:
    """The name that a profile's begins with, without what changes it."""
    return profile.partition(ACCEPTED)[0].partition(KEPT)[0]


def model_of(profile: str, known: Mapping[str, type[Reference]], contract: str) -> type[Reference]:
    """The reference model of a profile of a contract, whose own are ``known``.

    Its ``PROFILE`` has each mistake spelled the same, however it was written. ValueError says what there is, or why a
    mistake cannot be accepted.
    """
    kept, *accepted = profile.split(ACCEPTED)
    name, *rules = kept.split(KEPT)
    model = own_profile(name, known, contract) if ":" in name else known.get(name)
    if model is None:
        raise ValueError(unknown("profile", name, known, of=contract))
    if rules:
        model = keeping(model, name, rules)
    spelling = kept
    for text in accepted:
        mistake, spelled = mistake_named(model, spelling, text, known)
        spelling += f"{ACCEPTED}{spelled}"
        model = replaced(mistake.applied_to(model), {"ACCEPTS": (*model.ACCEPTS, mistake)}, spelling)
    return model if spelling == model.PROFILE else replaced(model, {"PROFILE": spelling}, spelling)


def own_profile(name: str, known: Mapping[str, type[Reference]], contract: str) -> type[Reference]:
    """A profile of the user's own: a class with clauses of its own, below one of the contract's models."""
    found = imported(name)
    if not (isinstance(found, type) and any(issubclass(found, model) for model in known.values())):
        raise ValueError(f"{name} is no subclass of a reference model of {contract}")
    return found


def imported(name: str) -> Any:
    """What ``package.module:Class`` names, also in the current folder. Raises ValueError if there is no such thing."""
    module, _, attribute = name.partition(":")
    found: Any = module_named(module, name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{name}: the module {module!r} has no {attribute!r}")
        found = getattr(found, part)
    return found


def module_named(module: str, name: str) -> ModuleType:
    """A module, also in the current folder. Raises ValueError if it cannot be imported: for ``name`` it is wanted."""
    find_here()
    BOX.begin({})  # of nothing yet: it has a limit as an operation has
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name}: the module {module!r} cannot be imported: {type(error).__name__}: {error}") from None
    finally:
        BOX.rest()


def find_here() -> None:
    """Have modules in the current folder found."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def keeping(model: type[Reference], name: str, rules: Sequence[str]) -> type[Reference]:
    """A model that keeps some rules as specified from which its profile deviates."""
    mistakes = deviations_of(model)
    for number in rules:
        if number not in {mistake.rule.number for mistake in mistakes}:
            known = ", ".join(sorted({mistake.rule.number for mistake in mistakes})) or "none"
            raise ValueError(f"profile {name} does not deviate from {number}; of its rules {known} can be kept")
    clauses = {mistake.clause: mistake.instead for mistake in mistakes if mistake.rule.number in rules}
    invariants = {
        "BREAKS": (),
        "NOT_APPLICABLE": (*model.NOT_APPLICABLE, *model.BREAKS),
    }  # which of them it breaks now, nobody says
    return replaced(model, {**clauses, **invariants}, name)


def accepted_by(profile: str) -> list[tuple[str, str]]:
    """What is accepted in the name of a profile, in order, and for each the profile that does not accept it."""
    kept, *accepted = profile.split(ACCEPTED)
    return [
        (text, ACCEPTED.join([kept, *(other for j, other in enumerate(accepted) if j != i)]))
        for i, text in enumerate(accepted)
    ]
