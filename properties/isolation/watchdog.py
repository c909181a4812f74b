"""A limit in seconds on what a subject may take for an operation, as an exception raised inside of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import process_time
from types import FrameType
from typing import ClassVar

from broker_tck.implementations.interface import Hang
from broker_tck.properties.engine.operation import Operation, bulk

WAITING = 8
"""How often a block is looked at, half a limit apart, and found idle, before it counts as hanging."""
SOON = 0.01
"""In seconds: when to look again where an exception would do harm."""
TOOLS = "hypothesis.", "coverage."
"""Modules that do something of their own while a subject runs."""
CALLS_BACK = "weakref"
"""The module that is called where an object goes, and whatever is raised there is lost."""
DEEP = 6
"""So many calls deep it is looked for."""


class Limit:
    """A block that raises :class:`Hang` when it takes longer than so many seconds; 0 means no limit.

    It bites when the block has had its limit: in seconds of the processor, or several times that by the clock. A
    process that gets little of a busy machine is not a hang, and one that waits for ever uses no processor at all.
    Looks are counted and not the time between them: a process that was stopped, and goes on, has had none.

    Where operations are done in the block, see :meth:`follow`, each of them has the limit for itself: a subject that
    goes on is slow, and does not hang. Where much was done in bulk each has more, see :func:`patience`: what came at
    once may come out at once.

    It works in the main thread of systems that have interval timers; elsewhere the block is not limited.
    """

    around: ClassVar[Limit | None] = None
    """The limit of the block that runs; limits are not put into each other."""

    def __init__(self, seconds: float) -> None:
        main = threading.current_thread() is threading.main_thread()
        self.seconds = seconds if main and hasattr(signal, "setitimer") else 0
        self.begun: Sequence[Operation] = ()

    @classmethod
    def follow(cls, begun: Sequence[Operation]) -> None:
        """Let the limit around be on each operation. These have begun; the list grows by each that is begun."""
        if cls.around:
            cls.around.begun = begun
            cls.around.look()

    def look(self) -> None:
        """See how far the block is, from where on its limit counts."""
        self.seen = len(self.begun)
        self.allowed = patience(self.seconds, bulk(self.begun))
        self.used = self.last = process_time()
        self.idle = 0

    def __enter__(self) -> None:
        if self.seconds:
            Limit.around = self
            self.look()
            self.before = signal.signal(signal.SIGALRM, self.bite)
            signal.setitimer(signal.ITIMER_REAL, self.seconds / 2)

    def __exit__(self, *_error: object) -> None:
        if self.seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
            Limit.around = None

    def bite(self, _signal: int, frame: FrameType | None) -> None:
        """Raise :class:`Hang`, or look again later: also where it would do harm.

        Hypothesis has a callback of the garbage collector, which would swallow it, as those of weak references would;
        coverage has locks. Nothing is left to be put away when it is raised, as that may be where the block has just
        ended.
        """
        code = frame.f_code if frame else None
        if code is Limit.__exit__.__code__:
            return
        where = frame.f_globals.get("__name__", "") if frame else ""
        if code is Limit.__enter__.__code__ or where.startswith(TOOLS) or is_lost(frame):
            signal.setitimer(signal.ITIMER_REAL, SOON)
            return
        if len(self.begun) != self.seen:
            self.look()
        elif not self.goes_on():
            signal.signal(signal.SIGALRM, self.before)
            raise Hang
        signal.setitimer(signal.ITIMER_REAL, self.seconds / 2)

    def goes_on(self) -> bool:
        """Whether the block has not had its limit, nor is found idle too often."""
        now = process_time()
        self.idle += now - self.last < idle(self.seconds / 2)
        self.last = now
        return now - self.used < self.allowed / 2 and self.idle < WAITING * self.allowed / self.seconds


def is_lost(frame: FrameType | None) -> bool:
    """Whether what is raised here would be lost: an object goes, and its callback runs."""
    for _ in range(DEEP):
        if frame is None:
            return False
        if frame.f_globals.get("__name__") == CALLS_BACK:
            return True
        frame = frame.f_back
    return False


@contextmanager
def unlimited() -> Iterator[None]:
    """A block that the limit around it does not count: when it ends, the limit begins anew."""
    limit = Limit.around
    if limit is None:
        yield
        return
    limit.__exit__()
    try:
        yield
    finally:
        limit.__enter__()


def idle(seconds: float) -> float:
    """A process that uses less of the processor between two looks, so many seconds apart, is not kept from working."""
    return max(0.002, seconds / 200)


def patience(seconds: float, bulk: int) -> float:
    """A limit that leaves bulk operations the time that they need: as much again for each thousand that they do."""
    return seconds * (1 + bulk / 1000)
