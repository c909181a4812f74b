"""Subjects of other people's modules, whose modules this process does not import.

An import runs the module's code, which may exit, hang, or start threads that a fork would lose. So a guarded process
imports the module and tells what the factory declares. Each process in which the subject runs imports it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from inspect import getsourcefile, getsourcelines
from typing import Any, TypeVar

from broker_tck.implementations.bundled import BUNDLED
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.profiles import find_here
from broker_tck.properties.engine.program import EXEC
from broker_tck.properties.engine.subjects import (
    Subject,
    factory_named,
    found_released,
    model_named,
    resolve,
)
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.guard import End, Limits, guarded

T = TypeVar("T")

IMPORTING = Limits(10.0, None)
"""The limits of a process that imports a module, which may start a Java."""


class Unloaded:
    """The factory of a subject whose module is not imported here. A call imports it.

    It has the attributes of the factory that are needed in a process in which the subject does not run.
    """

    def __init__(self, subject: Subject) -> None:
        factory = subject.factory
        self.name = subject.name
        self.forks, self.untried, self.libraries = subject.forks, subject.untried, subject.libraries
        self.software = getattr(factory, "software", "")
        self.named_files = [*getattr(factory, "files", tuple)()]
        self.source = source_of(factory)
        self.__module__ = getattr(factory, "__module__", "")

    @cached_property
    def loaded(self) -> Callable[..., Any]:
        """The factory itself."""
        found: Callable[..., Any] = factory_named(self.name)[1]
        return found

    def __call__(self, *arguments: Any) -> Any:
        """Make what the factory makes."""
        return self.loaded(*arguments)

    def files(self) -> list[Any]:
        """The files that the subject needs besides Python modules, as its factory names them."""
        return self.named_files


def resolve_unloaded(name: str, contract: Contract | None = None, profiles: Any = None, accepts: Any = None) -> Subject:
    """As :func:`.engine.subjects.resolve`, but nothing of other people's is imported in this process."""
    if name in BUNDLED or model_named(name) or name.startswith("mutant:") or found_released(name):
        return resolve(name, contract, profiles, accepts)
    find_here()  # for whoever asks where the module is
    what = "it cannot be started" if name.startswith(EXEC) else "it cannot be imported"
    return safely(f"{name}: {what}", lambda: unloaded(resolve(name, contract, profiles, accepts)))


def source_of(factory: Any) -> tuple[str, int] | None:
    """The file and the line at which a factory is written; None if that is not known, as of a class of Java."""
    if isinstance(factory, Unloaded):
        return factory.source
    try:
        lines, line = getsourcelines(factory)
        return (getsourcefile(factory) or "", max(line, 1)) if lines else None
    except (TypeError, OSError):
        return None


def unloaded(subject: Subject) -> Subject:
    """A subject that can be sent from one process to another: without its factory."""
    return replace(subject, factory=Unloaded(subject))


def loaded(subject: Subject) -> Subject:
    """A subject with its factory, for the process in which it runs."""
    factory = subject.factory
    return replace(subject, factory=factory.loaded) if isinstance(factory, Unloaded) else subject


def safely(what: str, function: Callable[[], T]) -> T:
    """The result of a function that imports other people's modules, in a process. Raises BadInput if that ends."""
    found = guarded(lambda tell: function(), IMPORTING)
    if isinstance(found, End):
        raise BadInput(f"{what}: {found.message}")
    return found
