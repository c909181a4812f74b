"""The run of a race as lanes: what each thread passes, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from broker_tck.properties.report.threads import RaceResult


class Row(NamedTuple):
    """What one thread passes."""

    thread: int
    text: str
    kind: str
    """``begins`` or ``ends`` for a call, ``passes`` for points."""
    after: int | None = None
    """The thread that ran before, if it was another."""
    ended: bool = False
    """Whether that one has come to its end."""


def lanes_of(race: RaceResult) -> Iterator[Row]:
    """The rows of a run, from top to bottom."""
    cells = [next((i, text) for i, text in enumerate(line) if text) for line in race.threads]
    last = {thread: at for at, (thread, _) in enumerate(cells)}
    before: int | None = None
    for at, (thread, text) in enumerate(cells):
        after = before if before != thread else None
        yield Row(thread, text.strip(), kind_of(text), after, after is not None and last[after] < at)
        before = thread


def kind_of(text: str) -> str:
    """What the text of a cell is about."""
    return "ends" if text.startswith("->") else "passes" if text.startswith(" ") else "begins"
