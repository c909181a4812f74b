"""What holds of a container of active cursors whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from msgspec.structs import replace

from broker_tck.properties.contracts.active_cursors.operations import (
    QUESTIONS,
    Add,
    Config,
    Count,
    Crowd,
    Durable,
    Get,
    March,
    Remove,
    Size,
    Slowest,
    StillThere,
    Update,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Invariant, Relation, Step
from broker_tck.properties.engine.operation import Operation

Position = tuple[int, int]


class Seen:
    """The cursors and their positions after some operations."""

    def __init__(self) -> None:
        self.at: dict[str, Position | None] = {}
        self.added = False
        self.back = False
        """Whether, since it was last asked, a cursor was added, or one came to a position that is not ahead."""

    def take(self, operation: Operation) -> None:
        """Note what an operation does."""
        if isinstance(operation, Remove):
            for name in operation.names():
                self.at.pop(name, None)
        elif isinstance(operation, Add | Durable | Crowd):
            self.added = True
            self.at.update(places(operation))
        elif isinstance(operation, Update | March):
            for name, to in places(operation):
                if name in self.at:
                    old = self.at[name]
                    self.back = self.back or (to is not None and (old is None or to < old))
                    self.at[name] = to

    def positions(self) -> list[Position]:
        """All positions, sorted."""
        return sorted(at for at in self.at.values() if at is not None)


def places(operation: Any) -> Iterable[tuple[str, Position | None]]:
    """The cursors that an operation adds or moves, and where to."""
    return operation.each() if isinstance(operation, Crowd | March) else [(operation.name, operation.at)]


def as_a_sorted_list(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """CC-P14: slowest position and ranks are those of a sorted list."""
    seen = Seen()
    for index, (operation, result, _) in enumerate(steps):
        seen.take(operation)
        if isinstance(operation, Slowest):
            want: Any = next(map(list, seen.positions()), None)
        elif isinstance(operation, Count):
            at = seen.at.get(operation.name)
            want = bisect_right(seen.positions(), at) if at else 0
        else:
            continue
        yield index, None if result == want else f"{operation.tag} answers {result}, a sorted list {want}"


def slowest_never_back(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """CC-P15: the slowest position never decreases while cursors only move forward and none is added."""
    seen, last = Seen(), None
    for index, (operation, result, _) in enumerate(steps):
        seen.take(operation)
        if isinstance(operation, Slowest):
            if isinstance(last, list) and isinstance(result, list) and not seen.added and not seen.back:
                yield index, f"the slowest position goes back from {last} to {result}" if result < last else None
            last, seen.added, seen.back = result, False, False


def ranks_in_range(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """CC-P16: a tracked cursor's rank is at least 1, and the number of tracked cursors if it is the last."""
    seen = Seen()
    for index, (operation, result, _) in enumerate(steps):
        seen.take(operation)
        if isinstance(operation, Count) and isinstance(result, int):
            at, positions = seen.at.get(operation.name), seen.positions()
            most = len(positions)
            least = 0 if at is None else most if at == positions[-1] else 1
            fits = least <= result <= (most if at else 0)
            yield index, None if fits else f"rank {result} of {operation.name}, of {most} tracked cursors"


def asked_after_removals(operations: Sequence[Operation]) -> list[Operation]:
    """A trace up to its last removal. After that one, and after one halfway, it is asked what is still there."""
    removals = [index for index, operation in enumerate(operations) if isinstance(operation, Remove)]
    asked_after = {removals[len(removals) // 2], removals[-1]} if removals else set()
    asked: list[Operation] = []
    added: dict[str, list[int]] = {}
    gone: list[tuple[int, str]] = []
    number = count(1)
    for index in range(removals[-1] + 1 if removals else 0):
        operation = operations[index]
        asked.append(operation)
        if isinstance(operation, Add | Durable | Crowd):
            for name, _ in places(operation):
                added.setdefault(name, []).append(next(number))
        elif isinstance(operation, Remove):
            gone += [(each, name) for name in operation.names() for each in added.pop(name, ())]
            asked += [StillThere(tuple(gone))] if index in asked_after else []
    return asked


def none_kept(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """CC-P17: a container keeps no cursor that was removed."""
    index = -1
    for operation, result, _ in steps:
        if not isinstance(operation, StillThere):
            index += 1
        elif operation.cursors and isinstance(result, list):
            told = f"{len(result)} of {len(operation.cursors)} removed cursors kept"
            yield index, f"{told}, such as {result[0]}" if result else None


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("CC-P14", as_a_sorted_list),
    Invariant("CC-P15", slowest_never_back),
    Invariant("CC-P16", ranks_in_range),
    Invariant("CC-P17", none_kept, asked_after_removals),
)


# ---- Relations


def asked_otherwise(
    config: Config, operations: Sequence[Operation], choices: Choices
) -> tuple[Config, list[Operation]] | None:
    """The trace with some questions left out, and others put in."""
    kinds = {type(operation) for operation in operations}
    names = sorted({o.name for o in operations if isinstance(o, Update)})
    extra: list[Operation] = [Size()] + [Slowest()] * (Slowest in kinds)
    extra += [kind(name) for kind in (Count, Get) if kind in kinds for name in names]
    varied: list[Operation] = []
    mostly = choices.below(3)  # put in, left out, or both
    for operation in operations:
        if not isinstance(operation, QUESTIONS) or choices.below(4) < (4, 1, 2)[mostly]:
            varied.append(operation)
        if mostly != 1 and choices.below(3) == 0:
            varied.append(extra[choices.below(len(extra))])
    return None if varied == [*operations] else (config, varied)


def same_where_asked(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
    """Whether each question has the same answer in the other trace, if it is asked there after the same changes."""
    return all(
        answers[question] == others[question]
        for answers, others in zip(answered(steps), answered(varied), strict=True)
        for question in answers
        if question in others
    )


def answered(steps: Sequence[Step]) -> list[dict[Operation, Any]]:
    """Between changes, the answer to each question; a change is its own question."""
    between: list[dict[Operation, Any]] = [{}]
    for operation, result, _ in steps:
        between[-1][operation] = result
        if not isinstance(operation, QUESTIONS):
            between.append({})
    return between


def renamed(config: Config, operations: Sequence[Operation], choices: Choices) -> tuple[Config, list[Operation]]:
    """Every name replaced by another, so that they sort the other way round."""
    names = sorted({o.name for o in operations if hasattr(o, "name")})
    if any(isinstance(o, Crowd | March) or (isinstance(o, Remove) and o.n) for o in operations):
        return config, [replace(o, name=f"z{o.name}") if hasattr(o, "name") else o for o in operations]
    other = dict(zip(names, reversed(names), strict=True))
    return config, [replace(o, name=other[o.name]) if hasattr(o, "name") else o for o in operations]


def same(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
    """Whether all results are the same; any of several cursors may be the oldest."""
    return all(unordered(a) == unordered(b) for a, b in zip(steps, varied, strict=True))


def unordered(step: Step) -> Any:
    """A result without what is left open."""
    return step.result[1:] if step.operation.tag == "oldest" and isinstance(step.result, list) else step.result


def shifted(config: Config, operations: Sequence[Operation], choices: Choices) -> tuple[Config, list[Operation]] | None:
    """Every position moved by some ledgers."""
    by = choices.below(5) - 2 or 3
    ledgers = [at[0] + by for o in operations if (at := getattr(o, "at", None))]
    if not ledgers or min(ledgers) < -(2**63) or max(ledgers) >= 2**63:
        return None
    return config, [replace(o, at=(at[0] + by, at[1])) if (at := getattr(o, "at", None)) else o for o in operations]


def equal_shifted(config: Any, steps: Sequence[Step], other: Any, varied: Sequence[Step]) -> bool:
    """Whether all results are the same, positions moved along."""
    by = next(
        at[0] - was[0]
        for a, b in zip(steps, varied, strict=True)
        if (was := getattr(a.operation, "at", None)) and (at := getattr(b.operation, "at", None))
    )
    return all(moved(a, by) == unordered(b) for a, b in zip(steps, varied, strict=True))


def moved(step: Step, by: int) -> Any:
    """A result with the position in it moved."""
    result = unordered(step)
    if step.operation.tag == "slowest":
        return later(result, by)
    return [later(result[0], by), *result[1:]] if step.operation.tag == "oldest" and result else result


def later(position: Any, by: int) -> Any:
    """A position moved; anything else as it is."""
    return [position[0] + by, *position[1:]] if isinstance(position, list) else position


RELATIONS: tuple[Relation, ...] = (
    Relation("CC-07", "With other questions asked, all answers stay the same.", asked_otherwise, same_where_asked),
    Relation("rename", "With its cursors renamed, a trace has the same outcomes.", renamed, same),
    Relation("shift", "Moved by some ledgers, a trace has its positions moved.", shifted, equal_shifted),
)
