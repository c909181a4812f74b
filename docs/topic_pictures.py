"""Pictures of the shared index, drawn from runs of the reference model: what goes when, and the life of a view."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from drawing import Cell, table

from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.trace import from_text

DUE, LATER, GONE = "#7fb2e5", "#c9ced6", "#ffffff"
LEGEND = {DUE: "due", LATER: "not due yet", GONE: "leaves the index"}
TICK = "tick=1024"
INDEX = (
    f"{TICK}; open A; open B; add A1 1 0 +2048; add B1 1 0 +2048; add A1 1 1 +2048; add B1 1 2 +5120; adv 2048; "
    "get A1 9; md B1 1 0; get B1 9; md A1 1 2; adv 3072; get B1 9"
)
VIEWS = (
    f"{TICK}; open A; open B; add A1 1 0 +2048; open A; get A1 9; add A2 1 1 +5120; close A1; adv 2048; get A2 9; "
    "md A2 1 0; close A2; open A; close B1; close A3; open B; add B2 1 2 +5120; shutdown; open A"
)
Placed = tuple[int, tuple[int, int, int]]


def index() -> str:
    """What goes when."""
    return picture("One index, two views, and when a message leaves it", INDEX)


def views() -> str:
    """The life of views."""
    return picture("Views that are opened, opened again, and closed", VIEWS)


def picture(title: str, story: str) -> str:
    """A row for each operation; a view that is not there yet sees nothing."""
    rows = [*rows_of(story)]
    views = [*rows[-1][1]]
    heads = ["operation", "the index", *(f"{view} sees" for view in views), "armed"]
    cells = [[*first, *(seen.get(view, "") for view in views), armed] for first, seen, armed in rows]
    return table(title, LEGEND, heads, cells)


def rows_of(story: str) -> Iterator[tuple[list[Cell], dict[str, Cell], str]]:
    """What there is after each operation: it and the index; what each view sees; what is armed."""
    trace = from_text(f"topic-delivery ideal {story}")
    model: Any = TopicDelivery(trace.config)
    clock, before = trace.config.clock, set[Placed]()
    for operation in trace.operations:
        (step,) = record([operation], model)
        held = {(key, copy) for key, bucket in model.index.held.items() for copy in bucket}
        seen = {handle: view_of(model, handle) for handle in handles(model)}
        armed = ", ".join(f"+{at - clock}" for at in model.timer.armed)
        yield [told(step, clock), by_bucket(model, held, before - held)], seen, armed
        before = held


def handles(model: Any) -> Iterator[str]:
    """Every view that was ever opened, in order."""
    for name, number in sorted(model.registry.opened.items()):
        yield from (f"{name}{each}" for each in range(1, number + 1))


def by_bucket(model: Any, held: set[Placed], gone: set[Placed]) -> Cell:
    """What is held, and what was until now, with a gap after each bucket."""
    cell: list[tuple[tuple[int, int], str] | None] = []
    for key, bucket in groupby(sorted(held | gone), lambda placed: placed[0]):
        cell += [(each[1][:2], GONE if each in gone else colour_of(model, key)) for each in bucket]
        cell.append(None)
    return cell


def view_of(model: Any, handle: str) -> Cell:
    """What a view sees, or what has become of it."""
    registry = model.registry
    if registry.ended or handle in registry.closed:
        return "closed"
    view = registry.views[handle]
    if registry.refuses(handle):
        return "stale"
    return [(copy[:2], colour_of(model, key)) for key, copy in sorted(view.seen())] or "nothing"


def colour_of(model: Any, key: int) -> str:
    """Whether a bucket is due."""
    return DUE if model.buckets.due(key, model.timer.now) else LATER


def told(step: Step, clock: int) -> str:
    """An operation, and what it has come to."""
    operation = step.operation
    words = named(operation)
    if isinstance(step.result, dict):
        return f"{words}: refused"
    if operation.tag == "open":
        return f"{words}: {step.result}"
    if operation.tag == "get":
        return f"{words}: {', '.join(f'{ledger}:{entry}' for ledger, entry in step.result)}"
    if operation.tag == "adv":
        return "; ".join(f"+{at - clock} asks {' '.join(asked)}" for at, asked in step.result)
    return words


def named(operation: Operation) -> str:
    """An operation without its numbers, but for a position."""
    parts = [getattr(operation, name) for name in operation.__struct_fields__]
    if operation.tag in ("add", "md"):
        return f"{operation.tag} {parts[0]} {parts[1]}:{parts[2]}"
    return " ".join(map(str, [operation.tag, *parts[:1]]))
