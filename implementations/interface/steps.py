"""Calls that can be gone on with in steps: what a step does, as far as other calls can notice."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, TypeVar

from broker_tck.implementations.interface.common import Position


class Did(NamedTuple):
    """What a step of a call did, as far as other calls can notice."""

    word: str
    position: Position | None = None


LOOKS = Did("looks")
"""Nothing that others notice: something was looked up, a blank head of the queue was dropped."""
WAITS = Did("waits")
"""Nothing: another call holds the lock that is needed."""
MAPS = Did("maps")
"""An insertion: the value is in its cache."""
QUEUES = Did("queues")
"""An insertion: it is at the tail of the queue."""
MARKS = Did("marks")
"""A read: the entry is marked as accessed."""
STOPS = Did("stops")
"""A pass: the head of the queue is one that it stops at."""


def removes(position: Position) -> Did:
    """A removal, or a pass: the entry has left its cache, and its value was released."""
    return Did("removes", position)


def requeues(position: Position) -> Did:
    """A pass: the head of the queue is at its tail now, with the time of now."""
    return Did("requeues", position)


R = TypeVar("R")
Steps = Generator[Did, None, R]
"""A call in steps: it yields wherever another call may come in between, and says what it did since it last yielded."""
