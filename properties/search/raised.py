"""What a subject raised, and where in its own code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from pdb import Pdb
from traceback import TracebackException
from types import TracebackType
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.model.reference import Fault
from broker_tck.properties.engine.answers import text
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject

KIT = "broker_tck.properties."
"""The modules that call a subject."""
MOST_FRAMES = 12
"""Of a longer traceback, as of a recursion, so many frames are told."""
MOST_LINES = 100
"""So many lines are told of its beginning and of its end, as of an error whose message is long."""


def raised(subject: Subject, config: Any, operations: Sequence[Operation]) -> BaseException | None:
    """What a subject, alone, raises at the last operation of a trace, or when it is looked at after it."""
    error: BaseException | None = None
    rig = subject.rig(config, subject.capabilities)
    for operation in BOX.noted(operations, rig):
        error = error_of(operation.on, rig) or error_of(rig.seen)
    BOX.rest()
    return error


def error_of(call: Callable[..., Any], *arguments: Any) -> BaseException | None:
    """What a call raises. A hang goes on, and what the interface knows as an answer is no error."""
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
    """The traceback of an error from where it enters the subject's code; None: it never does."""
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
    """Stop in the debugger where a subject raises at the end of a trace; else before the last operation is done."""
    error = raised(subject, config, operations)
    with passing_debugger() as debugger:
        if error and own(error):
            debugger.reset()
            debugger.interaction(None, own(error))
            return
        rig = subject.rig(config, subject.capabilities)
        for operation in operations[:-1]:
            error_of(operation.on, rig)
            error_of(rig.seen)
        with suppress(Exception):
            debugger.runcall(operations[-1].on, rig)


@contextmanager
def passing_debugger() -> Iterator[Pdb]:
    """A debugger; after it, what traced before goes on, as it measures coverage: a debugger that is left ends it."""
    before = sys.gettrace()
    try:
        yield Pdb(skip=[f"{KIT}*"])
    finally:
        sys.settrace(before)


def raised_at(subject: Subject, config: Any, operations: Sequence[Operation]) -> tuple[str, ...]:
    """The traceback of what a subject raises at the end of a trace; empty where none of its code does, or it hangs."""
    try:
        error = raised(subject, config, operations)
        BOX.resume()  # its message is of the subject's making, too
        return traceback_of(error) if error and own(error) else ()
    except Hang:
        return ()
    finally:
        BOX.rest()
