"""The reference model of contract ``delayed-delivery``: a tracker of one subscription's delayed messages.

The class :class:`DelayedDelivery` is the specification (profile ``timebucket-ideal``). A short method with a rule
above it is a clause: it decides one thing. The methods named as operations are flows: the order of things. Each
recorded version of the broker is a subclass that replaces the clauses in which it differs.

Times are absolute milliseconds. The model has a clock and a timer of its own.
"""

from __future__ import annotations

from itertools import takewhile
from typing import ClassVar, Protocol

from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.index import Copy, Index, Position
from broker_tck.model.delayed_delivery.memory import MemoryEstimate
from broker_tck.model.delayed_delivery.unembodied import UNEMBODIED
from broker_tck.model.parts.timer import Timer
from broker_tck.model.reference import UNDEFINED, Allowed, Fault, Reference, Undefined
from broker_tck.model.rules import Rule, also, rule

LAST = 2**63 - 1
"""The last time that there is."""


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
    Index = Index
    MemoryEstimate = MemoryEstimate
    FixedDelay = FixedDelay
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = UNEMBODIED

    def __init__(self, config: Config) -> None:
        self.timer = self.Timer(config.clock)
        self.fixed_delay = self.FixedDelay()
        self.tick = config.tick
        self.strict = config.strict
        self.lookahead = config.lookahead
        self.width = self.width_of(config.tick)
        self.index = self.Index()
        self.memory_estimate = self.MemoryEstimate()
        self.closed = False

    @property
    def now(self) -> int:
        """The time, which the timer keeps."""
        return self.timer.now

    def count(self) -> int:
        """The number of delayed messages."""
        return self.index.count()

    # ---- Cut-off and bucket key

    @rule(
        "DD-02",
        "A bucket is P ms wide, the largest power of two that is no larger than the tick at construction.",
        source="InMemoryDelayedDeliveryTracker, PR 23611",
        look="how many low bits are cleared: 9 at a tick of 1000, 10 at 1024",
        absent=lambda m, tick: 1,
        rounded_up=lambda m, tick: 1 << (max(tick, 1) - 1).bit_length(),
        always_ten_bits=lambda m, tick: 1024,
        half=lambda m, tick: max(1, 1 << max(tick, 1).bit_length() >> 2),
        next_power_at_a_power=lambda m, tick: (
            1 << max(tick, 1).bit_length() if tick & (tick - 1) == 0 else m.floor(tick)
        ),
    )
    def width_of(self, tick: int) -> int:
        return self.floor(tick)

    @staticmethod
    def floor(tick: int) -> int:
        """The largest power of two that is no larger than the tick, 1 for a tick below 1."""
        return 1 << (max(tick, 1).bit_length() - 1)

    @rule(
        "DD-03",
        "The width of a bucket never changes.",
        source="InMemoryDelayedDeliveryTracker",
        look="what a change of the tick recomputes",
        absent=lambda m, tick: m.width_of(tick),
        smaller_only=lambda m, tick: min(m.width, m.width_of(tick)),
        larger_only=lambda m, tick: max(m.width, m.width_of(tick)),
    )
    def width_after(self, tick: int) -> int:
        return self.width

    @rule(
        "DD-04",
        "The cut-off is now in strict mode, else now + tick.",
        source="AbstractDelayedDeliveryTracker, PR 16068",
        look="the strict switch where the cut-off is computed",
        absent=lambda m: m.now,
        never_strict=lambda m: m.now + m.tick,
        the_other_way=lambda m: m.now + m.tick if m.strict else m.now,
        half_a_tick=lambda m: m.now if m.strict else m.now + m.tick // 2,
        width_for_tick=lambda m: m.now if m.strict else m.now + m.width,
    )
    def cutoff(self) -> int:
        return self.now if self.strict else self.now + self.tick

    @rule(
        "DD-05",
        "A time is filed under its bucket: rounded down to a multiple of P, in strict mode up; where that overflows, "
        "under the last multiple.",
        source="InMemoryDelayedDeliveryTracker, PR 26012, issue 25996",
        look="rounding in strict mode; times within P of the largest",
        absent=lambda m, at: at,
        rounded_down=lambda m, at: at & -m.width,
        rounded_up=lambda m, at: m.up(at),
        to_the_next=lambda m, at: min(at + m.width, LAST) & -m.width if m.strict else at & -m.width,
        nearest=lambda m, at: min(at + m.width // 2, LAST) & -m.width,
        by_the_tick=lambda m, at: at - at % max(m.tick, 1),
        overflow_wraps=lambda m, at: (
            (at + m.width - 1 - (2**64 if at + m.width > 2**63 else 0) if m.strict else at) & -m.width
        ),
    )
    def key(self, at: int) -> int:
        return self.up(at) if self.strict else at & -self.width

    def up(self, at: int) -> int:
        """A time rounded up to a multiple of the width, as far as times go."""
        return min(at + self.width - 1, LAST) & -self.width

    @rule(
        "DD-06",
        "A bucket is due when the last time that it may hold is within the cut-off.",
        source="InMemoryDelayedDeliveryTracker, PR 26188",
        look="the bucket's end, not its start, where times are rounded down; equality counts as due",
        absent=lambda m, key: True,
        at_its_start=lambda m, key: key <= m.cutoff(),
        strictly_before=lambda m, key: key + (0 if m.strict else m.width - 1) < m.cutoff(),
        at_the_next=lambda m, key: key + (0 if m.strict else m.width) <= m.cutoff(),
        at_its_key_at_the_latest=lambda m, key: key <= m.now or key + m.width - 1 <= m.cutoff(),
        a_bucket_late_in_strict=lambda m, key: key + m.width - 1 <= m.cutoff(),
    )
    def due(self, key: int) -> bool:
        return key + (0 if self.strict else self.width - 1) <= self.cutoff()

    # ---- Adding

    @rule(
        "DD-09",
        "A time that is negative or not after the cut-off is refused.",
        source="AbstractDelayedDeliveryTracker; InMemoryDelayedDeliveryTracker, PR 5498",
        look="equality: the cut-off itself is refused, one millisecond later is accepted",
        absent=lambda m, at: False,
        equality_accepted=lambda m, at: at < 0 or at < m.cutoff(),
        by_the_bucket=lambda m, at: at < 0 or m.due(m.key(at)),
        only_the_past=lambda m, at: at <= m.now,
        one_more_refused=lambda m, at: at <= m.cutoff() + 1,
    )
    def refuses(self, at: int) -> bool:
        return at < 0 or at <= self.cutoff()

    @rule(
        "DD-10",
        "An accepted add brings the timer up to date, then looks at the fixed delay with the time as it was given.",
        source="InMemoryDelayedDeliveryTracker",
        look="what runs after the insertion, and in which order",
        absent=lambda m, at: m.key(at),
        cut_to_the_tick=lambda m, at: at - at % max(m.tick, 1),
    )
    def compared(self, at: int) -> int:
        return at

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message."""
        if self.refuses(at):
            self.fixed_delay.refused()
            return False
        self.added(self.insert(self.index.stored(ledger, entry), self.key(at)), at)
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
        self.fixed_delay.taken(self.compared(at), self.tick)

    def fill(self, ledger: int, entry: int, step: int, n: int, at: int) -> int:
        """Track n messages of one ledger, every ``step``-th entry, all for one time; answers how many were taken."""
        return sum([self.add(ledger, entry + i * step, at) for i in range(n)])

    # ---- Handing out

    @rule(
        "DD-19",
        "A message is available while the first bucket is due; where none is, the question brings the timer up to "
        "date.",
        source="AbstractDelayedDeliveryTracker, PR 10078",
        look="the timer after a firing that found nothing to hand out",
        absent=lambda m: False,
        anything_held=lambda m: bool(m.index.held),
        nothing_far_ahead=lambda m: bool(m.index.held) and m.due(max(m.index.held)),
    )
    def available(self) -> bool:
        return bool(self.index.held) and self.due(min(self.index.held))

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
        return [*takewhile(self.due, sorted(self.index.held))]

    @also(Index.taken, when=lambda m, taken: True)
    def left(self, taken: list[tuple[int, Copy]]) -> None:
        """What follows where messages have left, or could have."""
        self.restart(taken)
        self.update_timer()

    def restart(self, taken: list[tuple[int, Copy]]) -> None:
        """Start the detection of a fixed delay anew, where a get does."""
        self.fixed_delay.left(bool(taken), not self.index.held)

    # ---- Pausing

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

    @also(wants_pause, absent=lambda m, wanted: True, never=lambda m, wanted: False)
    def asks_availability(self, wanted: bool) -> bool:
        return wanted

    def pause(self) -> bool:
        """Whether all deliveries should pause."""
        wanted = self.wants_pause()
        available = self.asks_availability(wanted) and self.has()
        return wanted and not available

    # ---- The timer

    @rule(
        "DD-33",
        "The timer aims at the moment when the first bucket becomes due, at its key at the earliest.",
        source="follows from DD-06; no report upstream is known",
        look="a tick lowered below the width of a bucket: at the key the bucket is not due yet",
        absent=lambda m, key: key,
        never_mind_the_key=lambda m, key: key if m.strict else key + m.width - 1 - m.tick,
        the_end_of_the_bucket=lambda m, key: key if m.strict else key + m.width - 1,
        in_strict_as_well=lambda m, key: max(key, key + m.width - 1 - m.tick),
    )
    def wake(self, key: int) -> int:
        return key if self.strict else max(key, key + self.width - 1 - self.tick)

    def update_timer(self) -> None:
        """Bring the timer up to date with what is held."""
        self.timer.update(self.wake(self.index.first()) if self.count() else None, self.tick)

    def advance(self, ms: int) -> list[int]:
        """Move the clock; timers fire on the way. Answers the times at which a firing asked for a read."""
        return self.timer.advance(ms)

    def stale(self) -> bool:
        """The timeout that was cancelled last fires all the same; answers whether it asked for a read."""
        return self.timer.stale()

    @rule(
        "DD-27",
        "A new tick counts from the next use on; nothing is filed anew and the timer is left alone.",
        source="AbstractDelayedDeliveryTracker",
        look="what a change of the tick touches besides the tick",
        absent=lambda m, tick: m.tick,
        only_lowered=lambda m, tick: min(tick, m.tick),
        only_raised=lambda m, tick: max(tick, m.tick),
        no_less_than_a_bucket=lambda m, tick: max(tick, m.width),
    )
    def tick_after(self, tick: int) -> int:
        return tick

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        self.tick = self.tick_after(tick)
        self.width = self.width_after(tick)

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
