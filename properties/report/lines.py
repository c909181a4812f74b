"""A trace in words: one operation a line, with its expected and its actual outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat, takewhile
from textwrap import wrap
from typing import Any, NamedTuple

from broker_tck.model.reference import Allowed, Reference
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import RESULT, Difference, Look, concrete, failed, observable, permitted
from broker_tck.properties.engine.contract import Contract, Step
from broker_tck.properties.engine.operation import Operation, clock_of
from broker_tck.properties.engine.written import WIDEST, cut, named_text, unit_of, value_text, whole_text

WIDTH = 80
"""The default width of a text, in columns."""


UNTOLD = Step(Look(), None, ())
"""In place of what a subject did if that is not known."""
EXPECTED, SEEN = "expected", "seen"
Shown = Callable[[str, str], str]
"""Formats a part of a failure report, given its name and text, for example in a colour."""


def as_it_is(_part: str, text: str) -> str:
    """The text, unchanged."""
    return text


class Line(NamedTuple):
    """One operation of a trace."""

    operation: str
    expected: str
    seen: str
    """Empty if it was as expected."""


def lines(
    contract: Contract,
    model: type[Reference],
    config: Any,
    operations: Sequence[Operation],
    difference: Difference | None = None,
    answers: Sequence[Step] = (),
) -> list[Line]:
    """The lines of a trace; ``difference`` is the failure at its last operation.

    If the model leaves a choice and the subject's ``answers`` are known, a line shows the subject's answer. If a
    contract's observables are long, a line shows only those that changed.
    """
    told: list[Line] = []
    before: dict[str, str] = {}
    reference: Any = model(config)
    clock = clock_of(config)
    for number, (operation, step) in enumerate(zip(operations, chain(answers, repeat(UNTOLD)), strict=False), 1):
        try:
            result = followed(operation.on(reference), step.result)
        except Exception as fault:
            result = failed(fault)
        shown = observables_text(contract, map(followed, reference.seen(), chain(step.seen, repeat(None))), clock)
        new = [text for name, text in shown.items() if not contract.wordy or before.get(name) != text]
        before = shown
        answered = [] if result is None else [value_text(plain(result), clock, operation.unit)]
        expected, seen = ", ".join([*answered, *new]), ""
        if difference and number == len(operations):
            expected, seen = both_text(contract, operation, difference, clock)
        told.append(Line(named_text(operation, clock), expected, seen))
    return told


def followed(answer: Any, given: Any) -> Any:
    """An answer of the model, by what the subject answered if the model allows that."""
    if type(answer) is Allowed and permitted(answer, given):
        answer.follow(given)
        return given
    return concrete(answer)


def observables_text(contract: Contract, seen: Iterable[Any], clock: int | None) -> dict[str, str]:
    """What was seen, each observable by its name."""
    return {
        name: f"{name} {value_text(plain(value), clock, contract.units.get(name, ''))}"
        for name, value in zip(contract.observables, seen, strict=True)
    }


def both_text(contract: Contract, operation: Operation, difference: Difference, clock: int | None) -> tuple[str, str]:
    """The expected and the actual outcome of an operation, with the observable's name unless the result differed."""
    name = observable(contract, difference)
    prefix, unit = "" if name == RESULT else f"{name} ", unit_of(contract, operation, name)
    both = difference.expected, difference.seen
    expected, seen = (value_text(value, clock, unit) for value in both)
    if isinstance(difference.seen, str) and not isinstance(difference.expected, str) and seen[:1] != "<":
        seen = f'"{seen}"'  # a text "0" is no 0
    if expected == seen:
        expected, seen = apart(*(whole_text(value, clock, unit) for value in both))
    return prefix + expected, prefix + seen


def apart(one: str, other: str) -> tuple[str, str]:
    """Two texts with the same beginning, cut to a window around their first difference."""
    alike = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))
    begin = max(0, alike - WIDEST // 2)
    before = "…" if begin else ""
    return cut(before + one[begin:]), cut(before + other[begin:])


# ---- In columns, or one below the other


def table(told: Sequence[Line], first: int = 1, width: int = WIDTH, shown: Shown = as_it_is) -> list[str]:
    """The lines of a trace as text, numbered from ``first``: in columns, or stacked if the columns are too wide.

    ``shown`` formats the parts :data:`EXPECTED` and :data:`SEEN` of the line that failed.
    """
    head = Line("operation", "expected", "seen")
    widths = [max(len(line[i]) for line in [head, *told]) for i in (0, 1)]
    rows = [("", head), *((str(number), line) for number, line in enumerate(told, first))]
    if max(len(column(number, line, widths, as_it_is)) for number, line in rows) > width:
        return stacked(told, first, width, shown)
    return [column(number, line, widths, shown) for number, line in rows]


def column(number: str, line: Line, widths: Sequence[int], shown: Shown) -> str:
    """A line of a trace in columns."""
    expected = line.expected.ljust(widths[1])
    before = f"  {number:>3}  {line.operation:<{widths[0]}}  "
    if not line.seen:
        return f"{before}{expected}".rstrip()
    return f"{before}{shown(EXPECTED, expected)}  {shown(SEEN, line.seen)}"


def stacked(told: Sequence[Line], first: int, width: int, shown: Shown = as_it_is) -> list[str]:
    """The lines of a trace, each operation with its outcome below it."""
    out: list[str] = []
    for number, line in enumerate(told, first):
        out += filled(f"  {number:>3}  ", line.operation, width)
        if line.seen:
            out += [shown(EXPECTED, text) for text in filled("         expected  ", line.expected, width)]
            out += [shown(SEEN, text) for text in filled("         seen      ", line.seen, width)]
        elif line.expected:
            out += filled("         -> ", line.expected, width)
    return out


def filled(label: str, text: str, width: int) -> list[str]:
    """A text after a label, folded to a width; a longer word is not broken."""
    behind = " " * len(label)
    parts = wrap(text, max(width - len(label), 20), break_long_words=False, break_on_hyphens=False) or [""]
    return [f"{label if i == 0 else behind}{part}".rstrip() for i, part in enumerate(parts)]
