"""Pictures of the removal queue, drawn from runs of the reference model: a size pass, and how long entries live."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from drawing import FAINT, HEIGHT, INK, legend, rect, svg, text

from broker_tck.model.entry_cache.entries import Cached
from broker_tck.model.entry_cache.eviction import Passes
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import Config

PLAIN, ACCESSED, EXPECTED = "#c9ced6", "#f0a860", "#7fb2e5"
LEGEND = {ACCESSED: "accessed", EXPECTED: "reads expected", PLAIN: "nothing speaks for it"}
GAP = 14
PASS_EVERY = 10
TTL = 1_000


class Box(NamedTuple):
    """An entry in the queue as it is drawn."""

    name: str
    size: int
    colour: str
    requeued: int


class Watched(Passes):
    """Passes as specified, with a frame of the queue for each look at its head."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.frames: list[list[Box]] = []

    def head(self) -> Cached:
        """Look at the head."""
        self.frames.append(self.boxes())
        return super().head()

    def boxes(self) -> list[Box]:
        """The queue from its head on."""
        return [Box(f"e{entry.position[1]}", entry.size, colour(entry), entry.requeued) for entry in self.store.queue]


class Filmed(EntryCaches):
    """The specification, with such passes."""

    Passes = Watched
    passes: Watched


def colour(entry: Cached) -> str:
    """What speaks for an entry."""
    if entry.accessed:
        return ACCESSED
    return EXPECTED if entry.reads else PLAIN


# ---- A size pass


def size_pass(asked: int = 35, most: int = 5) -> str:
    """A size pass over three entries, one accessed, one with reads expected, one plain: a row for each look."""
    model = Filmed(Config(max_requeue_count=most))
    for entry, size, expected in ((1, 40, 0), (2, 50, 3), (3, 30, 0)):
        model.put(0, 1, entry, size, expected)
    model.get(0, 1, 1)
    model.evict_size(asked)
    frames = [*model.passes.frames, model.passes.boxes()]
    parts = [*legend(16, LEGEND)]
    top, removed = 44, 0
    for before, after in pairwise(frames):
        done, removed = what_happened(before, after, removed)
        parts += [*queue_row(before, top), text(430, top + 18, done)]
        top += HEIGHT + GAP
    title = f"A size pass for {asked} bytes, {most} requeueings allowed"
    return svg(760, top + 4, title, parts)


def queue_row(boxes: Sequence[Box], top: float) -> Iterable[str]:
    """The queue, its head on the left, boxes as wide as entries are large."""
    x = 16.0
    for box in boxes:
        width = 3.0 * box.size
        label = f"{box.name}, {box.size}" + (f", {times(box.requeued)}" if box.requeued else "")
        yield rect(x, top, width, box.colour)
        yield text(x + width / 2, top + 18, label, anchor="middle")
        x += width + 6


def what_happened(before: list[Box], after: list[Box], removed: int) -> tuple[str, int]:
    """What a look at the head came to, and the bytes that are gone then."""
    head = before[0]
    if len(after) < len(before):
        removed += head.size
        return f"{head.name} is removed: {removed} bytes are gone", removed
    if after == before:
        return f"{removed} bytes are enough: the pass ends", removed
    return f"{head.name} is requeued at the tail", removed


def times(number: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


# ---- How long entries live


class Life(NamedTuple):
    """One entry, inserted at 0: how it is set, and when it is read."""

    words: str
    expected: int
    extends: bool
    reads: tuple[int, ...] = ()
    most: int = 5


LIVES = (
    Life("no read expected", 0, True),
    Life("1 read expected, none made", 1, True),
    Life("1 expected, none allowed to requeue", 1, True, most=0),
    Life("1 expected, read; access extends", 1, True, (100,)),
    Life("1 expected, read; access does not", 1, False, (100,)),
    Life("1,000 expected, read every 500 ms", 1_000, True, tuple(range(500, 6_001, 500))),
)


def lived(life: Life) -> tuple[list[int], int]:
    """When the entry is requeued, and when it goes, with a time pass every 10 ms."""
    model = EntryCaches(Config(max_requeue_count=life.most, extend_ttl_of_recently_accessed=life.extends))
    model.put(0, 1, 0, 10, life.expected)
    requeued: list[int] = []
    while True:
        if model.now in life.reads:
            model.get(0, 1, 0)
            model.read(0, 1, 0)
        before = model.store.queue[0].requeued
        if model.evict_old(TTL) != [0, 0]:
            return requeued, model.now
        if model.store.queue[0].requeued > before:
            requeued.append(model.now)
        model.advance(PASS_EVERY)


def lives() -> str:
    """How long entries live in time passes: a bar each, a line where it is requeued, a dot where it is read."""
    left, scale = 270, 0.062
    parts: list[str] = []
    top = 16
    for life in LIVES:
        requeued, gone = lived(life)
        parts += [text(left - 10, top + 18, life.words, anchor="end")]
        parts += [rect(left, top, gone * scale, EXPECTED if life.expected else PLAIN)]
        parts += [vertical(left + at * scale, top) for at in requeued]
        parts += [f'<circle cx="{left + at * scale:g}" cy="{top + 13}" r="3.5" fill="{INK}"/>' for at in life.reads]
        parts += [text(left + gone * scale + 8, top + 18, f"{gone:,} ms", FAINT)]
        top += HEIGHT + GAP
    parts += [text(left, top + 8, "inserted; each line is a requeueing, each dot a read; TTL 1,000 ms", FAINT)]
    return svg(800, top + 20, "How long an entry lives", parts)


def vertical(x: float, top: float) -> str:
    """A line through a bar."""
    return f'<path d="M{x:g} {top}v{HEIGHT}" stroke="{INK}" stroke-width="1.5"/>'
