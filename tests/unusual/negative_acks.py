"""Right but unusual trackers of negative acks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Coroutine, Generator
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
