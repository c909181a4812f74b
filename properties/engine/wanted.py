"""The error in a record, in a line: the field, its value, and what it must be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect

from broker_tck.properties.engine.written import short


def refusal(
    error: msgspec.ValidationError, record: type[msgspec.Struct], values: Mapping[str, Any], typed: bool = False
) -> str:
    """What is wrong with a record: the field, its value, and what it must be; else the message of msgspec.

    Values are shown as JSON, but for words that were ``typed``.
    """
    text, _, place = str(error).replace("`", "").partition(" - at $")
    says = text[:1].lower() + text[1:]
    fields = msgspec.structs.fields(record)
    index, name = re.match(r"(?:\[(\d+)\])?(?:\.(\w+))?", place).groups()  # type: ignore[union-attr]
    found = [f for i, f in enumerate(fields, 1) if f.name == name or (index is not None and i == int(index))]
    if not found or found[0].name not in values:
        return says
    value = values[found[0].name]
    shown = value if typed and isinstance(value, str) else json.dumps(value, default=repr)
    wanted = in_words(inspect.type_info(found[0].type))
    return f"{found[0].name} is {short(shown)}; {f'it must be {wanted}' if wanted else says}"


def in_words(kind: inspect.Type) -> str:
    """What a value must be, if its type has a description or lists its values; else empty."""
    match kind:
        case inspect.Metadata(extra_json_schema={"description": str(words)}):
            return words
        case inspect.Metadata(type=inner):
            return in_words(inner)
        case inspect.LiteralType(values=values):
            return " or ".join(map(str, values))
        case inspect.UnionType(types=types):
            return next(filter(None, map(in_words, types)), "")
    return ""


def malformed(line: str, error: Exception) -> str:
    """Why a line is not JSON, in words; ``error`` is the error of msgspec."""
    if line.lstrip()[:1] not in ("{", "["):
        return "text, not JSON; a trace file has one JSON object on each line"
    if isinstance(error, RecursionError):
        return "not a trace: nested too deep"
    return f"not JSON ({error})" + ("; is the file cut off?" if "truncated" in str(error) else "")
