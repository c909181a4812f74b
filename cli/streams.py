"""Standard output and standard error that cannot be written, because nobody reads them or the disk is full."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

UNREAD = 141
"""The exit status if the reader of a pipe has gone, as of a program that SIGPIPE ended."""
STANDARD_OUTPUT = "standard output"


class Unwritten(Exception):
    """A standard stream cannot be written."""

    def __init__(self, error: OSError, where: str) -> None:
        super().__init__(f"{where}: cannot be written: {error.strerror}")
        self.unread = isinstance(error, BrokenPipeError)


class Watched(io.RawIOBase):
    """Writes to a stream, and raises its errors as Unwritten, which those of other files are not."""

    def __init__(self, stream: Any, where: str) -> None:
        self.stream = stream  # closed with the last reference to it
        self.raw = getattr(stream.buffer, "raw", stream.buffer)
        self.where = where

    def write(self, data: Any) -> int:
        """Write bytes, and return their number. Raises Unwritten if that fails."""
        try:
            return int(self.raw.write(data))
        except OSError as error:
            raise Unwritten(error, self.where) from None

    def writable(self) -> bool:
        """Always true."""
        return True

    def fileno(self) -> int:
        """The number of the file."""
        return int(self.raw.fileno())

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(self.raw.isatty())


def tell_errors() -> None:
    """Make errors of standard output and standard error raise Unwritten. Output to a closed stream is dropped."""
    for name, where in (("stdout", STANDARD_OUTPUT), ("stderr", "standard error")):
        stream = getattr(sys, name) or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # as long as the process
        setattr(sys, name, watched(stream, where))


def watched(stream: Any, where: str) -> TextIO:
    """A stream whose errors raise Unwritten. It is line-buffered if the original is, or if Python must not buffer."""
    binary = io.BufferedWriter(Watched(stream, where))
    by_line = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(binary, stream.encoding, stream.errors, line_buffering=by_line)


class Documents:
    """The stream for JSON documents while standard output is redirected to standard error."""

    def __init__(self) -> None:
        self.stream: TextIO | None = None
        """None: documents go to standard output."""

    def set_apart(self) -> None:
        """Reserve standard output for documents; from now on all other output goes to standard error.

        This includes what a plug-in or its child processes print, in Python or in native code.
        """
        sys.stdout.flush()
        there = os.dup(sys.stdout.fileno())
        self.stream = watched(os.fdopen(there, "w", encoding=sys.stdout.encoding), STANDARD_OUTPUT)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        sys.stdout = sys.stderr


DOCUMENTS = Documents()
"""The document stream of this process."""


def flush() -> None:
    """Flush all output. Raises Unwritten if that fails."""
    for stream in (DOCUMENTS.stream, sys.stdout, sys.stderr):
        if stream:
            stream.flush()


def silence() -> None:
    """Drop all further output, so that Python reports no error when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (DOCUMENTS.stream, sys.stdout, sys.stderr)):
        with suppress(OSError):
            os.dup2(nowhere, stream.fileno())
