"""Whether a subject can be checked, what it raises, and where in its own code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import isclass
from itertools import takewhile
from pathlib import Path
from pdb import Pdb
from traceback import TracebackException
from types import TracebackType
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.model.reference import Fault
from broker_tck.properties.engine.answers import text
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.check import Difference, asked
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.program import Ended
from broker_tck.properties.engine.subjects import Subject, Unmade
from broker_tck.properties.errors import BadInput

TRIED = 3
"""Number of configurations that are tried before a subject counts as one that cannot be made."""
KIT = "broker_tck.properties."
"""The modules that call a subject."""
MOST_FRAMES = 12
"""Maximum number of frames shown of a traceback, which a recursion makes long."""
MOST_LINES = 100
"""Number of lines shown at the beginning and at the end of a long traceback."""


def see_made(subject: Subject) -> None:
    """Raise BadInput if a subject cannot be made. The message says what its factory raises, and where.

    A factory that raises Hang is left for a walk to find.
    """
    made = (adapted(subject, SeededChoices(n)) for n in range(TRIED))
    errors = [adapter.error for adapter in takewhile(lambda adapter: isinstance(adapter, Unmade), made)]
    if len(errors) == TRIED and not isinstance(errors[0], Hang):
        error = errors[0]
        where = "; ".join(line.strip() for line in traceback_of(error)[1:-1]) if own(error) else ""
        called = f"its factory is called as {subject.contract.call}"
        raise BadInput(f"{subject.name} cannot be made: {type(error).__name__}: {error} ({where or called})")


def adapted(subject: Subject, choices: SeededChoices) -> Any:
    """A subject on its adapter for a configuration that is drawn."""
    return subject.adapter(subject.contract.configured(choices, subject.capabilities), subject.capabilities)


def see_whole(subject: Subject, config: Any, operations: Sequence[Operation], difference: Difference) -> None:
    """Raise BadInput if a trace fails at a method that the subject lacks. The message names the method."""
    if not isinstance(difference.seen, dict) or difference.seen.get("error") != "AttributeError":
        return
    error = raised(subject, config, operations)
    if isinstance(error, AttributeError) and not own(error) and error.name in methods(subject.contract):
        raise BadInput(
            f"{subject.name} lacks {error.name}, which {subject.contract.name} asks it for with "
            f"`{operations[-1].tag}`; has it no such thing, its factory may declare so in `capabilities`"
        )


def methods(contract: Contract) -> set[str]:
    """The names that a contract's interface has, of all its parts."""
    module = sys.modules[contract.interface.__module__]
    parts = [part for part in vars(module).values() if isclass(part) and getattr(part, "_is_protocol", False)]
    return {name for part in parts for name in dir(part) if not name.startswith("_")}


# ---- What a subject raises


def raised(subject: Subject, config: Any, operations: Sequence[Operation]) -> BaseException | None:
    """The error that a subject, alone, raises at the last operation of a trace, or when it is read after it."""
    error: BaseException | None = None
    adapter = subject.fresh(config)
    for operation in asked(operations, adapter):
        error = error_of(operation.on, adapter) or error_of(adapter.seen)
    BOX.rest()
    return error


def error_of(call: Callable[..., Any], *arguments: Any) -> BaseException | None:
    """The error of a call. A hang is raised further, and an error that is an answer of the interface does not count."""
    try:
        call(*arguments)
    except (Hang, KeyboardInterrupt):
        raise
    except Fault:
        return None
    except BaseException as error:
        return error
    return None


def own(error: BaseException) -> TracebackType | None:
    """The traceback of an error from where it enters the subject's code; None if it never does."""
    at = error.__traceback__
    while at and at.tb_frame.f_globals["__name__"].startswith(KIT):
        at = at.tb_next
    return at


def traceback_of(error: BaseException) -> tuple[str, ...]:
    """The lines of an error's traceback, the kit's own frames left out, with paths from the current folder on."""
    told = TracebackException(type(error), error, own(error), limit=-MOST_FRAMES)
    for frame in told.stack:
        frame.filename = near(frame.filename)
    lines = "".join(told.format()).rstrip().splitlines()
    if len(lines) > 2 * MOST_LINES:
        lines = [*lines[:MOST_LINES], "…", *lines[-MOST_LINES:]]
    return tuple(map(text, lines))


def near(path: str) -> str:
    """A path as seen from the current folder if it is below it, else from where modules are found."""
    folders = [Path.cwd(), *sorted(map(Path, filter(None, sys.path)), key=lambda folder: -len(folder.parts))]
    below = next((folder for folder in folders if Path(path).is_relative_to(folder)), None)
    return str(Path(path).relative_to(below)) if below else path


def debugged(subject: Subject, config: Any, operations: Sequence[Operation]) -> None:
    """Stop in the debugger where a subject raises at the end of a trace, or else before the last operation."""
    error = raised(subject, config, operations)
    with passing_debugger() as debugger:
        if error and own(error):
            debugger.reset()
            debugger.interaction(None, own(error))
            return
        adapter = subject.fresh(config)
        for operation in operations[:-1]:
            error_of(operation.on, adapter)
            error_of(adapter.seen)
        with suppress(Exception):
            debugger.runcall(operations[-1].on, adapter)


@contextmanager
def passing_debugger() -> Iterator[Pdb]:
    """A debugger that restores the trace function which it replaced, such as the one that measures coverage."""
    before = sys.gettrace()
    try:
        yield Pdb(skip=[f"{KIT}*"])
    finally:
        sys.settrace(before)


def raised_at(subject: Subject, config: Any, operations: Sequence[Operation]) -> tuple[str, ...]:
    """The traceback of the subject's error at the end of a trace; empty if its code raises none, or if it hangs.

    Of a program that ended, it is the last lines on its standard error.
    """
    try:
        error = raised(subject, config, operations)
        BOX.resume()  # its message is of the subject's making, too
        if error and own(error):
            return traceback_of(error)
        return error.lines if isinstance(error, Ended) else ()
    except Hang:
        return ()
    finally:
        BOX.rest()
