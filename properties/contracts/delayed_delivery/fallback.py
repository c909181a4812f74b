"""Which rule to name where no known mistake explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback


def cleared(trace: Sequence[Any]) -> bool:
    """Whether a clear is in a trace."""
    return any(operation.tag == "clear" for operation in trace)


def ran(trace: Sequence[Any]) -> bool:
    """Whether the timer may have run."""
    return any(operation.tag == "adv" for operation in trace)


def was_set(trace: Sequence[Any]) -> bool:
    """Whether the clock was set."""
    return any(operation.tag == "jump" for operation in trace)


def ran_and_was_set(trace: Sequence[Any]) -> bool:
    """Whether the timer may have run, and the clock was set."""
    return ran(trace) and was_set(trace)


def several(_trace: Sequence[Any], _expected: Any, seen: Any) -> bool:
    """Whether more than one timeout is armed."""
    return len(seen) > 1


def sooner(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether a timeout is armed too soon."""
    return bool(expected and seen and seen[0] < expected[0])


def due_or_not(trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether something was handed out where nothing had to be, or nothing where something had to be."""
    return trace[-1].most > 0 and bool(expected) != bool(seen)


def never_added(trace: Sequence[Any], _expected: Any, seen: Any) -> bool:
    """Whether something was handed out that was never added."""
    return any(not any(adds(operation, *position) for operation in trace) for position in seen)


def adds(operation: Any, ledger: int, entry: int) -> bool:
    """Whether an operation adds a message."""
    if operation.tag == "add":
        return bool((operation.ledger, operation.entry) == (ledger, entry))
    if operation.tag != "fill" or operation.ledger != ledger:
        return False
    number, beside = divmod(entry - operation.entry, operation.step)
    return bool(not beside and 0 <= number < operation.n)


FALLBACKS = (
    Fallback("DD-20", shows=RESULT, error="AnswerChanged"),
    Fallback("DD-32", "close"),
    Fallback("DD-38", shows="armed", given=ran_and_was_set),
    Fallback("DD-37", given=was_set),
    Fallback("DD-30", shows="count", given=cleared),
    Fallback("DD-27", "tick"),
    Fallback("DD-28", shows="count"),
    Fallback("DD-30", "clear"),
    Fallback("DD-24", "stale adv"),
    Fallback("DD-23", shows="armed", differs=several),
    Fallback("DD-22", shows="armed", given=ran, differs=sooner),
    Fallback("DD-21", shows="armed"),
    Fallback("DD-09", "add fill"),
    Fallback("DD-06", "has"),
    Fallback("DD-30", "get", given=cleared),
    Fallback("DD-13", "get", RESULT, differs=never_added),
    Fallback("DD-06", "get", RESULT, differs=due_or_not),
    Fallback("DD-20", "get"),
    Fallback("DD-17", "pause"),
    Fallback("DD-29"),
)
