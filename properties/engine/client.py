"""The adapter of a tracker in a client: two clocks, a timer exact to the nanosecond, the application, the broker."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle, repeat
from typing import Any, NoReturn

from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.threads import first_elsewhere, here
from broker_tck.properties.engine.timer import ManualTimer, Timeout

MS = 1_000_000
"""Nanoseconds in a millisecond."""
MOST_AT_ONCE = 10_000
"""Maximum number of firings at one time: a tracker that fires more often does not come back."""
MOST_FIRINGS = 50_000
"""Maximum number of firings in one advance."""

Ids = list[tuple[int, ...]]
"""Ids of messages: ledger id, entry id, and more if the contract has more."""
Named = Iterable[tuple[tuple[int, int], object]]
"""Entries, each with what a client takes it for."""


class RequestFailed(Exception):
    """Raised by a request, or a callback, that should fail."""


class ClientAdapter(ManualTimer):
    """What a tracker of a client deals with. Its methods are the operations that all such trackers have.

    ``requests`` says what is told of the requests after a callback: it is given the ids of the callback, those of each
    request that went out, and whether one failed.
    """

    tracker: Any

    def __init__(self, clock: int, threads: bool, requests: Callable[[Any, Any, bool], Any]) -> None:
        super().__init__(clock * MS)
        self.ahead = 0
        self.failing = False
        self.callback_fails = cycle((False, True))
        self.inner: list[Operation] = []
        self.calls = first_elsewhere() if threads else repeat(here)
        self.emissions: list[list[Any]] = []
        self.requests = requests

    # ---- What the tracker is given: clocks, timer, consumer

    def wall(self) -> int:
        """Milliseconds since the epoch; they may jump."""
        return self.now // MS + self.ahead

    def monotonic(self) -> int:
        """Nanoseconds that only go forward."""
        return self.now

    def call_back(self, ids: Collection[Any]) -> None:
        """The application's callback."""
        self.emissions.append([-(-self.now // MS), sorted(map(tuple, ids)), [], False])
        inner, self.inner = self.inner, []
        for operation in inner:
            next(self.calls)(partial(self.inside_callback, operation))
        if self.failing and next(self.callback_fails):
            self.throw()

    def seen(self) -> tuple[Any, ...]:
        """What is seen of the subject."""
        raise NotImplementedError

    def inside_callback(self, operation: Operation) -> None:
        """Look at the subject, which may need a lock of its own, and do an operation."""
        self.seen()
        operation.on(self)

    def redeliver_unacknowledged_messages(self, ids: Collection[Any]) -> None:
        """One request to the broker. It is read when its firing has ended, as it may be sent later."""
        if self.failing:
            self.throw()
        self.emissions[-1][2].append(ids)

    def throw(self) -> NoReturn:
        """Throw, once."""
        self.failing = False
        self.emissions[-1][3] = True
        raise RequestFailed

    # ---- Operations

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
        return [
            [at, ids, self.requests(ids, [sorted(map(tuple, request)) for request in made], failed)]
            for at, ids, made, failed in told
        ]

    def jump(self, by: int) -> None:
        """The wall clock jumps."""
        self.ahead += by

    def fail(self) -> None:
        """The next request throws; every second time the callback throws in its place."""
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

    def armed(self) -> list[int]:
        """The times of all armed timeouts in milliseconds."""
        armed = [-(-timeout.deadline // MS) for timeout in self.live]
        return sorted(armed) if len(armed) > 1 else armed


def entries_kept(
    operations: Sequence[Operation], fits: Callable[[Operation], bool], entries_of: Callable[[Operation], Named]
) -> Iterator[bool]:
    """Which operations a client can do, of those that fit: it takes an entry for one thing, for good."""
    known: dict[tuple[int, int], object] = {}
    for operation in operations:
        named = dict(entries_of(operation))
        can = fits(operation) and all(known.get(at, kind) == kind for at, kind in named.items())
        if can:
            known |= named
        yield can
