"""Processes that work side by side, and end with the one that made them, however that ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from os import cpu_count
from threading import Thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def processes(most: int) -> ProcessPoolExecutor:
    """One process for each core, and no more than there are things to do."""
    return ProcessPoolExecutor(min(cpu_count() or 1, most or 1), get_context("spawn"), end_with_parent)


def in_parallel(work: Callable[[T], R], items: list[T], progress: Callable[[int, R], None] | None = None) -> list[R]:
    """Work on every item, on all cores, the results in the items' order."""
    with processes(len(items)) as pool:
        results = []
        for result in pool.map(work, items):
            results.append(result)
            if progress:
                progress(len(results), result)
    return results


def end_with_parent() -> None:
    """Have this process end when the one that made it has: one that was killed tells nobody that no work will come."""
    Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)
