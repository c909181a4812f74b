"""A program of any language that runs beside the kit: lines to it and from it, and how it ended."""

from __future__ import annotations

import atexit
import os
import resource
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from ctypes import CDLL
from select import select
from subprocess import PIPE, Popen, TimeoutExpired
from time import monotonic

from broker_tck.implementations.jvm.unavailable import Unavailable

PATIENCE = 1.0
"""Seconds that a program has to end by itself, or to answer what nobody waits for any more."""
CHUNK = 2**16
LONGEST = 2**26
"""Maximum bytes of a line."""
KEPT = 4_000
"""How many bytes of the end of standard error are kept."""
MOST_LINES = 20
"""Maximum number of its lines that are shown."""
PR_SET_PDEATHSIG = 1
SYSTEM = CDLL(None)


class Program:
    """A process of a program. It is in the kit's own group of processes, and dies with the process that started it."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self.process = Popen(command, 0, None, PIPE, PIPE, PIPE, alone)  # no thread of the kit is in its way
        except FileNotFoundError:
            raise Unavailable(f"{command[0]}: no such program") from None
        except OSError as error:
            raise Unavailable(f"{command[0]}: cannot be run: {error.strerror}") from None
        self.streams = [*filter(None, (self.process.stdin, self.process.stdout, self.process.stderr))]
        self.asks, self.answers, self.errors = (stream.fileno() for stream in self.streams)
        for descriptor in (self.asks, self.answers, self.errors):
            os.set_blocking(descriptor, False)
        self.started_by = os.getpid()
        self.sources = [self.answers, self.errors]
        self.unsent = b""
        self.lines: deque[bytes] = deque()
        self.part = b""
        """What was read of the next line."""
        self.said = b""
        """The end of its standard error."""
        self.status: int | None = None
        """How it ended; a signal is below 0. None: it runs, or it was killed here."""
        RUNNING.append(self)

    @property
    def runs(self) -> bool:
        """Whether it runs, beside this very process."""
        return self in RUNNING and self.started_by == os.getpid()

    # ---- Lines

    def tell(self, text: bytes) -> None:
        """Write to it: at once as much as it takes, the rest while it is listened to."""
        self.unsent += text
        self.send()

    def send(self) -> None:
        """Write as much as it takes. If it reads no more, all is dropped: it has ended, as reading will show."""
        try:
            self.unsent = self.unsent[os.write(self.asks, self.unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b""

    def line(self, until: float | None = None) -> bytes | None:
        """Its next line, waited for until a time, or for good; None: there is none."""
        return self.lines.popleft() if self.has_line(until) else None

    def has_line(self, until: float | None = None) -> bool:
        """Whether there is a next line, waited for until a time, or for good."""
        while not self.lines:
            seconds = None if until is None else until - monotonic()
            if self.answers not in self.sources or len(self.part) > LONGEST or (seconds is not None and seconds <= 0):
                return False
            self.listen(seconds)
        return True

    def listen(self, seconds: float | None) -> None:
        """Wait until it writes or reads, for so long, and take part in that."""
        ready, writable, _ = select(self.sources, [self.asks] if self.unsent else [], [], seconds)
        if writable:
            self.send()
        if self.errors in ready:
            self.said = (self.said + self.read(self.errors))[-KEPT:]
        if self.answers in ready:
            *lines, self.part = (self.part + self.read(self.answers)).split(b"\n")
            self.lines.extend(lines)

    def read(self, descriptor: int) -> bytes:
        """What can be read of a stream that is ready."""
        text = os.read(descriptor, CHUNK)
        if not text:
            self.sources.remove(descriptor)
        return text

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last lines that it wrote to standard error."""
        return tuple(self.said.decode(errors="replace").rstrip().splitlines()[-MOST_LINES:])

    # ---- Its end

    def end(self) -> None:
        """End it: by the end of its standard input, or kill it a second later. Take in what it still says."""
        if self not in RUNNING:
            return
        own = self.runs
        RUNNING.remove(self)
        self.unsent = b""
        self.streams[0].close()
        if own:
            self.wait()
        else:
            self.process.returncode = 0  # it is another process that waits for it
        for stream in self.streams:
            stream.close()

    def wait(self) -> None:
        """Wait for its end, and take in what it still says."""
        try:
            self.status = self.process.wait(PATIENCE)
        except TimeoutExpired:
            self.process.kill()
            self.process.wait()
        until = monotonic() + PATIENCE / 10  # what it has started may hold its streams open
        while self.sources and (left := until - monotonic()) > 0:
            self.listen(left)
        if self.sources:
            self.listen(0)  # what it wrote is there, however late this process comes to it


RUNNING: list[Program] = []
"""The programs that run beside this process, and those that ran beside the one that it was forked from."""


def end_all() -> None:
    """End all programs that run beside this process."""
    for program in [*RUNNING]:
        program.end()


def alone() -> None:
    """In the new process: it is not under the kit's limit of memory, and dies with the process that started it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    with suppress(AttributeError):  # a system without it: the program sees the end of its standard input
        SYSTEM.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def how_it_ended(status: int) -> tuple[str, str]:
    """How a process ended, as the name of an error and a message, by its exit status; a signal is below 0."""
    if status >= 0:
        return "Exited", f"it ended its process with status {status}"
    return "Killed", f"its process died of {signal.Signals(-status).name}"


atexit.register(end_all)
