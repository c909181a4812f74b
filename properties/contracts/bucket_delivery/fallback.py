"""Which rule to name where no known wrong way explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback


def of_a_chain(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether calls of a trim or a merge are made, or are not, that are to be made or not."""
    return any(call.startswith(("load:", "delete:")) for call in {*expected} ^ {*seen})


def of_a_deletion(trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether a get that may take something deletes something that it is not to delete, or the other way round."""
    return trace[-1].most > 0 and any(call.startswith(("delete:", "remove:")) for call in {*expected} ^ {*seen})


def of_a_load(trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether a get that may take something loads what it is not to load, or the other way round."""
    return trace[-1].most > 0 and any(call.startswith("load:") for call in {*expected} ^ {*seen})


def of_segments(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether all buckets lie where they are to lie, and only how many segments they have differs."""
    return [bucket[:2] for bucket in expected] == [bucket[:2] for bucket in seen]


FALLBACKS = (
    Fallback("BD-39", "crash reopen", "count"),
    Fallback("BD-35", "crash", RESULT, lambda operations: operations[-1].failing > 0),
    Fallback("BD-36", "crash reopen", RESULT),
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
    Fallback("BD-26", "add fill", "pending", differs=of_a_chain),
    Fallback("BD-11", "add fill", "pending"),
    Fallback("BD-06", "add fill"),
    Fallback("BD-05", "contains"),
    Fallback("BD-18", "has"),
    Fallback("BD-21", "get", "pending", differs=of_a_deletion),
    Fallback("BD-29", "get", "pending", differs=of_a_load),
    Fallback("BD-19", "get"),
    Fallback("BD-10", "pause"),
    Fallback("BD-22", "mark"),
    Fallback("BD-31", "complete", given=lambda operations: any(o.tag == "clear" for o in operations)),
    Fallback("BD-28", "complete"),
    Fallback("BD-25"),
)
