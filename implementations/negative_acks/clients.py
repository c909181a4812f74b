"""Trackers of negative acks that behave as the clients' own do, their defects included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)
from broker_tck.implementations.negative_acks.deleting_walk import DeletingWalk
from broker_tck.implementations.negative_acks.long_pair_map import LongPairMap
from broker_tck.implementations.negative_acks.parts import MS, SHORTEST_MS, backoff_of, emit


class Client(ABC):
    """What all clients have: a delay, and a timeout that may be pending. All times are in nanoseconds."""

    contract: ClassVar[str] = "negative-acks"
    by_id: ClassVar[int] = 0
    """The redelivery count that a nack by id is taken for."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self.clocks = clocks
        self.timer = timer
        self.consumer = consumer
        self.backoff = backoff_of(config)
        self.fixed = self.fixed_delay(config.delay_us)
        self.bits = config.precision_bits
        self.timeout: Timeout | None = None

    def fixed_delay(self, us: int) -> int:
        """The delay without a backoff."""
        return max(us * 1_000, SHORTEST_MS * MS)

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""
        self.add_message(message_id, self.by_id)

    @abstractmethod
    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""

    def arm(self, wait: int) -> None:
        """Have the timer fire after so many nanoseconds."""
        self.timeout = self.timer.new_timeout(self.clocks.monotonic() + wait, self.fired)

    def fired(self, timeout: Timeout) -> None:
        """What the timer calls."""
        if not timeout.cancelled:
            self.timeout = None
            self.fire()

    @abstractmethod
    def fire(self) -> None:
        """Do what a firing does."""

    def request(self, ids: Collection[Position]) -> None:
        """Call the application, and request all ids at once."""
        if ids:
            emit(self.consumer, sorted(ids), at_once=len(ids))

    def disarm(self) -> None:
        """Cancel the timeout that is pending."""
        if self.timeout:
            self.timeout.cancel()
            self.timeout = None


class Cpp(Client):
    """The C++ client from v3.8.0 on: buckets of nanoseconds, and a countdown that every nack starts anew."""

    profiles: ClassVar[tuple[str, ...]] = ("cpp",)
    capabilities: ClassVar[dict[str, object]] = {"backoff": False}

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self.buckets: dict[int, set[Position]] = {}
        self.closed = False

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message; there is no backoff."""
        bucket = (self.clocks.monotonic() + self.fixed) >> self.bits << self.bits
        self.buckets.setdefault(bucket, set()).add(message_id[:2])
        self.count_down()

    def count_down(self) -> None:
        """Start the one countdown anew."""
        if not self.closed:
            self.disarm()
            self.arm(self.fixed // 3)

    def fire(self) -> None:
        """Take what is due; go on only if there was anything at all."""
        if self.buckets:
            now = self.clocks.monotonic()
            ids = {p for bucket in [b for b in self.buckets if b <= now] for p in self.buckets.pop(bucket)}
            self.count_down()
            self.request(ids)

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        return sum(map(len, self.buckets.values()))

    def close(self) -> None:
        """Disarm and forget."""
        self.closed = True
        self.disarm()
        self.buckets.clear()


class CppOld(Client):
    """The C++ client before v3.3.0: a map from entry to instant, looked through every third of a delay.

    The last nack of an entry counts. Ids are requested at once, however many.
    """

    profiles: ClassVar[tuple[str, ...]] = ("cpp-old",)
    capabilities: ClassVar[dict[str, object]] = {"backoff": False}

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self.instants = LongPairMap()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message; there is no backoff."""
        self.instants.put(*message_id[:2], self.clocks.monotonic() + self.fixed)
        if self.timeout is None:
            self.arm(self.fixed // 3)

    def fire(self) -> None:
        """Take what is due; go on unless there was nothing at all."""
        if len(self.instants):
            ids = self.instants.take_before(self.clocks.monotonic())
            self.arm(self.fixed // 3)
            self.request(ids)

    def get_nacked_messages_count(self) -> int:
        """How many entries are tracked."""
        return len(self.instants)

    def close(self) -> None:
        """Disarm and forget; what is added later is tracked all the same."""
        self.disarm()
        self.instants = LongPairMap()


class Ticker(Client):
    """What clients have that tick as long as they live. A nack by id counts as redelivered once."""

    capabilities: ClassVar[dict[str, object]] = {"failing_requests": False, "no_delay": False}
    by_id: ClassVar[int] = 1

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self.begin()
        self.arm(self.interval())

    @abstractmethod
    def begin(self) -> None:
        """Track nothing."""

    def fixed_delay(self, us: int) -> int:
        """The delay without a backoff, a minute by default."""
        return (us or 60_000_000) * 1_000

    def delay(self, count: int) -> int:
        """The delay for a redelivery count."""
        return self.backoff(count) * MS if self.backoff else self.fixed

    def interval(self) -> int:
        """How far apart ticks are."""
        return max(self.delay(self.by_id) // 3, 1)

    def fire(self) -> None:
        """Take what is due; the next tick comes whatever was found."""
        ids = self.due()
        self.arm(self.interval())
        self.request(ids)

    @abstractmethod
    def due(self) -> Collection[Position]:
        """Take what is due."""

    def close(self) -> None:
        """End the ticker."""
        self.disarm()
        self.begin()


class Go(Ticker):
    """The Go client from v0.18.0 on: buckets that are deleted from the tree that is walked through."""

    profiles: ClassVar[tuple[str, ...]] = ("go",)
    capabilities: ClassVar[dict[str, object]] = {**Ticker.capabilities, "precision_bits": 72}

    def begin(self) -> None:
        """Track nothing."""
        self.buckets = DeletingWalk()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message."""
        at = self.clocks.wall() + self.delay(redelivery_count) // MS
        self.buckets.at(at >> self.bits << self.bits).add(message_id[:2])

    def due(self) -> list[Position]:
        """The ids of the buckets that are met."""
        now = self.clocks.wall()
        return [p for bucket in self.buckets.walk_off(lambda at: at <= now) for p in bucket]

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        return sum(map(len, self.buckets.values()))


class GoOld(Ticker):
    """The Go client up to v0.17.0: a map in which the first nack of an entry stays."""

    profiles: ClassVar[tuple[str, ...]] = ("go-old",)

    def begin(self) -> None:
        """Track nothing."""
        self.instants: dict[tuple[int, ...], int] = {}

    def item(self, message_id: MessageId) -> tuple[int, ...]:
        """What of an id is the key."""
        return message_id[:2]

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message."""
        self.instants.setdefault(self.item(message_id), self.clocks.monotonic() + self.delay(redelivery_count))

    def due(self) -> set[Position]:
        """Take what is due."""
        now = self.clocks.monotonic()
        due = [item for item, at in self.instants.items() if at < now]
        for item in due:
            del self.instants[item]
        return {(item[0], item[1]) for item in due}

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        return len(self.instants)


class FSharp(GoOld):
    """The F# client: whole ids as keys, at least 100 ms, and nothing is taken after close."""

    profiles: ClassVar[tuple[str, ...]] = ("fsharp",)
    by_id: ClassVar[int] = 0
    closed = False

    def fixed_delay(self, us: int) -> int:
        """The delay without a backoff."""
        return Client.fixed_delay(self, us)

    def interval(self) -> int:
        """How far apart ticks are."""
        return max(self.delay(0), SHORTEST_MS * MS) // 3

    def item(self, message_id: MessageId) -> tuple[int, ...]:
        """What of an id is the key: all of it."""
        return message_id[:3]

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, unless closed."""
        if not self.closed:
            super().add_message(message_id, redelivery_count)

    def close(self) -> None:
        """End for good."""
        self.closed = True
        super().close()
