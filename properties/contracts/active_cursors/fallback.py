"""The rule to name if no known mistake explains a difference: by the operation, and by what went before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback


def removed(trace: Sequence[Any]) -> bool:
    """Whether a cursor is removed."""
    return any(operation.tag == "remove" for operation in trace)


def taken_away(trace: Sequence[Any]) -> bool:
    """Whether a cursor is left without a position."""
    return any(operation.tag in ("add", "update") and operation.at is None for operation in trace)


def several(trace: Sequence[Any]) -> bool:
    """Whether more than one cursor is added: whether there are others that may be out of order."""
    return len({o.name for o in trace if o.tag in ("add", "durable")}) > 1 or any(o.tag == "crowd" for o in trace)


def out_of_order(trace: Sequence[Any]) -> bool:
    """Whether the position of one of several cursors has gone."""
    return several(trace) and (removed(trace) or taken_away(trace))


def added_again(trace: Sequence[Any]) -> bool:
    """Whether a name is added that is there."""
    there: set[str] = set()
    for operation in trace:
        if operation.tag in ("add", "durable"):
            if operation.name in there:
                return True
            there.add(operation.name)
        elif operation.tag == "remove":
            there.difference_update(operation.names())
    return False


def updated_in_vain(trace: Sequence[Any]) -> bool:
    """Whether a name is updated that nothing in the trace has added."""
    added = {operation.name for operation in trace if operation.tag in ("add", "durable")}
    crowds = any(operation.tag == "crowd" for operation in trace)
    return not crowds and any(operation.tag == "update" and operation.name not in added for operation in trace)


def version_alone(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether the oldest cursor is the right one, with another version."""
    return bool(expected[:-1] == seen[:-1])


FALLBACKS = (
    Fallback("CC-12", "oldest", RESULT, differs=version_alone),
    Fallback("CC-05", "slowest count oldest", given=updated_in_vain),
    Fallback("CC-11", "slowest oldest", given=out_of_order),
    Fallback("CC-04", "slowest count oldest", given=added_again),
    Fallback("CC-11", "slowest count oldest", given=removed),
    Fallback("CC-14", "slowest count oldest", given=taken_away),
    Fallback("CC-04", "add durable"),
    Fallback("CC-05", "update march"),
    Fallback("CC-04", "size get list", given=added_again),
    Fallback("CC-09", "remove size get"),
    Fallback("CC-15", "list"),
    Fallback("EC-58", "caches"),
    Fallback("CC-12", "oldest"),
    Fallback("CC-13", "durables"),
    Fallback("CC-02"),
)
