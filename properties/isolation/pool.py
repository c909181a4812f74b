"""Processes that work side by side, and end with the one that made them, however that ends."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from os import cpu_count
from threading import Thread


def processes(most: int) -> ProcessPoolExecutor:
    """One process for each core, and no more than there are things to do."""
    return ProcessPoolExecutor(min(cpu_count() or 1, most or 1), get_context("spawn"), end_with_parent)


def end_with_parent() -> None:
    """Have this process end when the one that made it has: one that was killed tells nobody that no work will come."""
    Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)
