"""Which rule to name where no known wrong way explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Blame


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


BLAME = (
    Blame("BD-39", "crash reopen", "count"),
    Blame("BD-35", "crash", RESULT, lambda operations: operations[-1].failing > 0),
    Blame("BD-36", "crash reopen", RESULT),
    Blame("BD-34", "crash reopen"),
    Blame("BD-31", "clear"),
    Blame("BD-32", "reopen closing"),
    Blame("BD-13", "snapshot"),
    Blame("BD-17", shows="keys"),
    Blame("BD-15", "fail stored"),
    Blame("DD-21", shows="armed"),
    Blame("BD-04", "add fill", "result"),
    Blame("BD-12", "add fill", "buckets", differs=of_segments),
    Blame("BD-08", "add fill", "buckets"),
    Blame("BD-25", "add fill", "count"),
    Blame("BD-26", "add fill", "pending", differs=of_a_chain),
    Blame("BD-11", "add fill", "pending"),
    Blame("BD-06", "add fill"),
    Blame("BD-05", "contains"),
    Blame("BD-18", "has"),
    Blame("BD-21", "get", "pending", differs=of_a_deletion),
    Blame("BD-29", "get", "pending", differs=of_a_load),
    Blame("BD-19", "get"),
    Blame("BD-10", "pause"),
    Blame("BD-22", "mark"),
    Blame("BD-31", "complete", given=lambda operations: any(o.tag == "clear" for o in operations)),
    Blame("BD-28", "complete"),
    Blame("BD-25"),
)
