"""Subjects that live in their process for good, as whatever runs in a JVM does, and what may become of them."""

from __future__ import annotations

import hashlib
import mmap
import os
import signal
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar

from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Hang
from broker_tck.implementations.jvm.unavailable import Unavailable

STARTS = "RESIDENT_STARTS"
"""The variable that names the file with a line for each process in which one has come up."""


class Machine:
    """What comes up in a process, once, and does not survive a fork of it: a thread, and memory that it reserves."""

    home: ClassVar[int] = 0
    size: ClassVar[int] = 2**35
    """It reserves more than it takes, in bytes."""
    reserved: ClassVar[mmap.mmap]
    calls: ClassVar[SimpleQueue[Any]]
    answers: ClassVar[SimpleQueue[Any]]

    @classmethod
    def up(cls) -> None:
        """Come up, unless it is there; LookupError where it is not this process in which it has."""
        if not cls.home:
            cls.reserved = mmap.mmap(-1, cls.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
            cls.home = os.getpid()
            cls.calls, cls.answers = SimpleQueue(), SimpleQueue()
            Thread(target=cls.work, daemon=True).start()
            if STARTS in os.environ:
                with Path(os.environ[STARTS]).open("a", encoding="utf-8") as file:
                    file.write(f"{cls.home}\n")
        if cls.home != os.getpid():
            raise LookupError("its process was forked")

    @classmethod
    def work(cls) -> None:
        while True:
            cls.answers.put(cls.calls.get())


class InAThread:
    """Of the tracker behind it each message that is taken goes through the thread, and back."""

    forks = False

    def __init__(self, *arguments: Any) -> None:
        Machine.up()
        super().__init__(*arguments)

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        Machine.up()
        Machine.calls.put((ledger_id, entry_id, deliver_at))
        return super().add_message(*Machine.answers.get())


class Lives(InAThread, TimeBucketTracker):
    """Time buckets of this kind."""


class Resident(Lives):
    """Conforms."""


class ResidentHeap(InAThread, HeapTracker):
    """Conforms to a profile of which there are recorded traces."""


class Jarred(Resident):
    """Brings a file, and cannot do without; the variable says where it is, else it is in the current folder."""

    libraries = ("click",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        (jar,) = self.files()
        if jar.read_bytes() != b"jar":
            raise LookupError(jar)

    @staticmethod
    def files() -> list[Path]:
        return [Path(os.environ.get("BROKER_TCK_JARS", ".")) / "kit.jar"]


class Fails(Resident):
    """Does something when it is asked for messages while it holds three or more."""

    def fails(self) -> None:
        """What it does."""

    def get_scheduled_messages(self, most: int) -> Any:
        if self.get_number_of_delayed_messages() >= 3:
            self.fails()
        return super().get_scheduled_messages(most)


class Forgets(Fails):
    def fails(self) -> None:
        TimeBucketTracker.clear(self)


class Leaves(Fails):
    """Its process with it, in one walk of many: where a tick of 1 is set while it holds twenty or more."""

    def reset_tick_time(self, tick: int) -> None:
        super().reset_tick_time(tick)
        if tick == 1 and self.get_number_of_delayed_messages() >= 20:
            os._exit(3)


class Forked:
    """Makes of the same class one that may be forked."""

    forks = True

    def __init__(self, *arguments: Any) -> None:
        if Machine.home != os.getpid():
            Machine.home, Machine.size = 0, mmap.PAGESIZE  # so it comes up again, and is small
        super().__init__(*arguments)


class ResidentForked(Forked, Resident):
    pass


class ForgetsForked(Forked, Forgets):
    pass


class LeavesForked(Forked, Leaves):
    pass


class Spins(Fails):
    """It is ended where it runs, as a loop in Java is whose fuel has run out."""

    def fails(self) -> None:
        raise Hang


class EatsMemory(Fails):
    def fails(self) -> None:
        raise MemoryError("Java heap space")


class Exits(Fails):
    def fails(self) -> None:
        os._exit(3)


class StandsStill(Fails):
    """It waits for a byte that nobody sends; no signal reaches it."""

    def fails(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        os.read(os.pipe()[0], 1)


class Works(Fails):
    """It computes for hours where no Python code runs, and lets other threads of Python run."""

    def fails(self) -> None:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2**31 - 1)


class Unfit(Resident):
    """It says that it cannot be made, once its process has begun."""

    def __init__(self, *arguments: Any) -> None:
        raise Unavailable("there is no such class")


class NeverMade(Resident):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        StandsStill.fails(self)
