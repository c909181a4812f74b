"""Processes that work side by side, and end with the one that made them, however that ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from os import cpu_count
from threading import Thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def processes(most: int) -> ProcessPoolExecutor:
    """One process for each core, but no more than there are items."""
    return ProcessPoolExecutor(min(cpu_count() or 1, most or 1), get_context("spawn"), end_with_parent)


def in_parallel(
    work: Callable[[T], R], items: list[T], progress: Callable[[int, R | None], None] | None = None
) -> list[R]:
    """Work on every item, on all cores, the results in the items' order.

    ``progress`` is told each second how many have ended, with the result of the last; None if there is none yet.
    """
    ended: list[R] = []
    with processes(len(items)) as pool:
        futures = [pool.submit(work, item) for item in items]
        for future in as_they_end(futures):
            ended += [future.result()] if future else []
            if progress:
                progress(len(ended), ended[-1] if ended else None)
    return [future.result() for future in futures]


def as_they_end(futures: Sequence[Future[R]], seconds: float = 1.0) -> Iterator[Future[R] | None]:
    """Futures as they end, and None each time that none ends for a number of seconds.

    If the caller stops, futures that have not begun are cancelled.
    """
    left = [*futures]
    try:
        while left:
            done = wait(left, seconds, FIRST_COMPLETED).done
            yield from (future for future in left if future in done)
            if not done:
                yield None
            left = [future for future in left if future not in done]
    finally:
        for future in left:
            future.cancel()


def end_with_parent() -> None:
    """End this process when its parent has ended. A parent that was killed cannot tell it."""

    def follow() -> None:
        parent = parent_process()
        assert parent
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()
