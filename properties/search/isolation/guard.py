"""The guard: a function that runs a subject, in a process of its own that may hang, crash, exit or eat memory.

The process is a fork, so the function and what it needs are not sent. Whoever guards it must not have made a subject
itself. A result exists only if the process sent it; all else is an :class:`End`.
"""

from __future__ import annotations

import faulthandler
import io
import os
import resource
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from ctypes import CDLL
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from time import monotonic
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from broker_tck.implementations.interface import NOT_ANSWERED
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.programs import end_all, how_it_ended
from broker_tck.properties.engine.blackbox import BOX, BULK, FORKS, MADE, TWICE, WALK, Memory
from broker_tck.properties.engine.check import TOO_MUCH
from broker_tck.properties.errors import BadInput, KitFailed
from broker_tck.properties.search.isolation.system import all_asleep, group_lives, size_of, state_of

T = TypeVar("T")

MIB = 2**20
LOOK = 0.25
"""Seconds between two looks at a process."""
SECONDS = 5.0
"""Maximum time of an operation, in seconds of the processor, or asleep."""
MEMORY = 512
"""Maximum growth of a process, in MiB."""
RESERVED = 8
"""Factor of that limit for reserved memory, because threads reserve more than they use."""
BETWEEN = 24
"""Factor of the time limit while the kit itself works and the subject is asked nothing."""
SOON = 0.8
"""A walk that is not written down gets only this share of the limit, because it must be made again for a report."""
IDLE = 0.02
"""A process is idle if it used less of the processor between two looks, in seconds."""
HEARD = 2**16
"""Maximum number of bytes of a process's output that are passed on."""
GRACE = 1.0
"""Maximum time for a process to end after its last message, in seconds."""
PR_SET_PDEATHSIG = 1
Tell = Callable[[Any], None]
"""Sends something on the way to the result."""


class Limits(NamedTuple):
    """The limits of a guarded process."""

    seconds: float = SECONDS
    """How long one operation may take: of the processor's time, or asleep. 0: as long as it likes."""
    memory: int | None = MEMORY
    """How many MiB it may grow by. None: it has no limit, as a subject needs that reserves more than it takes."""
    making: float = 1
    """Factor of the time limit for the first subject, which may start a Java."""
    careful: bool = False
    """Whether each operation of a walk has the limit for itself, and not a few together."""


USUAL = Limits()
FREE = Limits(0, None)
"""For a process in which no subject lives: it guards others."""


class End(NamedTuple):
    """How a process ended that sent no result; ``error`` is one of :data:`.engine.check.NO_ANSWERS`."""

    error: str
    message: str
    trace: tuple[bytes, ...] = ()
    """What the subject was on: a configuration, then operations, as JSON. Empty: none was being made."""


class Orphaned(Exception):
    """No process waits for this process's work any more."""


class Guarded(Generic[T]):
    """A function that runs in a process of its own.

    ``function`` is called there with a :data:`Tell`; ``told`` is called here with what it tells. ``name`` is that
    of whoever prints too much.
    """

    result: T | End

    def __init__(
        self,
        function: Callable[[Tell], T],
        limits: Limits = USUAL,
        told: Tell = lambda message: None,
        name: str = "the subject",
    ) -> None:
        self.function = function
        self.limits = limits
        self.told = told
        self.name = name
        self.ended = False
        self.status: int | None = None
        """How the process ended; a signal is below 0. None: it has not been reaped."""
        self.heard = 0
        self.every = min(LOOK, limits.seconds / 4) if limits.seconds else LOOK

    # ---- The process itself

    def start(self) -> None:
        """Fork the process."""
        self.memory = Memory()
        self.answers, answering = Pipe(duplex=False)
        self.output, printing = os.pipe()
        os.set_blocking(self.output, False)
        self.sources: list[Any] = [self.answers, self.output]
        self.place, self.looked = self.memory.place, monotonic()
        self.used = self.last = self.asleep = 0.0
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        guard = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # until it is known, or own
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the fork uses nothing of theirs
                self.pid = os.fork()
            if self.pid == 0:
                self.live(answering, printing, guard)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.size = size_of(self.pid)
        answering.close()
        os.close(printing)
        with suppress(OSError):  # whoever is first
            os.setpgid(self.pid, self.pid)

    def live(self, answering: Connection, printing: int, guard: int) -> NoReturn:
        """Run the function, send its result, and end, together with all that the subject left behind."""
        status, deep = 1, sys.getrecursionlimit()
        try:
            try:
                own_process(printing, self.limits, guard)
                BOX.install(self.memory, self.limits.careful, self.limits.memory is not None)
                result = self.function(lambda told: send(answering, ("told", told)))
                BOX.rest()
                send(answering, ("result", result))
                end_all()
            except (BadInput, Unavailable) as error:
                send(answering, ("bad", str(error)))
            except BaseException as error:
                sys.setrecursionlimit(deep)
                send(answering, self.failure(error))
            status = 0
        finally:
            os._exit(status)

    def failure(self, error: BaseException) -> tuple[str, Any]:
        """The message for an error that the kit did not catch: caused by the subject, or a bug of the kit."""
        if isinstance(error, MemoryError):
            BOX.adapter = None
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            return "end", ("MemoryError", TOO_MUCH)
        if isinstance(error, RecursionError):
            return "end", ("Exited", "it left a limit of recursion that is too low for the kit")
        if not isinstance(error, Exception):
            return "end", ("Exited", f"it raised {type(error).__name__}, which ends a process")
        return "failed", "".join(traceback.format_exception(error))

    # ---- Seen from outside

    def receive(self, ready: Iterable[Any]) -> None:
        """Receive the output and the messages of the process."""
        if self.output in ready:
            self.hear()
        if self.answers in ready:
            self.take()

    def take(self) -> None:
        """Receive a message of the process."""
        while not self.ended and self.answers.poll():
            try:
                kind, message = self.answers.recv()
            except Exception:  # the process has ended, or what it wrote there is no message
                self.end(None)
                return
            if kind == "told":
                self.told(message)
            else:
                self.finish(kind, message)

    def hear(self) -> None:
        """Pass on the output of the process, up to its maximum."""
        try:
            text = os.read(self.output, HEARD)
        except BlockingIOError:
            return
        if not text:
            self.sources.remove(self.output)
        passed = text[: max(0, HEARD - self.heard)]
        self.heard += len(text)
        if passed:
            sys.stderr.write(passed.decode(errors="replace"))
        if passed and self.heard >= HEARD:
            sys.stderr.write(f"\nbroker-tck: {self.name} prints more than {HEARD // 1024} KiB; the rest is left out\n")

    def finish(self, kind: str, message: Any) -> None:
        """Receive the last message of the process."""
        if kind == "end":
            self.end(End(*message))
            return
        self.reap(GRACE)
        self.wait_for_seconds()
        twice = kind == "result" and self.memory.head[TWICE]
        self.close()
        if kind == "bad":
            raise BadInput(message)
        if kind == "failed":
            raise KitFailed(message)
        self.result = self.twice() if twice else message

    def wait_for_seconds(self) -> None:
        """Wait for processes that the subject has forked, which may be about to come back to the kit."""
        until = monotonic() + GRACE
        while self.memory.head[FORKS] and not self.memory.head[TWICE] and monotonic() < until:
            if self.reap(LOOK / 10) is not None and not group_lives(self.pid):
                return
            wait([], LOOK / 10)

    def twice(self) -> End:
        """How a process ended in which a call came back twice."""
        trace = tuple(self.memory.lines_twice)
        return End("Exited", "it came back in two processes: it has forked its own", trace)

    def end(self, end: End | None) -> None:
        """The process has ended, or is ended, without a result. None: its status says how."""
        status = None if end else self.reap(GRACE)
        self.close()
        self.result = self.twice() if self.memory.head[TWICE] else (end or ending(status))
        if not self.result.trace:
            self.result = self.result._replace(trace=tuple(self.memory.lines))

    def close(self) -> None:
        """End the process and all that it has started."""
        if self.ended:
            return
        self.ended = True
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.status is None:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            self.reap(None)
        if self.output in self.sources:
            self.hear()
        os.close(self.output)
        self.answers.close()

    def reap(self, seconds: float | None) -> int | None:
        """How the process ended, waited for so long; None: until it does."""
        until = None if seconds is None else monotonic() + seconds
        while self.status is None:
            try:
                pid, status = os.waitpid(self.pid, 0 if until is None else os.WNOHANG)
            except ChildProcessError:  # somebody else has reaped it
                self.status = 0
                break
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif until is not None and monotonic() >= until:
                break
            else:
                wait([], LOOK / 50)
        return self.status

    def look(self) -> None:
        """End the process if it stands still. A stopped process does not count as asleep."""
        now, place, seen = monotonic(), self.memory.place, state_of(self.pid)
        if self.memory.head[TWICE]:
            self.end(End("Exited", ""))
            return
        if self.reap(0) is not None:  # what it has forked may hold the connection open
            self.take()
            if not self.ended:
                self.end(None)
            return
        if self.outgrown(seen.size):
            self.end_if_outgrown()
            return
        if place != self.place:
            self.place, self.used, self.asleep = place, seen.used, 0.0
        elif seen.used - self.last < IDLE and all_asleep(self.pid, self.memory.asked):
            self.asleep += min(now - self.looked, 2 * self.every)
        self.looked, self.last = now, seen.used
        if self.limits.seconds and max(self.asleep, seen.used - self.used) >= SOON * self.limits.seconds:
            self.end_if_still(seen.used - self.used)

    def outgrown(self, size: int) -> bool:
        """Whether this many bytes are more than the process may take."""
        return self.limits.memory is not None and size - self.size > self.limits.memory * MIB

    def end_if_outgrown(self) -> None:
        """End a process that takes too much memory while it stands still, so that it is still on the same trace."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGSTOP)
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self.status = os.waitstatus_to_exitcode(status)  # the next look finds that it has ended
        elif self.outgrown(state_of(self.pid).size):
            self.end(End("MemoryError", TOO_MUCH))
        else:
            os.kill(self.pid, signal.SIGCONT)

    def end_if_still(self, worked: float) -> None:
        """End a process that has had its limit since it began its last operation.

        The trace has as much time again for each thousand that it does in bulk.
        """
        head, lines = self.memory.head, self.memory.lines
        limit = self.limits.seconds * (SOON if lines and lines[0].startswith(WALK) else 1)
        limit *= (1 if head[MADE] else self.limits.making) * (1 + head[BULK] / 1000)
        if self.asleep >= limit or worked >= limit * (1 if self.memory.asked else BETWEEN):
            self.end(End("Hang", NOT_ANSWERED))


def all_guarded(
    waiting: deque[Guarded[T]], at_a_time: int, parent: Any = None, tick: Callable[[], None] = lambda: None
) -> Iterator[Guarded[T]]:
    """Run those that wait, so many at a time; each is handed out once it has ended. Others may be added meanwhile.

    ``tick`` is called each time that they are looked at.

    ``parent``, a stream, tells by its end that nobody waits any more: Orphaned.
    """
    living, looked = list[Guarded[T]](), monotonic()
    try:
        while True:
            while len(living) < at_a_time and waiting:
                waiting[0].start()
                living.append(waiting.popleft())
            if not living:
                return
            every = min(one.every for one in living)
            ready = wait([*(source for one in living for source in one.sources), *([parent] if parent else [])], every)
            if parent in ready and parent:
                raise Orphaned
            due = monotonic() - looked >= every
            if due:
                looked = monotonic()
                tick()
            for one in [*living]:
                one.receive(ready)
                if due and not one.ended:
                    one.look()
                if one.ended:
                    living.remove(one)
                    yield one
    finally:
        for one in living:
            one.close()


def guarded(
    function: Callable[[Tell], T],
    limits: Limits = USUAL,
    told: Tell = lambda message: None,
    name: str = "the subject",
    parent: Any = None,
    tick: Callable[[], None] = lambda: None,
) -> T | End:
    """The result of a function in a separate process, or how that ended. See :class:`Guarded`.

    BadInput, or Unavailable, that it raises is raised here as BadInput, and KitFailed if it raises another error.
    """
    (one,) = all_guarded(deque([Guarded(function, limits, told, name)]), 1, parent, tick)
    return one.result


# ---- Processes, as the system shows them


def own_process(printing: int, limits: Limits, guard: int) -> None:
    """Make a process that was just forked one of its own: its group, streams, signals and limits."""
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    with suppress(AttributeError):  # a system without it leaves a process behind if its guard is killed
        CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != guard:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the guard ends it
    for handled in (signal.SIGTERM, signal.SIGALRM, signal.SIGPROF, signal.SIGVTALRM):
        signal.signal(handled, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.memory is not None:
        limit_reserved(RESERVED * limits.memory)
    faulthandler.disable()  # the guard tells how it died, once
    nothing = os.open(os.devnull, os.O_RDONLY)
    for stream, number in ((nothing, 0), (printing, 1), (printing, 2)):
        os.dup2(stream, number)
    os.close(nothing)
    os.close(printing)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    printed = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = printed  # type: ignore[misc]  # none keeps a buffer


def limit_reserved(memory: int) -> None:
    """Limit how many MiB this process may reserve from now on, if the system tells its size and allows that."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        size = int(pages.read_text().split()[0]) * resource.getpagesize() + memory * MIB
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        least = min([size, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)])
        resource.setrlimit(resource.RLIMIT_AS, (least, hard))


def send(answering: Connection, message: Any) -> None:
    """Send a message to the guard, whole; nothing from a process that is a fork of the guarded one."""
    if BOX.depth:
        BOX.came_back()
    answering.send(message)


def ending(status: int | None) -> End:
    """How a process ended, by its exit status; the negative ones are signals."""
    if status is None:
        return End("Exited", "it has closed the descriptors of its process")
    return End(*how_it_ended(status))


def can_fork(forks: bool) -> bool:
    """Whether a subject can have a separate process. A subject in Java cannot if a Java runs here already."""
    jpype = sys.modules.get("jpype")
    return forks or not (jpype and jpype.isJVMStarted())
