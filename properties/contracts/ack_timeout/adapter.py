"""The adapter of a tracker of ack timeouts: a clock, a timer exact to the millisecond, and the consumer."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import partial
from itertools import repeat
from typing import Any

from broker_tck.implementations.interface import AckTimeoutFactory, TrackedId, TrackedPosition
from broker_tck.properties.contracts.ack_timeout.operations import Capabilities, Config
from broker_tck.properties.engine.answers import number
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.threads import first_elsewhere, here
from broker_tck.properties.engine.timer import MOST_FIRINGS, ManualTimer, Timeout


class RequestFailed(Exception):
    """Raised by a request that should fail."""


class Adapter(ManualTimer):
    """A subject under test, and all that it deals with. Its methods are the operations."""

    def __init__(self, factory: AckTimeoutFactory, config: Config, capabilities: Capabilities) -> None:
        super().__init__(config.clock)
        self.topics = config.topics
        self.chunks: dict[tuple[int, int], int] = {}
        """From how many chunks each message is made that was added: its id has them all."""
        self.failing = False
        self.inner: list[Operation] = []
        self.calls = first_elsewhere() if capabilities.threads else repeat(here)
        self.emissions: list[list[Any]] = []
        self.tracker = factory(config, lambda: self.now, self, self)

    # ---- The consumer

    def on_ack_timeout_send(self, ids: Collection[TrackedPosition]) -> None:
        """The application's callback."""
        self.emissions.append([self.now, sorted([*message] for message in ids), []])
        inner, self.inner = self.inner, []
        for operation in inner:
            next(self.calls)(partial(operation.on, self))

    def redeliver_unacknowledged_messages(self, ids: Collection[TrackedPosition]) -> None:
        """A request to the broker."""
        if self.failing:
            self.failing = False
            raise RequestFailed
        self.emissions[-1][2].append(sorted([*message] for message in ids))

    # ---- Operations

    def message(self, ledger: int, entry: int, index: int) -> TrackedId:
        """The id of a message."""
        topic = self.topics[ledger % len(self.topics)] if self.topics else ""
        chunks = self.chunks.get((ledger, entry), 1) if index < 0 else 1
        return TrackedId(ledger, entry, index, range(entry - chunks + 1, entry + 1) if chunks > 1 else (), topic)

    def add(self, ledger: int, entry: int, count: int, index: int, chunks: int) -> Any:
        """Track a message."""
        self.chunks[ledger, entry] = chunks
        return self.tracker.add(self.message(ledger, entry, index), count)

    def remove(self, ledger: int, entry: int, index: int) -> Any:
        """A message was acknowledged."""
        return self.tracker.remove(self.message(ledger, entry, index))

    def remove_till(self, ledger: int, entry: int, index: int) -> Any:
        """All messages up to one were acknowledged."""
        return self.tracker.remove_messages_till(self.message(ledger, entry, index))

    def remove_topic(self, name: str) -> Any:
        """A topic was left."""
        return self.tracker.remove_topic_messages(name)

    def clear(self) -> None:
        """Let go of everything."""
        self.tracker.clear()

    def advance(self, ms: int) -> list[list[Any]]:
        """Let time pass; timers fire on the way."""
        until, firings = self.now + ms, 0
        while timeout := self.due(until):
            if (firings := firings + 1) > MOST_FIRINGS:
                raise RuntimeError(f"the timer fired {MOST_FIRINGS} times in one step of the clock")
            self.fire(timeout)
        self.now = until
        return self.told()

    def fire(self, timeout: Timeout) -> None:
        """Run a timeout's callback, as a timer's thread does: what the request throws ends there."""
        with suppress(RequestFailed):
            timeout.fired(timeout)

    def told(self) -> list[list[Any]]:
        """What came back since the last time."""
        told, self.emissions = self.emissions, []
        return [[at, ids, len(made) if all(r == ids for r in made) else made] for at, ids, made in told]

    def fail(self) -> None:
        """The next request throws."""
        self.failing = True

    def inside(self, operation: Operation) -> None:
        """Have the application do something in the next callback."""
        self.inner.append(operation)

    def stale(self) -> list[list[Any]]:
        """Let the timeout that was cancelled last fire all the same."""
        if self.last_cancelled:
            self.fire(self.last_cancelled)
        return self.told()

    def close(self) -> None:
        """Close the subject."""
        self.tracker.close()

    def seen(self) -> tuple[Any, list[int]]:
        """The size, and the times of all armed timeouts."""
        return number(self.tracker.size()), sorted(timeout.deadline for timeout in self.live)
