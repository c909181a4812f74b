"""Subjects of other people's modules, as far as they must be known here, without importing a module here.

To import a module runs it: it may exit, hang, or start threads, which no fork has. So a guarded process imports it and
says what the factory declares. Each process in which the subject runs imports it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from inspect import getsourcefile, getsourcelines
from typing import Any, NamedTuple, TypeVar

from broker_tck.implementations.bundled import BUNDLED
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.profiles import find_here
from broker_tck.properties.engine.subjects import (
    Accepted,
    Subject,
    contract_named,
    factory_named,
    found_released,
    model_named,
    resolve,
)
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.guard import End, Limits, guarded

T = TypeVar("T")

IMPORTING = Limits(10.0, None)
"""What a process may take that imports a module, which may start a Java."""


class Described(NamedTuple):
    """A subject without its factory, to be sent from one process to another."""

    name: str
    contract: str
    profiles: tuple[str, ...]
    capabilities: Any
    accepts: tuple[Accepted, ...]
    attributes: dict[str, Any]
    """What is asked of the factory where its subject does not run."""


class Unloaded:
    """The factory of a subject whose module has not been imported here. Where it is called, it is."""

    named_files: list[Any]
    source: tuple[str, int] | None

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name = name
        vars(self).update(attributes)

    @cached_property
    def loaded(self) -> Callable[..., Any]:
        """The factory itself."""
        found: Callable[..., Any] = factory_named(self.name)[1]
        return found

    def __call__(self, *arguments: Any) -> Any:
        """Make what the factory makes."""
        return self.loaded(*arguments)

    def files(self) -> list[Any]:
        """What the subject runs besides Python modules, as its factory names it."""
        return self.named_files


def resolve_unloaded(name: str, contract: Contract | None = None, profiles: Any = None, accepts: Any = None) -> Subject:
    """As :func:`.engine.subjects.resolve`, but nothing of other people's is imported in this process."""
    if name in BUNDLED or model_named(name) or name.startswith("mutant:") or found_released(name):
        return resolve(name, contract, profiles, accepts)
    find_here()  # for whoever asks where the module is
    found = safely(f"{name}: it cannot be imported", lambda: described(resolve(name, contract, profiles, accepts)))
    factory = Unloaded(found.name, found.attributes)
    kit = contract or contract_named(found.contract)
    return Subject(found.name, kit, factory, found.profiles, found.capabilities, found.accepts)


def source_of(factory: Any) -> tuple[str, int] | None:
    """The file and the line at which a factory is written; None where that is not known, as of a class of Java."""
    if isinstance(factory, Unloaded):
        return factory.source
    try:
        lines, line = getsourcelines(factory)
        return (getsourcefile(factory) or "", max(line, 1)) if lines else None
    except (TypeError, OSError):
        return None


def described(subject: Subject) -> Described:
    """A subject without its factory."""
    attributes = {name: getattr(subject, name) for name in ("forks", "untried", "libraries")}
    attributes |= {"__module__": getattr(subject.factory, "__module__", ""), "source": source_of(subject.factory)}
    attributes |= {"named_files": [*getattr(subject.factory, "files", tuple)()]}
    accepts = subject.accepts
    return Described(subject.name, subject.contract.name, subject.profiles, subject.capabilities, accepts, attributes)


def loaded(subject: Subject) -> Subject:
    """A subject with its factory, for the process in which it runs."""
    factory = subject.factory
    return replace(subject, factory=factory.loaded) if isinstance(factory, Unloaded) else subject


def safely(what: str, function: Callable[[], T]) -> T:
    """What a function answers that imports other people's modules, in a process of its own. BadInput if that ends."""
    found = guarded(lambda tell: function(), IMPORTING)
    if isinstance(found, End):
        raise BadInput(f"{what}: {found.message}")
    return found
