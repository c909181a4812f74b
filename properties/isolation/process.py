"""Isolation: a function in a process of its own, which may hang, eat memory, exit or crash there.

The process is a fork, so the function and what it needs are not sent; only its answer comes back. It is for processes
that have one thread, on systems that fork.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import resource
import signal
import struct
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from broker_tck.implementations.interface import NOT_ANSWERED
from broker_tck.properties.errors import BadInput
from broker_tck.properties.isolation.resident import HERE
from broker_tck.properties.isolation.watchdog import WAITING, idle

S = TypeVar("S")
T = TypeVar("T")

MIB = 2**20
LATER = 1.25
"""The system ends a process so much later than a watchdog inside of it would strike."""
FORK = get_context("fork")


class Death(NamedTuple):
    """How a process ended that did not answer; ``error`` is one of :data:`.engine.check.NO_ANSWERS`."""

    error: str
    message: str


class Mark:
    """A number that an isolated process leaves behind when it dies: how far it had come."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 8)

    def set(self, number: int) -> None:
        """Leave this number."""
        struct.pack_into("q", self._shared, 0, number)

    def get(self) -> int:
        """The number that was left last."""
        found: int = struct.unpack_from("q", self._shared)[0]
        return found


class Orphaned(Exception):
    """Nobody waits for this process's work any more."""


class Isolation(Generic[T]):
    """Runs functions in processes of their own, under limits.

    ``seconds`` limits what may happen between two marks: by the processor's time even where Python code never runs, and
    by the clock, several times as long, where the process waits for something. ``first`` is the limit before the first
    mark, where that is another. ``memory`` limits in MiB how much the process may grow; beyond it, memory is refused to
    it. None: it has no limit, as a subject needs that reserves more than it takes. ``parent``, a stream, tells by its
    end that the parent is gone.
    """

    def __init__(self, seconds: float, memory: int | None, parent: Any = None, first: float = 0) -> None:
        self.seconds = seconds
        self.memory = memory
        self.parent = parent
        self.first = first
        self.mark = Mark()

    def alive(self, number: int, times: float = 1) -> None:
        """To be called by the function: it has come so far, and has its limit once more, or so many times."""
        self.mark.set(number)
        signal.setitimer(signal.ITIMER_PROF, LATER * times * self.seconds)

    def marking(self, steps: Iterable[S]) -> Iterator[S]:
        """The steps of the function, each marked by its number before it is taken."""
        for number, step in enumerate(steps):
            self.alive(number)
            yield step

    def run(self, function: Callable[[], T]) -> T | Death:
        """What the function answers, or how its process died."""
        return next(self.run_each([function]))

    def run_each(self, functions: Iterable[Callable[[], T]]) -> Iterator[T | Death]:
        """What each function answers, all of them run by one process, one after the other.

        The first that its process dies of is the last of which there is an answer. The process is the one that goes
        through the functions: they may be made as it goes on. BadInput that one of them raises is raised here.
        """
        if HERE.names:
            raise RuntimeError(f"a process is not forked in which {HERE.names[0]} lives")
        self.mark.set(-1)
        receiver, sender = FORK.Pipe(duplex=False)
        process = FORK.Process(target=self._inside, args=(functions, sender))
        process.start()
        sender.close()
        try:
            while True:
                answer = self._answer(receiver, process.pid or 0)
                if answer is None:
                    process.join(self.seconds)
                    process.kill()
                    process.join()
                    answer = (death(process.exitcode),)
                if not answer:
                    return
                if isinstance(answer[0], BadInput):
                    raise answer[0]
                yield answer[0]
                if isinstance(answer[0], Death):
                    return
        finally:
            process.kill()
            process.join()
            receiver.close()

    def _inside(self, functions: Iterable[Callable[[], T]], sender: Connection) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.disable()  # how it died is told once, and not in each replay of a reduction
        self.alive(-1, max(1, self.first / self.seconds))
        for function in functions:
            if self.memory is not None:
                limit_growth(self.memory)
            try:
                answer: Any = (function(),)
            except BadInput as error:
                answer = (error,)
            except BaseException as error:
                # the mark stays: it tells how far the function had come
                sender.send((Death("Exited", f"{type(error).__name__} was raised out of the harness: {error}"),))
                return
            sender.send(answer)
            self.alive(-1)
        sender.send(())

    def _answer(self, receiver: Connection, pid: int) -> tuple[T | Death | BadInput] | tuple[()] | None:
        before, looks = (self.mark.get(), 0.0), 0
        while True:
            ready = wait([receiver, self.parent] if self.parent else [receiver], self.seconds)
            if receiver in ready:
                try:
                    received: tuple[T | Death | BadInput] | tuple[()] = receiver.recv()
                except EOFError:
                    return None
                return received
            if ready:
                raise Orphaned
            now = self.mark.get(), used(pid)
            waits = now[0] == before[0] and now[1] - before[1] < idle(self.seconds)
            looks, before = (looks + 1 if waits else 0), now
            if looks >= WAITING:
                return (Death("Hang", NOT_ANSWERED),)


def used(pid: int) -> float:
    """The seconds of the processor that a process has used; always 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def limit_growth(memory: int) -> None:
    """Let this process grow by so many MiB, where the system tells how large it is."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        size = int(pages.read_text().split()[0]) * resource.getpagesize() + memory * MIB
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def death(status: int | None) -> Death:
    """How a process ended, by its exit status; the negative ones are signals."""
    if status is None or status >= 0:
        return Death("Exited", f"the process ended itself with status {status}")
    if status == -signal.SIGPROF:
        return Death("Hang", NOT_ANSWERED)
    return Death("Killed", f"the process died of {signal.Signals(-status).name}")
