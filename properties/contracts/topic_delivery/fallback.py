"""Which rule to name where no known mistake explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.properties.contracts.delayed_delivery.fallback import cleared, ran_and_was_set, was_set
from broker_tck.properties.engine.check import HANG, RESULT
from broker_tck.properties.engine.contract import Fallback


def of_letter(letter: str) -> Callable[[Sequence[Any], Any, Any], bool]:
    """Whether a view has a letter in its state, or has it not, that it is to have or not."""

    def differs(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
        return [each == letter for each in expected] != [each == letter for each in seen]

    return differs


def several(trace: Sequence[Any]) -> bool:
    """Whether several views were opened."""
    return len([operation for operation in trace if operation.tag == "open"]) > 1


def reads_at_once(trace: Sequence[Any]) -> bool:
    """Whether a dispatcher takes messages when it is asked to read."""
    return any(operation.tag == "reads" for operation in trace)


def twice(trace: Sequence[Any]) -> bool:
    """Whether a message was added twice, so that a copy of it may have stayed."""
    added = [(operation.ledger, operation.entry) for operation in trace if operation.tag == "add"]
    return len(set(added)) < len(added)


FALLBACKS = (
    Fallback("DD-20", shows=RESULT, error="AnswerChanged"),
    Fallback("TD-44", "adv", RESULT, reads_at_once, error=f"{HANG} RuntimeError"),
    Fallback("TD-39", "has", "armed", was_set),
    Fallback("DD-38", shows="armed", given=ran_and_was_set),
    Fallback("DD-37", given=was_set),
    Fallback("TD-13", "clear"),
    Fallback("TD-28", "close", "count"),
    Fallback("TD-27", "close"),
    Fallback("TD-31", "shutdown"),
    Fallback("TD-26", "open"),
    Fallback("TD-15", "md", "count", twice),
    Fallback("TD-20", "md", "count", several),
    Fallback("TD-15", "md"),
    Fallback("TD-14", "tick"),
    Fallback("TD-13", "adv", RESULT, cleared),
    Fallback("TD-19", "adv", RESULT),
    Fallback("TD-18", "adv", "armed"),
    Fallback("DD-24", "stale"),
    Fallback("DD-29", "memory"),
    Fallback("DD-29", shows="memory"),
    Fallback("TD-17", shows="armed"),
    Fallback("TD-26", shows="state", differs=of_letter("x")),
    Fallback("TD-12", shows="state", differs=of_letter("p")),
    Fallback("TD-10", shows="state"),
    Fallback("TD-06", "add fill", RESULT),
    Fallback("TD-10", "has"),
    Fallback("TD-11", "count", RESULT),
    Fallback("TD-12", "pause"),
    Fallback("TD-13", "get", RESULT, cleared),
    Fallback("TD-09", "get", RESULT),
    Fallback("TD-20"),
)
