"""What subjects of several contracts are given: positions, the clock, timeouts, and how one ends that hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""

NOT_ANSWERED = "no answer within the limit"


class Hang(BaseException):
    """A subject did not come back within its limit. Not an ``Exception``, so that no subject swallows it.

    A wrapper raises it that has a limit of its own, once it has ended what it wraps: a loop in Java code whose fuel has
    run out, say. The kit tells it as it tells a subject that its guard has ended.
    """

    def __init__(self) -> None:
        super().__init__(NOT_ANSWERED)


Clock = Callable[[], int]
"""The time now, in milliseconds since the epoch. A subject has no other source of time."""


class Timeout(Protocol):
    """A timer that was armed."""

    @property
    def cancelled(self) -> bool:
        """Whether ``cancel`` was called."""

    def cancel(self) -> None:
        """Disarm. A firing that is already on its way may still arrive, and has to be ignored."""


class IllegalArgumentException(ValueError):
    """What a subject raises where it refuses an argument."""
