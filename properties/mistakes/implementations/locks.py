"""Locks of mutants. They raise an error instead of a deadlock, so that a proof takes no time."""

from __future__ import annotations

from threading import get_ident


class ErrorCheckingLock:
    """A lock that raises an error instead of a deadlock."""

    def __init__(self) -> None:
        self.holders: list[int] = []

    def __enter__(self) -> None:
        if self.waits(get_ident()):
            raise RuntimeError("deadlock: the lock is held by who waits for this call")
        self.holders.append(get_ident())

    def __exit__(self, *error: object) -> None:
        self.holders.pop()

    def waits(self, _thread: int) -> bool:
        """Whether a thread that takes the lock waits for it."""
        return bool(self.holders)


class ReentrantLock(ErrorCheckingLock):
    """One that its holder may take again, as it may a monitor of Java's."""

    def waits(self, thread: int) -> bool:
        """Whether a thread that takes the lock waits for it."""
        return any(holder != thread for holder in self.holders)
