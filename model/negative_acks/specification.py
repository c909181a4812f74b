"""The reference model of contract ``negative-acks``: a client's tracker of messages that are to come back later.

The class :class:`NegativeAcks` is the specification (profile ``pip-393-spec``). It is made of parts, which have rules
and state of their own. A short method with a rule above it is a clause: it decides one thing. The methods named as
operations are flows: the order of things. Each client is a subclass that replaces the clauses in which it differs.

There are two clocks. The wall clock counts milliseconds and may jump; the other counts nanoseconds and only goes
forward: timers wait by it, and all times that are seen are of it, in milliseconds.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from broker_tck.model.negative_acks.buckets import Buckets, Position
from broker_tck.model.negative_acks.calls import Calls, Inner
from broker_tck.model.negative_acks.clock import MS, TwoClocks, whole_ms
from broker_tck.model.negative_acks.delays import DelayConfig, Delays
from broker_tck.model.negative_acks.timer import NackTimer
from broker_tck.model.negative_acks.unembodied import UNEMBODIED
from broker_tck.model.reference import Fault, Reference
from broker_tck.model.rules import Rule, rule

Emission = list[object]
"""The time of a firing in milliseconds, the ids handed to the callback in order, and the requests that went out."""
MOST_REDELIVERED = 2**31 - 1
"""The broker counts redeliveries in 32 bits."""
MOST_AT_ONCE = 10_000
"""How often a timer may fire at one and the same time."""
MOST_FIRINGS = 50_000
"""More often a timer fires in one advance only where it is armed for times much shorter than that."""


class Config(DelayConfig, Protocol):
    """What a trace configures."""

    precision_bits: int
    clock: int


class NegativeAcks(Reference):
    """Negative acknowledgements as specified: time buckets, and a timer that is re-armed for whatever is due sooner."""

    PROFILE = "pip-393-spec"
    SCALE: ClassVar[int] = 1
    """How many units of the clock that times are read from make a millisecond."""
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = UNEMBODIED
    Clock = TwoClocks
    Delays = Delays
    Buckets = Buckets
    Timer = NackTimer
    Calls = Calls

    def __init__(self, config: Config) -> None:
        self.clock = self.Clock(config.clock, self.SCALE)
        self.delays = self.Delays(config, self.SCALE)
        self.buckets = self.Buckets(config.precision_bits, self.SCALE)
        self.timer = self.Timer(self.deadline_at_start())
        self.calls = self.Calls()
        self.closed = False

    # ---- Adding

    def nack(self, ledger: int, entry: int, count: int) -> None:
        """Track a message, by message."""
        self.track(ledger, entry, -1, 1, count)

    def nack_id(self, ledger: int, entry: int) -> None:
        """Track a message, by id."""
        self.track(ledger, entry, -1, 1, self.delays.count_of_id())

    def batch(self, ledger: int, entry: int, index: int, count: int) -> None:
        """Track a message of a batch."""
        self.track(ledger, entry, index, 1, count)

    def chunked(self, ledger: int, entry: int, chunks: int, count: int) -> None:
        """Track a message in chunks, the last of which is this entry."""
        self.track(ledger, entry, -1, chunks, count)

    def fill(self, ledger: int, entry: int, step: int, n: int, count: int, ledgers: int, rising: int) -> None:
        """Track n messages, one of each ledger in turn, of each every ``step``-th entry; counts go up by ``rising``."""
        for i in range(n):
            turn, other = divmod(i, ledgers)
            self.nack(ledger + other, entry + turn * step, min(count + i * rising, MOST_REDELIVERED))

    def track(self, ledger: int, entry: int, batch_index: int, chunks: int, count: int) -> None:
        """Hold an item for as long as its delay says, and arm the timer."""
        if self.ignores_after_close():
            return
        delay = self.delays.delay(count)
        key = self.buckets.key(self.clock.reading() + delay)
        if self.buckets.hold(self.buckets.item(ledger, entry, batch_index), key, chunks):
            self.arm(self.clock.now + self.first_wait(delay))

    @rule("NA-41", source="NegativeAcksTracker; the specification adds it")
    def ignores_after_close(self) -> bool:
        """Close is final: what is added after it is ignored."""
        return self.closed

    # ---- When the timer is to fire

    @rule("NA-22", source="NegativeAcksTracker, PR 23600")
    def deadline_at_start(self) -> int | None:
        """The timer is idle until something is nacked."""
        return None

    @rule("NA-22")
    def first_wait(self, delay: int) -> int:
        """An idle timer is armed for the whole delay, not for the bucket."""
        return delay * MS // self.SCALE

    @rule("NA-22")
    def deadline_after_firing(self, before: int) -> int | None:
        """After a firing, which began with so many buckets, the timer is armed for the first that is left, if any."""
        return self.clock.until(min(self.buckets.held)) if self.buckets.held else None

    def arm(self, deadline: int) -> None:
        """Have the timer armed for a nack."""
        self.timer.arm_for(deadline)

    # ---- Firing

    def advance(self, ms: int) -> list[Emission]:
        """Let time pass; the timer fires on the way. Answers with what was emitted."""
        emissions: list[Emission] = []
        until = self.clock.now + ms * MS
        at_once = firings = 0
        while (first := min(self.timer.armed(), default=until + 1)) <= until:
            at_once = at_once + 1 if first <= self.clock.now else 0
            if at_once > MOST_AT_ONCE:
                raise Fault("RuntimeError")  # it fires and fires, and time does not move
            self.clock.move(max(first, self.clock.now))
            self.timer.expire(first)
            firings += 1
            if firings > MOST_FIRINGS:
                raise Fault("RuntimeError")
            emissions += self.fire()
        self.clock.move(until)
        return emissions

    @rule(
        "NA-35",
        source="NegativeAcksTracker, PRs 15312, 23651",
        needs="failing_requests",
        when=lambda m: m.calls.failing or bool(m.calls.inner),
    )
    def fire(self) -> list[Emission]:
        """The timer is settled before any call: a callback may nack or close; a failing request loses its set alone."""
        before = len(self.buckets.held)
        ids = self.buckets.take(self.clock.reading())
        self.timer.settle(self.deadline_after_firing(before))
        return self.emit(ids)

    def emit(self, ids: list[Position]) -> list[Emission]:
        """Call the application back, and request the ids."""
        if not self.calls.emits(ids):
            return []
        self.calls.call_back(self)
        return [[whole_ms(self.clock.now), ids, self.calls.request(ids)]]

    def inside(self, operation: Inner) -> None:
        """Have the application do something in the next callback."""
        self.calls.inner.append(operation)

    def fail(self) -> None:
        """The next request throws, after the callback."""
        self.calls.failing = True

    def jump(self, ms: int) -> None:
        """The wall clock jumps."""
        self.clock.jump(ms)

    @rule(
        "NA-42",
        source="NegativeAcksTracker; client-cpp, PRs 6272, 362",
        when=lambda m: m.timer.cancelled,
    )
    def stale(self) -> list[Emission]:
        """A firing that comes too late, its timeout cancelled, does nothing."""
        return []

    # ---- Close

    @rule(
        "NA-40",
        source="NegativeAcksTracker, PR 12469; client-cpp, PR 188",
        when=lambda m: m.timer.deadline is not None or bool(m.buckets.held),
    )
    def close(self) -> None:
        """Close cancels the timer, drops all items, and calls nothing."""
        self.buckets.clear()
        self.timer.close()
        self.closed = True

    def seen(self) -> tuple[int, list[int]]:
        """The number of items, and the times of all armed timeouts in milliseconds."""
        return self.buckets.count(), [whole_ms(at) for at in sorted(self.timer.armed())]
