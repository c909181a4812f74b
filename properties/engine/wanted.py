"""What is wrong with a record, and what a field has to be, in words made of its type: ``a whole number from 1``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from broker_tck.properties.engine.written import short

WIDTH = 2**63
"""So many numbers there are from 0 on in 64 bits, one of which is the sign."""
PLAIN: dict[type[inspect.Type], str] = {
    inspect.NoneType: "null",
    inspect.BoolType: "true or false",
    inspect.StrType: "a text",
    inspect.DictType: "an object",
}
"""What a value of a type without bounds has to be."""
TRUNCATED = "truncated"
"""What msgspec says of a line that ends too soon has this word."""


def refusal(
    error: msgspec.ValidationError, record: type[msgspec.Struct], values: Mapping[str, Any], typed: bool = False
) -> str:
    """What is wrong with a record: which field, what is in it, and what it has to be; else what msgspec says.

    Values are shown as JSON, but for words that were ``typed``.
    """
    text, _, place = str(error).replace("`", "").partition(" - at $")
    fields = msgspec.structs.fields(record)
    index, name = re.match(r"(?:\[(\d+)\])?(?:\.(\w+))?", place).groups()  # type: ignore[union-attr]
    found = [f for i, f in enumerate(fields, 1) if f.name == name or (index is not None and i == int(index))]
    if not found or found[0].name not in values:
        return text[:1].lower() + text[1:]
    value = values[found[0].name]
    shown = value if typed and isinstance(value, str) else json.dumps(value, default=repr)
    return f"{found[0].name} is {short(shown)}; it has to be {wanted(found[0].type)}"


def wanted(kind: Any) -> str:
    """What a value of a type has to be."""
    return in_words(inspect.type_info(kind))


def in_words(kind: inspect.Type) -> str:
    """What a value has to be."""
    match kind:
        case inspect.Metadata(extra_json_schema={"description": str(words)}):
            return words
        case inspect.Metadata(type=inner):
            return in_words(inner)
        case inspect.LiteralType(values=values):
            return " or ".join(map(str, values))
        case inspect.UnionType(types=types):
            return ", or ".join(map(in_words, types))
        case inspect.TupleType(item_types=types):
            return f"a list of {len(types)}: {', '.join(map(in_words, types))}"
        case (
            inspect.VarTupleType(item_type=item, min_length=least) | inspect.ListType(item_type=item, min_length=least)
        ):
            each = "" if isinstance(item, inspect.AnyType) else f", each of it {in_words(item)}"
            return f"a list{' that is not empty' if least else ''}{each}"
        case inspect.IntType() | inspect.FloatType():
            return number(kind)
    return PLAIN[type(kind)]


def number(kind: inspect.IntType | inspect.FloatType) -> str:
    """What a number has to be."""
    if (kind.ge, kind.le) == (0, 1):
        return "0 or 1"
    return f"{'a whole number' if isinstance(kind, inspect.IntType) else 'a number'}{bounds(kind)}"


def bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    """Between what a number has to be."""
    if (kind.ge, kind.le) == (-WIDTH, WIDTH - 1):
        return " of 64 bits"
    least = f" of {kind.ge} or more" if kind.ge is not None else f" above {kind.gt}" if kind.gt is not None else ""
    if kind.le is None:
        return least
    return f" from {kind.ge} to {kind.le}" if kind.ge is not None else f"{least} and up to {kind.le}"


# ---- Text that is no JSON


class Constant(str):
    """``NaN`` or an infinity, which many programs write and JSON does not have."""

    __slots__ = ()


def malformed(line: str, error: Exception) -> str:
    """Why a line is no JSON, in words; ``error`` is what msgspec says of it."""
    if line.lstrip()[:1] not in ("{", "["):
        return "text, not JSON; a trace file has one JSON object a line"
    if isinstance(error, RecursionError):
        return "not a trace: nested too deep"
    for path, constant in constants(line):
        return f"{place(path)}{constant} is no value of JSON"
    return f"not JSON ({error})" + ("; is the file cut off?" if TRUNCATED in str(error) else "")


def constants(line: str) -> Iterator[tuple[tuple[Any, ...], Constant]]:
    """The constants in a line, and where they are; none where the line has another fault."""
    try:
        yield from within(json.loads(line, parse_constant=Constant), ())
    except (ValueError, RecursionError):
        return


def within(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Constant]]:
    """The constants in a value that is at a path."""
    if isinstance(value, Constant):
        yield path, value
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from within(part, (*path, key))


def place(path: tuple[Any, ...]) -> str:
    """Where in a trace a path leads: to a step, counted from 1, or a field of the configuration."""
    match path:
        case ("steps", int(number), *_):
            return f"step {number + 1}: "
        case ("config", str(name), *_):
            return f"config: {name}: "
    return ""
