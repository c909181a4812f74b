"""The reference model of contract ``negative-acks``: a client's tracker of messages that are to come back later.

The class :class:`NegativeAcks` is the specification (profile ``pip-393-spec``). A short method with a rule above it is
a clause: it decides one thing. The methods named as operations are flows: the order of things. Each client is a
subclass that replaces the clauses in which it differs.

There are two clocks. The wall clock counts milliseconds and may jump; the other counts nanoseconds and only goes
forward: timers wait by it, and all times that are seen are of it, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log
from typing import ClassVar, Protocol

from broker_tck.model.reference import Reference
from broker_tck.model.rules import Rule, also, informative, law, rule

Position = tuple[int, int]
"""Ledger id and entry id."""
Item = tuple[int, int, int]
"""Ledger id, entry id, and a number that is 0 wherever nacks of one entry are one item."""
Emission = list[object]
"""The time of a firing in milliseconds, the ids handed to the callback in order, and the requests that went out."""
MS = 1_000_000
"""Nanoseconds in a millisecond."""
SHORTEST = 100
"""Milliseconds that a fixed delay has at least."""
MOST_AT_ONCE = 100
"""How often a timer may fire at one and the same time."""
REQUEST = 1_000
"""Ids that a request has at most."""


class Config(Protocol):
    """What a trace configures."""

    delay_us: int
    precision_bits: int
    clock: int
    backoff_ms: tuple[int, ...] | None
    multiplier: tuple[int, int, float] | None


class Inner(Protocol):
    """Something that the application does inside a callback."""

    def on(self, to: object) -> object: ...


class NegativeAcks(Reference):
    """Negative acknowledgements as specified: time buckets, and a timer that is re-armed for whatever is due sooner."""

    PROFILE = "pip-393-spec"
    SCALE: ClassVar[int] = 1
    """How many units of the clock that times are read from make a millisecond."""

    UNEMBODIED: ClassVar[tuple[Rule, ...]] = (
        informative(
            "NA-02",
            "A request names an entry, so all of its batch comes back with the earliest nack of any message in it.",
            source="PR 24203 (PIP-391)",
            why="what of an entry is delivered again is decided by the broker and the consumer",
        ),
        informative(
            "NA-03",
            "Each single-topic consumer has a tracker of its own; the multi-topic consumer passes nacks on.",
            source="MultiTopicsConsumerImpl, PR 24476",
            why="the kit has one consumer, and so one tracker",
        ),
        informative(
            "NA-04",
            "After an add the consumer takes the entry out of its ack-timeout tracker.",
            source="ConsumerImpl.negativeAcknowledge, PR 20750",
            why="it is the consumer that does it",
        ),
        informative(
            "NA-07",
            "A nack is not asked whether its message was delivered, is acked, or exists.",
            source="NegativeAcksTracker",
            why="a tracker has nothing that it could ask",
        ),
        informative(
            "NA-08",
            "An ack does not cancel a nack.",
            source="ConsumerImpl",
            why="no ack ever reaches the tracker",
        ),
        informative(
            "NA-09",
            "Nothing but close empties the tracker early: no seek, no reconnect, no request of the user's.",
            source="ConsumerImpl",
            why="none of these reaches the tracker",
        ),
        law(
            "NA-14",
            "An item is emitted at most 2^k - 1 ms before its instant.",
            source="follows from NA-13 and NA-30",
            look="a second rounding, of the clock as well",
        ),
        law(
            "P1",
            "What is emitted was nacked.",
            source="properties of PIP-393",
            look="ids that are rebuilt from what a container keeps of them",
        ),
        law(
            "P2",
            "Unless the tracker is closed, everything is emitted in the end.",
            source="properties of PIP-393",
            look="a timer that is not armed again",
        ),
        law(
            "P5",
            "An entry is emitted once for each bucket that it is in; buckets that are due together count as one.",
            source="properties of PIP-393",
            look="buckets that outlive the firing that emits them",
        ),
        law(
            "P6",
            "After a firing no bucket is left that was due.",
            source="properties of PIP-393",
            look="deleting from what is walked through",
        ),
        law(
            "P7",
            "The callback is never given nothing.",
            source="properties of PIP-393",
            look="a firing that finds nothing due",
        ),
        law(
            "P8",
            "One timeout is armed while something is held, and none else.",
            source="properties of PIP-393",
            look="timers that poll, or outlive what they were armed for",
        ),
        law(
            "P9",
            "A nack more makes no other item later.",
            source="properties of PIP-393",
            look="a countdown that every nack restarts",
        ),
        law(
            "P10",
            "How late an item is does not depend on another's delay.",
            source="properties of PIP-393",
            look="a timer that stays as the first item armed it",
        ),
        law(
            "P14",
            "The count is that of the entries, each once for every bucket that it is in.",
            source="properties of PIP-393",
            look="a counter kept beside the buckets",
        ),
        law(
            "P15",
            "With a bit more, two buckets make one.",
            source="properties of PIP-393",
            look="widths that are no powers of two",
        ),
        informative(
            "NA-15",
            "A delay shorter than a bucket may vanish.",
            source="follows from NA-14",
            why="it is NA-14 once more, for short delays",
        ),
        law(
            "NA-16",
            "With an ideal timer, and a wall clock that does not jump, no item is emitted after its instant.",
            source="follows from NA-22, NA-23 and NA-30",
            look="a deadline that is later than the first bucket; buckets that a firing passes by",
        ),
        informative(
            "NA-20",
            "Clients before PIP-393 poll at a third of the delay, from the first add until a poll finds nothing held.",
            source="NegativeAcksTracker, up to PR 23600",
            why="it describes profile legacy-java, which replaces the clauses of NA-22",
        ),
        informative(
            "NA-21",
            "The Go client ticks at a third of the delay for as long as it lives.",
            source="client-go, negative_acks_tracker.go",
            why="it describes profile go, which replaces the clauses of NA-22",
        ),
        informative(
            "NA-32",
            "An emitted id has no partition and no batch index.",
            source="NegativeAcksTracker, PR 23600",
            why="ids are compared by ledger and entry alone",
        ),
        informative(
            "NA-34",
            "The callback is given the very set that is requested then.",
            source="NegativeAcksTracker",
            why="the kit's callback leaves the set as it is",
        ),
        informative(
            "NA-36",
            "The broker honours an id only while the entry is pending at the consumer.",
            source="Consumer.redeliverUnacknowledgedMessages",
            why="it is the broker's part",
        ),
        informative(
            "NA-50",
            "Instants are sums of 64 bits, which may wrap.",
            source="NegativeAcksTracker",
            why="delays of walks stay below the age of the universe",
        ),
        informative(
            "NA-52",
            "Redelivery counts are those that the broker tells.",
            source="issue 15836",
            why="the kit draws them",
        ),
    )

    def __init__(self, config: Config) -> None:
        self.config = config
        self.wall = config.clock
        self.now = config.clock * MS
        self.held: dict[int, set[Item]] = {}
        self.chunks: dict[tuple[int, Position], int] = {}
        self.deadline: int | None = self.deadline_at_start()
        self.lost: list[int] = []
        self.cancelled = False
        self.closed = False
        self.failing = False
        self.stuck = False
        self.inner: list[Inner] = []
        self.nacks = 0

    # ---- What is held

    @rule(
        "NA-01",
        "An item is an entry: batch index, batch size and ack set of the id are dropped.",
        source="NegativeAcksTracker, since PR 3703",
        look="what of the message id becomes part of the key",
        absent=lambda m, ledger, entry, batch_index: (ledger, entry, batch_index + 1),
    )
    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        return ledger, entry, 0

    @rule(
        "NA-05",
        "Ledger and entry ids are any signed 64-bit numbers, and come back as they are.",
        source="NegativeAcksTracker, PR 23600",
        look="ids that are negative, or wider than the container behind",
        absent=lambda m, item: (item[0], item[1] & 0xFFFFFFFF, item[2]),
        ledgers_of_32_bits=lambda m, item: (item[0] & 0xFFFFFFFF, item[1], item[2]),
        entries_unsigned=lambda m, item: (item[0], item[1] & (2**64 - 1), item[2]),
        entries_of_48_bits=lambda m, item: (item[0], item[1] & (2**48 - 1), item[2]),
    )
    def stored(self, item: Item) -> Item:
        return item

    @rule(
        "NA-38",
        "An entry is one item in each bucket: nacks into several buckets are emitted by each.",
        source="NegativeAcksTracker, PR 23600",
        look="a map from entry to time, where there should be none; a second item in one bucket",
        absent=lambda m, item, key: m.elsewhere(item, key),
        later_ones_dropped=lambda m, item, key: [k for k in m.elsewhere(item, key) if k > key],
        sooner_ones_dropped=lambda m, item, key: [k for k in m.elsewhere(item, key) if k < key],
    )
    def superseded(self, item: Item, key: int) -> list[int]:
        return []

    @also(
        superseded,
        absent=lambda m, item, key: not m.elsewhere(item, key),
        the_first_counts=lambda m, item, key: not any(item in bucket for bucket in m.held.values()),
    )
    def files(self, item: Item, key: int) -> bool:
        return True

    @also(superseded, absent=lambda m: m.nacks)
    def serial(self) -> int:
        return 0

    def elsewhere(self, item: Item, key: int) -> list[int]:
        """The other keys under which the item is held."""
        return [k for k, bucket in self.held.items() if k != key and item in bucket]

    @rule(
        "NA-43",
        "The count is the sum of the buckets' items, so an entry in two buckets counts twice.",
        source="NegativeAcksTracker, PR 23600",
        look="a counter kept beside the buckets",
        absent=lambda m: 0,
        of_entries=lambda m: len({item for bucket in m.held.values() for item in bucket}),
        of_buckets=lambda m: len(m.held),
        of_nacks=lambda m: m.nacks if m.held else 0,
    )
    def count(self) -> int:
        return sum(map(len, self.held.values()))

    # ---- Delay and instant

    @rule(
        "NA-10",
        "The delay is the backoff's for the redelivery count, of an id alone for a count of 0; without backoff it is "
        "fixed.",
        source="NegativeAcksTracker, PRs 12566, 15312",
        look="which count a nack by id is taken for; counts beyond the last of the backoff",
        absent=lambda m, count: m.fixed(),
        one_more=lambda m, count: m.backed_off(count + 1) if m.backs_off() else m.fixed(),
        one_less=lambda m, count: m.backed_off(max(count - 1, 0)) if m.backs_off() else m.fixed(),
        always_the_first=lambda m, count: m.backed_off(0) if m.backs_off() else m.fixed(),
    )
    def delay(self, count: int) -> int:
        return self.backed_off(count) if self.backs_off() else self.fixed()

    @also(delay, absent=lambda m: 1)
    def count_of_id(self) -> int:
        return 0

    def backs_off(self) -> bool:
        """Whether there is a backoff."""
        return bool(self.config.backoff_ms or self.config.multiplier)

    def backed_off(self, count: int) -> int:
        """The backoff's delay for a redelivery count, in units of the clock."""
        table = self.config.backoff_ms
        delay = table[min(count, len(table) - 1)] if table else self.multiplied(count)
        return self.unclamped(delay) * self.SCALE

    @also(
        delay,
        absent=lambda m, count: m.least(),
        never_the_most=lambda m, count: min(int(m.least() * m.factor() ** min(count, 40)), 2**40),
        one_step_late=lambda m, count: m.capped(count - 1) if count else m.least(),
    )
    def multiplied(self, count: int) -> int:
        least, most, factor = self.least(), self.most(), self.factor()
        if count <= 0 or least == 0:
            return least
        steps = floor(log(most / least) / log(factor)) + 1
        return most if count > steps else self.capped(count)

    def capped(self, count: int) -> int:
        """The least delay so many times multiplied, up to the most."""
        return min(int(self.least() * self.factor() ** count), self.most())

    def least(self) -> int:
        """The multiplier backoff's first delay in milliseconds."""
        return self.config.multiplier[0] if self.config.multiplier else 0

    def most(self) -> int:
        """Its longest delay."""
        return self.config.multiplier[1] if self.config.multiplier else 0

    def factor(self) -> float:
        """What it multiplies by."""
        return self.config.multiplier[2] if self.config.multiplier else 1.0

    @rule(
        "NA-11",
        "What a backoff answers is not clamped: a delay of 0 is due at once.",
        source="NegativeAcksTracker, PR 12566",
        look="the lower limit of the fixed delay, applied to the backoff as well",
        absent=lambda m, delay: max(delay, SHORTEST),
    )
    def unclamped(self, delay: int) -> int:
        return delay

    @rule(
        "NA-12",
        "A fixed delay is at least 100 ms.",
        source="NegativeAcksTracker, since PR 3703",
        look="a delay of 0, which neither is immediate nor stands for the default",
        absent=lambda m: m.in_units(m.config.delay_us),
        default_for_none=lambda m: max(m.in_units(m.config.delay_us or 60_000_000), SHORTEST * m.SCALE),
        of_a_second=lambda m: max(m.in_units(m.config.delay_us), 1_000 * m.SCALE),
    )
    def fixed(self) -> int:
        return max(self.in_units(self.config.delay_us), SHORTEST * self.SCALE)

    @rule(
        "NA-51",
        "Microseconds are cut to whole milliseconds.",
        source="NegativeAcksTracker, PR 23600",
        look="how the configured delay is converted",
        absent=lambda m, us: -(-us * m.SCALE // 1_000),
        nearest=lambda m, us: (us * m.SCALE + 500) // 1_000,
    )
    def in_units(self, us: int) -> int:
        return us * self.SCALE // 1_000

    @rule(
        "NA-26",
        "Instants are of the wall clock, waits of one that never jumps: after a jump items are early or late by it.",
        source="NegativeAcksTracker, PR 23600",
        look="which clock is read where an item is added, and where a firing selects",
        absent=lambda m: m.now // MS * m.SCALE,
    )
    def reading(self) -> int:
        return self.wall * self.SCALE

    @rule(
        "NA-13",
        "The bucket is the instant with its low bits cleared, rounded down to a multiple of 2^k milliseconds.",
        source="NegativeAcksTracker, PR 23600",
        look="rounding; how many bits are cleared",
        absent=lambda m, at: at,
        rounded_up=lambda m, at: -(-at & -(1 << m.bits())),
        nearest=lambda m, at: (at + (1 << m.bits() >> 1)) & -(1 << m.bits()),
        a_bit_more=lambda m, at: at & -(2 << m.bits()),
        a_bit_less=lambda m, at: at & -(1 << max(m.bits() - 1, 0)),
        of_nanoseconds=lambda m, at: (at * MS & -(1 << m.bits())) // MS,
        a_multiple_of_k=lambda m, at: at - at % max(m.bits(), 1),
    )
    def key(self, at: int) -> int:
        return at - at % (self.SCALE << self.bits())

    def bits(self) -> int:
        """How many low bits are cleared."""
        return self.config.precision_bits

    # ---- Adding

    def nack(self, ledger: int, entry: int, count: int) -> None:
        """Track a message, by message."""
        self.track(ledger, entry, -1, 1, count)

    def nack_id(self, ledger: int, entry: int) -> None:
        """Track a message, by id."""
        self.track(ledger, entry, -1, 1, self.count_of_id())

    def batch(self, ledger: int, entry: int, index: int, count: int) -> None:
        """Track a message of a batch."""
        self.track(ledger, entry, index, 1, count)

    def chunked(self, ledger: int, entry: int, chunks: int, count: int) -> None:
        """Track a message in chunks, the last of which is this entry."""
        self.track(ledger, entry, -1, chunks, count)

    def fill(self, ledger: int, entry: int, step: int, n: int, count: int) -> None:
        """Track n messages of one ledger, every ``step``-th entry."""
        for i in range(n):
            self.nack(ledger, entry + i * step, count)

    def track(self, ledger: int, entry: int, batch_index: int, chunks: int, count: int) -> None:
        """Hold an item for as long as its delay says, and arm the timer."""
        if self.ignores_after_close():
            return
        delay = self.delay(count)
        key = self.key(self.reading() + delay)
        item = self.stored(self.item(ledger, entry, batch_index))
        self.nacks += 1
        item = (*item[:2], item[2] or self.serial())
        if not self.files(item, key):
            return
        for other in self.superseded(item, key):
            self.drop(other, item)
        self.held.setdefault(key, set()).add(item)
        if chunks > 1:
            place = self.noted(key, item[:2])
            self.chunks[place] = max(chunks, self.chunks.get(place, 1))
        self.arm_for(self.now + self.first_wait(delay))

    def drop(self, key: int, item: Item) -> None:
        """Let go of an item."""
        bucket = self.held[key]
        bucket.discard(item)
        self.chunks.pop(self.noted(key, item[:2]), None)
        if not bucket:
            del self.held[key]

    @rule(
        "NA-41",
        "Close is final: what is added after it is ignored.",
        source="NegativeAcksTracker; the specification adds it",
        look="a flag that says that the tracker is closed",
        absent=lambda m: False,
    )
    def ignores_after_close(self) -> bool:
        return self.closed

    # ---- The timer

    @rule(
        "NA-22",
        "From idle the timer is armed for the delay, not cut to its bucket; after a firing for the first bucket "
        "left, or not at all.",
        source="NegativeAcksTracker, PR 23600",
        look="a timer that polls; one that stays armed, or unarmed, after a firing",
        absent=lambda m, delay: max(m.key(m.reading() + delay) - m.reading(), 0) * MS // m.SCALE,
        polled=lambda m, delay: m.interval(),
    )
    def first_wait(self, delay: int) -> int:
        return delay * MS // self.SCALE

    @also(first_wait, absent=lambda m: False)
    def arms_from_idle(self) -> bool:
        return not self.stuck

    @also(first_wait, absent=lambda m: m.now + m.interval())
    def deadline_at_start(self) -> int | None:
        return None

    @also(
        first_wait,
        absent=lambda m, before: None,
        of_the_last_bucket=lambda m, before: m.until(max(m.held)) if m.held else None,
        a_poll_later=lambda m, before: m.now + m.interval() if before else None,
        only_after_an_emission=lambda m, before: m.until(min(m.held)) if m.held and len(m.held) < before else None,
    )
    def deadline_after_firing(self, before: int) -> int | None:
        """``before`` is how many buckets there were at the start of the firing."""
        return self.until(min(self.held)) if self.held else None

    def until(self, key: int) -> int:
        """When a bucket becomes due, as the clock is now; the one before it was taken, so there is time to wait."""
        return self.now + max(key - self.reading(), 1) * MS // self.SCALE

    def interval(self) -> int:
        """A third of the delay, at which some clients poll, in nanoseconds."""
        first = self.backed_off(0) if self.backs_off() else self.fixed()
        return max(first, SHORTEST * self.SCALE) * MS // self.SCALE // 3

    @rule(
        "NA-23",
        "An item that is due before the timer's deadline re-arms it.",
        source="the specification adds it; see B-26",
        look="the check whether a timer is pending, without a look at its deadline",
        absent=lambda m, deadline: False,
        by_more_than_a_bucket=lambda m, deadline: m.deadline is not None and deadline + (MS << m.bits()) < m.deadline,
    )
    def is_sooner(self, deadline: int) -> bool:
        return self.deadline is not None and deadline < self.deadline

    @rule(
        "NA-24",
        "A nack never postpones a pending deadline.",
        source="client-cpp, since PR 266; forbidden by the specification",
        look="a countdown that every nack restarts",
        absent=lambda m: True,
        after_a_second_nack=lambda m: m.count() > 1,
    )
    def restarts(self) -> bool:
        return False

    def arm_for(self, deadline: int) -> None:
        """Arm the timer for a nack, if it has to be armed."""
        if self.deadline is None:
            self.deadline = deadline if self.arms_from_idle() else None
        elif self.is_sooner(deadline) or self.restarts():
            self.cancelled = True
            self.deadline = deadline

    # ---- Firing

    @rule(
        "NA-30",
        "A firing takes every bucket that is not after the clock, in ascending order, and nothing else.",
        source="NegativeAcksTracker, PR 23600",
        look="equality: a bucket is due at its own time; buckets that are deleted while they are walked through",
        absent=lambda m, key: True,
        strictly_before=lambda m, key: key < m.reading(),
    )
    def due(self, key: int) -> bool:
        return key <= self.reading()

    @also(
        due,
        absent=lambda m, due: due[:1],
        every_other=lambda m, due: due[::2],
        all_but_the_last=lambda m, due: due[:-1] if len(due) > 1 else due,
        ten=lambda m, due: due[:10],
    )
    def selected(self, due: list[int]) -> list[int]:
        return due

    @rule(
        "NA-31",
        "A firing emits a set: an entry of several buckets is in it once.",
        source="NegativeAcksTracker, PR 23600",
        look="a list that buckets are appended to",
        absent=lambda m, ids: sorted(ids),
    )
    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        return sorted(set(ids))

    @rule(
        "NA-06",
        "Of a chunked message all chunks are emitted, every time.",
        source="NegativeAcksTracker, PR 25229, issue 25220",
        look="the rebuilt id, which has lost its chunks",
        absent=lambda m, entry, chunks: [entry],
        the_first_only=lambda m, entry, chunks: [entry - chunks + 1],
        one_short=lambda m, entry, chunks: [*range(min(entry - chunks + 2, entry), entry + 1)],
        one_too_many=lambda m, entry, chunks: [*range(entry - chunks + (chunks == 1), entry + 1)],
    )
    def expanded(self, entry: int, chunks: int) -> list[int]:
        return [*range(entry - chunks + 1, entry + 1)]

    @also(expanded, absent=lambda m, key, position: (0, position))
    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        """Under what the chunks of an item are noted until a firing takes it."""
        return key, position

    @rule(
        "NA-25",
        "A firing that finds nothing due calls nothing.",
        source="NegativeAcksTracker, PR 20750; client-cpp, PR 6480",
        look="the callback, or a request, with no ids",
        absent=lambda m, ids: True,
    )
    def emits(self, ids: list[Position]) -> bool:
        return bool(ids)

    @rule(
        "NA-33",
        "The callback is given the whole set once, then it is requested, at most 1,000 ids at a time.",
        source="ConsumerImpl.redeliverUnacknowledgedMessages",
        look="how the ids are cut; exact multiples of 1,000",
        absent=lambda m, ids: [len(ids)],
        one_more=lambda m, ids: m.cut(ids, REQUEST + 1),
        an_empty_one=lambda m, ids: [*m.cut(ids, REQUEST), *[0] * (len(ids) % REQUEST == 0)],
    )
    def requests(self, ids: list[Position]) -> list[int]:
        return self.cut(ids, REQUEST)

    @staticmethod
    def cut(ids: list[Position], most: int) -> list[int]:
        """How many ids each request has."""
        return [len(ids[i : i + most]) for i in range(0, len(ids), most)]

    @rule(
        "NA-35",
        "The timer is settled, and every lock let go, before anything is called: a request that fails loses its set "
        "and nothing else, and a callback may nack or close.",
        source="NegativeAcksTracker, PRs 15312, 23651",
        look="the order of re-arming and calling; an exception that leaves a timer pending for ever",
        absent=lambda m: False,
    )
    def settles(self) -> bool:
        return True

    @also(settles, absent=lambda m: True)
    def calls_first(self) -> bool:
        return False

    def advance(self, ms: int) -> list[Emission]:
        """Let time pass; the timer fires on the way. Answers with what was emitted."""
        emissions: list[Emission] = []
        until = self.now + ms * MS
        at_once = 0
        while (first := min(self.armed(), default=until + 1)) <= until:
            at_once = at_once + 1 if first <= self.now else 0
            if at_once > MOST_AT_ONCE:
                raise RuntimeError("the timer fires and fires, and time does not move")
            self.move(max(first, self.now))
            self.expire(first)
            emissions += self.fire()
        self.move(until)
        return emissions

    def armed(self) -> list[int]:
        """The deadlines of all timeouts that are armed: the one that the tracker knows of, and those that it lost."""
        return self.lost if self.deadline is None else [self.deadline, *self.lost]

    def expire(self, deadline: int) -> None:
        """A timeout begins to fire; of one deadline, those that the tracker lost, which were armed before.

        The one that it knows of is taken for pending until it is settled.
        """
        if deadline in self.lost:
            self.lost.remove(deadline)
        else:
            self.deadline, self.stuck = None, True

    def move(self, to: int) -> None:
        """Move both clocks on."""
        self.wall += to // MS - self.now // MS
        self.now = to

    def jump(self, ms: int) -> None:
        """The wall clock jumps."""
        self.wall += ms

    def fire(self) -> list[Emission]:
        """Run the timer's callback: select, settle the timer, then call."""
        before = len(self.held)
        ids = self.take(self.selected(sorted(key for key in self.held if self.due(key))))
        emits = self.emits(ids)
        failed = emits and self.failing
        if emits and self.calls_first():
            self.call_back()
        if not failed or self.settles():
            self.settle(before)
        if not emits:
            return []
        self.failing = False
        self.call_back()
        sizes = self.requests(ids)
        return [[whole_ms(self.now), ids, 0 if failed else sizes if len(sizes) > 1 else len(sizes)]]

    def settle(self, before: int) -> None:
        """Arm for what is left. A timeout that is pending, as another one fired, is lost sight of."""
        if self.deadline is not None:
            self.lost.append(self.deadline)
        self.stuck = False
        self.deadline = self.deadline_after_firing(before)

    def take(self, keys: list[int]) -> list[Position]:
        """Let go of some buckets; answers with the ids that their items stand for."""
        items = [(self.noted(key, item[:2]), *item[:2]) for key in keys for item in self.held[key]]
        ids = [
            (ledger, part) for place, ledger, entry in items for part in self.expanded(entry, self.chunks.get(place, 1))
        ]
        for key in keys:
            del self.held[key]
        for place, _, _ in items:
            self.chunks.pop(place, None)
        return self.emitted(ids)

    def call_back(self) -> None:
        """The application does in the callback what it was to do."""
        inner, self.inner = self.inner, []
        for operation in inner:
            operation.on(self)

    def inside(self, operation: Inner) -> None:
        """Have the application do something in the next callback."""
        self.inner.append(operation)

    def fail(self) -> None:
        """The next request throws, after the callback."""
        self.failing = True

    # ---- Close

    @rule(
        "NA-40",
        "Close cancels the timer, drops all items, and calls nothing.",
        source="NegativeAcksTracker, PR 12469; client-cpp, PR 188",
        look="a timer that outlives its tracker; items that are emitted by it",
        absent=lambda m: False,
        only_while_something_is_held=lambda m: bool(m.held),
    )
    def close_disarms(self) -> bool:
        return True

    @also(close_disarms, absent=lambda m: m.held)
    def after_close(self) -> dict[int, set[Item]]:
        return {}

    def close(self) -> None:
        """End."""
        self.held = self.after_close()
        self.chunks = {}
        if self.close_disarms():
            self.cancelled = self.cancelled or self.deadline is not None
            self.deadline = None
        self.stuck = False
        self.closed = True

    @rule(
        "NA-42",
        "A firing that comes too late, its timeout cancelled, does nothing.",
        source="NegativeAcksTracker; client-cpp, PRs 6272, 362",
        look="a firing that was on its way when the tracker was closed, or its timer re-armed",
        absent=lambda m: True,
    )
    def heeds_cancelled(self) -> bool:
        return False

    def stale(self) -> list[Emission]:
        """The timeout that was cancelled last fires all the same."""
        return self.fire() if self.cancelled and self.heeds_cancelled() else []

    def seen(self) -> tuple[int, list[int]]:
        """The number of items, and the times of all armed timeouts in milliseconds."""
        return self.count(), sorted(map(whole_ms, self.armed()))


def whole_ms(at: int) -> int:
    """The first whole millisecond that is not before a time in nanoseconds."""
    return -(-at // MS)
