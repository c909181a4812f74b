"""The reference model of contract ``delayed-delivery``: a tracker of one subscription's delayed messages.

The class :class:`DelayedDelivery` is the specification (profile ``timebucket-ideal``). A short method with a rule
above it is a clause: it decides one thing. The methods named as operations are flows: the order of things. Each
recorded version of the broker is a subclass that replaces the clauses in which it differs.

Times are absolute milliseconds. The model has a clock and a timer of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, islice, takewhile
from typing import ClassVar, Protocol

from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.unembodied import UNEMBODIED
from broker_tck.model.parts.timer import Timer
from broker_tck.model.reference import UNDEFINED, Allowed, Fault, Reference, Undefined
from broker_tck.model.rules import Rule, also, rule

Position = tuple[int, int]
Copy = tuple[int, int, int]
"""Ledger id, entry id, and a serial number that is 0 wherever equal positions are one copy."""
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
    BUCKET: ClassVar[type[set[Copy]]] = set
    Timer = Timer
    FixedDelay = FixedDelay
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = UNEMBODIED

    def __init__(self, config: Config) -> None:
        self.timer = self.Timer(config.clock)
        self.fixed_delay = self.FixedDelay()
        self.tick = config.tick
        self.strict = config.strict
        self.lookahead = config.lookahead
        self.width = self.width_of(config.tick)
        self.held: dict[int, set[Copy]] = {}
        self.counted_in_vain = 0
        self.adds = 0
        self.closed = False
        self.bytes_seen = 0
        self.grew = self.shrank = False

    @property
    def now(self) -> int:
        """The time, which the timer keeps."""
        return self.timer.now

    # ---- What is held

    @rule(
        "DD-01",
        "Nothing empty is kept: a bucket goes with its last message.",
        source="InMemoryDelayedDeliveryTracker",
        look="the bucket or ledger left behind by the call that took its last message",
        absent=lambda m, bucket: True,
    )
    def stays(self, bucket: set[Copy]) -> bool:
        return bool(bucket)

    @rule(
        "DD-28",
        "The number of delayed messages is the number of copies held.",
        source="InMemoryDelayedDeliveryTracker, PRs 24429, 24430, 25681",
        look="a counter kept beside the index: who adds to it, who takes from it",
        absent=lambda m: 0,
        of_positions=lambda m: len({c for bucket in m.held.values() for c in bucket}),
        of_buckets=lambda m: len(m.held),
        of_due=lambda m: sum(len(bucket) for key, bucket in m.held.items() if m.due(key)),
    )
    def count(self) -> int:
        return sum(map(len, self.held.values())) + self.counted_in_vain

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
        "DD-13",
        "Ledger ids are any signed 64-bit number; entry ids up to the subject's declared width are kept as they are.",
        source="InMemoryDelayedDeliveryTracker, PR 25681",
        look="ids of more than 16 or 31 bits",
        needs="entry_id_bits",
        absent=lambda m, ledger, entry: (ledger, entry & 0xFFFF),
        entries_signed=lambda m, ledger, entry: (ledger, entry - 2**32 if 2**31 <= entry < 2**32 else entry),
        entries_of_31_bits=lambda m, ledger, entry: (ledger, entry & 0x7FFFFFFF),
        ledgers_of_32_bits=lambda m, ledger, entry: (ledger & 0xFFFFFFFF, entry),
        ledgers_unsigned=lambda m, ledger, entry: (ledger & (2**64 - 1), entry),
    )
    def stored(self, ledger: int, entry: int) -> Position:
        return ledger, entry

    @rule(
        "DD-11",
        "A position that is already in its bucket stays one copy; the answer is still yes.",
        source="InMemoryDelayedDeliveryTracker, PR 25681, issue 25617",
        look="a counter raised by an add that changed nothing",
        when=lambda m, position, key: m.holds(position, key),
        absent=lambda m, position, key: m.adds,
    )
    def serial(self, position: Position, key: int) -> int:
        return 0

    @also(serial, when=lambda m: True, absent=lambda m: True, while_the_detection_holds=lambda m: m.fixed_delay.fixed)
    def counts_again(self) -> bool:
        return False

    def holds(self, position: Position, key: int) -> bool:
        """Whether the position is in its bucket."""
        return (*position, 0) in self.held.get(key, ())

    def elsewhere(self, position: Position, key: int) -> list[int]:
        """The other buckets that hold the position."""
        return [k for k, bucket in self.held.items() if k != key and any(c[:2] == position for c in bucket)]

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
        self.added(self.insert(self.stored(ledger, entry), self.key(at)), at)
        return True

    @also(compared, when=lambda m, new, at: True)
    def added(self, new: bool, at: int) -> None:
        """What follows where a message was taken, ``new`` or once more."""
        self.update_timer()
        self.detect(at)

    def detect(self, at: int) -> None:
        """Look at whether all delays are alike."""
        self.fixed_delay.taken(self.compared(at), self.tick)

    @rule(
        "DD-12",
        "The same position in another bucket is another copy; the earlier one is neither moved nor cancelled.",
        source="InMemoryDelayedDeliveryTracker",
        look="a map from position to bucket, where there should be none",
        when=lambda m, position, key: m.elsewhere(position, key),
    )
    def insert(self, position: Position, key: int) -> bool:
        """Hold a copy; answers whether it was absent."""
        bucket = self.held.setdefault(key, self.BUCKET())
        before = len(bucket)
        self.adds += 1
        self.grew = True
        bucket.add((*position, self.serial(position, key)))
        if len(bucket) > before:
            return True
        self.counted_in_vain += self.counts_again()
        return False

    def drop(self, key: int, copy: Copy) -> None:
        """Let go of a copy."""
        bucket = self.held[key]
        bucket.discard(copy)
        if not self.stays(bucket):
            del self.held[key]

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
        anything_held=lambda m: bool(m.held),
        nothing_far_ahead=lambda m: bool(m.held) and m.due(max(m.held)),
    )
    def available(self) -> bool:
        return bool(self.held) and self.due(min(self.held))

    @also(available, absent=lambda m, available: False, a_yes_as_well=lambda m, available: True)
    def has_updates_timer(self, available: bool) -> bool:
        return not available

    def has(self) -> bool:
        """Whether a message is available."""
        available = self.available()
        if self.has_updates_timer(available):
            self.update_timer()
        return available

    @rule(
        "DD-20",
        "At most so many copies are taken from the due buckets, in the order of bucket, ledger, entry; they are handed "
        "out in the order of their positions, each once.",
        source="InMemoryDelayedDeliveryTracker, PRs 24035, 7731",
        look="the order of ledgers inside a bucket; a budget that ends inside a ledger; the budget counts copies",
        absent=lambda m, most: m.due_copies(),
        one_bucket_only=lambda m, most: [c for c in m.due_copies() if c[0] == min(m.held)][: max(most, 0)],
        one_ledger_only=lambda m, most: m.of_first_ledger(m.due_copies())[: max(most, 0)],
        one_too_many=lambda m, most: m.due_copies()[: most + 1],
        one_short=lambda m, most: m.due_copies()[: max(most - 1, 0)],
        ledgers_descending=lambda m, most: m.due_copies(lambda c: (-c[0], c[1]))[: max(most, 0)],
        entries_descending=lambda m, most: m.due_copies(lambda c: (c[0], -c[1]))[: max(most, 0)],
        entries_before_ledgers=lambda m, most: m.due_copies(lambda c: (c[1], c[0]))[: max(most, 0)],
        by_position_alone=lambda m, most: sorted(m.due_copies(), key=lambda c: c[1])[: max(most, 0)],
        last_bucket_first=lambda m, most: sorted(m.due_copies(), key=lambda c: -c[0])[: max(most, 0)],
        budget_counts_positions=lambda m, most: m.worth(most, m.due_copies()),
        budget_for_each_bucket=lambda m, most: m.of_each_bucket(most, m.due_copies()),
    )
    def taken(self, most: int) -> list[tuple[int, Copy]]:
        return self.due_copies()[: max(most, 0)]

    def due_copies(self, order: Callable[[Copy], tuple[int, ...]] = tuple) -> list[tuple[int, Copy]]:
        """Every copy in a due bucket, by bucket and then in the given order, else by ledger and entry."""
        due = takewhile(self.due, sorted(self.held))
        return [(key, copy) for key in due for copy in sorted(self.held[key], key=order)]

    @staticmethod
    def of_first_ledger(copies: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """The copies that share bucket and ledger with the first."""
        return [c for c in copies if (c[0], c[1][0]) == (copies[0][0], copies[0][1][0])]

    @staticmethod
    def worth(most: int, copies: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """The first copies, as many as it takes for so many positions."""
        first = {copy[:2]: i for i, (_, copy) in reversed([*enumerate(copies)])}
        beyond = sorted(first.values())[max(most, 0) :]
        return copies[: beyond[0]] if beyond else copies

    @staticmethod
    def of_each_bucket(most: int, copies: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """So many copies of each bucket."""
        buckets = groupby(copies, key=lambda c: c[0])
        return [c for _, bucket in buckets for c in islice(bucket, max(most, 0))]

    @also(
        taken,
        absent=lambda m, taken: [copy[:2] for _, copy in taken],
        in_order_of_time=lambda m, taken: list(dict.fromkeys(copy[:2] for _, copy in taken)),
        repeated=lambda m, taken: sorted(copy[:2] for _, copy in taken),
        descending=lambda m, taken: sorted({copy[:2] for _, copy in taken}, reverse=True),
    )
    def handed_out(self, taken: list[tuple[int, Copy]]) -> list[Position]:
        return sorted({copy[:2] for _, copy in taken})

    @rule(
        "DD-35",
        "What leaves the index is what is handed out: nothing is lost, nothing stays.",
        source="InMemoryDelayedDeliveryTracker",
        look="what is deleted where the budget ends inside a bucket or a ledger",
        absent=lambda m, taken: [],
        whole_ledgers=lambda m, taken: m.copies_like(taken, lambda key, copy: (key, copy[0])),
        whole_buckets=lambda m, taken: m.copies_like(taken, lambda key, copy: key),
        all_copies_of_a_position=lambda m, taken: m.copies_like(taken, lambda key, copy: copy[:2]),
        all_but_the_last=lambda m, taken: taken[:-1] if len(taken) > 2 else taken,
    )
    def removed(self, taken: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        return taken

    def copies_like(self, taken: list[tuple[int, Copy]], kind: Callable[[int, Copy], object]) -> list[tuple[int, Copy]]:
        """Every copy held that is of one kind with one of those taken."""
        kinds = {kind(key, copy) for key, copy in taken}
        return [(key, copy) for key, bucket in self.held.items() for copy in bucket if kind(key, copy) in kinds]

    def get(self, most: int) -> list[Position]:
        """Hand out what is due."""
        taken = self.taken(most)
        for key, copy in self.removed(taken):
            self.shrank = True
            self.drop(key, copy)
        self.left(taken)
        return self.handed_out(taken)

    @also(taken, when=lambda m, taken: True)
    def left(self, taken: list[tuple[int, Copy]]) -> None:
        """What follows where messages have left, or could have."""
        self.restart(taken)
        self.update_timer()

    def restart(self, taken: list[tuple[int, Copy]]) -> None:
        """Start the detection of a fixed delay anew, where a get does."""
        self.fixed_delay.left(bool(taken), not self.held)

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
        counts_buckets=lambda m: m.lookahead > 0 and m.fixed_delay.fixed and len(m.held) >= m.lookahead,
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
        self.timer.update(self.wake(self.first()) if self.count() else None, self.tick)

    def first(self) -> int:
        """The smallest key."""
        return min(self.held)

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

    @rule(
        "DD-29",
        "The memory estimate is 0 if and only if nothing is held; it does not fall by adds nor rise by takes.",
        source="InMemoryDelayedDeliveryTracker, PR 25990",
        look="what is added to the running sum and what is taken off, where an entry set empties",
        needs="memory_estimate",
        absent=lambda m: 0,
        never_falls=lambda m: m.bytes_seen + 24 * m.count(),
        one_byte_too_many=lambda m: 1 + 24 * m.count(),
        falls_with_every_add=lambda m: max(1, 2**20 - m.count()) if m.held else 0,
    )
    def bytes_held(self) -> int:
        return 24 * self.count()

    def permits_bytes(self, seen: object) -> bool:
        """Whether a memory estimate is plausible, given the one seen before."""
        if not isinstance(seen, int):
            return False
        if not self.held:
            return seen == 0
        fell, rose = seen < self.bytes_seen, seen > self.bytes_seen
        return seen > 0 and not (fell and not self.shrank) and not (rose and not self.grew)

    def memory(self) -> Allowed:
        """The memory estimate in bytes."""
        return Allowed(self.permits_bytes, self.follow_bytes, self.bytes_held(), "0 if nothing is held, else plausible")

    def follow_bytes(self, seen: int) -> None:
        """Take over a memory estimate."""
        self.bytes_seen = seen
        self.grew = self.shrank = False

    @rule(
        "DD-30",
        "Clear empties the index and leaves the timer alone.",
        source="InMemoryDelayedDeliveryTracker, issue 8689, PR 14740",
        look="copies, counters or memory that survive; a timeout cancelled or armed by it",
        absent=lambda m: m.held,
        due_ones_stay=lambda m: {key: bucket for key, bucket in m.held.items() if m.due(key)},
        the_first_bucket_only=lambda m: {key: bucket for key, bucket in m.held.items() if key > min(m.held)},
    )
    def after_clear(self) -> dict[int, set[Copy]]:
        return {}

    def clear(self) -> None:
        """Forget every message."""
        self.shrank = True
        self.held = self.after_clear()
        self.counted_in_vain = 0
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
