"""What looks like a subject in a module, for those who name the module alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from inspect import isclass, isfunction
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from broker_tck.properties.engine.profiles import find_here, module_named
from broker_tck.properties.engine.registry import CONTRACTS

KIT = "broker_tck"
MOST = 8
"""So many are named."""


def is_module(name: str) -> bool:
    """Whether a name is that of a module, also in the current folder, or in a package; those of Python are none."""
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")) or top in sys.stdlib_module_names:
        return False
    find_here()
    return find_spec(top) is not None


def only_a_module(name: str) -> str:
    """That a module is no subject, and what in it looks like one. ValueError where it cannot be imported."""
    found = [*dict.fromkeys(candidates(module_named(name, name)))]
    more = f", and {len(found) - MOST} more" if len(found) > MOST else ""
    which = f"these look like subjects: {', '.join(found[:MOST])}{more}" if found else "nothing in it looks like one"
    return f"{name} is a module; a subject is named {name}:Factory; {which}"


def candidates(module: ModuleType) -> Iterator[str]:
    """The factories in a module and in those right below it, as they are named; each where it is written, if there."""
    for inside in [module, *below(module)]:
        for name, each in vars(inside).items():
            home = str(getattr(each, "__module__", ""))
            ours = f"{home}.".startswith(f"{KIT}.") and not inside.__name__.startswith(KIT)
            if not (name.startswith("_") or ours) and looks_like_a_factory(each):
                yield f"{home}:{name}" if home.startswith(f"{module.__name__}.") else f"{inside.__name__}:{name}"


def below(module: ModuleType) -> Iterator[ModuleType]:
    """The modules right below a package, but for tests and those that cannot be imported."""
    for _, name, _ in iter_modules(getattr(module, "__path__", ())):
        if not name.startswith(("_", "test", "conftest")):
            with suppress(ValueError):
                yield module_named(f"{module.__name__}.{name}", name)


def looks_like_a_factory(each: Any) -> bool:
    """Whether something declares a contract, or is a class that has all methods of one."""
    if not (isclass(each) or isfunction(each)) or getattr(each, "_is_protocol", False):
        return False
    declared = getattr(each, "contract", None)
    return (isinstance(declared, str) and declared in CONTRACTS) or (isclass(each) and has_methods(each))


def has_methods(each: type) -> bool:
    """Whether a class has all methods of a contract's interface."""
    wanted = ([name for name in dir(c.interface) if not name.startswith("_")] for c in CONTRACTS.values())
    return any(all(callable(getattr(each, name, None)) for name in names) for names in wanted)
