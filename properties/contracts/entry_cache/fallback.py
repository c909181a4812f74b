"""Which rule to name where no known mistake explains a difference: by the operation, and by what differs.

Where calls overlap, the call of the last step decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.properties.contracts.entry_cache.operations import (
    Begin,
    BeginClear,
    BeginGet,
    BeginInvalidate,
    BeginPut,
    BeginRemove,
    BeginTrim,
    Step,
)
from broker_tck.properties.contracts.entry_cache.reading import Fetch, Short
from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback
from broker_tck.properties.engine.operation import Operation

REMOVALS = (BeginRemove, BeginInvalidate, BeginTrim, BeginClear)


def overlap(trace: Sequence[Operation]) -> bool:
    """Whether calls are begun in a trace."""
    return any(operation.tag == "step" for operation in trace)


def read_when_told(trace: Sequence[Any]) -> bool:
    """Whether somebody reads once more when a reader is told."""
    return any(isinstance(operation, Fetch) and operation.again for operation in trace)


def answered_in_part(trace: Sequence[Any]) -> bool:
    """Whether the storage answers in part."""
    return any(isinstance(operation, Short) for operation in trace)


def steps_of(*kinds: type[Operation], beside: type[Operation] = Operation) -> Callable[[Sequence[Any]], bool]:
    """The condition of a row: calls overlap, and the call whose step is the last is of some kinds, beside another."""

    def holds(trace: Sequence[Any]) -> bool:
        if not overlap(trace):
            return False
        thread = next(o.thread for o in reversed(trace) if isinstance(o, Step))
        own = next((o for o in reversed(trace) if isinstance(o, Begin) and o.thread == thread), None)
        return isinstance(own, kinds) and any(isinstance(o, beside) for o in trace)

    return holds


FALLBACKS = (
    Fallback("EC-17", "total", given=overlap),
    Fallback("IL-2", "pinned", given=overlap),
    Fallback("IL-4", given=steps_of(BeginGet, beside=BeginPut)),
    Fallback("IL-3", given=steps_of(BeginGet)),
    Fallback("IL-1", given=steps_of(BeginPut)),
    Fallback("EC-12", given=steps_of(*REMOVALS)),
    Fallback("IL-2", given=overlap),
    Fallback("EC-13", "hold free", "references"),
    Fallback("EC-12", shows="references"),
    Fallback("EC-04", "put fill"),
    Fallback("EC-18", "late reopen"),
    Fallback("EC-06", "misput"),
    Fallback("EC-09", "get"),
    Fallback("EC-13", "hold free"),
    Fallback("EC-12", "spoil"),
    Fallback("EC-10", "range"),
    Fallback("RC-08", "read expect"),
    Fallback("EC-14", "remove invalidate"),
    Fallback("EC-15", "trim"),
    Fallback("EC-16", "clear"),
    Fallback("EC-21", "ttl"),
    Fallback("EC-32", "size"),
    Fallback("RC-02", "pinned"),
    Fallback("EC-30", "background"),
    Fallback("EC-38", "run"),
    Fallback("EC-01", "total"),
    Fallback("EC-40", "counters"),
    Fallback("EC-19", "resize watermark"),
    Fallback("RC-03", "append"),
    Fallback("EC-57", "cursor uncursor crowd"),
    Fallback("EC-59", "fetch fetches complete short fail done timeouts", RESULT, given=read_when_told),
    Fallback("EC-45", "fetch fetches"),
    Fallback("EC-49", "single"),
    Fallback("EC-65", "short complete", RESULT, given=answered_in_part),
    Fallback("EC-47", "complete"),
    Fallback("EC-54", "fail"),
    Fallback("RC-06", "done share"),
    Fallback("RC-09", "replay"),
    Fallback("EC-55", "timeouts permits"),
    Fallback("EC-46", "hits"),
    Fallback("EC-24"),
)
