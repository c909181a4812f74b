"""The failure reports that a page shows in full, as many as it has room for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import NamedTuple

import msgspec

from broker_tck.properties.report.finding import FindingResult
from broker_tck.properties.report.lines import WIDTH
from broker_tck.properties.report.threads import RaceResult
from broker_tck.spark_fuzz.report.grouping import Entry, Shape
from broker_tck.spark_fuzz.report.words import clipped, visible
from broker_tck.spark_fuzz.store.rows import Key
from broker_tck.spark_fuzz.store.tables import Store

Found = FindingResult | RaceResult
MOST_ENTRIES = 60
"""Maximum number of entries that are shown in full."""
MOST_STORIES = 120
ROOM = 900_000
"""Bytes of the page that failure reports may take, about."""
HEAD, TAIL = 8, 24
"""Number of operations shown at the beginning and at the end of a longer trace."""
CELL = 240
"""The longest outcome that is shown whole."""


class Line(NamedTuple):
    """One operation; number 0 stands for those that are left out."""

    number: int
    operation: str
    expected: str
    seen: str


@dataclass(frozen=True)
class Story:
    """A failure report: a finding, with the lines of its trace that are shown."""

    shape: Shape
    found: FindingResult
    lines: Sequence[Line]

    @property
    def replay(self) -> str:
        """The command that shows it again."""
        return visible(self.found.replay)

    @property
    def text(self) -> str:
        """It as text."""
        return self.found.story

    @property
    def diagnosis(self) -> str:
        """What went wrong; then a note, if the trace was not reduced, or not completely."""
        said = (self.found.what, self.found.diagnosis, self.found.note or self.found.unfinished)
        return visible(clipped(" ".join(filter(None, said)), 2000))

    @property
    def room(self) -> int:
        """The bytes of the page that it takes, about."""
        cells = sum(len(text) for line in self.lines for text in line[1:])
        return 2_000 + 2 * len(self.replay) + 80 * len(self.lines) + cells + len(self.diagnosis)


@dataclass(frozen=True)
class RaceStory:
    """A failure report on a race."""

    shape: Shape
    found: RaceResult

    @property
    def replay(self) -> str:
        """The command that shows it again."""
        return visible(self.found.replay)

    @property
    def text(self) -> str:
        """It as text."""
        return self.found.story(WIDTH)

    @property
    def room(self) -> int:
        """The bytes of the page that it takes, about."""
        return 2_000 + 2 * len(self.replay) + sum(80 + len(cell) for line in self.found.threads for cell in line)


@dataclass(frozen=True)
class Told:
    """An entry with the failure reports that the page has room for."""

    entry: Entry
    stories: Sequence[Story | RaceStory]

    @property
    def rest(self) -> tuple[int, int]:
        """The shapes that are not shown, and their failing walks."""
        return self.entry.shapes - len(self.stories), self.entry.walks - sum(s.shape.count for s in self.stories)


def told(source: Store, entries: Sequence[Entry]) -> list[Told]:
    """The first entries with their failure reports: the most frequent shape of each, then the second, and so on."""
    shown = entries[:MOST_ENTRIES]
    in_turns = (shape for turn in zip_longest(*(entry.common for entry in shown)) for shape in turn if shape)
    wanted = [*islice(in_turns, MOST_STORIES)]
    texts = source.texts([shape.key for shape in wanted])
    chosen: dict[Key, Story | RaceStory] = {}
    room = ROOM
    for shape in wanted:
        story = story_of(shape, texts)
        if story and story.room <= room:
            chosen[shape.key] = story
            room -= story.room
    return [Told(e, [chosen[s.key] for s in e.common if s.key in chosen]) for e in shown]


def story_of(shape: Shape, texts: Mapping[Key, str]) -> Story | RaceStory | None:
    """The failure report of a shape; None if the store has no text of it."""
    if shape.key not in texts:
        return None
    found = read(texts[shape.key])
    return RaceStory(shape, found) if isinstance(found, RaceResult) else Story(shape, found, lines_of(found.lines))


def read(text: str) -> Found:
    """A finding from JSON. A subject's text may hold half a character, which only the standard library reads."""
    told = json.loads(text)
    return msgspec.convert(told, RaceResult) if "schedule" in told else msgspec.convert(told, FindingResult)


def lines_of(lines: Sequence[Sequence[str]]) -> list[Line]:
    """The lines of a trace; of a long trace, its beginning and its end."""
    numbered = [Line(n, *(visible(clipped(part, CELL)) for part in line)) for n, line in enumerate(lines, 1)]
    left = len(numbered) - HEAD - TAIL
    gap = Line(0, f"{left} operations left out; the replay command has all of them", "", "")
    return [*numbered[:HEAD], gap, *numbered[-TAIL:]] if left > 1 else numbered
