"""Exceptions of Java as exceptions of Python: of the same simple name, with the frames that they were thrown in."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from broker_tck.implementations.interface import Hang
from broker_tck.implementations.jvm.held import ENDS, SPINS
from broker_tck.implementations.jvm.unavailable import Unavailable

T = TypeVar("T", bound=type)
WRAPPERS = (
    "java.util.concurrent.CompletionException",
    "java.util.concurrent.ExecutionException",
    "java.lang.reflect.InvocationTargetException",
    "java.lang.reflect.UndeclaredThrowableException",
)
UNLINKED = tuple(
    f"java.lang.{name}"
    for name in (
        "NoClassDefFoundError",
        "NoSuchMethodError",
        "NoSuchFieldError",
        "AbstractMethodError",
        "IncompatibleClassChangeError",
        "UnsupportedClassVersionError",
        "VerifyError",
    )
)
"""Errors that no tracker causes: its class does not fit the classes around it."""
STOP = "broker_tck.threads.Stop"
"""What the scheduler of threads throws if it cannot have a class wait."""
FOREIGN = ("java.base/", "jdk.proxy", "org.jpype.", "broker_tck")
"""Frames that say nothing about the class."""
FRAMES = 6
"""Number of frames of a stack trace that are reported."""
ADDRESS = re.compile(r"0x[0-9a-f]+|@[0-9a-f]+\b")


class JavaError(Exception):
    """An exception of Java's. Its class has the name of Java's; its text, Java's message and frames."""


@cache
def named(name: str) -> type[JavaError]:
    """The exception of a name."""
    return type(name, (JavaError,), {})


def translated(error: Any) -> BaseException:
    """An exception of Java, or of Python's that has come through Java, as one of Python's."""
    error = rooted(error)
    name = str(error.getClass().getName())
    if name == SPINS:
        return Hang()
    if name == ENDS:
        return SystemExit("it ends the process")
    if name == "java.lang.OutOfMemoryError":
        return MemoryError(str(error.getMessage()))
    if name == STOP:
        return Unavailable(f"a class waits as the kit's threads cannot: {error.getMessage()}")
    if name in UNLINKED:
        return Unavailable(f"a class is missing, or of another shape than expected: {error.toString()}")
    return named(str(error.getClass().getSimpleName()))(text_of(error))


def rooted(error: Any) -> Any:
    """What was thrown, out of what it was wrapped into on its way."""
    while str(error.getClass().getName()) in WRAPPERS and error.getCause() is not None:
        error = error.getCause()
    return error


def text_of(error: Any) -> str:
    """The message of an exception, and the frames that it was thrown in, without what differs from run to run."""
    message = error.getMessage()
    said = [ADDRESS.sub("", str(message))] if message is not None else []
    frames = [f"at {frame}" for frame in map(str, error.getStackTrace()) if not frame.startswith(FOREIGN)]
    return "; ".join([*said, *(ADDRESS.sub("", frame) for frame in frames[:FRAMES])])


def translating(wrapper: T) -> T:
    """A class whose public methods raise what Java throws as exceptions of Python."""
    for name, method in list(vars(wrapper).items()):
        if callable(method) and (not name.startswith("_") or name == "__init__"):
            setattr(wrapper, name, guarded(method))
    return wrapper


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that translates."""

    @functools.wraps(method)
    def call(*arguments: Any, **named_ones: Any) -> Any:
        try:
            return method(*arguments, **named_ones)
        except Exception as error:
            if hasattr(error, "getStackTrace"):
                raise translated(error) from None
            raise

    return call
