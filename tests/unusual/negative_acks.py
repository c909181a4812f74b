"""Right but unusual trackers of negative acks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Generator
from contextlib import suppress
from types import coroutine
from typing import Any, ClassVar

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker


@coroutine
def next_call(answer: Any) -> Generator[Any, Any, Any]:
    """Answer a call, and wait for the next."""
    return (yield answer)


async def served(tracker: SortedBucketsTracker) -> None:
    """Do what is called, for ever."""
    answer = None
    while True:
        name, arguments = await next_call(answer)
        answer = getattr(tracker, name)(*arguments)


class Keys:
    """A consumer that hands ids on as the keys of a dictionary."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        self.consumer.on_negative_acks_send(dict.fromkeys(ids).keys())

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        self.consumer.redeliver_unacknowledged_messages(dict.fromkeys(ids).keys())


class AsyncTracker:
    """An adapter around a coroutine that has a bundled tracker.

    What is called has no name here: calls are made of the adapter's attributes as they are asked for.
    """

    contract: ClassVar = "negative-acks"
    profiles: ClassVar = ("pip-393-spec",)

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self._core = served(SortedBucketsTracker(config, clocks, timer, Keys(consumer)))
        self._core.send(None)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not hasattr(SortedBucketsTracker, name):
            raise AttributeError(name)
        return lambda *arguments: self._core.send((name, arguments))


class Heap:
    """A heap of what was nacked. The last word on an entry counts; earlier ones are dropped when they come out."""

    contract: ClassVar = "negative-acks"
    profiles: ClassVar = ("pip-393-spec",)

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self.config, self.clocks, self.timer, self.consumer = config, clocks, timer, consumer
        self.heap: list[tuple[int, Position]] = []
        self.emits: dict[tuple[int, Position], list[Position]] = {}
        self.timeout: Timeout | None = None
        self.deadline = 0
        self.is_open = True

    def delay(self, count: int) -> int:
        if self.config.backoff_ms is not None:
            return [*self.config.backoff_ms[: count + 1]][-1]
        if self.config.multiplier is not None:
            first, longest, factor = self.config.multiplier
            with suppress(OverflowError):
                return int(min(first * factor**count, longest))
            return longest if first else 0
        return max(100, self.config.delay_us // 1000)

    def add(self, message_id: MessageId) -> None:
        self.add_message(message_id, 0)

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        if self.is_open:
            delay, bits = self.delay(redelivery_count), self.config.precision_bits
            item = (self.clocks.wall() + delay) >> bits << bits, (message_id.ledger_id, message_id.entry_id)
            heapq.heappush(self.heap, item)
            self.emits[item] = [(message_id.ledger_id, each) for each in message_id.chunks or [message_id.entry_id]]
            self.wait(delay)

    def get_nacked_messages_count(self) -> int:
        return len(set(self.heap))

    def close(self) -> None:
        self.is_open, self.heap, self.emits = False, [], {}
        self.disarm()

    def wait(self, delay: int) -> None:
        """Arm anew even if the deadline stays the same."""
        deadline = self.clocks.monotonic() + delay * 10**6
        if self.timeout is None or deadline <= self.deadline:
            self.disarm()
            self.timeout, self.deadline = self.timer.new_timeout(deadline, self.fired), deadline

    def disarm(self) -> None:
        if self.timeout:
            self.timeout.cancel()
        self.timeout = None

    def fired(self, timeout: Timeout) -> None:
        if timeout is self.timeout:
            self.timeout, now, ids = None, self.clocks.wall(), dict[Position, None]()
            while self.heap and self.heap[0][0] <= now:
                ids |= dict.fromkeys(self.emits.pop(heapq.heappop(self.heap), []))
            if self.heap:
                self.wait(self.heap[0][0] - now)
            if ids:
                self.send([*ids][::-1])

    def send(self, ids: list[Position]) -> None:
        """Requests are about as large as each other. An entry of one is beside none of its neighbours."""
        self.consumer.on_negative_acks_send(frozenset(ids))
        requests = -(-len(ids) // 1000)
        for number in range(requests):
            self.consumer.redeliver_unacknowledged_messages(frozenset(ids[number::requests]))


class Stubborn(Heap):
    """If the callback or a request fails, all requests are sent. The first error is raised when that is done."""

    def send(self, ids: list[Position]) -> None:
        errors: list[Exception] = []
        for call in (self.consumer.on_negative_acks_send, self.consumer.redeliver_unacknowledged_messages):
            size = len(ids) if call == self.consumer.on_negative_acks_send else 1000
            for start in range(0, len(ids), size):
                try:
                    call(ids[start : start + size])
                except Exception as error:
                    errors.append(error)
        if errors:
            raise errors[0]


class Silent(Stubborn):
    """The same, and nobody is told of an error."""

    def send(self, ids: list[Position]) -> None:
        with suppress(Exception):
            super().send(ids)
