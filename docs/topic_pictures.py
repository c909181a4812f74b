"""Pictures of the shared index, drawn from runs of the reference model: what goes when, and the life of a view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from drawing import BOX, FAINT, HEIGHT, INK, boxes, legend, svg, text, width_of

from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.trace import from_text

DUE, LATER, GONE = "#7fb2e5", "#c9ced6", "#ffffff"
LEGEND = {DUE: "due", LATER: "not due yet", GONE: "leaves the index"}
ROW, TOP, APART = 34, 62, 8
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


class Frame(NamedTuple):
    """What there is after an operation."""

    words: str
    buckets: Mapping[int, Sequence[tuple[tuple[int, int], str]]]
    """The copies in each bucket, with their colours."""
    views: Mapping[str, str | Sequence[tuple[tuple[int, int], str]]]
    """Of each view what it sees, or what has become of it."""
    armed: str


def index() -> str:
    """What goes when."""
    return picture("One index, two views, and when a message leaves it", INDEX)


def views() -> str:
    """The life of views."""
    return picture("Views that are opened, opened again, and closed", VIEWS)


def picture(title: str, story: str) -> str:
    """A row for each operation."""
    frames = [*frames_of(story)]
    columns = columns_of(frames)
    parts = [*legend(16, LEGEND), *(text(x, TOP - 10, words, FAINT) for words, x in columns.items())]
    for number, frame in enumerate(frames):
        parts += row(frame, columns, TOP + number * ROW)
    width = max(columns["armed"] + 70, width_of(LEGEND))
    return svg(width, TOP + len(frames) * ROW, title, parts)


# ---- What happens


def frames_of(story: str) -> Iterator[Frame]:
    """What there is after each operation of a trace."""
    trace = from_text(f"topic-delivery ideal {story}")
    model: Any = TopicDelivery(trace.config)
    clock, before = trace.config.clock, set[Placed]()
    for operation in trace.operations:
        (step,) = record([operation], model)
        held = {(key, copy) for key, bucket in model.index.held.items() for copy in bucket}
        yield Frame(
            told(step, clock),
            by_bucket(model, held, before - held),
            {handle: view_of(model, handle) for handle in handles(model)},
            ", ".join(f"+{at - clock}" for at in model.timer.armed),
        )
        before = held


def handles(model: Any) -> Iterator[str]:
    """Every view that was ever opened, in order."""
    for name, number in sorted(model.registry.opened.items()):
        yield from (f"{name}{each}" for each in range(1, number + 1))


def by_bucket(model: Any, held: set[Placed], gone: set[Placed]) -> dict[int, list[tuple[tuple[int, int], str]]]:
    """What is held, and what was until now, by bucket."""
    buckets: dict[int, list[tuple[tuple[int, int], str]]] = {}
    for key, copy in sorted(held | gone):
        colour = GONE if (key, copy) in gone else colour_of(model, key)
        buckets.setdefault(key, []).append((copy[:2], colour))
    return buckets


def view_of(model: Any, handle: str) -> str | list[tuple[tuple[int, int], str]]:
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


# ---- How it is drawn


def columns_of(frames: Sequence[Frame]) -> dict[str, int]:
    """Where each column begins."""
    widths = {"operation": 165, "the index": max(room(frame.buckets) for frame in frames) + APART}
    for handle in frames[-1].views:
        seen = [frame.views.get(handle, "") for frame in frames]
        widths[f"{handle} sees"] = max(80, *(BOX * len(each) + 20 for each in seen if not isinstance(each, str)))
    columns, x = {}, 16
    for words, width in widths.items():
        columns[words] = x
        x += width
    return {**columns, "armed": x}


def room(buckets: Mapping[int, Sequence[Any]]) -> int:
    """How much room the buckets of an index take."""
    return sum(BOX * len(bucket) + APART for bucket in buckets.values())


def row(frame: Frame, columns: Mapping[str, int], top: int) -> Iterator[str]:
    """A frame."""
    middle = top + HEIGHT - 8
    yield text(columns["operation"], middle, frame.words, INK)
    x = columns["the index"]
    for bucket in frame.buckets.values():
        yield from boxes(x, top, bucket)
        x += BOX * len(bucket) + APART
    for handle, seen in frame.views.items():
        if isinstance(seen, str):
            yield text(columns[f"{handle} sees"], middle, seen, FAINT)
        else:
            yield from boxes(columns[f"{handle} sees"], top, seen)
    yield text(columns["armed"], middle, frame.armed)
