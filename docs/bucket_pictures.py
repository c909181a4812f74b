"""Pictures of the bucket tracker, drawn from runs of the reference model: the life of a bucket, and a merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from drawing import Cell, Position, table

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
COLUMNS = ("operation", "growing", "queue", "in the storage alone", "snapshots", "keys", "a crash leaves")

LIFE = (
    "min_index_count=3; add 1 0 +100; add 1 1 +105; add 1 2 +200; add 2 0 +900; complete 0; complete 0; adv 100; "
    "get 9; adv 5; get 9; complete 0; get 9; adv 95; get 9; complete 0; complete 0"
)
MERGE = (
    "min_index_count=2 max_buckets=1; storage 1; add 1 0 +100; add 1 1 +200; add 2 0 +300; add 2 1 +400; storage 0; "
    "add 3 0 +900; complete 0; complete 0; complete 0; complete 0; complete 0; complete 0; complete 0; complete 0; "
    "complete 0; complete 0"
)


def life() -> str:
    """The life of a bucket."""
    return picture("The life of a bucket, and what a crash leaves of it", LIFE, 0)


def merge() -> str:
    """A merge of two buckets."""
    return picture("A merge of two buckets, and what a crash leaves of it", MERGE, 6)


def picture(title: str, story: str, skipped: int) -> str:
    """A row for each operation but the first ones."""
    return table(title, LEGEND, COLUMNS, [*rows_of(from_text(f"bucket-delivery ideal {story}"))][skipped:])


def rows_of(trace: Trace) -> Iterator[list[Cell]]:
    """What there is after each operation of a trace, and what another tracker recovers after a crash."""
    model: Any = BucketDelivery(trace.config)
    owed: set[Position] = set()
    for number, operation in enumerate(trace.operations):
        (step,) = record([operation], model)
        if operation.tag == "add":
            owed.add((operation.ledger, operation.entry))  # type: ignore[attr-defined]  # it is an add
        if operation.tag == "get":
            owed -= {*map(tuple, step.result)}
        crashed = BucketDelivery(trace.config)
        record([*trace.operations[: number + 1], *from_text("bucket-delivery ideal; crash").operations], crashed)
        tracker, durable, after = model.tracker, model.durable, crashed.tracker
        assert after is not None
        recovered = {*after.held.positions}
        unloaded = sorted(p for piece in tracker.placed.pieces for p in piece.bucket.held_behind(piece.bucket.current))
        yield [
            told(operation, step.result),
            coloured((index[1:] for index in tracker.mutable.queue), IN_MEMORY),
            coloured((i[1:] for i in sorted(tracker.shared) if i[1:] in tracker.held.positions), IN_MEMORY),
            coloured(unloaded, STORED_ALONE),
            ", ".join(map(str, sorted(durable.snapshots))),
            ", ".join(f"{first}-{last}" for first, last in sorted(durable.keys)),
            [
                (p, NOT_THERE if p not in recovered else IN_MEMORY if p in owed else AGAIN)
                for p in sorted(owed | recovered)
            ],
        ]


def coloured(positions: Iterable[Position], colour: str) -> Cell:
    """Messages of one colour."""
    return [(position, colour) for position in positions]


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
