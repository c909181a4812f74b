"""How often containers of cursors compare positions, as the number of cursors grows.

Tailing: the slowest cursor moves to the end of the topic. Random: any cursor moves anywhere. A question is asked
after one move, so a list pays for the move then. Counts are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log2
from random import Random
from typing import Any, ClassVar, NamedTuple

from measuring import Claim, Result

from broker_tck.implementations.active_cursors.indexed_heap import CursorHeap
from broker_tck.implementations.active_cursors.lazy_list import LazyList
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors

SIZES = (10, 100, 1_000, 10_000)
WORKLOADS = ("tailing", "random")
SLACK = 3.0
"""How much more than its growth class says an operation may cost."""
GROWTHS: dict[str, Callable[[int], float]] = {"1": lambda n: 1.0, "log n": log2, "n": float}
CONTAINERS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "sorted-cursors": (SortedCursors, {"update": "log n", "slowest": "1", "rank": "log n"}),
    "lazy-list": (LazyList, {"update": "1", "slowest": "n", "rank": "n"}),
    "cursor-heap": (CursorHeap, {"update": "log n", "slowest": "1", "rank": "n"}),
}
"""By name, and how the cost of each operation may grow with the number of cursors."""


class Counted(tuple[int, int]):
    """A position that counts how often any of its kind is compared."""

    __slots__ = ()
    comparisons: ClassVar[int] = 0


def counting(name: str) -> Callable[[Counted, object], Any]:
    """A comparison of tuples that is counted."""
    compared = getattr(tuple, name)

    def counted(one: Counted, other: object) -> Any:
        Counted.comparisons += 1
        return compared(one, other)

    return counted


for comparison in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(Counted, comparison, counting(comparison))


class Named(NamedTuple):
    """A cursor."""

    name: str
    durable: bool = False


class NoGrace:
    """A configuration without grace time."""

    grace = 0


class Workload:
    """A container full of cursors, and where they go next."""

    def __init__(self, factory: Callable[..., Any], name: str, cursors: int) -> None:
        self.is_tailing = name == "tailing"
        self.random = Random(cursors)
        self.turn = 0
        self.container = factory(NoGrace(), lambda: 0)
        self.cursors = [Named(f"c{i}") for i in range(cursors)]
        for i, cursor in enumerate(self.cursors):
            self.container.add(cursor, Counted((1, i if self.is_tailing else self.below(10 * cursors))))

    def below(self, n: int) -> int:
        """A random number."""
        return int(self.random.random() * n)

    def update(self) -> None:
        """Move the next cursor. Who tails is the slowest, and comes to be the last."""
        n, turn = len(self.cursors), self.turn
        number, to = (turn % n, turn + n) if self.is_tailing else (self.below(n), self.below(10 * n))
        self.turn += 1
        self.container.update_cursor(self.cursors[number], Counted((1, to)))

    def slowest(self) -> None:
        """Ask for the slowest position."""
        self.container.get_slowest_cursor_position()

    def rank(self) -> None:
        """Ask how many cursors are at the position of one, or before it."""
        self.container.get_number_of_cursors_at_same_position_or_before(self.cursors[self.turn % len(self.cursors)])


def comparisons(name: str, workload: str, operation: str, cursors: int) -> float:
    """Comparisons of an operation, the mean of many. Before a question one cursor moves; before a move none waits."""
    work = Workload(CONTAINERS[name][0], workload, cursors)
    work.slowest()
    before, measured = (work.slowest, work.update) if operation == "update" else (work.update, getattr(work, operation))
    times, compared = max(20, min(2_000, 200_000 // cursors)), 0
    for _ in range(times):
        before()
        start = Counted.comparisons
        measured()
        compared += Counted.comparisons - start
    return round(compared / times, 2)


def cursors(names: Sequence[str] = tuple(CONTAINERS), sizes: Sequence[int] = SIZES) -> Result:
    """How often containers of many cursors compare positions. Ten seconds."""
    table: dict[str, dict[str, list[float]]] = {}
    claims: list[Claim] = []
    for name in names:
        for workload in WORKLOADS:
            cells = table.setdefault(f"`{name}`, {workload}", {})
            for operation, growth in CONTAINERS[name][1].items():
                counts = [comparisons(name, workload, operation, size) for size in sizes]
                cells[operation] = [counts[-1]]
                claims += grown(f"{name}, {workload}, {operation}", GROWTHS[growth], sizes, counts)
    return Result(table, claims)


def grown(says: str, growth: Callable[[int], float], sizes: Sequence[int], counts: Sequence[float]) -> Iterator[Claim]:
    """Whether counts grow no faster than they may, from those of the fewest cursors on."""
    for size, count in zip(sizes[1:], counts[1:], strict=True):
        most = SLACK * growth(size) / growth(sizes[0]) * max(counts[0], 1.0)
        yield Claim(f"{says}: {count:,} comparisons with {size:,} cursors, at most {most:,.0f}", count <= most)
