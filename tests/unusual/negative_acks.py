"""Right but unusual trackers of negative acks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Coroutine, Generator, Iterator
from contextlib import suppress
from types import coroutine
from typing import Any, ClassVar, NamedTuple

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)

MS = 1_000_000


def delay_of(config: NegativeAcksConfig, count: int) -> int:
    """How long a message waits that was redelivered so often before, in milliseconds."""
    if config.backoff_ms is not None:
        return [*config.backoff_ms, config.backoff_ms[-1]][min(count, len(config.backoff_ms))]
    if config.multiplier is None:
        return max(config.delay_us // 1000, 100)
    first, longest, factor = config.multiplier
    with suppress(OverflowError):
        return int(min(first * math.pow(factor, count), longest))
    return longest if first else 0


class Link(NamedTuple):
    """A nack, and those before it. Nothing of it ever changes."""

    bucket: int
    position: Position
    chunks: tuple[int, ...]
    first: int
    """The first bucket of all."""
    before: Link | None


class State(NamedTuple):
    """All that a tracker knows."""

    nacks: Link | None = None
    timeout: Timeout | None = None
    deadline: int = 0
    closed: bool = False


class ChainTracker:
    """Nothing changes but the one name of a state: nacks are a chain of tuples, gone through on each question.

    The timer is armed anew at each nack, for the deadline that it had or a sooner one. What is too much for one request
    goes out in parts of one size.
    """

    contract: ClassVar = "negative-acks"
    profiles: ClassVar = ("pip-393-spec",)

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self.config, self.clocks, self.timer, self.consumer = config, clocks, timer, consumer
        self.state = State()
        self.counted: tuple[Link | None, int] = None, 0

    def links(self) -> Iterator[Link]:
        """The newest nack, and those before it."""
        link = self.state.nacks
        while link:
            yield link
            link = link.before

    def link(self, bucket: int, position: Position, chunks: tuple[int, ...]) -> None:
        """Add a nack."""
        before = self.state.nacks
        first = min(bucket, before.first) if before else bucket
        self.state = self.state._replace(nacks=Link(bucket, position, chunks, first, before))

    def add(self, message_id: MessageId) -> None:
        self.add_message(message_id, 0)

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        if self.state.closed:
            return
        ledger, entry, _, chunks = message_id
        delay = delay_of(self.config, redelivery_count)
        width = 1 << self.config.precision_bits
        self.link((self.clocks.wall() + delay) // width * width, (ledger, entry), (*chunks, entry))
        deadline = self.clocks.monotonic() + delay * MS
        self.arm(min(deadline, self.state.deadline) if self.state.timeout else deadline)

    def arm(self, deadline: int | None) -> None:
        """Cancel what is armed, and arm for a time if there is one."""
        if self.state.timeout:
            self.state.timeout.cancel()
        timeout = None if deadline is None else self.timer.new_timeout(deadline, self.fired)
        self.state = self.state._replace(timeout=timeout, deadline=deadline or 0)

    def fired(self, timeout: Timeout) -> None:
        """Emit what is due."""
        if timeout is not self.state.timeout:
            return
        now = self.clocks.wall()
        links = [*self.links()][::-1]
        self.state = State()
        for link in links:
            if link.bucket > now:
                self.link(*link[:3])
        if self.state.nacks:
            self.arm(self.clocks.monotonic() + (self.state.nacks.first - now) * MS)
        self.emit({(link.position[0], entry) for link in links if link.bucket <= now for entry in link.chunks})

    def emit(self, ids: set[Position]) -> None:
        """Call the application, then send the requests."""
        if not ids:
            return
        self.consumer.on_negative_acks_send(frozenset(ids))
        requests = -(-len(ids) // 1000)
        for first in range(requests):
            self.consumer.redeliver_unacknowledged_messages([*ids][first::requests])

    def get_nacked_messages_count(self) -> int:
        if self.counted[0] is not self.state.nacks:
            self.counted = self.state.nacks, len({link[:2] for link in self.links()})
        return self.counted[1]

    def close(self) -> None:
        self.arm(None)
        self.state = State(closed=True)


@coroutine
def next_message() -> Generator[None, Any, Any]:
    """Wait for what somebody sends."""
    return (yield)


class AsyncTracker:
    """An adapter around a coroutine that keeps ids as text; the core is sent messages, and asks for nothing itself.

    Whatever the core is not told has no name here: calls are made of the adapter's attributes as they are asked for.
    Ids are emitted as the keys of a dictionary.
    """

    contract: ClassVar = "negative-acks"
    profiles: ClassVar = ("pip-393-spec",)
    calls: ClassVar = {"add": 1, "add_message": 2, "get_nacked_messages_count": 0, "close": 0}

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self._config, self._clocks, self._timer, self._consumer = config, clocks, timer, consumer
        self._armed: Timeout | None = None
        self._deadline = 0
        self._told: list[Any] = []
        self._core: Coroutine[None, Any, None] | None = self._run()
        self._core.send(None)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in type(self).calls:
            raise AttributeError(name)
        return lambda *arguments: self._send(name, *arguments)

    def _send(self, *message: Any) -> Any:
        """Send the core a message; what it tells by that is the answer."""
        if self._core is None:
            return 0 if message[0].startswith("get") else None
        self._core.send(message)
        told, self._told = self._told, []
        if message[0] == "close":
            self._core.close()
            self._core = None
        return told[0] if told else None

    async def _run(self) -> None:
        """The core: buckets, and texts in them."""
        buckets: dict[int, dict[str, set[str]]] = {}
        while True:
            word, *arguments = await next_message()
            if word == "get_nacked_messages_count":
                self._told.append(sum(map(len, buckets.values())))
            elif word == "close":
                await self._arm(None)
            elif word == "fire":
                now = self._clocks.wall()
                due = [buckets.pop(bucket) for bucket in [*buckets] if bucket <= now]
                if buckets:
                    await self._arm(self._clocks.monotonic() + (min(buckets) - now) * MS)
                self._told.append({text: None for bucket in due for texts in bucket.values() for text in texts})
            else:
                await self._nack(buckets, *arguments)

    async def _nack(self, buckets: dict[int, dict[str, set[str]]], message: MessageId, count: int = 0) -> None:
        """Keep a nack, and have the timer fire for it."""
        delay = delay_of(self._config, count)
        bucket = self._clocks.wall() + delay
        bucket -= bucket % (1 << self._config.precision_bits)
        texts = buckets.setdefault(bucket, {}).setdefault(f"{message.ledger_id}:{message.entry_id}", set())
        texts |= {f"{message.ledger_id}:{entry}" for entry in (*message.chunks, message.entry_id)}
        deadline = self._clocks.monotonic() + delay * MS
        if self._armed is None or deadline < self._deadline:
            await self._arm(deadline)

    async def _arm(self, deadline: int | None) -> None:
        """Cancel what is armed, and arm for a time if there is one."""
        if self._armed is not None:
            self._armed.cancel()
        self._armed = None if deadline is None else self._timer.new_timeout(deadline, self._fired)
        self._deadline = deadline or 0

    def _fired(self, timeout: Timeout) -> None:
        """Emit what the core finds due. It waits for the next message by then, so that callbacks may come back."""
        if timeout is self._armed:
            self._armed = None
            texts = self._send("fire")
            self._emit({(int(ledger), int(entry)): None for ledger, _, entry in (t.partition(":") for t in texts)})

    def _emit(self, ids: dict[Position, None]) -> None:
        """Call the application, then send the requests."""
        if ids:
            self._consumer.on_negative_acks_send(ids.keys())
        parts: list[Collection[Position]] = [[*ids][i : i + 1000] for i in range(0, len(ids), 1000)]
        for part in parts:
            self._consumer.redeliver_unacknowledged_messages(dict.fromkeys(part).keys())
