"""Which rule to name where no known mistake explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback

Differs = Callable[[Sequence[Any], Any, Any], bool]


def calls(*kinds: str) -> Differs:
    """Whether calls of some kinds are made that must not be made, or the other way round, but by no get of nothing."""

    def differs(trace: Sequence[Any], expected: Any, seen: Any) -> bool:
        takes = trace[-1].tag != "get" or trace[-1].most > 0
        return takes and any(call.startswith(kinds) for call in {*expected} ^ {*seen})

    return differs


def of_segments(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether all buckets lie where they are to lie, and only how many segments they have differs."""
    return [bucket[:2] for bucket in expected] == [bucket[:2] for bucket in seen]


def was_set(trace: Sequence[Any]) -> bool:
    """Whether the clock was set."""
    return any(operation.tag == "jump" for operation in trace)


def ran_and_was_set(trace: Sequence[Any]) -> bool:
    """Whether the timer may have run, and the clock was set."""
    return was_set(trace) and any(operation.tag == "adv" for operation in trace)


FALLBACKS = (
    Fallback("BD-19", shows=RESULT, error="AnswerChanged"),
    Fallback("BD-13", shows=RESULT, error="SnapshotChanged"),
    Fallback("BD-32", shows=RESULT, error="ToldTwice"),
    Fallback("DD-38", shows="armed", given=ran_and_was_set),
    Fallback("DD-37", given=was_set),
    Fallback("BD-39", "crash reopen", "count"),
    Fallback("BD-35", "crash", RESULT, lambda operations: operations[-1].failing > 0),
    Fallback("BD-36", "crash reopen", RESULT),
    Fallback("BD-48", "crash reopen", "armed"),
    Fallback("BD-34", "crash reopen"),
    Fallback("BD-31", "clear"),
    Fallback("BD-32", "reopen closing"),
    Fallback("BD-13", "snapshot"),
    Fallback("BD-17", shows="keys"),
    Fallback("BD-15", "fail stored"),
    Fallback("DD-21", shows="armed"),
    Fallback("BD-04", "add fill", "result"),
    Fallback("BD-12", "add fill", "buckets", differs=of_segments),
    Fallback("BD-08", "add fill", "buckets"),
    Fallback("BD-25", "add fill", "count"),
    Fallback("BD-26", "add fill", "pending", differs=calls("load:", "delete:")),
    Fallback("BD-11", "add fill", "pending"),
    Fallback("BD-06", "add fill"),
    Fallback("BD-05", "contains"),
    Fallback("BD-18", "has"),
    Fallback("BD-21", "get", "pending", differs=calls("delete:", "remove:")),
    Fallback("BD-29", "get", "pending", differs=calls("load:")),
    Fallback("BD-19", "get"),
    Fallback("BD-10", "pause"),
    Fallback("BD-22", "mark"),
    Fallback("BD-31", "complete", given=lambda operations: any(o.tag == "clear" for o in operations)),
    Fallback("BD-28", "complete"),
    Fallback("BD-25"),
)
