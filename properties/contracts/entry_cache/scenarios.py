"""Calls of the entry caches that may get in each other's way: so few that all orders of their steps can be tried."""

from __future__ import annotations

from broker_tck.properties.contracts.entry_cache.operations import (
    Advance,
    BeginClear,
    BeginGet,
    BeginInvalidate,
    BeginOld,
    BeginPut,
    BeginRemove,
    BeginSize,
    Clear,
    Config,
    Counters,
    EvictSize,
    Expect,
    Get,
    Pinned,
    Put,
    Read,
    SizeOfAll,
    Step,
)
from broker_tck.properties.engine.contract import Scenario
from broker_tck.properties.engine.operation import Operation

A, B, C, D = ((0, 1, entry) for entry in range(4))
"""Topic, ledger and entry."""
AFTER = (
    *(SizeOfAll(), Pinned(), *(Get(*key) for key in (A, B, C, D)), Pinned(), EvictSize(25), SizeOfAll()),
    *(EvictSize(1_000), SizeOfAll(), Counters(), Pinned(), Clear(0)),
)
"""What shows whether everything adds up: sizes, what is queued and in which order, what was counted."""


def scenario(
    name: str, sentence: str, before: tuple[Operation, ...], *scripts: tuple[Operation, ...], requeues: int = 1
) -> Scenario:
    """A scenario with the usual configuration and end."""
    return Scenario(name, sentence, Config(max_requeue_count=requeues), before, scripts, AFTER, Step)


def put(key: tuple[int, int, int], size: int = 10, reads: int = 0) -> Put:
    """An insertion."""
    return Put(*key, size, reads)


SCENARIOS = (
    scenario(
        "insertions",
        "Two insertions and two others, each of a key of its own.",
        (),
        (BeginPut(*A, 10, 0, 0), BeginPut(*B, 20, 1, 0)),
        (BeginPut(*C, 30, 0, 1), BeginPut(*D, 40, 1, 1)),
    ),
    scenario(
        "one-key",
        "Insertions of one key, and of one key more.",
        (),
        (BeginPut(*A, 10, 0, 0), BeginPut(*B, 20, 0, 0)),
        (BeginPut(*A, 30, 0, 1), BeginPut(*B, 40, 0, 1)),
    ),
    scenario(
        "insert-clear",
        "An insertion, and clears.",
        (put(B),),
        (BeginPut(*A, 10, 0, 0),),
        (BeginClear(0, 1), BeginClear(0, 1)),
    ),
    scenario(
        "insert-evict",
        "An insertion, and a pass for more than is there.",
        (put(B),),
        (BeginPut(*A, 10, 0, 0),),
        (BeginSize(1_000, 1),),
    ),
    scenario(
        "evict-invalidate",
        "A pass over two entries, and an invalidation of the first.",
        (put(A), put(B, 20)),
        (BeginSize(10, 0),),
        (BeginInvalidate(*B, 1),),
    ),
    scenario(
        "time-invalidate",
        "A pass over an old entry and a young one, and an invalidation of the old one.",
        (put(A), Advance(100), put(B, 20)),
        (BeginOld(50, 0),),
        (BeginInvalidate(*B, 1),),
    ),
    scenario(
        "evict-invalidate-insert",
        "A pass, an invalidation, and an insertion that may have a wrapper that was used before.",
        (put(A), put(B, 20)),
        (BeginSize(10, 0),),
        (BeginInvalidate(*B, 1), BeginPut(*C, 30, 1, 1)),
    ),
    scenario(
        "evict-insert-look",
        "A pass, an insertion, and a look at the queue.",
        (put(A),),
        (BeginSize(10, 0),),
        (BeginPut(*B, 20, 0, 1), Pinned()),
    ),
    scenario(
        "read-evict",
        "Two reads of an entry, and a pass that takes it.",
        (put(A),),
        (BeginGet(*A, 0), BeginGet(*A, 0)),
        (BeginSize(10, 1),),
    ),
    scenario(
        "read-evict-insert",
        "A read, and a pass with an insertion of another key, or of that key again.",
        (put(A),),
        (BeginGet(*A, 0),),
        (BeginSize(10, 1), BeginPut(*B, 20, 0, 1), BeginPut(*A, 30, 0, 1)),
    ),
    scenario(
        "range-insert",
        "A removal of a range, and insertions into it.",
        (put(A), put(C)),
        (BeginRemove(0, 1, 0, 1, 3, 1, 0),),
        (BeginPut(*B, 20, 0, 1), BeginPut(*D, 30, 0, 1)),
    ),
    scenario(
        "clear-invalidate",
        "A clear, and an invalidation of the same entries.",
        (put(A), put(B, 20), put(C, 30)),
        (BeginClear(0, 0),),
        (BeginInvalidate(*C, 1),),
    ),
    scenario(
        "remove-insert-again",
        "Two removals of an entry, and an insertion of its key after one of them.",
        (put(A),),
        (BeginRemove(0, 1, 0, 1, 0, 1, 0),),
        (BeginRemove(0, 1, 0, 1, 0, 1, 1), BeginPut(*A, 30, 0, 1)),
    ),
    scenario(
        "two-passes",
        "A time pass and a size pass.",
        (put(A), put(B, 20, 1)),
        (BeginSize(10, 0),),
        (BeginOld(0, 1),),
    ),
    scenario(
        "three-threads",
        "A pass, a removal, and an insertion with a read.",
        (put(A), put(B, 20, 1)),
        (BeginSize(20, 0),),
        (BeginRemove(0, 1, 0, 1, 3, 1, 1),),
        (BeginPut(*C, 30, 0, 2), BeginGet(*A, 2)),
    ),
    scenario(
        "evict-look-at-sizes",
        "A pass, and looks at the broker's size.",
        (put(A), put(B, 20)),
        (BeginSize(30, 0),),
        (SizeOfAll(), SizeOfAll(), SizeOfAll()),
    ),
    scenario(
        "evict-read-counts",
        "A pass, a reader who is done, and a read that is expected again.",
        (put(A, 10, 1), put(B, 20)),
        (BeginSize(10, 0),),
        (Read(*A), Expect(*A)),
    ),
)
