"""Pictures of the bucket tracker, drawn from runs of the reference model: the life of a bucket, and a merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from drawing import BOX, FAINT, HEIGHT, INK, boxes, legend, svg, text, width_of

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.trace import Trace, from_text

IN_MEMORY, STORED_ALONE, AGAIN = "#7fb2e5", "#c9ced6", "#f0a860"
NOT_THERE = "#ffffff"
LEGEND = {
    IN_MEMORY: "in memory; held after a crash",
    STORED_ALONE: "in the storage alone",
    NOT_THERE: "has to be read again after a crash",
    AGAIN: "was handed out, and is held again",
}
ROW, TOP = 34, 62
Positions = list[tuple[int, int]]

LIFE = (
    "min_index_count=3; add 1 0 +100; add 1 1 +105; add 1 2 +200; add 2 0 +900; complete 0; complete 0; adv 100; "
    "get 9; adv 5; get 9; complete 0; get 9; adv 95; get 9; complete 0; complete 0"
)
MERGE = (
    "min_index_count=2 max_buckets=1; storage 1; add 1 0 +100; add 1 1 +200; add 2 0 +300; add 2 1 +400; storage 0; "
    "add 3 0 +900; complete 0; complete 0; complete 0; complete 0; complete 0; complete 0; complete 0; complete 0; "
    "complete 0; complete 0"
)


class Frame(NamedTuple):
    """What there is after an operation."""

    words: str
    growing: Positions
    queue: Positions
    unloaded: Positions
    """In segments that are in the storage alone."""
    snapshots: str
    keys: str
    owed: Positions
    """Accepted, and not handed out yet."""
    recovered: Positions
    """Held by another tracker after a crash."""


def life() -> str:
    """The life of a bucket."""
    return picture("The life of a bucket, and what a crash leaves of it", LIFE, 0)


def merge() -> str:
    """A merge of two buckets."""
    return picture("A merge of two buckets, and what a crash leaves of it", MERGE, 6)


def picture(title: str, story: str, skipped: int) -> str:
    """A row for each operation but the first ones."""
    frames = [*frames_of(from_text(f"bucket-delivery ideal {story}"))][skipped:]
    columns = columns_of(frames)
    parts = [*legend(16, LEGEND), *(text(x, TOP - 10, words, FAINT) for words, x in columns.items())]
    for number, frame in enumerate(frames):
        parts += row(frame, [*columns.values()], TOP + number * ROW)
    last = columns["a crash leaves"] + widest([[*{*frame.owed, *frame.recovered}] for frame in frames])
    width = max(last, width_of(LEGEND))
    return svg(width, TOP + len(frames) * ROW, title, parts)


# ---- What happens


def frames_of(trace: Trace) -> Iterator[Frame]:
    """What there is after each operation of a trace."""
    model: Any = BucketDelivery(trace.config)
    accepted: Positions = []
    given: Positions = []
    for number, operation in enumerate(trace.operations):
        (step,) = record([operation], model)
        if operation.tag == "add":
            accepted.append((operation.ledger, operation.entry))  # type: ignore[attr-defined]  # it is an add
        if operation.tag == "get":
            given += map(tuple, step.result)
        crashed = BucketDelivery(trace.config)
        record([*trace.operations[: number + 1], *from_text("bucket-delivery ideal; crash").operations], crashed)
        tracker, durable, after = model.tracker, model.durable, crashed.tracker
        assert after is not None
        yield Frame(
            told(operation, step.result),
            [index[1:] for index in tracker.mutable.queue],
            [index[1:] for index in sorted(tracker.shared) if index[1:] in tracker.held.positions],
            sorted(p for piece in tracker.placed.pieces for p in piece.bucket.held_behind(piece.bucket.current)),
            ", ".join(map(str, sorted(durable.snapshots))),
            ", ".join(f"{first}-{last}" for first, last in sorted(durable.keys)),
            [position for position in accepted if position not in given],
            sorted(after.held.positions),
        )


def told(operation: Operation, result: Any) -> str:
    """An operation, and what it has come to."""
    words = " ".join([operation.tag, *(str(getattr(operation, name)) for name in operation.__struct_fields__)])
    if operation.tag == "complete":
        return str(result)
    if operation.tag == "add":
        return " ".join(words.split()[:3])
    if operation.tag == "get":
        return f"get: {', '.join(f'{ledger}:{entry}' for ledger, entry in result) or 'nothing yet'}"
    return words


# ---- How it is drawn


def columns_of(frames: Sequence[Frame]) -> dict[str, int]:
    """Where each column begins."""
    widths = {
        "operation": 130,
        "growing": widest([frame.growing for frame in frames]),
        "queue": widest([frame.queue for frame in frames]),
        "in the storage alone": widest([frame.unloaded for frame in frames]),
        "snapshots": 80,
        "keys": 105,
        "a crash leaves": 0,
    }
    columns, x = {}, 16
    for words, width in widths.items():
        columns[words] = x
        x += width
    return columns


def widest(columns: Sequence[Positions]) -> int:
    """How much room the most boxes of a column need, and a heading."""
    return max(150, max(len(positions) for positions in columns) * BOX + 20)


def row(frame: Frame, columns: Sequence[int], top: int) -> Iterator[str]:
    """A frame."""
    middle = top + HEIGHT - 8
    yield text(columns[0], middle, frame.words, INK)
    for x, positions in zip(columns[1:4], (frame.growing, frame.queue, frame.unloaded), strict=True):
        yield from boxes(x, top, [(p, STORED_ALONE if x == columns[3] else IN_MEMORY) for p in positions])
    yield text(columns[4], middle, frame.snapshots)
    yield text(columns[5], middle, frame.keys)
    yield from boxes(columns[6], top, [(p, left_of(frame, p)) for p in sorted({*frame.owed, *frame.recovered})])


def left_of(frame: Frame, position: tuple[int, int]) -> str:
    """The colour of a message after a crash."""
    if position not in frame.recovered:
        return NOT_THERE
    return IN_MEMORY if position in frame.owed else AGAIN
