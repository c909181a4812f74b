"""A call from another thread, while this one is being called back: whether it comes to its end, and what it comes to.

If it waits for a lock that this thread holds, both wait for ever. That is no matter of time: on Linux it is seen that
no thread of the process can go on. If another one sleeps or works, as Java's do, the guard sees a hang as any other.
"""

from __future__ import annotations

import sys
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path
from platform import machine
from threading import get_native_id
from typing import Any, TypeVar

from broker_tck.implementations.interface import Hang

T = TypeVar("T")

LOOK = 0.02
"""How often it is looked whether a thread can go on, in seconds."""
FUTEX = {"x86_64": "202", "aarch64": "98"}.get(machine())
"""The system call that waits for a lock."""
PRIVATE = 0x80
"""The bit of its operation for a lock that no other process can let go of."""


def first_elsewhere() -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """How to make each of some calls: the first from another thread, which takes longer, the others from this one."""
    return chain((elsewhere,), repeat(here))


def here(call: Callable[[], T]) -> T:
    """What a call from this thread comes to."""
    return call()


def elsewhere(call: Callable[[], T]) -> T:
    """What a call from another thread comes to. This thread waits meanwhile; what the call raises is raised here.

    Hang if the call cannot come to its end before this thread goes on.
    """
    came: list[T] = []
    raised: list[BaseException] = []
    running = allocate_lock()
    running.acquire()
    start_new_thread(settle, (call, came, raised, running))
    while not running.acquire(timeout=LOOK):
        if (before := waiting()) and before == waiting():
            raise Hang
    if raised:
        raise raised[0]
    return came[0]


def settle(call: Callable[[], T], came: list[T], raised: list[BaseException], running: LockType) -> None:
    """Make a call, and keep what it comes to. A Java that it used forgets the thread, which it would keep for good."""
    try:
        came.append(call())
    except BaseException as error:
        raised.append(error)
    jpype = sys.modules.get("jpype")
    if jpype and jpype.isJVMStarted():
        jpype.java.lang.Thread.detach()
    running.release()


def waiting() -> list[list[str]]:
    """What each other thread waits for, and how often it was stopped, if all wait for locks and none for a time.

    Else nothing. If two looks see the same, no thread has run in between, and none ever will.
    """
    found = []
    try:
        for task in Path("/proc/self/task").iterdir():
            if task.name != str(get_native_id()):
                called = (task / "syscall").read_text().split()
                if called[0] != FUTEX or called[4] != "0x0" or not int(called[2], 16) & PRIVATE:
                    return []
                status = (task / "status").read_text().splitlines()
                found.append([task.name, *called, *(line for line in status if "ctxt_switches" in line)])
    except OSError:  # no such system, or a thread has ended
        return []
    return found
