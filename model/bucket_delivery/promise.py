"""What is to come: the outcome of calls that have not ended, and who waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Promise:
    """An outcome that is not there yet. Those who wait for it are told in the order in which they came."""

    def __init__(self) -> None:
        self.settled = False
        self.outcome: Any = None
        self.waiting: list[Callable[[Any], None]] = []

    def settle(self, outcome: Any) -> None:
        """Tell the outcome, once."""
        self.settled, self.outcome = True, outcome
        waiting, self.waiting = self.waiting, []
        for told in waiting:
            told(outcome)

    def then(self, told: Callable[[Any], None]) -> None:
        """Go on with the outcome, at once if it is there."""
        if self.settled:
            told(self.outcome)
        else:
            self.waiting.append(told)


def settled(outcome: Any) -> Promise:
    """An outcome that is there."""
    promise = Promise()
    promise.settle(outcome)
    return promise


def all_of(promises: Sequence[Promise]) -> Promise:
    """The outcomes of all, in a list, when the last one is there."""
    whole = Promise()
    left = len(promises)

    def told(_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            whole.settle([promise.outcome for promise in promises])

    for promise in promises:
        promise.then(told)
    if not promises:
        whole.settle([])
    return whole
