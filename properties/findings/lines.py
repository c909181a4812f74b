"""A trace in words: one operation a line, with what was expected and what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from broker_tck.model.reference import Allowed, Reference
from broker_tck.properties.engine.check import RESULT, Difference, concrete, failed, plain
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, clock_of
from broker_tck.properties.engine.trace import operation_text, plain_text
from broker_tck.properties.findings.diagnose import observable

WIDEST = 60
NEAR = 2**42
"""Milliseconds: numbers no farther behind the clock than this are times, as ledger and entry ids are not."""


class Line(NamedTuple):
    """One operation of a story."""

    operation: str
    expected: str
    seen: str
    """Empty where it was as expected."""


def lines(
    contract: Contract,
    model: type[Reference],
    config: Any,
    operations: Sequence[Operation],
    difference: Difference | None = None,
    answers: Sequence[Any] = (),
) -> list[Line]:
    """A trace, one operation a line; ``difference`` is what was seen at the last.

    Where the model leaves a choice, the subject's is told if its ``answers`` are known.
    """
    told = []
    reference: Any = model(config)
    clock = clock_of(config)
    for number, operation in enumerate(operations, 1):
        try:
            result = followed(operation.on(reference), answers[number - 1 : number])
        except Exception as fault:
            result = failed(fault)
        expected = outcome_text(contract, result, reference.seen(), clock)
        seen = ""
        if difference and number == len(operations):
            name = observable(contract, difference)
            prefix = "" if name == RESULT else f"{name} "
            seen = prefix + value_text(difference.seen, clock)
            expected = prefix + value_text(difference.expected, clock)
        told.append(Line(operation_text(operation, clock), expected, seen))
    return told


def followed(answer: Any, given: Sequence[Any]) -> Any:
    """An answer of the model, by what the subject answered where that is known and allowed."""
    if type(answer) is Allowed and given and answer.permits(given[0]):
        answer.follow(given[0])
        return given[0]
    return concrete(answer)


def outcome_text(contract: Contract, result: Any, seen: Sequence[Any], clock: int | None) -> str:
    """An outcome in few words: the result unless there is none, then what was seen."""
    parts = [] if result is None else [value_text(plain(result), clock)]
    parts += [
        f"{name} {value_text(plain(concrete(value)), clock)}"
        for name, value in zip(contract.observables, seen, strict=True)
    ]
    return ", ".join(parts)


def value_text(value: Any, clock: int | None) -> str:
    """A value, with times near the clock counted from it."""
    if isinstance(value, dict) and "error" in value:
        return f"{value['error']}: {value['message']}" if value.get("message") else str(value["error"])
    if isinstance(value, str):
        return value
    text = (
        "[" + " ".join(value_text(v, clock) for v in value) + "]" if isinstance(value, list) else scalar(value, clock)
    )
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def scalar(value: Any, clock: int | None) -> str:
    """A number or a flag; numbers as large as the clock are times."""
    if type(value) is int and clock is not None and 10**6 < clock <= value < clock + NEAR:
        return f"+{value - clock}"
    try:
        return plain_text(value)
    except (TypeError, OverflowError, msgspec.MsgspecError):
        return repr(value)


def table(told: Sequence[Line], first: int = 1) -> list[str]:
    """The lines of a story in columns, numbered from ``first``."""
    head = Line("operation", "expected", "seen")
    widths = [max(len(line[i]) for line in [head, *told]) for i in (0, 1)]
    rows = [("", head), *((str(number), line) for number, line in enumerate(told, first))]
    return [
        f"  {number:>3}  {line.operation:<{widths[0]}}  {line.expected:<{widths[1]}}  {line.seen}".rstrip()
        for number, line in rows
    ]
