"""Netty's timer in the kit's hands: what Java arms is armed on the timer that the adapter moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from broker_tck.implementations.interface import Timeout
from broker_tck.implementations.jvm.errors import translated
from broker_tck.implementations.jvm.loader import Loader
from broker_tck.implementations.jvm.standins import Methods
from broker_tck.implementations.jvm.unavailable import Unavailable

NANOSECONDS = {
    "NANOSECONDS": 1,
    "MICROSECONDS": 10**3,
    "MILLISECONDS": 10**6,
    "SECONDS": 10**9,
    "MINUTES": 60 * 10**9,
    "HOURS": 3600 * 10**9,
    "DAYS": 86400 * 10**9,
}
Arm = Callable[[int, Callable[[], None]], Timeout]
"""Arms a timeout so many nanoseconds from now; it is to make the call when it fires."""


def netty_timer(loader: Loader, arm: Arm) -> Any:
    """An ``io.netty.util.Timer`` that arms through ``arm``.

    A timeout is armed, then either cancelled or expired, and it stays so. One that was cancelled may be run all the
    same. Netty's own timer does not do that: there, one that is on its way can no longer be cancelled.
    """
    jpype, weak = loader.jpype, loader.jpype.JClass("java.lang.ref.WeakReference")
    proxy, instance = jpype.JProxy, jpype.JObject
    timeouts, timers = loader.named("io.netty.util.Timeout"), loader.named("io.netty.util.Timer")

    def new_timeout(task: Any, delay: Any, unit: Any) -> Any:
        armed = Armed(weak(task), itself)
        java = instance(proxy(timeouts, inst=armed), timeouts)

        def fire() -> None:
            armed.expired = not armed.cancelled
            run(loader, task, java)

        armed.kit = ref(arm(int(delay) * NANOSECONDS[str(unit.name())], fire))
        return java

    timer = instance(proxy(timers, inst=Methods({"newTimeout": new_timeout})), timers)
    itself = weak(timer)
    return timer


class Armed:
    """A timeout as Java sees it. Java holds it, and it nothing that leads back: see :func:`.standins.weakly`."""

    def __init__(self, its_task: Any, its_timer: Any) -> None:
        self.its_task, self.its_timer = its_task, its_timer
        self.kit: Callable[[], Timeout | None] = lambda: None
        self.cancelled = self.expired = False

    def cancel(self) -> bool:
        """Disarm it, once."""
        if self.expired or self.cancelled:
            return False
        self.cancelled = True
        if kit := self.kit():
            kit.cancel()
        return True

    def isCancelled(self) -> bool:  # noqa: N802 - the name that Netty calls
        """Whether it was cancelled before it fired."""
        return self.cancelled

    def isExpired(self) -> bool:  # noqa: N802 - the name that Netty calls
        """Whether it has fired."""
        return self.expired

    def task(self) -> Any:
        """What it runs."""
        return self.its_task.get()

    def timer(self) -> Any:
        """The timer that armed it."""
        return self.its_timer.get()


def run(loader: Loader, task: Any, *arguments: Any) -> None:
    """Run a task. What it throws is lost, as who runs it only logs it; that it does not end is not."""
    try:
        task.run(*arguments)
    except loader.jpype.JException as error:
        found = translated(error)
        if isinstance(found, MemoryError | Unavailable) or not isinstance(found, Exception):
            raise found from None
