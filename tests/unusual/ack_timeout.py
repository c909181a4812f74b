"""Right but unusual trackers of ack timeouts."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import ClassVar

from broker_tck.implementations.ack_timeout.timing_wheel import TimingWheel
from broker_tck.implementations.interface import (
    AckTimeoutConfig,
    AckTimeoutConsumer,
    AckTimer,
    Clocks,
    Timeout,
    TrackedId,
    TrackedPosition,
)

MS = 1_000_000


class RestlessWheel(TimingWheel):
    """Arms its timer for every tick while it tracks something, and disarms it as soon as it tracks nothing."""

    contract: ClassVar[str] = "ack-timeout"

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self.consumer = consumer
        self._consumer = self

    def on_ack_timeout_send(self, ids: Iterable[TrackedPosition]) -> None:
        """Hand ids on as the keys of a dictionary, the last one first."""
        self.consumer.on_ack_timeout_send(dict.fromkeys(reversed([*ids])).keys())

    def redeliver_unacknowledged_messages(self, ids: Iterable[TrackedPosition]) -> None:
        """Hand ids on as a set."""
        self.consumer.redeliver_unacknowledged_messages({*ids})

    def _arm_for(self, tick: int) -> None:
        super()._arm_for(min(tick, self._now() + 1))

    def _fired(self, timeout: Timeout) -> None:
        super()._fired(timeout)
        self._rest()

    def clear(self) -> None:
        """Let go of everything, the timer as well."""
        super().clear()
        self._rest()

    def _remove(self, positions: Iterable[TrackedPosition]) -> int:
        removed = super()._remove(positions)
        self._rest()
        return removed

    def _rest(self) -> None:
        if not self._kept and self._timeout:
            self._timeout.cancel()
            self._timeout = None


class DeadlineHeap:
    """One heap of ticks. What is no longer true stays in it until it comes to the top; nobody says when that is.

    The timer is armed for what is at the top, true or not, and armed anew after each call. Of messages that come back,
    the last chunk is told first. A timeout is known by its number, not by itself.
    """

    contract: ClassVar[str] = "ack-timeout"
    profiles: ClassVar[tuple[str, ...]] = ("ack-timeout-spec",)

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        self.width = min(config.tick, config.ack_timeout) * MS
        self.stay = (config.ack_timeout * MS + self.width - 1) // self.width
        self.delays = [delay * MS for delay in config.backoff or [0]]
        self.clock, self.start, self.timer, self.consumer = clocks.monotonic, clocks.monotonic(), timer, consumer
        self.serial: dict[TrackedPosition, int] = {}
        self.heap: list[tuple[int, int, bool, int, TrackedId]] = []
        """Tick, serial number, whether it waits for its backoff, redelivery count, message."""
        self.numbers = count()
        self.armed: tuple[int, Timeout] | None = None
        self.is_open = True

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Push a message that is new."""
        if not self.is_open or message_id[:3] in self.serial:
            return False
        number = self.serial[message_id[:3]] = next(self.numbers)
        tick = (self.clock() - self.start) // self.width + 1 + self.stay
        heappush(self.heap, (tick, number, False, redelivery_count, message_id))
        self.arm()
        return True

    def arm(self) -> None:
        """Arm for the top, whatever was armed."""
        number = next(self.numbers)
        if self.armed:
            self.armed[1].cancel()
        self.armed = None
        if self.heap:
            at = self.start + self.heap[0][0] * self.width
            self.armed = number, self.timer.new_timeout(at, lambda _: self.fired(number))

    def fired(self, number: int) -> None:
        """Pop all of this tick; what has a delay is pushed once more."""
        if not self.armed or self.armed[0] != number:
            return
        now, back = self.heap[0][0], dict[TrackedPosition, None]()
        while self.heap and self.heap[0][0] <= now:
            _, serial, waited, redelivered, message = heappop(self.heap)
            wait = 0 if waited else self.delays[min(redelivered, len(self.delays) - 1)]
            if self.serial.get(message[:3]) != serial:
                continue
            if wait:
                heappush(self.heap, (now - -wait // self.width, serial, True, redelivered, message))
            else:
                del self.serial[message[:3]]
                entries = reversed(message.chunks or [message.entry_id])
                back |= dict.fromkeys((message.ledger_id, entry, message.batch_index) for entry in entries)
        self.rest()
        if back:
            self.consumer.on_ack_timeout_send(tuple(back))
            self.consumer.redeliver_unacknowledged_messages(back.keys())

    def remove(self, message_id: TrackedId) -> bool:
        """Forget the number of a message."""
        was_there = self.serial.pop(message_id[:3], None) is not None
        self.rest()
        return was_there

    def rest(self) -> None:
        """Arm for the top. What is in the heap is forgotten first if nothing of it is true."""
        if not self.serial:
            self.heap = []
        self.arm()

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """Forget the numbers of all up to one."""
        before = len(self.serial)
        self.serial = {position: number for position, number in self.serial.items() if position > message_id[:3]}
        self.rest()
        return before - len(self.serial)

    def remove_topic_messages(self, topic: str) -> int:
        """Forget the numbers of all of a topic, which are told by the heap."""
        left = plain(topic)
        return sum(
            self.serial.get(message[:3]) == serial and self.remove(message)
            for _, serial, _, _, message in self.heap
            if plain(message.topic) == left
        )

    def clear(self) -> None:
        """Forget all numbers."""
        self.serial = {}
        self.rest()

    def size(self) -> int:
        """How many numbers there are."""
        return len(self.serial)

    def close(self) -> None:
        """Forget what is in the heap as well."""
        self.is_open = False
        self.clear()


def plain(topic: str) -> str:
    """The name of a topic without the number of its partition."""
    return re.sub(r"-partition-\d+$", "", topic)


class Recounted:
    """Knows no stages and no deadlines: of each message the tick before its add, and every tick asks all of them.

    Its timer is armed from its start to its close, for every tick, whether something is tracked or not.
    """

    contract: ClassVar[str] = "ack-timeout"
    profiles: ClassVar[tuple[str, ...]] = ("ack-timeout-spec",)

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        self.config, self.clock, self.timer, self.consumer = config, clocks.monotonic, timer, consumer
        self.width = min(config.tick, config.ack_timeout) * MS
        self.messages: list[tuple[TrackedId, int, int]] = []
        """Each message with its redelivery count, and the time of the last tick before its add."""
        self.ticked = self.clock()
        self.timeout: Timeout | None = self.arm()

    def arm(self) -> Timeout:
        """Arm for the next tick."""
        return self.timer.new_timeout(self.ticked + self.width, self.fired)

    def is_over(self, message: TrackedId, redelivered: int, begun: int) -> bool:
        """Whether a message comes back with this tick."""
        timed_out = begun + self.width * (1 + -(-self.config.ack_timeout * MS // self.width))
        delays = self.config.backoff or [0]
        return timed_out + delays[min(redelivered, len(delays) - 1)] * MS <= self.ticked

    def fired(self, timeout: Timeout) -> None:
        """Ask all messages."""
        if self.timeout != timeout:
            return
        self.ticked += self.width
        self.timeout = self.arm()
        back = {each[0] for each in self.messages if self.is_over(*each)}
        self.keep(lambda message: message not in back)
        if back:
            ids = {(each[0], entry, each[2]) for each in back for entry in (*each.chunks, each.entry_id)}
            self.consumer.on_ack_timeout_send(frozenset(ids))
            self.consumer.redeliver_unacknowledged_messages(sorted(ids, reverse=True))

    def keep(self, stays: Callable[[TrackedId], bool]) -> int:
        """Let go of the others; answers with their number."""
        before = len(self.messages)
        self.messages[:] = [each for each in self.messages if stays(each[0])]
        return before - len(self.messages)

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Track a message."""
        if self.timeout is None or any(each[0][:3] == message_id[:3] for each in self.messages):
            return False
        self.messages.insert(0, (message_id, redelivery_count, self.ticked))
        return True

    def remove(self, message_id: TrackedId) -> bool:
        """Let go of a message."""
        return bool(self.keep(lambda message: message[:3] != message_id[:3]))

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """Let go of all up to one."""
        return self.keep(lambda message: message[:3] > message_id[:3])

    def remove_topic_messages(self, topic: str) -> int:
        """Let go of all of a topic."""
        return self.keep(lambda message: plain(message.topic) != plain(topic))

    def clear(self) -> None:
        """Let go of all."""
        self.messages = []

    def size(self) -> int:
        """How many there are."""
        return len(self.messages)

    def close(self) -> None:
        """Disarm for good."""
        self.clear()
        if self.timeout:
            self.timeout.cancel()
        self.timeout = None


Life = Generator[int, None, None]
"""Of one message: it yields the next tick at which something becomes of it, and ends when it comes back."""


class Lives:
    """Each message is a generator that lives in the list of its tick, in a dictionary that is sorted by ticks.

    The timer sleeps while nothing is tracked, and wakes for the first message alone: what is removed disarms it.
    """

    contract: ClassVar[str] = "ack-timeout"
    profiles: ClassVar[tuple[str, ...]] = ("ack-timeout-spec",)

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        self.config, self.clock, self.timer, self.consumer = config, clocks.monotonic, timer, consumer
        self.width = min(config.tick, config.ack_timeout) * MS
        self.phase = self.clock() % self.width
        self.ticks: dict[int, dict[TrackedPosition, tuple[Life, TrackedId]]] = {}
        self.timeout: Timeout | None = None
        self.at: int | None = None
        self.is_open = True

    def life(self, redelivered: int) -> Life:
        """Time out, then wait."""
        now = self.clock()
        first = now - (now - self.phase) % self.width + self.width
        yield (timed_out := first + self.up(self.config.ack_timeout))
        delays = self.config.backoff or (0,)
        if wait := self.up(delays[min(redelivered, len(delays) - 1)]):
            yield timed_out + wait

    def up(self, ms: int) -> int:
        """Milliseconds rounded up to whole ticks, in nanoseconds."""
        return ms * MS + -ms * MS % self.width

    def settle(self) -> None:
        """Drop empty ticks, sort the others, and have the timer wake for the first one."""
        self.ticks = {at: self.ticks[at] for at in sorted(self.ticks) if self.ticks[at]}
        first = next(iter(self.ticks), None)
        if first != self.at:
            if self.timeout:
                self.timeout.cancel()
            self.at, self.timeout = first, None if first is None else self.timer.new_timeout(first, self.fired)

    def fired(self, timeout: Timeout) -> None:
        """Lives of this tick go on."""
        if timeout is not self.timeout or self.at is None:
            return
        back: list[TrackedPosition] = []
        for position, (life, message) in self.ticks.pop(self.at).items():
            if (at := next(life, None)) is not None:
                self.ticks.setdefault(at, {})[position] = life, message
            else:
                back += [(position[0], entry, position[2]) for entry in message.chunks or position[1:2]]
        self.at = self.timeout = None
        self.settle()
        if back:
            self.consumer.on_ack_timeout_send(back)
            self.consumer.redeliver_unacknowledged_messages(back)

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Begin a life."""
        position = message_id[:3]
        if not self.is_open or any(position in lives for lives in self.ticks.values()):
            return False
        life = self.life(redelivery_count)
        self.ticks.setdefault(next(life), {})[position] = life, message_id
        self.settle()
        return True

    def end(self, ends: Callable[[TrackedId], bool]) -> int:
        """End lives."""
        ended = [(lives, position) for lives in self.ticks.values() for position in lives if ends(lives[position][1])]
        for lives, position in ended:
            del lives[position]
        self.settle()
        return len(ended)

    def remove(self, message_id: TrackedId) -> bool:
        """End one life."""
        return self.end(lambda message: message[:3] == message_id[:3]) == 1

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """End all up to one."""
        return self.end(lambda message: message[:3] <= message_id[:3])

    def remove_topic_messages(self, topic: str) -> int:
        """End all of a topic."""
        return self.end(lambda message: plain(message.topic) == plain(topic))

    def clear(self) -> None:
        """End all."""
        self.end(lambda _: True)

    def size(self) -> int:
        """How many there are."""
        return sum(map(len, self.ticks.values()))

    def close(self) -> None:
        """End all, and begin no more."""
        self.is_open = False
        self.clear()
