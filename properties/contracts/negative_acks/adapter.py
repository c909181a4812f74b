"""The adapter of a negative-acks tracker: two clocks, a timer exact to the nanosecond, and the consumer."""

from __future__ import annotations

import gc
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from itertools import repeat
from typing import Any, cast

from broker_tck.implementations.interface import ChunkLedgers, MessageId, NegativeAcksFactory, Position
from broker_tck.properties.contracts.negative_acks.operations import Capabilities, Chunks, Config
from broker_tck.properties.engine.answers import number
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.threads import first_elsewhere, here
from broker_tck.properties.engine.timer import ManualTimer, Timeout

MS = 1_000_000
"""Nanoseconds in a millisecond."""
IDS_OF_A_REQUEST = 1_000
MOST_AT_ONCE = 10_000
"""Maximum number of firings at one time: a tracker that fires more often does not come back."""
MOST_FIRINGS = 50_000
"""Maximum number of firings in one advance."""


class RequestFailed(Exception):
    """Raised by a request that should fail."""


class Adapter(ManualTimer):
    """A subject under test, and all that it deals with. Its methods are the operations."""

    def __init__(self, factory: NegativeAcksFactory, config: Config, capabilities: Capabilities) -> None:
        super().__init__(config.clock * MS)
        self.ahead = 0
        self.failing = False
        self.inner: list[Operation] = []
        self.calls = first_elsewhere() if capabilities.threads else repeat(here)
        self.emissions: list[list[Any]] = []
        self.tracker = factory(config, self, self, self)

    # ---- What the tracker is given: clocks, timer, consumer

    def wall(self) -> int:
        """Milliseconds since the epoch; they may jump."""
        return self.now // MS + self.ahead

    def monotonic(self) -> int:
        """Nanoseconds that only go forward."""
        return self.now

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """The application's callback."""
        self.emissions.append([-(-self.now // MS), sorted(map(tuple, ids)), [], False])
        inner, self.inner = self.inner, []
        for operation in inner:
            next(self.calls)(partial(operation.on, self))

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """One request to the broker."""
        if self.failing:
            self.failing = False
            self.emissions[-1][3] = True
            raise RequestFailed
        self.emissions[-1][2].append(sorted(map(tuple, ids)))

    # ---- Operations

    def nack(self, ledger: int, entry: int, count: int) -> None:
        """Nack by message."""
        self.tracker.add_message(MessageId(ledger, entry), count)

    def nack_id(self, ledger: int, entry: int) -> None:
        """Nack by id."""
        self.tracker.add(MessageId(ledger, entry))

    def batch(self, ledger: int, entry: int, index: int, count: int) -> None:
        """Nack a message of a batch."""
        self.tracker.add_message(MessageId(ledger, entry, index), count)

    def chunked(self, chunks: Chunks, count: int) -> None:
        """Nack a message in chunks."""
        ledger, entry = chunks[-1]
        if chunks[0][0] == ledger:
            self.tracker.add_message(MessageId(ledger, entry, -1, [each for _, each in chunks]), count)
        else:
            cast(ChunkLedgers, self.tracker).add_chunked_message(chunks, count)

    def advance(self, ms: int) -> list[list[Any]]:
        """Let time pass; timers fire on the way."""
        until = self.now + ms * MS
        at_once, firings, before = 0, 0, self.now
        while timeout := self.due(until):
            at_once = at_once + 1 if self.now == before else 0
            before, firings = self.now, firings + 1
            if at_once > MOST_AT_ONCE:
                raise RuntimeError("the timer fires and fires, and time does not move")
            if firings > MOST_FIRINGS:
                raise RuntimeError("the timer fires and fires, and time hardly moves")
            self.fire(timeout)
        self.now = until
        return self.told()

    def fire(self, timeout: Timeout) -> None:
        """Run a timeout's callback, as a timer's thread does: what the request throws ends there."""
        with suppress(RequestFailed):
            timeout.fired(timeout)

    def told(self) -> list[list[Any]]:
        """What was emitted since the last time."""
        told, self.emissions = self.emissions, []
        return [[at, ids, requests(ids, made, failed)] for at, ids, made, failed in told]

    def jump(self, by: int) -> None:
        """The wall clock jumps."""
        self.ahead += by

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

    def collect_garbage(self) -> None:
        """Collect garbage; a tracker outside of Python has a method of its own for that."""
        getattr(self.tracker, "collect_garbage", gc.collect)()

    def seen(self) -> tuple[Any, list[int]]:
        """The number of items, and the times of all armed timeouts in milliseconds."""
        armed = [-(-timeout.deadline // MS) for timeout in self.live]
        return number(self.tracker.get_nacked_messages_count()), sorted(armed) if len(armed) > 1 else armed


def requests(ids: list[Position], made: list[list[Position]], failed: bool) -> Any:
    """The sizes of the requests of one callback; the requests in full if they are not for the ids of the callback.

    If there are as few as there can be, and none is too large, it does not matter where the ids are cut. If one has
    ``failed``, it does not matter which others are made (NA-35).
    """
    requested = sorted(p for request in made for p in request)
    if not made or (failed and set(requested) <= set(ids) and max(map(len, made)) <= IDS_OF_A_REQUEST):
        return 0
    if requested != ids:
        return made
    sizes = [len(request) for request in made]
    full, rest = divmod(len(ids) - 1, IDS_OF_A_REQUEST)
    if len(sizes) == full + 1 and max(sizes) <= IDS_OF_A_REQUEST:
        sizes = [IDS_OF_A_REQUEST] * full + [rest + 1]
    return 1 if len(sizes) == 1 else sizes
