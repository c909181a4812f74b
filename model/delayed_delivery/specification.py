"""The reference model of contract ``delayed-delivery``: a tracker of one subscription's delayed messages.

The class :class:`DelayedDelivery` is the specification (profile ``timebucket-ideal``). A short method with a rule
above it is a clause: it decides one thing. The methods named as operations are flows: the order of things. Each
recorded version of the broker is a subclass that replaces the clauses in which it differs.

Times are absolute milliseconds. The model has a clock and a timer of its own.
"""

from __future__ import annotations

from itertools import takewhile
from typing import ClassVar, Protocol

from broker_tck.model.delayed_delivery.buckets import Buckets
from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.index import Copy, Index, Position
from broker_tck.model.delayed_delivery.memory import MemoryEstimate
from broker_tck.model.delayed_delivery.unembodied import UNEMBODIED
from broker_tck.model.parts.timer import Timer
from broker_tck.model.reference import UNDEFINED, Allowed, Fault, Reference, Undefined
from broker_tck.model.rules import Rule, rule


class Config(Protocol):
    """What a trace configures."""

    tick: int
    strict: bool
    lookahead: int
    clock: int


class DelayedDelivery(Reference):
    """Delayed delivery as specified: time buckets, and a timer that fires when the first bucket becomes due."""

    PROFILE = "timebucket-ideal"
    Timer = Timer
    Buckets = Buckets
    Index = Index
    MemoryEstimate = MemoryEstimate
    FixedDelay = FixedDelay
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = UNEMBODIED
    ALIKE: ClassVar[bool] = True
    """Messages for one time fare alike, and the second changes the index alone. A subclass must say so for itself."""

    def __init__(self, config: Config) -> None:
        self.timer = self.Timer(config.clock)
        self.fixed_delay = self.FixedDelay()
        self.lookahead = config.lookahead
        self.buckets = self.Buckets(config.tick, config.strict)
        self.index = self.Index()
        self.memory_estimate = self.MemoryEstimate()
        self.closed = False

    def count(self) -> int:
        """The number of delayed messages."""
        return self.index.count()

    # ---- Adding

    @rule("DD-09", source="AbstractDelayedDeliveryTracker; InMemoryDelayedDeliveryTracker, PR 5498")
    def refuses(self, at: int) -> bool:
        """A time that is negative or not after the cut-off is refused."""
        return at < 0 or at <= self.buckets.cutoff(self.timer.now)

    @rule("DD-10", source="InMemoryDelayedDeliveryTracker")
    def compared(self, at: int) -> int:
        """An accepted add brings the timer up to date, then looks at the fixed delay with the time as it was given."""
        return at

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message."""
        if self.refuses(at):
            self.fixed_delay.refused()
            return False
        self.added(self.insert(self.index.stored(ledger, entry), self.buckets.key(at)), at)
        return True

    def insert(self, position: Position, key: int) -> bool:
        """Hold a copy; answers whether it was absent."""
        self.memory_estimate.grew = True
        return self.index.insert(position, key)

    @rule("DD-10")
    def added(self, new: bool, at: int) -> None:
        """What follows where a message was taken, ``new`` or once more."""
        self.update_timer()
        self.detect(at)

    def detect(self, at: int) -> None:
        """Look at whether all delays are alike."""
        self.fixed_delay.taken(self.compared(at), self.buckets.tick)

    def fill(self, ledger: int, entry: int, step: int, n: int, at: int, apart: int) -> int:
        """Track n messages, every ``step``-th entry of a ledger, ``apart`` in time; answers how many were taken."""
        if apart or not vars(type(self)).get("ALIKE"):
            return sum([self.add(ledger, entry + i * step, at + i * apart) for i in range(n)])
        if n == 0 or not self.add(ledger, entry, at):
            return 0
        key = self.buckets.key(at)
        for i in range(1, n):
            self.index.insert(self.index.stored(ledger, entry + i * step), key)
        return n

    # ---- Handing out

    @rule("DD-19", source="AbstractDelayedDeliveryTracker, PR 10078")
    def available(self) -> bool:
        """A message is available while the first bucket is due; where none is, the question brings the timer up to
        date.
        """
        return bool(self.index.held) and self.buckets.due(self.index.first(), self.timer.now)

    @rule("DD-19")
    def has_updates_timer(self, available: bool) -> bool:
        return not available

    def has(self) -> bool:
        """Whether a message is available."""
        available = self.available()
        if self.has_updates_timer(available):
            self.update_timer()
        return available

    def get(self, most: int) -> list[Position]:
        """Hand out what is due."""
        taken = self.index.taken(self.due_keys(), most)
        self.memory_estimate.shrank |= bool(taken)
        self.index.let_go(taken)
        self.left(taken)
        return self.index.handed_out(taken)

    def due_keys(self) -> list[int]:
        """The keys of the buckets that are due, in order."""
        return [*takewhile(lambda key: self.buckets.due(key, self.timer.now), sorted(self.index.held))]

    @rule("DD-20")
    def left(self, taken: list[tuple[int, Copy]]) -> None:
        """What follows where messages have left, or could have."""
        self.restart(taken)
        self.update_timer()

    def restart(self, taken: list[tuple[int, Copy]]) -> None:
        """Start the detection of a fixed delay anew, where a get does."""
        self.fixed_delay.left(bool(taken), not self.index.held)

    # ---- Pausing

    @rule("DD-17", source="InMemoryDelayedDeliveryTracker, PRs 16609, 17907")
    def wants_pause(self) -> bool:
        """All deliveries pause while detection is on, the delay is fixed, at least `lookahead` messages are held and
        none is available; availability is asked last.
        """
        return self.lookahead > 0 and self.fixed_delay.fixed and self.count() >= self.lookahead

    @rule("DD-17")
    def asks_availability(self, wanted: bool) -> bool:
        return wanted

    def pause(self) -> bool:
        """Whether all deliveries should pause."""
        wanted = self.wants_pause()
        available = self.asks_availability(wanted) and self.has()
        return wanted and not available

    # ---- The timer

    def update_timer(self) -> None:
        """Bring the timer up to date with what is held."""
        self.timer.update(self.buckets.wake(self.index.first()) if self.count() else None, self.buckets.tick)

    def advance(self, ms: int) -> list[int]:
        """Move the clock; timers fire on the way. Answers the times at which a firing asked for a read."""
        return self.timer.advance(ms)

    def stale(self) -> bool:
        """The timeout that was cancelled last fires all the same; answers whether it asked for a read."""
        return self.timer.stale()

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        self.buckets.reset_tick(tick)

    # ---- Memory, clear, close

    def memory(self) -> Allowed:
        """The memory estimate in bytes."""
        estimate, count = self.memory_estimate, self.count()
        return Allowed(
            permits=lambda seen: estimate.permits(seen, count),
            follow=estimate.follow,
            example=estimate.bytes_for(count),
            says="0 if nothing is held, else plausible",
        )

    def clear(self) -> None:
        """Forget every message."""
        self.memory_estimate.shrank = True
        self.index.clear()
        self.fixed_delay.cleared()

    @rule("DD-32", source="AbstractDelayedDeliveryTracker, PR 18000")
    def refuses_close(self) -> bool:
        """Close disarms the timer, and may be repeated; what is seen of the index after it is not specified."""
        return False

    @rule("DD-32", when=lambda m: m.timer.timeout is not None)
    def close(self) -> None:
        """End. No operation follows but a second close."""
        if self.refuses_close():
            raise Fault("IllegalReferenceCountException")
        self.timer.close()
        self.closed = True

    def count_after_close(self) -> int | Undefined:
        """The count that a closed tracker shows."""
        return UNDEFINED

    def seen(self) -> tuple[int | Undefined, list[int]]:
        """The number of messages, and the times of all armed timeouts."""
        return self.count_after_close() if self.closed else self.count(), self.timer.armed
