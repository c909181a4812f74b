"""What several interfaces share: positions, clocks, timeouts, and the exception of a subject that hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""

NOT_ANSWERED = "no answer within the limit"


class Hang(BaseException):
    """A subject did not come back within its limit.

    Not an ``Exception``, so that no subject swallows it. A wrapper with a limit of its own raises it after it has ended
    the call: for example, when the fuel of a loop in Java code has run out. The kit reports it as it reports a call
    that its own guard has ended.
    """

    def __init__(self) -> None:
        super().__init__(NOT_ANSWERED)


Clock = Callable[[], int]
"""The time now, in milliseconds since the epoch. A subject has no other source of time."""


class Clocks(Protocol):
    """The two clocks of a client. It has no other source of time."""

    def wall(self) -> int:
        """Milliseconds since the epoch. They may jump, both ways."""

    def monotonic(self) -> int:
        """Nanoseconds since some moment. They only go forward."""


class Timeout(Protocol):
    """A timer that was armed."""

    @property
    def cancelled(self) -> bool:
        """Whether ``cancel`` was called."""

    def cancel(self) -> None:
        """Disarm. A firing that is already on its way may still arrive; ignore it."""


class IllegalArgumentException(ValueError):
    """A subject raises it if it refuses an argument."""
