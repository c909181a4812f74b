"""Ack timeouts: a client's tracker of received messages, until they are acknowledged (profile ``ack-timeout-spec``).

Read it from top to bottom: the parts first, then the tracker that is made of them. A method under ``@rule`` is a
clause: its docstring is the rule, its body says the same in code. The methods named as operations are flows: the order
of things. Each release replaces the clauses in which it differs: see ``releases``.

A message passes two stages. On the wheel it waits for its ack timeout, in ticks. With a backoff it then waits once
more, in milliseconds. An ack takes it out of both.

There are two clocks. The wall clock may be set; the other only goes forward: timers wait by it, and all times that are
seen are of it, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from broker_tck.model.reference import Allowed, Reference
from broker_tck.model.rules import Part, Rule, informative, invariant, rule

Id = tuple[int, int, int]
"""Ledger id, entry id and batch index; the index is -1 for a message that is not in a batch."""


class Wheel(Part):
    """The first stage: messages by the number of the firing with which they time out."""

    def __init__(self, timeout: int, tick: int) -> None:
        self.tick = self.width(timeout, tick)
        self.ticks = self.whole_ticks(timeout)
        self.fired = 0
        self.held: dict[Id, int] = {}

    @rule("AT-10", source="UnAckedMessageTracker")
    def width(self, timeout: int, tick: int) -> int:
        """From when it is made, the tracker ticks at the configured duration, or at an ack timeout that is shorter."""
        return min(tick, timeout)

    @rule("AT-11", source="UnAckedMessageTracker, PR 3079")
    def whole_ticks(self, timeout: int) -> int:
        """The ack timeout is rounded up to whole ticks."""
        return -(-timeout // self.tick)

    @rule("AT-12", source="UnAckedMessageTracker; issue 2584 reports twice the ack timeout")
    def times_out(self) -> int:
        """The ack timeout of a message begins with the first tick after its add."""
        return self.fired + 1 + self.ticks

    @rule("AT-12")
    def due(self, message: Id) -> bool:
        """A tick takes the messages whose ack timeout is over, and no others."""
        return self.held[message] <= self.fired

    @rule("AT-13", source="UnAckedMessageTracker", needs="jumps", when=lambda w, by: bool(by and w.held))
    def clock_set(self, by: int) -> None:
        """If the wall clock is set, no ack timeout ends sooner or later: ticks go by a clock that never jumps."""

    def take(self) -> list[Id]:
        """Move the wheel on by a tick. Answers with the messages that time out."""
        self.fired += 1
        taken = [message for message in self.held if self.due(message)]
        for message in taken:
            del self.held[message]
        return taken


class Backoff(Part):
    """The second stage, if there is a backoff: messages by the time from which on they may come back."""

    def __init__(self, table: tuple[int, ...] | None) -> None:
        self.table = table
        self.waiting: dict[Id, int] = {}

    @rule("AT-20", source="UnAckedMessageRedeliveryTracker, PR 13707 (PIP-130)", needs="backoff")
    def delay(self, count: int) -> int:
        """A message that timed out waits once more: as long as the backoff says for its redelivery count."""
        assert self.table
        return self.table[min(count, len(self.table) - 1)]

    @rule("AT-21", source="UnAckedMessageRedeliveryTracker, PR 13707 (PIP-130)", needs="backoff")
    def due(self, message: Id, now: int) -> bool:
        """A message that waits comes back with the first tick after its delay; without a delay, with the same tick."""
        return self.waiting[message] <= now

    @rule(
        "AT-22",
        source="the specification adds it; no report upstream is known",
        needs="jumps backoff",
        when=lambda b, by: bool(by and b.waiting),
    )
    def clock_set(self, by: int) -> None:
        """If the wall clock is set, no delay ends sooner or later: delays go by the same clock as ticks."""

    def take(self, now: int) -> list[Id]:
        """Let go of all that may come back now."""
        taken = [message for message in self.waiting if self.due(message, now)]
        for message in taken:
            del self.waiting[message]
        return taken


class Timer(Part):
    """The timeout that fires at each tick."""

    def __init__(self) -> None:
        self.pending: int | None = None
        """The time for which the tracker takes itself to be armed."""
        self.armed: list[int] = []
        self.cancelled = False

    def arm(self, at: int) -> None:
        """Arm another timeout."""
        self.pending = at
        self.armed.append(at)

    def expire(self) -> int:
        """The earliest timeout fires, of equal ones the one that was armed first. Answers with its time."""
        at = min(self.armed)
        self.armed.remove(at)
        if at == self.pending and at not in self.armed:
            self.pending = None
        return at

    def close(self) -> None:
        """Cancel the timeout that the tracker knows of."""
        if self.pending is not None:
            self.armed.remove(self.pending)
            self.pending = None
            self.cancelled = True


class Inner(Protocol):
    """Something that the application does inside a callback."""

    def on(self, to: object) -> object: ...


class Calls(Part):
    """The callback, in which the application may do something, and the request, which may throw."""

    def __init__(self) -> None:
        self.inner: list[Inner] = []
        self.failing = False

    @rule("AT-30", source="UnAckedMessageTracker; issue 3287 reports empty requests")
    def emits(self, ids: list[Id]) -> bool:
        """A tick with which nothing comes back calls nothing."""
        return bool(ids)

    @rule("AT-33", source="UnAckedMessageTracker, PR 9552", needs="threads", when=lambda c, tracker: bool(c.inner))
    def call_back(self, tracker: object) -> None:
        """During a callback, a call from any thread comes to its end: no lock is held that it takes."""
        inner, self.inner = self.inner, []
        for operation in inner:
            operation.on(tracker)

    @rule("AT-31", source="UnAckedMessageTracker")
    def requests(self) -> int:
        """After the callback one request follows, for the same ids."""
        return 1

    def request(self) -> int:
        """Request the ids; answers with the number of requests that went out."""
        failed, self.failing = self.failing, False
        return 0 if failed else self.requests()


PARTITION = "-partition-"


def base(topic: str) -> str:
    """The name of the topic that a partition is of; of another topic its own name."""
    head, found, number = topic.rpartition(PARTITION)
    return head if found and number.isdigit() else topic


INVARIANTS = {
    "AT-60": "Every id that comes back is of a message that was added, or of a chunk of one.",
    "AT-61": "No message comes back before its ack timeout and its backoff have passed since it was added.",
    "AT-62": "A message that is not removed comes back two ticks after its ack timeout and its backoff at the latest.",
    "AT-63": "A message that was removed does not come back, unless it is added again.",
}
WITHOUT_CLAUSE: tuple[Rule, ...] = (
    invariant(
        "AT-14",
        "At most one timeout is armed: one while a message is tracked, and none after a close.",
        source="UnAckedMessageTracker; the specification leaves open which ticks an idle tracker skips",
    ),
    *(invariant(number, sentence, source="follows from AT-02 to AT-22") for number, sentence in INVARIANTS.items()),
    invariant(
        "AT-64",
        "A tracker that tracks no message keeps no id.",
        source="follows from AT-03, AT-07 and AT-40",
        needs="shows_kept",
    ),
    informative(
        "AT-50",
        "A nack takes its message out of this tracker: from then on the tracker of negative acks has it (NA-04).",
        source="ConsumerImpl.negativeAcknowledge, PR 20750",
        why="it is the consumer that does it, by the same call as for an ack",
    ),
    informative(
        "AT-51",
        "A consumer of one topic tracks entries, a consumer of many topics the messages of a batch one by one.",
        source="ConsumerImpl.trackMessage, MultiTopicsConsumerImpl",
        why="the consumer decides by which id it tracks a message",
    ),
    informative(
        "AT-52",
        "A message is added when the application receives it, not when the client does.",
        source="ConsumerImpl, PRs 101, 3079",
        why="it is the consumer that adds it",
    ),
)

Emission = list[object]
"""The time of a firing, the ids handed to the callback in order, and the number of requests."""


class Config(Protocol):
    """What a trace configures."""

    ack_timeout: int
    tick: int
    clock: int
    backoff: tuple[int, ...] | None
    topics: tuple[str, ...]


class AckTimeout(Reference):
    """Ack timeouts as specified: a wheel of ticks, then a backoff if there is one; a message is in one of them."""

    PROFILE = "ack-timeout-spec"
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE
    Wheel = Wheel
    Backoff = Backoff
    Timer = Timer
    Calls = Calls

    def __init__(self, config: Config) -> None:
        self.config = config
        self.now = config.clock
        """By the clock that never jumps."""
        self.ahead = 0
        """How far the wall clock is ahead of it."""
        self.wheel = self.Wheel(config.ack_timeout, config.tick)
        self.backoff = self.Backoff(config.backoff)
        self.timer = self.Timer()
        self.timer.arm(self.now + self.wheel.tick)
        self.calls = self.Calls()
        self.counts: dict[Id, int] = {}
        """How often each message was redelivered before."""
        self.chunks: dict[Id, int] = {}
        """From how many chunks each message is made."""
        self.closed = False

    # ---- What is tracked

    @rule("AT-01", source="MessageIdAdvUtils")
    def identity(self, ledger: int, entry: int, index: int) -> Id:
        """A message is known by ledger, entry and batch index: the messages of a batch are tracked one by one."""
        return ledger, entry, index

    @rule("AT-02", source="UnAckedMessageTracker.add")
    def is_tracked(self, message: Id) -> bool:
        """A message is tracked once: an add of one that is tracked, in either stage, changes nothing and says false."""
        return message in self.wheel.held or message in self.backoff.waiting

    def add(self, ledger: int, entry: int, count: int, index: int, chunks: int) -> bool:
        """Track a message. Answers whether it was not tracked yet."""
        message = self.identity(ledger, entry, index)
        self.chunks[message] = chunks
        if self.ignores_after_close() or self.is_tracked(message):
            return False
        self.wheel.held[message] = self.wheel.times_out()
        self.counts[message] = count
        return True

    def fill(self, ledger: int, entry: int, n: int, count: int) -> int:
        """Track n messages. Answers how many were not tracked yet."""
        return sum([self.add(ledger, entry + i, count, -1, 1) for i in range(n)])

    @rule("AT-43", source="UnAckedMessageTracker.size")
    def size(self) -> int:
        """The size is the number of messages that are tracked, in either stage; chunks of a message count once."""
        return len(self.wheel.held) + len(self.backoff.waiting)

    # ---- Removing

    @rule("AT-03", source="UnAckedMessageTracker.remove")
    def stages_of(self, message: Id) -> list[dict[Id, int]]:
        """A remove takes the message out, in whichever stage it is, and says whether it was tracked."""
        return [stage for stage in (self.wheel.held, self.backoff.waiting) if message in stage]

    def remove(self, ledger: int, entry: int, index: int) -> bool:
        """A message was acknowledged."""
        message = self.identity(ledger, entry, index)
        stages = self.stages_of(message)
        for stage in stages:
            del stage[message]
        return bool(stages)

    @rule("AT-04", source="UnAckedMessageTracker.removeMessagesTill")
    def is_till(self, message: Id, last: Id) -> bool:
        """A cumulative ack takes every message up to its own, in the order of ledger, entry and batch index."""
        return message <= last

    @rule("AT-04", when=lambda m: bool(m.backoff.waiting))
    def stages_till(self) -> list[dict[Id, int]]:
        """A cumulative ack takes messages out of both stages, and answers how many there were."""
        return [self.wheel.held, self.backoff.waiting]

    def remove_till(self, ledger: int, entry: int, index: int) -> int:
        """All messages up to one were acknowledged."""
        last = self.identity(ledger, entry, index)
        return self.drop(self.stages_till(), [message for message in self.ids() if self.is_till(message, last)])

    @rule("AT-05", source="UnAckedTopicMessageTracker, PR 25916", needs="topics")
    def is_of(self, topic: str, name: str) -> bool:
        """A topic that is left takes its messages along, and those of its partitions; no other topic's."""
        return base(topic) == base(name)

    @rule("AT-06", source="PR 25916", needs="topics backoff", when=lambda m: bool(m.backoff.waiting))
    def stages_of_topics(self) -> list[dict[Id, int]]:
        """The messages of a topic that is left are taken out of both stages."""
        return [self.wheel.held, self.backoff.waiting]

    def remove_topic(self, name: str) -> int:
        """A topic was left."""
        topics = self.config.topics
        here = [message for message in self.ids() if topics and self.is_of(topics[message[0] % len(topics)], name)]
        return self.drop(self.stages_of_topics(), here)

    def ids(self) -> list[Id]:
        """All messages that are tracked."""
        return [*{*self.wheel.held, *self.backoff.waiting}]

    def drop(self, stages: list[dict[Id, int]], ids: Iterable[Id]) -> int:
        """Take messages out of some stages. Answers with how many there were."""
        found = [(stage, message) for message in ids for stage in stages if message in stage]
        for stage, message in found:
            del stage[message]
        return len(found)

    @rule("AT-07", source="UnAckedMessageTracker.clear", when=lambda m: m.size() > 0)
    def clear(self) -> None:
        """A clear takes out everything; the timer ticks on."""
        self.wheel.held.clear()
        self.backoff.waiting.clear()

    # ---- Firing

    def advance(self, ms: int) -> list[Emission]:
        """Let time pass; the timer fires on the way. Answers with what came back."""
        emissions: list[Emission] = []
        until = self.now + ms
        while self.timer.armed and min(self.timer.armed) <= until:
            self.now = self.timer.expire()
            emissions += self.fire()
        self.now = until
        return emissions

    def jump(self, by: int) -> None:
        """Set the wall clock; no timer fires."""
        self.ahead += by
        self.wheel.clock_set(by)
        self.backoff.clock_set(by)

    @rule("AT-32", source="PR 16337", when=lambda m: m.calls.failing or bool(m.calls.inner))
    def fire(self) -> list[Emission]:
        """A tick arms the timer for the next one, then calls: a callback may close, and each call may throw."""
        self.timer.arm(self.now + self.wheel.tick)
        return self.emit(self.taken())

    def taken(self) -> list[Id]:
        """Move the wheel on, and take what comes back."""
        timed_out = self.wheel.take()
        if not self.backoff.table:
            return timed_out
        for message in timed_out:
            self.backoff.waiting[message] = self.now + self.backoff.delay(self.counts[message])
        return self.backoff.take(self.now)

    @rule("AT-08", source="UnAckedMessageTracker, PR 20750")
    def parts(self, message: Id) -> list[Id]:
        """If a message is in chunks, all of its chunks come back, each once."""
        ledger, entry, index = message
        return [message, *((ledger, entry - i, index) for i in range(1, self.chunks[message]))]

    def emit(self, ids: list[Id]) -> list[Emission]:
        """Call the application back, and request the ids."""
        if not self.calls.emits(ids):
            return []
        parts = sorted(part for message in ids for part in self.parts(message))
        self.calls.call_back(self)
        return [[self.now, parts, self.calls.request()]]

    def inside(self, operation: Inner) -> None:
        """Have the application do something in the next callback."""
        self.calls.inner.append(operation)

    def fail(self) -> None:
        """The next request throws, after the callback."""
        self.calls.failing = True

    # ---- Close

    @rule("AT-40", source="UnAckedMessageTracker.close", when=lambda m: not m.closed)
    def close(self) -> None:
        """A close cancels the timer, drops everything, and calls nothing."""
        self.clear()
        self.timer.close()
        self.closed = True

    @rule("AT-41", source="the specification adds it, as NA-41 does")
    def ignores_after_close(self) -> bool:
        """A close is final: the tracker ignores every later add, and says false."""
        return self.closed

    @rule("AT-42", source="PR 26043", when=lambda m: m.timer.cancelled)
    def stale(self) -> list[Emission]:
        """If a timeout that was cancelled fires nevertheless, the firing does nothing."""
        return []

    # ---- What is seen

    def may_arm(self, armed: list[int]) -> bool:
        """Whether a subject may have armed these: a tracker may skip ticks at which nothing comes back."""
        return len(armed) <= 1 and bool(armed or not self.size())

    def seen(self) -> tuple[int, list[int] | Allowed]:
        """The size, and the times of all armed timeouts: while the tracker is open, one that the subject chooses."""
        armed = sorted(self.timer.armed)
        if self.closed or len(armed) != 1:
            return self.size(), armed
        return self.size(), Allowed(self.may_arm, lambda _: None, armed, "one timeout at most, none only if idle")

    def let_go(self) -> None:
        """Forget what was noted of messages that are not tracked."""
        self.counts.clear()
        self.chunks.clear()
