"""Futures as Java's CompletableFuture has them: what depends on one runs in an order that storage calls show.

Dependents form a stack, so the newest runs first. Those of a dependent that is completed on the way are moved to the
stack of the first future, all but the oldest, and so run in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from broker_tck.implementations.interface import Done

T = TypeVar("T")
U = TypeVar("U")
Fires = Callable[[], "Future[Any] | None"]
"""Completes a dependent; answers with it if others depend on that one in turn."""


class Future(Generic[T]):
    """A result to come, or an error."""

    __slots__ = ("dependents", "done", "error", "value")

    def __init__(self) -> None:
        self.done = False
        self.error: Exception | None = None
        self.value: T | None = None
        self.dependents: list[Fires] = []
        """The newest last."""

    def join(self) -> T:
        """The result of a future that is done; raises its error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # it is done, and T may be None

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.error is not None

    def settle(self, outcome: T | Exception) -> None:
        """Complete it, and everything that depends on it."""
        if isinstance(outcome, Exception):
            self.become(None, outcome)
        else:
            self.become(outcome, None)
        self._run_dependents()

    # ---- What depends on it

    def handle(self, f: Callable[[T | None, Exception | None], U]) -> Future[U]:
        """What ``f`` makes of result or error."""
        after: Future[U] = Future()

        def fire() -> Future[Any] | None:
            try:
                after.become(f(self.value, self.error), None)
            except Exception as error:
                after.become(None, error)
            return after.if_awaited()

        self._then(fire)
        return after

    def when_complete(self, f: Callable[[Exception | None], None]) -> Future[T]:
        """The same outcome, once ``f`` has run."""

        def same(_: T | None, error: Exception | None) -> T:
            f(error)
            return self.join()

        return self.handle(same)

    def exceptionally(self, value: U) -> Future[T | U]:
        """The same result; a value where there was an error."""
        return self.handle(lambda _, error: self.join() if error is None else value)

    def then(self, f: Callable[[T], U]) -> Future[U]:
        """What ``f`` makes of the result; an error goes past it."""
        return self.handle(lambda _, __: f(self.join()))

    def then_compose(self, f: Callable[[T], Future[U]]) -> Future[U]:
        """The outcome of the future that ``f`` makes of the result."""
        after: Future[U] = Future()

        def relay(inner: Future[U]) -> Future[Any] | None:
            after.become(inner.value, inner.error)
            return after.if_awaited()

        def fire() -> Future[Any] | None:
            try:
                inner = f(self.join())
            except Exception as error:
                after.become(None, error)
                return after.if_awaited()
            if inner.done:
                return relay(inner)
            inner.dependents.append(lambda: relay(inner))
            return None

        self._then(fire)
        return after

    # ---- How it is completed

    def _then(self, fire: Fires) -> None:
        if self.done:
            fire()
        else:
            self.dependents.append(fire)

    def become(self, value: T | None, error: Exception | None) -> None:
        """Take an outcome; nothing that depends on it runs yet."""
        self.value, self.error, self.done = value, error, True

    def if_awaited(self) -> Future[Any] | None:
        """Itself, if it is done and something depends on it."""
        return self if self.done and self.dependents else None

    def _run_dependents(self) -> None:
        here: Future[Any] = self
        while here.dependents or self.dependents:
            if not here.dependents:
                here = self
            fire = here.dependents.pop()
            if here is not self and here.dependents:
                self.dependents.append(fire)
            else:
                here = fire() or self


def completed(value: T) -> Future[T]:
    """A future that is done."""
    future: Future[T] = Future()
    future.settle(value)
    return future


def all_of(futures: Sequence[Future[Any]]) -> Future[None]:
    """Done when all are; fails where one does, with the error of the first in their order."""
    if not futures:
        return completed(None)
    if len(futures) == 1:
        return _both(futures[0], futures[0])
    middle = (len(futures) + 1) // 2
    left, right = futures[:middle], futures[middle:]
    return _both(
        left[0] if len(left) == 1 else all_of(left),
        right[0] if len(right) == 1 else all_of(right),
    )


def _both(a: Future[Any], b: Future[Any]) -> Future[None]:
    after: Future[None] = Future()

    def fire() -> Future[Any] | None:
        if after.done or not (a.done and b.done):
            return None
        after.become(None, a.error or b.error)
        return after.if_awaited()

    if a.done and b.done:
        fire()
    else:
        for each in (a, b):
            if not each.done:
                each.dependents.append(fire)
    return after


def called(call: Callable[[Done[T]], None]) -> Future[T]:
    """Of a call that tells later what it has come to."""
    future: Future[T] = Future()
    call(future.settle)
    return future


def with_retries(call: Callable[[], Future[T]], again: type[Exception], retries: int) -> Future[T]:
    """A call that is made again at once, so many times at most, while it ends with a certain error."""
    outcome: Future[T] = Future()

    def relay(value: T | None, error: Exception | None) -> None:
        if isinstance(error, again) and retries > 0:
            with_retries(call, again, retries - 1).handle(settle)
        else:
            settle(value, error)

    def settle(value: T | None, error: Exception | None) -> None:
        outcome.settle(error if error is not None else value)  # type: ignore[arg-type]  # T may be None

    call().handle(relay)
    return outcome


class Sequencer:
    """Runs tasks one after another; an error of one does not keep the next one from running."""

    def __init__(self) -> None:
        self._last: Future[Any] = completed(None)

    def sequential(self, task: Callable[[], Future[T]]) -> Future[T]:
        """Run a task as soon as the one before it has ended."""
        mine = task() if self._last.done else self._last.exceptionally(None).then_compose(lambda _: task())
        self._last = mine
        return mine
