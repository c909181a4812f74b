"""Results that are to come, and steps that wait for them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Promise(Generic[T]):
    """A result, or none yet. Those who wait are told in the order in which they came, at once if it is there."""

    __slots__ = ("_result", "_waiting", "kept")

    def __init__(self) -> None:
        self.kept = False
        """Whether the result is there."""
        self._result: T | None = None
        self._waiting: list[Callable[[T], object]] = []

    @property
    def result(self) -> T:
        """The result, once it is there."""
        return cast(T, self._result)

    def keep(self, result: T) -> None:
        """Tell the result, once."""
        self._result, self.kept = result, True
        waiting, self._waiting = self._waiting, []
        for told in waiting:
            told(result)

    def then(self, told: Callable[[T], object]) -> None:
        """Go on with the result."""
        if self.kept:
            told(self.result)
        else:
            self._waiting.append(told)


Steps = Generator[Promise[Any], Any, T]
"""A sequence of steps: it waits for each promise that it yields, and is sent that promise's result."""


def run(steps: Steps[T]) -> Promise[T]:
    """Run steps as far as their promises are kept, and go on later; the promise of their result."""
    ended: Promise[T] = Promise()

    def go_on(result: object = None) -> None:
        try:
            while True:
                promise = steps.send(result)
                if not promise.kept:
                    promise.then(go_on)
                    return
                result = promise.result
        except StopIteration as end:
            answer: T = end.value
        ended.keep(answer)

    go_on()
    return ended


def all_of(promises: Sequence[Promise[T]]) -> Promise[list[T]]:
    """The results of all, when the last one is there."""
    whole: Promise[list[T]] = Promise()
    left = len(promises)

    def told(_: T) -> None:
        nonlocal left
        left -= 1
        if not left:
            whole.keep([promise.result for promise in promises])

    for promise in promises:
        promise.then(told)
    if not promises:
        whole.keep([])
    return whole
