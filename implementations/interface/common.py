"""What subjects of several contracts are given: positions, the clock, timeouts, and how one ends that hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""

NOT_ANSWERED = "no answer within the limit"


class Hang(BaseException):
    """A subject did not come back within its limit. Not an ``Exception``, so that no subject swallows it.

    A wrapper raises it if what it wraps was ended, as a loop in Java code is whose fuel has run out. The kit raises it
    in its own process, in what works for too long.
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
