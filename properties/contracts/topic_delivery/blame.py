"""Which rule to name where no known wrong way explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Blame


def of_letter(letter: str) -> Callable[[Sequence[Any], Any, Any], bool]:
    """Whether a view has a letter in its state, or has it not, that it is to have or not."""

    def differs(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
        return [each == letter for each in expected] != [each == letter for each in seen]

    return differs


def cleared(trace: Sequence[Any]) -> bool:
    """Whether a view was cleared."""
    return any(operation.tag == "clear" for operation in trace)


def several(trace: Sequence[Any]) -> bool:
    """Whether several views were opened."""
    return len([operation for operation in trace if operation.tag == "open"]) > 1


def twice(trace: Sequence[Any]) -> bool:
    """Whether a message was added twice, so that a copy of it may have stayed."""
    added = [(operation.ledger, operation.entry) for operation in trace if operation.tag == "add"]
    return len(set(added)) < len(added)


BLAME = (
    Blame("TD-13", "clear"),
    Blame("TD-28", "close", "count"),
    Blame("TD-27", "close"),
    Blame("TD-31", "shutdown"),
    Blame("TD-26", "open"),
    Blame("TD-15", "md", "count", twice),
    Blame("TD-20", "md", "count", several),
    Blame("TD-15", "md"),
    Blame("TD-14", "tick"),
    Blame("TD-13", "adv", RESULT, cleared),
    Blame("TD-19", "adv", RESULT),
    Blame("TD-18", "adv", "armed"),
    Blame("DD-24", "stale"),
    Blame("DD-29", "memory"),
    Blame("DD-29", shows="memory"),
    Blame("TD-17", shows="armed"),
    Blame("TD-26", shows="state", differs=of_letter("x")),
    Blame("TD-12", shows="state", differs=of_letter("p")),
    Blame("TD-10", shows="state"),
    Blame("TD-06", "add fill", RESULT),
    Blame("TD-10", "has"),
    Blame("TD-11", "count", RESULT),
    Blame("TD-12", "pause"),
    Blame("TD-13", "get", RESULT, cleared),
    Blame("TD-09", "get", RESULT),
    Blame("TD-20"),
)
