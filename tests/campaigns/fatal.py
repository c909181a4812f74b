"""Subjects that hang, eat memory, or end their process, each under a condition that takes a few operations."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from abc import ABC, abstractmethod
from typing import Any

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker


class Fatal(TimeBucketTracker, ABC):
    """Does something terrible when it is asked for messages while it holds three or more."""

    @abstractmethod
    def terrible(self) -> None:
        """What it does."""

    def get_scheduled_messages(self, most: int) -> Any:
        if self.get_number_of_delayed_messages() >= 3:
            self.terrible()
        return super().get_scheduled_messages(most)


class Hangs(Fatal):
    """In Python, where a watchdog can strike."""

    def terrible(self) -> None:
        while True:
            pass


class HangsInC(Fatal):
    """Where no Python code runs for a very long time."""

    def terrible(self) -> None:
        sum(range(10**18))


class Waits(Fatal):
    """For a byte that nobody sends, without using the processor, and with signals blocked."""

    def terrible(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGPROF})
        os.read(os.pipe()[0], 1)


class EatsMemory(Fatal):
    def terrible(self) -> None:
        self.eaten = []
        while True:
            self.eaten.append(bytearray(2**24))


class Exits(Fatal):
    def terrible(self) -> None:
        os._exit(3)


class Leaves(Fatal):
    def terrible(self) -> None:
        sys.exit("enough")


class Crashes(Fatal):
    def terrible(self) -> None:
        ctypes.string_at(0)


class KillsItself(Fatal):
    def terrible(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Interrupts(Fatal):
    def terrible(self) -> None:
        raise KeyboardInterrupt


class DiesAtOnce(TimeBucketTracker):
    def __init__(self, *arguments: Any) -> None:
        os._exit(7)
