"""Subjects that misbehave, each in one way, when they are asked for messages while they hold two or more.

The docstring of each says what it does, that of its base what kind this is: `docs/misbehaviour.md` shows them.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import random
import resource
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from typing import Any

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker

FOREVER = threading.Event()


class Misbehaving(TimeBucketTracker, ABC):
    @abstractmethod
    def misbehave(self) -> None:
        """What it does."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        if self.get_number_of_delayed_messages() >= 2:
            self.misbehave()
        return super().get_scheduled_messages(max_messages)


class Ends(Misbehaving):
    """It ends its process"""


class Stays(Misbehaving):
    """It does not come back"""


class Takes(Misbehaving):
    """It takes too much"""


class Leaves(Misbehaving):
    """It leaves something behind, or changes its process"""


class ExitsWithZero(Ends):
    """calls `os._exit(0)`"""

    def misbehave(self) -> None:
        os._exit(0)


class ExitsWhenMade(Ends):
    """calls `os._exit(0)` while it is made"""

    def __init__(self, *arguments: Any) -> None:
        os._exit(0)

    def misbehave(self) -> None:
        """It never comes to this."""


class ExitsWithSeven(Ends):
    """calls `os._exit(7)`"""

    def misbehave(self) -> None:
        os._exit(7)


class LeavesBySysExit(Ends):
    """calls `sys.exit(0)`"""

    def misbehave(self) -> None:
        sys.exit(0)


class ReadsNull(Ends):
    """reads address 0"""

    def misbehave(self) -> None:
        ctypes.string_at(0)


class KillsItself(Ends):
    """sends itself SIGKILL"""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class TerminatesItsGroup(Ends):
    """sends its process group SIGTERM"""

    def misbehave(self) -> None:
        os.killpg(0, signal.SIGTERM)


class Interrupts(Ends):
    """raises KeyboardInterrupt"""

    def misbehave(self) -> None:
        raise KeyboardInterrupt


class BecomesAnother(Ends):
    """becomes another program by `os.execv`"""

    def misbehave(self) -> None:
        os.execv("/bin/true", ["true"])


class HasNoTimeLeft(Ends):
    """limits its own processor time, and spins"""

    def misbehave(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        while True:
            pass


class Sleeps(Stays):
    """sleeps for an hour"""

    def misbehave(self) -> None:
        FOREVER.wait(3600)


class WaitsDeaf(Stays):
    """waits for a byte that nobody sends, with all signals blocked"""

    def misbehave(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        os.read(os.pipe()[0], 1)


class Spins(Stays):
    """loops for ever"""

    def misbehave(self) -> None:
        while True:
            pass


class SpinsInC(Stays):
    """loops for ever where no Python code runs"""

    def misbehave(self) -> None:
        sum(range(10**18))


class EatsMemory(Takes):
    """takes memory until none is left"""

    def misbehave(self) -> None:
        eaten = []
        while True:
            eaten.append(bytearray(2**24))


class PrintsForEver(Takes):
    """prints without end"""

    def misbehave(self) -> None:
        while True:
            sys.stdout.write("and on\n")


class RecursesForEver(Takes):
    """calls itself without end"""

    def misbehave(self) -> None:
        self.misbehave()


class ForksAndComesBack(Leaves):
    """forks, and both processes come back"""

    def misbehave(self) -> None:
        os.fork()


class ForksAWorker(Leaves):
    """forks a process that ends by itself"""

    def misbehave(self) -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)


class LeavesAThread(Leaves):
    """leaves a thread that never ends"""

    started = False

    def misbehave(self) -> None:
        if not LeavesAThread.started:
            LeavesAThread.started = True
            threading.Thread(target=FOREVER.wait).start()


class LeavesAnExitHandler(Leaves):
    """leaves an exit handler that sleeps"""

    left = False

    def misbehave(self) -> None:
        if not LeavesAnExitHandler.left:
            LeavesAnExitHandler.left = True
            atexit.register(FOREVER.wait)


class ClosesItsStreams(Leaves):
    """closes its standard streams"""

    def misbehave(self) -> None:
        for number in range(3):
            with contextlib.suppress(OSError):
                os.close(number)


class ClosesAllDescriptors(Leaves):
    """closes every descriptor"""

    def misbehave(self) -> None:
        os.closerange(0, 1024)


class IsShallow(Leaves):
    """lowers the recursion limit"""

    def misbehave(self) -> None:
        for depth in range(1, 1000):  # as low as it can be here
            with contextlib.suppress(RecursionError):
                sys.setrecursionlimit(depth)
                return


class HasNoFiles(Leaves):
    """limits its open files to none"""

    def misbehave(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


class HandlesSignals(Leaves):
    """handles all signals, by doing nothing"""

    def misbehave(self) -> None:
        for number in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, lambda *_: None)


class Seeds(Leaves):
    """calls `random.seed(0)`"""

    def misbehave(self) -> None:
        random.seed(0)


class StopsTheClock(Leaves):
    """replaces `time.monotonic` and `time.perf_counter`"""

    def misbehave(self) -> None:
        time.monotonic = time.perf_counter = lambda: 0.0  # type: ignore[assignment]


def subjects() -> list[type[Misbehaving]]:
    """All of them."""
    return [each for kind in Misbehaving.__subclasses__() for each in kind.__subclasses__()]
