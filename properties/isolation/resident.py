"""Subjects that live in their process for good, as whatever runs in a JVM does.

Such a process is never forked; a fork in which the subject is made first is fine. What such a subject has begun cannot
always be interrupted either: no signal reaches code that is not Python's. So what each is busy with is written down,
and a process that nobody watches from outside may have a thread look at it, the last resort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Event, Thread
from time import process_time
from typing import TYPE_CHECKING, Any

from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.isolation.watchdog import patience, unlimited

if TYPE_CHECKING:
    from broker_tck.properties.engine.subjects import Subject

EVERY = 10.0
"""How often the last resort looks, in seconds."""
MOST_LOOKS = 4
"""So often it finds one operation idle before it gives up."""
IDLE = 0.02
"""A process that uses a smaller part of the processor than this waits for something."""
MOST_WORK = 2.0
"""For so many times :data:`EVERY`, by the processor's time, an operation may work."""


@dataclass
class Busy:
    """What a subject is busy with: the trace up to the operation that has begun, none while it is made."""

    subject: Subject
    config: Any
    rig: Any = None
    profile: str = ""
    """That of the model beside it; empty where it is alone."""
    operations: list[Operation] = field(default_factory=list)
    under_way: bool = True

    def noted(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """The operations, each written down before it is done."""
        for operation in operations:
            self.operations.append(operation)
            self.under_way = True
            try:
                yield operation
            finally:
                self.under_way = False


GiveUp = Callable[[Busy], None]


class Looks:
    """Sees one operation work for too long, or be idle too often. A process that is kept from working does neither."""

    def __init__(self) -> None:
        self.seen: tuple[Busy | None, int] = None, 0
        self.idle = 0
        self.used = self.before = 0.0

    def too_many(self, busy: Busy, used: float) -> bool:
        """Look once more; ``used`` are the seconds of the processor that the process has used."""
        last, self.used = self.used, used
        seen = busy, len(busy.operations)
        if not busy.under_way or self.seen[0] is not busy or self.seen[1] != seen[1]:
            self.seen, self.idle, self.before = seen, 0, used
            return False
        self.idle += used - last < IDLE * EVERY
        times = patience(1, bulk(busy.operations[-1:]))
        return self.idle >= MOST_LOOKS * times or used - self.before >= MOST_WORK * EVERY * times


class Residents:
    """The subjects that live in this process."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.busy: Busy | None = None
        self.give_up: GiveUp | None = None
        """What the last resort does, in a thread of its own; None: there is none."""

    def make(self, subject: Subject, config: Any, make: Callable[[], Any]) -> Any:
        """A fresh subject on its rig. The first one has all the time that it needs, whatever limit is around it."""
        self.busy = busy = Busy(subject, config)
        known = subject.name in self.names
        if self.give_up and not self.names:
            Thread(target=self.watch, args=(self.give_up,), daemon=True).start()
        if not known:
            self.names.append(subject.name)
        try:
            with nullcontext() if known else unlimited():
                busy.rig = make()
        finally:
            busy.under_way = False
        return busy.rig

    def watch(self, give_up: GiveUp) -> None:
        """Look again and again, and give up when there is nothing else left."""
        looks = Looks()
        while True:
            Event().wait(EVERY)
            if self.busy and looks.too_many(self.busy, process_time()):
                give_up(self.busy)


HERE = Residents()
"""Those of this very process."""


def noted(operations: Iterable[Operation], rig: Any, model: Any = None) -> Iterable[Operation]:
    """The operations that a rig is about to do, written down where its subject is a resident.

    Only the rig that was made last is written down: the kit is done with one before it makes the next. Were an earlier
    one used again, the last resort would not watch it, nor blame the later one.
    """
    busy = HERE.busy
    if busy is None or busy.rig is not rig:
        return operations
    busy.profile = busy.profile if model is None else model.PROFILE
    return busy.noted(operations)
