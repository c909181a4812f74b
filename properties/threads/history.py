"""Histories: what several threads called, and what came back, in the order in which it happened.

As text, a history has a line for each event: ``=JSON`` is a call at rest, ``[result, [observables]]``; ``+t i`` is the
begin of call i of thread t, ``-t i JSON`` its end with its result; ``!deadlock`` or ``!endless`` is its own end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from broker_tck.properties.engine.check import NOT_SHOWN
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.operation import Operation

RAISES = "raises"


class Event(NamedTuple):
    """The begin of a thread's call, or its end with a result, which is JSON."""

    thread: int
    call: int
    result: str | None = None

    @property
    def ends(self) -> bool:
        """Whether it is an end."""
        return self.result is not None


@dataclass(frozen=True)
class History:
    """What happened in a run."""

    before: tuple[str, ...]
    """The outcome of each call before the threads, as JSON."""
    events: tuple[Event, ...]
    after: tuple[str, ...]
    stuck: str = ""
    """Why it has no end: ``deadlock`` or ``endless``; empty if it has one."""


def history_of(text: str) -> History:
    """The history of a text."""
    before: list[str] = []
    after: list[str] = []
    events: list[Event] = []
    stuck = ""
    for line in text.splitlines():
        mark, rest = line[0], line[1:]
        if mark == "=":
            (after if events else before).append(rest)
        elif mark == "!":
            stuck = rest
        else:
            thread, call, *result = rest.split(" ", 2)
            events.append(Event(int(thread), int(call), result[0] if mark == "-" else None))
    return History((*before,), (*events,), (*after,), stuck)


def answer(result: str) -> Any:
    """A result as the kit compares it: an exception of Java's is an error with its name."""
    return as_error(msgspec.json.decode(result))


def as_error(said: Any) -> Any:
    """A result; what was raised, as an error."""
    return {"error": said[RAISES]} if isinstance(said, dict) and RAISES in said else said


def step_of(operation: Operation, outcome: str) -> Step:
    """A call at rest with its outcome."""
    result, seen = msgspec.json.decode(outcome)
    return Step(operation, as_error(result), tuple(NOT_SHOWN if each is None else each for each in seen))
