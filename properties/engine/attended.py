"""Dispatchers at work: each asks when it must, takes what is due, and asks nothing else.

An invariant plays a trace in their company, see :func:`attended`. The questions of the trace are left out, and nobody
looks at the subject meanwhile, because a subject that is asked may make good what it has forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.check import concrete
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.operation import Operation, Told
from broker_tck.properties.engine.timer import MOST_FIRINGS, ManualTimer

AHEAD = 2**45
"""Messages for times that are further ahead than this, in milliseconds, are left out: nobody waits so long."""
BUDGETS = tuple(1 << bit for bit in range(24))
"""How much a dispatcher takes at a time, while there is more: many small gets would take long."""
MOST_IN_VAIN = 1
"""A timer spins that fires more often in a row although nothing is due. Once it may, because something has changed."""


class Dispatchers:
    """The dispatchers of a subject, which stands on an adapter, or of a model."""

    def __init__(self, to: Any) -> None:
        self.to = to
        self.took = 0
        self.took_last = 0
        """When something was taken last,"""
        self.latest = 0
        """and the last time for which a message was added."""
        self.spins = False

    # ---- What depends on the contract

    def shown(self) -> tuple[int, list[int]]:
        """The number of messages held, and the times of armed timeouts, in order."""
        raise NotImplementedError

    def does(self, operation: Any) -> bool:
        """Whether an operation is no question, and may be done now."""
        raise NotImplementedError

    def asks_after(self, operation: Any, result: Any) -> list[tuple[str, ...]]:
        """Who asks after an operation, or a firing: the handles, if the contract has such, for its calls."""
        raise NotImplementedError

    # ---- What they do

    def play(self, operations: Sequence[Operation]) -> list[int]:
        """Play a trace, and let the timer fire until nothing is held.

        Answers how much was taken, how much is left, whether the timer spins (0, 1), and how many milliseconds after
        the last time something was taken.
        """
        for operation in BOX.noted(operations, self.to):
            self.do(operation)
            if self.spins:
                break
        else:
            self.fire(self.now() + 4 * AHEAD)
        return [self.took, self.shown()[0], int(self.spins), self.took_last - self.latest]

    def do(self, operation: Any) -> None:
        """Do an operation of a trace, unless it is left out."""
        if operation.tag == "adv":
            until = self.now() + operation.ms
            self.fire(until)
            self.to.advance(0 if self.spins else max(until - self.now(), 0))
        elif self.does(operation) and last_time(operation) <= self.now() + AHEAD:
            self.latest = max(self.latest, last_time(operation))
            self.ask(operation, operation.on(self.to))

    def now(self) -> int:
        """The time. An adapter is its own timer."""
        now: int = (self.to if isinstance(self.to, ManualTimer) else self.to.timer).now
        return now

    def ask(self, operation: Any, result: Any) -> int:
        """Whoever must asks, and takes what there is; answers how much."""
        taken = sum([self.take(*who) for who in self.asks_after(operation, result)])
        self.took += taken
        self.took_last = self.now() if taken else self.took_last
        return taken

    def take(self, *who: str) -> int:
        """One dispatcher takes what there is; answers how much."""
        taken = 0
        for most in BUDGETS:
            if not self.to.has(*who):
                break
            taken += len(self.to.get(*who, most))
        return taken

    def fire(self, until: int) -> None:
        """The clock moves as far as the timer still fires. Whoever a firing has asked asks."""
        in_vain = 0
        for _ in range(MOST_FIRINGS):
            armed = self.shown()[1]
            if not armed or armed[0] > until:
                return
            fired = self.to.advance(max(armed[0] - self.now(), 0))
            in_vain = 0 if self.ask(None, fired) else in_vain + 1
            if in_vain > MOST_IN_VAIN:
                break
        self.spins = True


class Attended(Operation, frozen=True, tag="attended"):
    """Play a trace with dispatchers at work; result: that of :meth:`Dispatchers.play`."""

    traced = False
    dispatchers: ClassVar[type[Dispatchers]] = Dispatchers

    operations: tuple[Any, ...]

    def on(self, to: Any) -> list[int] | None:
        """Play; not if the subject is asked by lines of a trace alone."""
        return None if isinstance(to, Told) else self.dispatchers(to).play(self.operations)


def attended(kind: type[Attended]) -> Callable[[Sequence[Operation]], list[Operation]]:
    """Has a trace played with dispatchers at work."""
    return lambda operations: [kind(tuple(operations))]


def looked(seen: Any) -> Any:
    """What is seen of an adapter or a model, as plain data."""
    return plain(concrete(seen))


def last_time(operation: Any) -> int:
    """The last time for which an operation adds a message; 0: it adds none."""
    return getattr(operation, "at", 0) + max(0, (getattr(operation, "n", 1) - 1) * getattr(operation, "apart", 0))


def nobody_is_forgotten(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """All that was held was taken in the end, and the timer did not spin."""
    for operation, result, _ in steps:
        operations: Sequence[Any] = operation.operations  # type: ignore[attr-defined]
        at = len(operations) - 1
        if isinstance(result, dict):
            yield at, f"a dispatcher meets an error: {result['error']}"
            return
        took, left, spins, late = result or (0, 0, 0, 0)
        if took or left:
            yield at, complaint(left, bool(spins), late - allowed(config, operations))


def allowed(config: Any, operations: Sequence[Any]) -> int:
    """How long after its time a message may be taken: a bucket, two ticks, and as long as the clock was set by."""
    ticks: list[int] = [1, config.tick, *(o.tick for o in operations if o.tag == "tick")]
    set_by: list[int] = [abs(o.by) for o in operations if o.tag == "jump"]
    return 3 * max(ticks) + sum(set_by)


def complaint(left: int, spins: bool, late: int) -> str | None:
    """What is wrong, if anything is."""
    if spins:
        return "the timer fires again and again, and nothing is due"
    if left:
        return f"{left} held, nobody asks, no timeout armed"
    return f"the last message was taken {late} ms too late" if late > 0 else None
