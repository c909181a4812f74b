"""Standard output and standard error, where they cannot be written: nobody reads on, or the disk is full."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

UNREAD = 141
"""The exit status where nobody reads on: that of a program which SIGPIPE ended."""
STANDARD_OUTPUT = "standard output"


class Unwritten(Exception):
    """A standard stream cannot be written."""

    def __init__(self, error: OSError, where: str) -> None:
        super().__init__(f"{where}: cannot be written: {error.strerror}")
        self.unread = isinstance(error, BrokenPipeError)


class Told(io.RawIOBase):
    """Writes what a stream writes, and tells its errors from those of all other files and pipes."""

    def __init__(self, stream: Any, where: str) -> None:
        self.stream = stream  # closed with the last reference to it
        self.raw = getattr(stream.buffer, "raw", stream.buffer)
        self.where = where

    def write(self, data: Any) -> int:
        """Write bytes; answers with how many. Unwritten where that fails."""
        try:
            return int(self.raw.write(data))
        except OSError as error:
            raise Unwritten(error, self.where) from None

    def writable(self) -> bool:
        """It can be written."""
        return True

    def fileno(self) -> int:
        """The number of the file."""
        return int(self.raw.fileno())

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(self.raw.isatty())


def tell_errors() -> None:
    """Have errors of standard output and standard error raised as Unwritten; one that was closed goes nowhere."""
    for name, where in (("stdout", STANDARD_OUTPUT), ("stderr", "standard error")):
        stream = getattr(sys, name) or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # as long as the process
        setattr(sys, name, told(stream, where))


def told(stream: Any, where: str) -> TextIO:
    """A stream whose errors are raised as Unwritten; lines are written as they end where Python is not to buffer."""
    binary = io.BufferedWriter(Told(stream, where))
    by_line = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(binary, stream.encoding, stream.errors, line_buffering=by_line)


class Documents:
    """Where documents go, while standard output is another name for standard error."""

    def __init__(self) -> None:
        self.stream: TextIO | None = None
        """None: to standard output, as all else."""

    def set_apart(self) -> None:
        """From here on standard output has documents alone: all else that is written to it goes to standard error.

        That holds for whatever a plug-in prints, in Python or below it, and for the processes that it starts.
        """
        sys.stdout.flush()
        there = os.dup(sys.stdout.fileno())
        self.stream = told(os.fdopen(there, "w", encoding=sys.stdout.encoding), STANDARD_OUTPUT)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        sys.stdout = sys.stderr


DOCUMENTS = Documents()
"""Those of this process."""


def flush() -> None:
    """Write what was printed and not yet written. Unwritten where that fails."""
    for stream in (DOCUMENTS.stream, sys.stdout, sys.stderr):
        if stream:
            stream.flush()


def silence() -> None:
    """Let both go nowhere, so that Python finds nothing to complain of as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (DOCUMENTS.stream, sys.stdout, sys.stderr)):
        with suppress(OSError):
            os.dup2(nowhere, stream.fileno())
