"""What the benchmarks share: tables of samples, claims, fresh processes, memory, and a clock that is set by hand."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Cells = Mapping[str, Sequence[float]]
"""The samples of one row, by column."""
Table = Mapping[str, Cells]
"""The samples of each figure, by row and column."""

START = 1_700_000_000_000 // 1_024 * 1_024
"""The time at which workloads begin, in milliseconds: the start of a time bucket."""
FIRST_LEDGER = 10_000
BATCH = 1_000


class Claim(NamedTuple):
    """Something that must hold, with its figures."""

    says: str
    holds: bool


class Result(NamedTuple):
    """What a benchmark measured."""

    table: Table
    claims: Sequence[Claim] = ()
    versions: str = ""
    """The versions of what was measured, if it is not the kit's own."""


class Desk:
    """A clock that is set by hand, and a timer that never fires."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def clock(self) -> int:
        """The time that was set."""
        return self.now

    def new_timeout(self, deadline: int, fired: Callable[..., Any]) -> Silent:
        """Arm nothing."""
        return Silent()


class Silent:
    """A timeout that never fires."""

    cancelled = False

    def cancel(self) -> None:
        """Be cancelled."""
        self.cancelled = True


def fresh(part: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
    """Measure a part in a fresh process, and say so on standard error."""
    sys.stderr.write(f"measuring {part.__name__} {' '.join(map(str, arguments))}\n")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(part, *arguments, **named).result()


def require(exact: bool, what: str) -> None:
    """Raise ``RuntimeError`` unless content is exactly what was added."""
    if not exact:
        raise RuntimeError(f"{what}: the content is wrong")


def timed(work: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> tuple[float, T]:
    """The seconds that something takes, and its answer."""
    began = perf_counter()
    answer = work(*arguments, **named)
    return perf_counter() - began, answer


def by_row(columns: Table) -> Table:
    """A table that was made column by column."""
    rows = dict.fromkeys(row for cells in columns.values() for row in cells)
    return {row: {name: cells[row] for name, cells in columns.items() if row in cells} for row in rows}


def resident_bytes() -> int:
    """The resident set of this process after garbage was given back; of Linux only."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1_024 * next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
