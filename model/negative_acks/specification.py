"""Negative acks: how a client's tracker of messages that come back later behaves (profile ``pip-393-spec``).

Read it from top to bottom: the parts first, then the tracker that is made of them. A method under ``@rule`` is a
clause: its docstring is the rule, its body says the same in code. The methods named as operations are flows: the order
of things. Each client replaces the clauses in which it differs: see ``releases``.

There are two clocks. The wall clock counts milliseconds and may jump; the other counts nanoseconds and only goes
forward: timers wait by it, and all times that are seen are of it, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from math import floor, log
from typing import ClassVar, Protocol

from broker_tck.model.reference import Fault, Reference
from broker_tck.model.rules import Part, Rule, informative, invariant, rule

MS = 1_000_000
"""Nanoseconds in a millisecond."""


class Clock(Part):
    """A wall clock in milliseconds, which may jump, and one in nanoseconds, which only goes forward.

    Instants are read in units. The ``scale`` is the number of units in a millisecond.
    """

    def __init__(self, ms: int, scale: int) -> None:
        self.wall = ms
        self.now = ms * MS
        self.scale = scale

    @rule("NA-26", source="NegativeAcksTracker, PR 23600")
    def reading(self) -> int:
        """Instants come from the wall clock, waits from a clock without jumps; so a jump makes items early or late."""
        return self.wall * self.scale

    def until(self, instant: int) -> int:
        """When an instant is reached, as the clock is now: in nanoseconds, and a unit from now at the earliest."""
        return self.now + max(instant - self.reading(), 1) * MS // self.scale

    def move(self, to: int) -> None:
        """Move both clocks on."""
        self.wall += to // MS - self.now // MS
        self.now = to

    def jump(self, ms: int) -> None:
        """The wall clock jumps."""
        self.wall += ms


def whole_ms(at: int) -> int:
    """The first whole millisecond that is not before a time in nanoseconds."""
    return -(-at // MS)


SHORTEST = 100
"""Minimum of a fixed delay, in milliseconds."""


def signed_int(number: int) -> int:
    """The low 32 bits of a number, signed."""
    return (number + 2**31) % 2**32 - 2**31


class DelayConfig(Protocol):
    """What a trace configures of delays."""

    delay_us: int
    backoff_ms: tuple[int, ...] | None
    multiplier: tuple[int, int, float] | None


class Delays(Part):
    """A fixed delay or a backoff, in units of the clock. The ``scale`` is the number of units in a millisecond.

    A backoff is a table, or multiplies its least delay up to its most.
    """

    def __init__(self, config: DelayConfig, scale: int) -> None:
        self.delay_us = config.delay_us
        self.table = config.backoff_ms
        self.multiplier = config.multiplier
        self.least, self.most, self.factor = config.multiplier or (0, 0, 1.0)
        self.scale = scale

    @rule("NA-10", source="NegativeAcksTracker, PRs 12566, 15312", when=lambda d, count: count > 0 or d.backs_off())
    def delay(self, count: int) -> int:
        """The delay is the backoff's answer for the redelivery count, or without a backoff the fixed delay."""
        return self.backed_off(count) if self.backs_off() else self.fixed()

    @rule("NA-10", needs="backoff", when=lambda d: d.backs_off() and d.backoff(0) != d.backoff(1))
    def count_of_id(self) -> int:
        """An id alone has a redelivery count of 0."""
        return 0

    def backs_off(self) -> bool:
        """Whether there is a backoff."""
        return bool(self.table or self.multiplier)

    @rule("NA-11", source="NegativeAcksTracker, PR 12566", needs="backoff")
    def backed_off(self, count: int) -> int:
        """The backoff's answer is not clamped: an item with a delay of 0 is due at once."""
        return self.backoff(count) * self.scale

    def backoff(self, count: int) -> int:
        """What the backoff answers for a redelivery count, in milliseconds."""
        return self.table[min(count, len(self.table) - 1)] if self.table else self.multiplied(count)

    @rule("NA-10", needs="backoff")
    def multiplied(self, count: int) -> int:
        """A multiplier makes the first delay longer with each redelivery, up to the longest."""
        if count <= 0 or self.least == 0:
            return self.least
        steps = floor(log(self.most / self.least) / log(self.factor)) + 1  # enough for the most: it may be far beyond
        return self.most if count > steps else min(int(self.least * self.factor**count), self.most)

    @rule("NA-12", source="NegativeAcksTracker, since PR 3703")
    def fixed(self) -> int:
        """A fixed delay is at least 100 ms."""
        return max(self.in_units(self.delay_us), SHORTEST * self.scale)

    @rule("NA-51", source="NegativeAcksTracker, PR 23600")
    def in_units(self, us: int) -> int:
        """Microseconds are cut to whole milliseconds."""
        return us * self.scale // 1_000

    def interval(self) -> int:
        """A third of the delay, at which some clients poll, in nanoseconds."""
        first = self.backed_off(0) if self.backs_off() else self.fixed()
        return max(first, SHORTEST * self.scale) * MS // self.scale // 3


Position = tuple[int, int]
"""Ledger id and entry id."""
Item = tuple[int, int, int]
"""Ledger id, entry id, and a number that is 0 wherever nacks of one entry are one item."""
Chunks = tuple[Position, ...]
"""The positions of a message's chunks, in ascending order; empty unless it is chunked."""


class Buckets(Part):
    """Sets of items by the instant that they are filed under, and of which chunks an item's message is made.

    Instants are in units. The ``scale`` is the number of units in a millisecond.
    """

    def __init__(self, bits: int, scale: int) -> None:
        self.bits = bits
        self.scale = scale
        self.held: dict[int, set[Item]] = {}
        self.chunks: dict[tuple[int, Position], Chunks] = {}

    # ---- What an item is

    @rule("NA-01", source="NegativeAcksTracker, since PR 3703")
    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        """An item is an entry: batch index, batch size and ack set of the id are dropped."""
        return ledger, entry, 0

    # ---- Filing

    @rule("NA-13", source="NegativeAcksTracker, PR 23600")
    def key(self, at: int) -> int:
        """The bucket is the instant with its low bits cleared, rounded down to a multiple of 2^k milliseconds."""
        return at - at % (self.scale << self.bits)

    def elsewhere(self, item: Item, key: int) -> list[int]:
        """The other keys under which the item is held."""
        return [k for k, bucket in self.held.items() if k != key and item in bucket]

    @rule(
        "NA-38",
        source="NegativeAcksTracker, PR 23600",
        when=lambda b, item, key, chunks: bool(b.elsewhere(item, key)),
    )
    def hold(self, item: Item, key: int, chunks: Chunks) -> bool:
        """An entry is one item in each bucket; if it is in several buckets, each of them emits it."""
        self.held.setdefault(key, set()).add(item)
        if len(chunks) > 1:
            self.chunks[self.noted(key, item[:2])] = chunks
        return True

    def drop(self, key: int, item: Item) -> None:
        """Let go of an item."""
        bucket = self.held[key]
        bucket.discard(item)
        self.chunks.pop(self.noted(key, item[:2]), None)
        if not bucket:
            del self.held[key]

    def clear(self) -> None:
        """Let go of everything."""
        self.held = {}
        self.chunks = {}

    @rule("NA-43", source="NegativeAcksTracker, PR 23600")
    def count(self) -> int:
        """The count is the sum of the buckets' items, so an entry in two buckets counts twice."""
        return sum(map(len, self.held.values()))

    # ---- Taking

    @rule("NA-30", source="NegativeAcksTracker, PR 23600")
    def due(self, key: int, now: int) -> bool:
        """A bucket is due if it is not after the clock."""
        return key <= now

    @rule("NA-30")
    def selected(self, now: int) -> list[int]:
        """A firing takes every bucket that is due, in ascending order, and nothing else."""
        return [*takewhile(lambda key: self.due(key, now), sorted(self.held))]

    @rule("NA-31", source="NegativeAcksTracker, PR 23600")
    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        """A firing emits a set: an entry of several buckets is in it once."""
        return sorted(set(ids))

    @rule("NA-06", source="NegativeAcksTracker, PR 25229, issue 25220")
    def expanded(self, position: Position, chunks: Chunks) -> Sequence[Position]:
        """If a message has chunks, every emission has all of them; they need not be neighbours, or of one ledger."""
        return chunks or (position,)

    @rule("NA-06")
    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        """Each bucket notes the chunks of its own messages."""
        return key, position

    @rule("NA-05", source="NegativeAcksTracker, PR 23600", needs="negative_ids")
    def take(self, now: int) -> list[Position]:
        """Ledger and entry ids are any signed 64-bit numbers, and come back as they are."""
        keys = self.selected(now)
        ids = self.ids_with_chunks(keys) if self.chunks else [item[:2] for key in keys for item in self.held[key]]
        for key in keys:
            del self.held[key]
        return self.emitted(ids)

    def ids_with_chunks(self, keys: list[int]) -> list[Position]:
        """The ids that the items of some buckets stand for, whose chunks are noted no longer."""
        items = [(self.noted(key, item[:2]), item[:2]) for key in keys for item in self.held[key]]
        ids = [part for place, position in items for part in self.expanded(position, self.chunks.get(place, ()))]
        for place, _ in items:
            self.chunks.pop(place, None)
        return ids


class Timer(Part):
    """At most one timeout, which is moved for what is due sooner. Deadlines are in nanoseconds."""

    def __init__(self, deadline: int | None) -> None:
        self.deadline = deadline
        self.lost: list[int] = []
        self.unsettled = False
        self.cancelled = False

    @rule("NA-23", source="the specification adds it; see B-26")
    def is_sooner(self, deadline: int) -> bool:
        """An item that is due before the timer's deadline re-arms it."""
        return self.deadline is not None and deadline < self.deadline

    @rule(
        "NA-24",
        source="client-cpp, since PR 266; forbidden by the specification",
        when=lambda t, deadline: t.deadline is not None and deadline > t.deadline,
    )
    def restarts(self, deadline: int) -> bool:
        """A nack never postpones a pending deadline."""
        return False

    @rule("NA-22")
    def arm_for(self, deadline: int) -> None:
        """A nack arms an idle timer."""
        if self.deadline is None:
            self.deadline = None if self.unsettled else deadline
        elif self.is_sooner(deadline) or self.restarts(deadline):
            self.move(deadline)

    def move(self, deadline: int) -> None:
        """Cancel the timeout, and arm another."""
        self.cancelled = True
        self.deadline = deadline

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
            self.deadline, self.unsettled = None, True

    def settle(self, deadline: int | None) -> None:
        """Arm for what a firing left. A timeout that is pending because another one fired is lost."""
        if self.deadline is not None:
            self.lost.append(self.deadline)
        self.unsettled = False
        self.deadline = deadline

    def close(self) -> None:
        """Cancel the timeout that the tracker knows of."""
        self.cancelled = self.cancelled or self.deadline is not None
        self.deadline = None
        self.unsettled = False


REQUEST = 1_000
"""Maximum number of ids in a request."""


class Inner(Protocol):
    """Something that the application does inside a callback."""

    def on(self, to: object) -> object: ...


class Calls(Part):
    """The callback, in which the application may do something, and the requests, of which one may throw."""

    def __init__(self) -> None:
        self.inner: list[Inner] = []
        self.failing = False

    @rule("NA-25", source="NegativeAcksTracker, PR 20750; client-cpp, PR 6480")
    def emits(self, ids: list[Position]) -> bool:
        """A firing that finds nothing due calls nothing."""
        return bool(ids)

    @rule("NA-35", needs="threads", when=lambda calls, tracker: bool(calls.inner))
    def call_back(self, tracker: object) -> None:
        """During a callback, a call from any thread comes to its end: no lock is held that it takes."""
        inner, self.inner = self.inner, []
        for operation in inner:
            operation.on(tracker)

    @rule("NA-33", source="ConsumerImpl.redeliverUnacknowledgedMessages")
    def requests(self, ids: list[Position]) -> list[int]:
        """The callback gets the whole set once; as few requests as possible follow, of at most 1,000 ids each.

        The ids that a request was given do not change.
        """
        return sizes(ids, REQUEST)

    def request(self, ids: list[Position]) -> int | list[int]:
        """Request the ids; answers 1 for one request, 0 for one that throws, and how many ids each of several has."""
        failed, self.failing = self.failing, False
        requests = [] if failed else self.requests(ids)
        return requests if len(requests) > 1 else len(requests)


def sizes(ids: list[Position], most: int) -> list[int]:
    """The number of ids in each request, given the most that one may have."""
    return [len(ids[i : i + most]) for i in range(0, len(ids), most)]


INVARIANTS = {
    "P1": "Every emitted entry was nacked.",
    "P2": "Unless the tracker is closed, everything is emitted in the end.",
    "P5": "An entry is emitted once for each bucket that it is in; buckets that are due together count as one.",
    "P6": "A firing leaves no bucket that was due.",
    "P7": "The callback never gets an empty set.",
    "P8": "Exactly one timeout is armed while an item is held; otherwise no timeout is armed.",
    "P9": "One more nack makes no other item later.",
    "P10": "How late an item is does not depend on another's delay.",
    "P14": "The count counts each entry once for every bucket that it is in.",
    "P15": "With one precision bit more, two neighbouring buckets become one.",
}
"""The properties of PIP-393 that a tracker is judged by, without the model."""
WITHOUT_CLAUSE: tuple[Rule, ...] = (
    invariant("P16", "A tracker that holds no item keeps no id.", source="follows from NA-40", needs="shows_kept"),
    *(invariant(number, sentence, source="properties of PIP-393") for number, sentence in INVARIANTS.items()),
    informative(
        "NA-02",
        "A request names an entry, so all of its batch comes back with the earliest nack of any message in it.",
        source="PR 24203 (PIP-391)",
        why="the broker and the consumer decide which messages of an entry are delivered again",
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
        "A tracker does not check whether a nacked message was delivered, is acked, or exists.",
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
        "Only a close empties the tracker early; a seek, a reconnect or a request of the user's does not.",
        source="ConsumerImpl",
        why="none of these reaches the tracker",
    ),
    invariant(
        "NA-14",
        "An item is emitted at most 2^k - 1 ms before its instant.",
        source="follows from NA-13 and NA-30",
    ),
    informative(
        "NA-15",
        "A delay shorter than a bucket may vanish.",
        source="follows from NA-14",
        why="it is NA-14 once more, for short delays",
    ),
    invariant(
        "NA-16",
        "With an ideal timer, and a wall clock that does not jump, no item is emitted after its instant.",
        source="follows from NA-22, NA-23 and NA-30",
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
        "The callback gets the same set that is requested after it.",
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
        "Redelivery counts come from the broker.",
        source="issue 15836",
        why="the kit draws them",
    ),
    informative(
        "NA-53",
        "A request has no answer; if it is lost with its connection, the broker delivers all unacked messages again.",
        source="PulsarApi.proto, CommandRedeliverUnacknowledgedMessages; issue 755",
        why="no tracker notices a request that fails after its call, and a reconnection brings its ids back",
    ),
)


Emission = list[object]
"""The time of a firing in milliseconds, the ids handed to the callback in order, and the requests that went out."""
MOST_AT_ONCE = 10_000
"""Maximum number of firings of a timer at one time."""
MOST_FIRINGS = 50_000
"""Maximum number of firings of a timer in one advance."""


class Config(DelayConfig, Protocol):
    """What a trace configures."""

    precision_bits: int
    clock: int


class NegativeAcks(Reference):
    """Negative acknowledgements as specified: time buckets, and a timer that is re-armed for whatever is due sooner."""

    PROFILE = "pip-393-spec"
    POLLS: ClassVar[bool] = False
    """Whether the timer runs at a third of the delay, whatever is held."""
    SCALE: ClassVar[int] = 1
    """How many units of the clock that times are read from make a millisecond."""
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE
    Clock = Clock
    Delays = Delays
    Buckets = Buckets
    Timer = Timer
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
        self.track(ledger, entry, -1, (), count)

    def nack_id(self, ledger: int, entry: int) -> None:
        """Track a message, by id."""
        self.track(ledger, entry, -1, (), self.delays.count_of_id())

    def batch(self, ledger: int, entry: int, index: int, count: int) -> None:
        """Track a message of a batch."""
        self.track(ledger, entry, index, (), count)

    def chunked(self, chunks: Chunks, count: int) -> None:
        """Track a message in chunks, by the last of them."""
        self.track(*chunks[-1], -1, chunks, count)

    def track(self, ledger: int, entry: int, batch_index: int, chunks: Chunks, count: int) -> None:
        """Hold an item for as long as its delay says, and arm the timer."""
        if self.ignores_after_close():
            return
        delay = self.delays.delay(count)
        key = self.buckets.key(self.clock.reading() + delay)
        if self.buckets.hold(self.buckets.item(ledger, entry, batch_index), key, chunks):
            self.arm(self.clock.now + self.first_wait(delay))

    @rule("NA-41", source="NegativeAcksTracker; the specification adds it")
    def ignores_after_close(self) -> bool:
        """A close is final: the tracker ignores every later add."""
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
        """After a firing the timer is armed for the first bucket that is left, if there is one."""
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
        """A firing settles the timer before any call. If a call fails, only its firing's ids may be lost."""
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
        """If a cancelled timeout fires nevertheless, the firing does nothing."""
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
