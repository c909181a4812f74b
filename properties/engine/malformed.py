"""What is wrong with a line that is no JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

TRUNCATED = "truncated"
"""What msgspec says of a line that ends too soon has this word."""


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
