"""Netty's timer in the kit's hands: what Java arms is armed on the timer that the rig moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.interface import Timeout
from broker_tck.implementations.jvm.errors import translated
from broker_tck.implementations.jvm.loader import Loader
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

    A timeout is armed, then either cancelled or expired, and it stays so, as those of a HashedWheelTimer do. One that
    was cancelled may be run all the same, as if the timer's thread had been on its way.
    """
    proxy, instance = loader.jpype.JProxy, loader.jpype.JObject
    timeouts, timers = loader.named("io.netty.util.Timeout"), loader.named("io.netty.util.Timer")

    def new_timeout(task: Any, delay: Any, unit: Any) -> Any:
        kit: Timeout
        expired = False

        def cancel() -> bool:
            if expired or kit.cancelled:
                return False
            kit.cancel()
            return True

        def fire() -> None:
            nonlocal expired
            expired = not kit.cancelled
            run(loader, task, java)

        java = instance(
            proxy(
                timeouts,
                dict={
                    "cancel": cancel,
                    "isCancelled": lambda: kit.cancelled,
                    "isExpired": lambda: expired,
                    "task": lambda: task,
                    "timer": lambda: timer,
                },
            ),
            timeouts,
        )
        kit = arm(int(delay) * NANOSECONDS[str(unit.name())], fire)
        return java

    timer = instance(proxy(timers, dict={"newTimeout": new_timeout}), timers)
    return timer


def run(loader: Loader, task: Any, timeout: Any) -> None:
    """Run a task. What it throws is lost, as Netty only logs it; that it does not end is not."""
    try:
        task.run(timeout)
    except loader.jpype.JException as error:
        found = translated(error)
        if isinstance(found, MemoryError | Unavailable) or not isinstance(found, Exception):
            raise found from None
