"""Trackers of negative acks that behave as the clients' own do, their defects included."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
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

    def fixed_delay(self, us: int) -> int:
        """The delay, in whole milliseconds."""
        return max(us // 1_000, SHORTEST_MS) * MS

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message; there is no backoff."""
        bucket = (self.clocks.monotonic() + self.fixed) >> self.bits << self.bits
        self.buckets.setdefault(bucket, set()).add(message_id[:2])
        self.count_down()

    def count_down(self) -> None:
        """Start the one countdown anew: a third of the delay, in whole milliseconds."""
        if not self.closed:
            self.disarm()
            self.arm(self.fixed // MS // 3 * MS)

    def fire(self) -> None:
        """Take what is due; go on only if there was anything at all, and no request throws."""
        if self.get_nacked_messages_count():
            self.request(self.due())
            self.count_down()

    def due(self) -> Collection[Position]:
        """Take the buckets that are due."""
        now = self.clocks.monotonic()
        return {p for bucket in [b for b in self.buckets if b <= now] for p in self.buckets.pop(bucket)}

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        return sum(map(len, self.buckets.values()))

    def close(self) -> None:
        """Disarm and forget."""
        self.closed = True
        self.disarm()
        self.buckets.clear()


class Cpp37(Cpp):
    """The C++ client of v3.2.0 to v3.7.x: as the later ones, with a map in which the last nack of an entry counts."""

    profiles: ClassVar[tuple[str, ...]] = ("cpp-3.7",)

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self.instants = LongPairMap()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message; there is no backoff."""
        self.instants.put(*message_id[:2], self.clocks.monotonic() + self.fixed)
        self.count_down()

    def due(self) -> Collection[Position]:
        """Take what is due."""
        return self.instants.take_before(self.clocks.monotonic())

    def get_nacked_messages_count(self) -> int:
        """How many entries are tracked."""
        return len(self.instants)

    def close(self) -> None:
        """Disarm and forget."""
        super().close()
        self.instants = LongPairMap()


class CppOld(Cpp37):
    """The C++ client before v3.2.0: it polls, and calls no application. A close leaves what is held."""

    profiles: ClassVar[tuple[str, ...]] = ("cpp-old",)
    capabilities: ClassVar[dict[str, object]] = dict.fromkeys(
        ("backoff", "callbacks", "failing_requests", "threads"), False
    )

    def count_down(self) -> None:
        """Poll after a third of the delay, unless a poll is pending."""
        if self.timeout is None:
            super().count_down()

    def close(self) -> None:
        """Cancel the timeout, and go on taking it for pending."""
        if self.timeout:
            self.timeout.cancel()


class Ticker(Client):
    """What clients have that tick as long as they live. A nack by id counts as redelivered once."""

    capabilities: ClassVar[dict[str, object]] = {"failing_requests": False, "no_delay": False, "closes_inside": False}
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
        """End the ticker; what is held stays."""
        self.disarm()


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

    def due(self) -> Collection[Position]:
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
    capabilities: ClassVar[dict[str, object]] = {"backoff": False, "failing_requests": False}
    by_id: ClassVar[int] = 0
    closed = False

    def begin(self) -> None:
        """Track nothing."""
        super().begin()
        self.chunks: dict[tuple[int, ...], Sequence[int]] = {}

    def fixed_delay(self, us: int) -> int:
        """The delay without a backoff."""
        return Client.fixed_delay(self, us)

    def interval(self) -> int:
        """How far apart ticks are: a third of the delay, rounded up to whole milliseconds."""
        return math.ceil(self.fixed / MS / 3) * MS

    def item(self, message_id: MessageId) -> tuple[int, ...]:
        """What of an id is the key: all of it, but for its chunks."""
        return message_id[:3]

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, unless closed."""
        if not self.closed:
            super().add_message(message_id, redelivery_count)
            self.chunks.setdefault(self.item(message_id), message_id.chunks)

    def request(self, ids: Collection[Position]) -> None:
        """Call the application, and request the ids, 1,000 at once."""
        emit(self.consumer, sorted(ids))

    def due(self) -> list[Position]:
        """Take what is due: an id for each item, or for each chunk of its message."""
        now = self.clocks.monotonic()
        due = [item for item, at in self.instants.items() if at < now]
        for item in due:
            del self.instants[item]
        return [(item[0], entry) for item in due for entry in self.chunks.pop(item) or [item[1]]]

    def close(self) -> None:
        """End for good."""
        self.closed = True
        super().close()
        self.begin()
