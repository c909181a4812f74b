"""A limit on the kit's own models. A model with a changed rule may never end, and thousands run in one process.

A subject is not limited by this: see :mod:`~broker_tck.properties.search.isolation.guard`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.properties.engine.operation import Operation, bulk


class Limit:
    """A block that raises :class:`Hang` after a number of seconds of the processor; 0 for no limit.

    ``begun`` are the operations that have begun in the block. Each has the limit for itself, and as much again for each
    thousand that it does in bulk. The limit works in the main thread, on systems that have interval timers.
    """

    def __init__(self, seconds: float, begun: Sequence[Operation] = ()) -> None:
        main = threading.current_thread() is threading.main_thread()
        self.seconds = seconds if main and hasattr(signal, "setitimer") else 0
        self.begun = begun
        self.seen = self.had = 0.0

    def __enter__(self) -> None:
        if self.seconds:
            self.before: Any = signal.signal(signal.SIGPROF, self.bite)
            signal.setitimer(signal.ITIMER_PROF, self.seconds, self.seconds)

    def __exit__(self, *_error: object) -> None:
        if self.seconds:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, self.before)

    def bite(self, _signal: int, frame: FrameType | None) -> None:
        """Raise :class:`Hang` if no operation has begun for as long as it may take; not where the block has ended."""
        if frame and frame.f_code is Limit.__exit__.__code__:
            return
        if len(self.begun) != self.seen:
            self.seen, self.had = len(self.begun), 0.0
        self.had += self.seconds
        if self.had > self.seconds * (1 + bulk(self.begun) / 1000):
            raise Hang
