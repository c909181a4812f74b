"""Operations with the names of their fields: ``add ledger=0 entry=0 at=+1``, which people read and traces may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from broker_tck.properties.engine.operation import TIME, Operation, marked


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
    """The fields of an operation that its text has to tell."""
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
    in_place = (given.get(field.name, default_text(field)) for field in fields[: last + 1])
    return [words[0], *(text for text in in_place if text is not None)]


def default_text(field: msgspec.structs.FieldInfo) -> str | None:
    """What stands for a field that is not given; None: it has to be."""
    return None if field.required else plain_text(field.default)
