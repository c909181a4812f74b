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
from broker_tck.model.rules import Rule, also, rule
from broker_tck.model.said import said


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

    @said(
        absent="Your tracker takes messages that are due already, or have no time; it has to refuse them.",
        equality_accepted=(
            "Your tracker takes a message whose time is exactly the cut-off; that one is due, and has to be refused."
        ),
        only_the_past=(
            "Your tracker refuses only what is not after now; it has to refuse all that is not after the cut-off."
        ),
        by_the_bucket="Your tracker refuses a message by the time of its bucket; its own time decides.",
        one_more_refused=(
            "Your tracker refuses a message that is due one millisecond after the cut-off; it has to take it."
        ),
    )
    @rule(
        "DD-09",
        "A time that is negative or not after the cut-off is refused.",
        source="AbstractDelayedDeliveryTracker; InMemoryDelayedDeliveryTracker, PR 5498",
        look="equality: the cut-off itself is refused, one millisecond later is accepted",
        absent=lambda m, at: False,
        equality_accepted=lambda m, at: at < 0 or at < m.buckets.cutoff(m.timer.now),
        by_the_bucket=lambda m, at: at < 0 or m.buckets.due(m.buckets.key(at), m.timer.now),
        only_the_past=lambda m, at: at <= m.timer.now,
        one_more_refused=lambda m, at: at <= m.buckets.cutoff(m.timer.now) + 1,
    )
    def refuses(self, at: int) -> bool:
        return at < 0 or at <= self.buckets.cutoff(self.timer.now)

    @said(
        absent=(
            "Your tracker looks at the fixed delay with the time of the bucket; it has to with the time as it was"
            " given."
        ),
        cut_to_the_tick=(
            "Your tracker looks at the fixed delay with the time cut to a whole tick; it has to with the time as it "
            "was given."
        ),
    )
    @rule(
        "DD-10",
        "An accepted add brings the timer up to date, then looks at the fixed delay with the time as it was given.",
        source="InMemoryDelayedDeliveryTracker",
        look="what runs after the insertion, and in which order",
        absent=lambda m, at: m.buckets.key(at),
        cut_to_the_tick=lambda m, at: at - at % max(m.buckets.tick, 1),
    )
    def compared(self, at: int) -> int:
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

    @also(compared, when=lambda m, new, at: True)
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

    @said(
        absent="Your tracker says that nothing is available while its first bucket is due.",
        anything_held=(
            "Your tracker says that a message is available as soon as one is held; its bucket has to be due."
        ),
        nothing_far_ahead=(
            "Your tracker says that nothing is available until its last bucket is due; the first one decides."
        ),
    )
    @rule(
        "DD-19",
        "A message is available while the first bucket is due; where none is, the question brings the timer up to "
        "date.",
        source="AbstractDelayedDeliveryTracker, PR 10078",
        look="the timer after a firing that found nothing to hand out",
        absent=lambda m: False,
        anything_held=lambda m: bool(m.index.held),
        nothing_far_ahead=lambda m: bool(m.index.held) and m.buckets.due(max(m.index.held), m.timer.now),
    )
    def available(self) -> bool:
        return bool(self.index.held) and self.buckets.due(self.index.first(), self.timer.now)

    @said(
        absent=(
            "Where nothing is available, the question leaves your tracker's timer as it is; it has to bring it up"
            " to date."
        ),
        a_yes_as_well=(
            "The question for what is available moves your tracker's timer even where the answer is yes; then it has "
            "to leave it alone."
        ),
    )
    @also(available, absent=lambda m, available: False, a_yes_as_well=lambda m, available: True)
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

    @also(Index.taken, when=lambda m, taken: True)
    def left(self, taken: list[tuple[int, Copy]]) -> None:
        """What follows where messages have left, or could have."""
        self.restart(taken)
        self.update_timer()

    def restart(self, taken: list[tuple[int, Copy]]) -> None:
        """Start the detection of a fixed delay anew, where a get does."""
        self.fixed_delay.left(bool(taken), not self.index.held)

    # ---- Pausing

    @said(
        absent=(
            "Your tracker never asks for a pause; it has to while the delay is fixed, `lookahead` messages are "
            "held and none is available."
        ),
        more_than_lookahead="Your tracker asks for a pause one message too late; `lookahead` messages are enough.",
        fixed_or_not="Your tracker asks for a pause though the delay is not fixed.",
        without_lookahead_too="Your tracker asks for a pause although `lookahead` is 0, which turns detection off.",
        half_the_lookahead=(
            "Your tracker asks for a pause at half of `lookahead` messages; it has to wait for all of them."
        ),
        counts_buckets="Your tracker compares the number of buckets with `lookahead`; it has to count messages.",
    )
    @rule(
        "DD-17",
        "All deliveries pause while detection is on, the delay is fixed, at least `lookahead` messages are held and "
        "none is available; availability is asked last.",
        source="InMemoryDelayedDeliveryTracker, PRs 16609, 17907",
        look="equality with the lookahead; the timer update behind the question for availability",
        absent=lambda m: False,
        more_than_lookahead=lambda m: m.lookahead > 0 and m.fixed_delay.fixed and m.count() > m.lookahead,
        fixed_or_not=lambda m: m.lookahead > 0 and m.count() >= m.lookahead,
        without_lookahead_too=lambda m: m.fixed_delay.fixed and m.count() >= m.lookahead,
        half_the_lookahead=lambda m: m.lookahead > 0 and m.fixed_delay.fixed and m.count() >= (m.lookahead + 1) // 2,
        counts_buckets=lambda m: m.lookahead > 0 and m.fixed_delay.fixed and len(m.index.held) >= m.lookahead,
    )
    def wants_pause(self) -> bool:
        return self.lookahead > 0 and self.fixed_delay.fixed and self.count() >= self.lookahead

    @said(
        absent="Your tracker asks for what is available even where it wants no pause; that is asked last.",
        never="Your tracker asks for a pause while a message is available; then nothing may pause.",
    )
    @also(wants_pause, absent=lambda m, wanted: True, never=lambda m, wanted: False)
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

    @said(
        absent="Your tracker cannot be closed twice; a second close has to do nothing.",
    )
    @rule(
        "DD-32",
        "Close disarms the timer, and may be repeated; what is seen of the index after it is not specified.",
        source="AbstractDelayedDeliveryTracker, PR 18000",
        look="a timeout that outlives its tracker; what a second close lets go of once more",
        absent=lambda m: m.closed,
    )
    def refuses_close(self) -> bool:
        return False

    @also(refuses_close, when=lambda m: m.timer.timeout is not None)
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
