"""Subjects that misbehave, each in one way, when they are asked for messages while they hold two or more.

The docstring of each says in a few words what it does. `python docs/generate.py` shows them, with what is seen of each.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import locale
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


# ---- It ends its process


class ExitsWithZero(Misbehaving):
    """calls `os._exit(0)`"""

    def misbehave(self) -> None:
        os._exit(0)


class ExitsWithSeven(Misbehaving):
    """calls `os._exit(7)`"""

    def misbehave(self) -> None:
        os._exit(7)


class LeavesBySysExit(Misbehaving):
    """calls `sys.exit(0)`"""

    def misbehave(self) -> None:
        sys.exit(0)


class ReadsNull(Misbehaving):
    """reads address 0"""

    def misbehave(self) -> None:
        ctypes.string_at(0)


class Aborts(Misbehaving):
    """calls `os.abort()`"""

    def misbehave(self) -> None:
        os.abort()


class KillsItself(Misbehaving):
    """sends itself SIGKILL"""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class TerminatesItsGroup(Misbehaving):
    """sends its process group SIGTERM"""

    def misbehave(self) -> None:
        os.killpg(0, signal.SIGTERM)


class Interrupts(Misbehaving):
    """raises KeyboardInterrupt"""

    def misbehave(self) -> None:
        raise KeyboardInterrupt


class BecomesAnother(Misbehaving):
    """becomes another program by `os.execv`"""

    def misbehave(self) -> None:
        os.execv("/bin/true", ["true"])


class HasNoTimeLeft(Misbehaving):
    """limits its own processor time, and spins"""

    def misbehave(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        while True:
            pass


# ---- It does not come back


class Sleeps(Misbehaving):
    """sleeps for an hour"""

    def misbehave(self) -> None:
        FOREVER.wait(3600)


class WaitsDeaf(Misbehaving):
    """waits for a byte that nobody sends, with all signals blocked"""

    def misbehave(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        os.read(os.pipe()[0], 1)


class Spins(Misbehaving):
    """loops for ever"""

    def misbehave(self) -> None:
        while True:
            pass


class SpinsAndCatchesAll(Misbehaving):
    """loops for ever, and catches every exception"""

    def misbehave(self) -> None:
        while True:
            with contextlib.suppress(BaseException):
                while True:
                    pass


class SpinsInC(Misbehaving):
    """loops for ever where no Python code runs"""

    def misbehave(self) -> None:
        sum(range(10**18))


class LocksItself(Misbehaving):
    """takes a lock twice"""

    def misbehave(self) -> None:
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()


# ---- It takes too much


class EatsMemory(Misbehaving):
    """takes memory until none is left"""

    def misbehave(self) -> None:
        eaten = []
        while True:
            eaten.append(bytearray(2**24))


class KeepsMemory(Misbehaving):
    """takes memory until none is left, and keeps it"""

    kept: list[bytearray] = []  # noqa: RUF012 # it is kept

    def misbehave(self) -> None:
        with contextlib.suppress(MemoryError):
            while True:
                self.kept.append(bytearray(2**20))


class PrintsForEver(Misbehaving):
    """prints without end"""

    def misbehave(self) -> None:
        while True:
            print("and on")


class PrintsMuch(Misbehaving):
    """prints a megabyte each time"""

    def misbehave(self) -> None:
        print("and on\n" * 150_000)


class RecursesForEver(Misbehaving):
    """calls itself without end"""

    def misbehave(self) -> None:
        self.misbehave()


# ---- It leaves something behind, or changes its process


class ForksAndComesBack(Misbehaving):
    """forks, and both processes come back"""

    def misbehave(self) -> None:
        os.fork()


class ForksAWorker(Misbehaving):
    """forks a process that ends by itself"""

    def misbehave(self) -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)


class LeavesAThread(Misbehaving):
    """leaves a thread that never ends"""

    started = False

    def misbehave(self) -> None:
        if not LeavesAThread.started:
            LeavesAThread.started = True
            threading.Thread(target=FOREVER.wait).start()


class LeavesAnExitHandler(Misbehaving):
    """leaves an exit handler that sleeps"""

    left = False

    def misbehave(self) -> None:
        if not LeavesAnExitHandler.left:
            LeavesAnExitHandler.left = True
            atexit.register(FOREVER.wait)


class ClosesItsStreams(Misbehaving):
    """closes its standard streams"""

    def misbehave(self) -> None:
        for number in range(3):
            with contextlib.suppress(OSError):
                os.close(number)


class HasNoStreams(Misbehaving):
    """sets `sys.stdout` and `sys.stderr` to None"""

    def misbehave(self) -> None:
        sys.stdout = sys.stderr = None


class ClosesAllDescriptors(Misbehaving):
    """closes every descriptor"""

    def misbehave(self) -> None:
        os.closerange(0, 1024)


class GoesElsewhere(Misbehaving):
    """changes the current folder"""

    def misbehave(self) -> None:
        os.chdir("/")


class SpeaksTurkish(Misbehaving):
    """changes the locale"""

    def misbehave(self) -> None:
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_ALL, "C.UTF-8")


class IsShallow(Misbehaving):
    """lowers the recursion limit"""

    def misbehave(self) -> None:
        with contextlib.suppress(RecursionError):
            depth = 1
            while True:  # as low as it can be here
                try:
                    sys.setrecursionlimit(depth)
                    return
                except RecursionError:
                    depth += 1


class HasNoFiles(Misbehaving):
    """limits its open files to none"""

    def misbehave(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


class HandlesSignals(Misbehaving):
    """handles all signals, by doing nothing"""

    def misbehave(self) -> None:
        for number in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, lambda *_: None)


class Seeds(Misbehaving):
    """calls `random.seed(0)`"""

    def misbehave(self) -> None:
        random.seed(0)


class CollectsNothing(Misbehaving):
    """switches the garbage collector off"""

    def misbehave(self) -> None:
        gc.disable()


class StopsTheClock(Misbehaving):
    """replaces `time.monotonic` and `time.perf_counter`"""

    def misbehave(self) -> None:
        time.monotonic = time.perf_counter = lambda: 0.0  # type: ignore[assignment]
