"""What containers of cursors cost, in comparisons of positions and in seconds, as the number of cursors grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log2
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import msgspec

from broker_tck.implementations.active_cursors.indexed_heap import CursorHeap
from broker_tck.implementations.active_cursors.lazy_list import LazyList
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import Position

SIZES = (10, 100, 1_000, 10_000)
WORKLOADS = ("tailing", "random")
SAMPLES = 5
SLACK = 3.0
"""How much more than its growth class says an operation may cost."""

Growth = Callable[[int], float]
GROWTHS: dict[str, Growth] = {
    "1": lambda n: 1.0,
    "log n": log2,
    "n": float,
    "n log n": lambda n: n * log2(n),
}


class Counted(tuple[int, int]):
    """A position that counts how often any of its kind is compared."""

    __slots__ = ()
    comparisons: ClassVar[int] = 0

    def __lt__(self, other: tuple[int, ...]) -> bool:
        Counted.comparisons += 1
        return tuple.__lt__(self, other)

    def __le__(self, other: tuple[int, ...]) -> bool:
        Counted.comparisons += 1
        return tuple.__le__(self, other)

    def __gt__(self, other: tuple[int, ...]) -> bool:
        Counted.comparisons += 1
        return tuple.__gt__(self, other)

    def __ge__(self, other: tuple[int, ...]) -> bool:
        Counted.comparisons += 1
        return tuple.__ge__(self, other)

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        Counted.comparisons += 1
        return tuple.__ne__(self, other)

    __hash__ = tuple.__hash__


def plain(position: Position) -> Position:
    """A position as it is."""
    return position


class Named(NamedTuple):
    """A cursor."""

    name: str
    durable: bool = False


@dataclass(frozen=True)
class NoGrace:
    """A configuration without grace time."""

    grace: int = 0


@dataclass(frozen=True)
class Candidate:
    """A container, and how the cost of each operation may grow with the number of cursors."""

    factory: Callable[..., Any]
    update: str
    slowest: str
    rank: str | None


CANDIDATES: dict[str, Candidate] = {
    "sorted-cursors": Candidate(SortedCursors, "log n", "1", "log n"),
    "lazy-list": Candidate(LazyList, "1", "n", "n"),
    "cursor-heap": Candidate(CursorHeap, "log n", "1", "n"),
}
"""A question of a list is asked after one update, and so pays for the move."""


class CursorRow(msgspec.Struct, frozen=True):
    """What one operation of a container costs."""

    container: str
    workload: str
    operation: str
    cursors: int
    comparisons: float
    """Comparisons of positions, the mean of all samples."""
    nanoseconds: float
    """The median of the samples."""
    low: float
    high: float
    growth: str
    """How the comparisons may grow with the number of cursors."""
    limit: float
    """How many comparisons may come of it, by those of the fewest cursors."""

    @property
    def passed(self) -> bool:
        """Whether the comparisons stay within the limit."""
        return self.comparisons <= self.limit


class Workload:
    """Where cursors go: to the end of the topic one after the other, or anywhere."""

    def __init__(self, name: str, cursors: int) -> None:
        self.name = name
        self.cursors = cursors
        self.random = Random(cursors)
        self.turn = 0

    def start(self, i: int) -> tuple[int, int]:
        """Where a cursor begins."""
        return (1, i) if self.name == "tailing" else (1, int(self.random.random() * 10 * self.cursors))

    def move(self) -> tuple[int, tuple[int, int]]:
        """The next cursor to move, and where to. Who tails is the slowest, and comes to be the last."""
        self.turn += 1
        if self.name == "tailing":
            return (self.turn - 1) % self.cursors, (1, self.turn - 1 + self.cursors)
        return int(self.random.random() * self.cursors), (1, int(self.random.random() * 10 * self.cursors))


def rows(names: Sequence[str], sizes: Sequence[int] = SIZES) -> Iterator[list[CursorRow]]:
    """The table, a container at a time."""
    for name in names:
        table: list[CursorRow] = []
        for workload in WORKLOADS:
            for operation in operations(CANDIDATES[name]):
                table += measured(name, workload, operation, sizes)
        yield table


def operations(candidate: Candidate) -> list[str]:
    """The operations that a container has."""
    return ["update", "slowest", *(["rank"] if candidate.rank else [])]


def measured(name: str, workload: str, operation: str, sizes: Sequence[int]) -> list[CursorRow]:
    """One operation, by the number of cursors."""
    growth = getattr(CANDIDATES[name], operation)
    table: list[CursorRow] = []
    for cursors in sizes:
        compared, times = cost(CANDIDATES[name].factory, Workload(workload, cursors), operation)
        first = table[0] if table else None
        grown = GROWTHS[growth](cursors) / GROWTHS[growth](first.cursors) if first else 1.0
        limit = SLACK * grown * max(first.comparisons if first else compared, 1.0)
        table.append(
            CursorRow(
                name,
                workload,
                operation,
                cursors,
                round(compared, 2),
                round(median(times), 1),
                round(min(times), 1),
                round(max(times), 1),
                growth,
                round(limit, 2),
            )
        )
    return table


def cost(factory: Callable[..., Any], workload: Workload, operation: str) -> tuple[float, list[float]]:
    """Comparisons, and the nanoseconds of each sample: first with positions that count, then with plain ones."""
    times = max(20, min(2_000, 200_000 // workload.cursors))
    container, cursors = filled(factory, workload, Counted)
    compared = 0
    for _ in range(times):
        prepare(container, cursors, workload, operation, Counted)
        before = Counted.comparisons
        perform(container, cursors, workload, operation, Counted)
        compared += Counted.comparisons - before
    workload = Workload(workload.name, workload.cursors)
    container, cursors = filled(factory, workload, plain)
    return compared / times, [timed(container, cursors, workload, operation, times) for _ in range(SAMPLES)]


def timed(container: Any, cursors: list[Named], workload: Workload, operation: str, times: int) -> float:
    """Nanoseconds that an operation takes, the mean of many."""
    took = 0.0
    for _ in range(times):
        prepare(container, cursors, workload, operation, plain)
        began = perf_counter()
        perform(container, cursors, workload, operation, plain)
        took += perf_counter() - began
    return took / times * 1e9


def filled(
    factory: Callable[..., Any], workload: Workload, position: Callable[[tuple[int, int]], Position]
) -> tuple[Any, list[Named]]:
    """A container with all cursors in it, up to date."""
    container = factory(NoGrace(), lambda: 0)
    cursors = [Named(f"c{i}") for i in range(workload.cursors)]
    for i, cursor in enumerate(cursors):
        container.add(cursor, position(workload.start(i)))
    container.get_slowest_cursor_position()
    return container, cursors


def prepare(
    container: Any,
    cursors: list[Named],
    workload: Workload,
    operation: str,
    position: Callable[[tuple[int, int]], Position],
) -> None:
    """What precedes an operation: before a question one cursor moves; before a move nothing waits."""
    if operation == "update":
        container.get_slowest_cursor_position()
        return
    number, to = workload.move()
    container.update_cursor(cursors[number], position(to))


def perform(
    container: Any,
    cursors: list[Named],
    workload: Workload,
    operation: str,
    position: Callable[[tuple[int, int]], Position],
) -> None:
    """The operation."""
    if operation == "update":
        number, to = workload.move()
        container.update_cursor(cursors[number], position(to))
    elif operation == "slowest":
        container.get_slowest_cursor_position()
    else:
        cursor = cursors[workload.turn % workload.cursors]
        container.get_number_of_cursors_at_same_position_or_before(cursor)
