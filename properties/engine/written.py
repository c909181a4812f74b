"""Operations with the names of their fields: ``add ledger=0 entry=0 at=+1``, which people read and traces may have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import TIME, Operation, marked
from broker_tck.properties.engine.units import Unit, number_text

WIDEST = 96


def words_of(operation: Operation, clock: int | None) -> list[tuple[str, str]]:
    """The fields of an operation as text, each with its name; times counted from the clock.

    Fields at its end that have their default are left out.
    """
    times = marked(type(operation), TIME)
    words = []
    for name, value in told(operation):
        near = name in times and clock is not None and value >= clock
        words.append((name, f"+{value - clock}" if near and clock is not None else plain_text(value)))
    return words


def told(operation: Operation) -> list[tuple[str, Any]]:
    """The fields of an operation that its text must show."""
    fields = [(name, getattr(operation, name)) for name in operation.__struct_fields__]
    defaults = [*operation.__struct_defaults__]
    while defaults and fields[-1][1] == defaults.pop():
        fields.pop()
    return fields


def plain_text(value: Any) -> str:
    """A field as text."""
    return msgspec.json.encode(value).decode().strip('"')


def short(text: str) -> str:
    """A text that was given, cut where it is long."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def operation_text(operation: Operation, clock: int | None) -> str:
    """An operation as text in a trace, times counted from the clock."""
    return " ".join([operation.tag, *(text for _, text in words_of(operation, clock))])


def named_text(operation: Operation, clock: int | None) -> str:
    """An operation as text with the names of its fields, which a trace may have as well."""
    return " ".join([operation.tag, *(f"{name}={text}" for name, text in words_of(operation, clock))])


def in_order(words: Sequence[str], kind: type[Operation]) -> list[str]:
    """The words of an operation in the order of its fields; those that are not ``field=value``, all, as they are."""
    fields = msgspec.structs.fields(kind)
    given = {name: value for name, equals, value in (word.partition("=") for word in words[1:]) if equals}
    if not given or len(given) < len(words) - 1 or not given.keys() <= {field.name for field in fields}:
        return [*words]
    last = max(i for i, field in enumerate(fields) if field.name in given)
    defaults = {field.name: plain_text(field.default) for field in fields if not field.required}
    in_place = ({**defaults, **given}.get(field.name) for field in fields[: last + 1])
    return [words[0], *(text for text in in_place if text is not None)]


# ---- Values


def cut(text: str) -> str:
    """A text that is not too long."""
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def unit_of(contract: Contract, operation: Operation, name: str) -> Unit:
    """The unit of an operation's result, or of an observable."""
    return operation.unit if name == RESULT else contract.units.get(name, "")


def value_text(value: Any, clock: int | None, unit: Unit = "") -> str:
    """A value with its unit, times counted from the clock; a number or a list no longer than it can be read."""
    text = whole_text(value, clock, unit)
    return text if isinstance(value, str | dict) else cut(text)


def whole_text(value: Any, clock: int | None, unit: Unit = "") -> str:
    """A value with its unit, times counted from the clock."""
    if isinstance(value, dict) and "error" in value:
        return f"{value['error']}: {value['message']}" if value.get("message") else str(value["error"])
    if isinstance(value, str):
        return value
    return list_text(value, clock, unit) if isinstance(value, list) else scalar(value, clock, unit)


def list_text(values: Sequence[Any], clock: int | None, unit: Unit) -> str:
    """A list as text, each item with the unit of its place."""
    plain_places = not any(isinstance(value, list) for value in values)
    units: Sequence[Unit] = [unit] * len(values)
    if isinstance(unit, tuple) and plain_places:
        units = unit if len(unit) == len(values) else [""] * len(values)
    told = [whole_text(value, clock, of) for value, of in zip_longest(values, units)]
    between = ", " if any(" " in text and not text.startswith("[") for text in told) else " "
    return f"[{between.join(told)}]"


def scalar(value: Any, clock: int | None, unit: Unit = "") -> str:
    """A number or a flag."""
    if type(value) is int:
        return number_text(value, clock, unit if isinstance(unit, str) else "")
    try:
        return plain_text(value)
    except (TypeError, OverflowError, msgspec.MsgspecError):
        return repr(value)
