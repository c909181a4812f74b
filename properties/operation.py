"""Operations: immutable, typed, serializable records of one call or one event."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from string import ascii_uppercase
from typing import Annotated, Any

import msgspec
from msgspec import Meta

TIME = {"kind": "time"}
"""Marks a field that holds an absolute time: it moves with the clock where a trace is shifted or written short."""

POSITION = {"kind": "position"}
"""Marks the fields that together name a message."""

Time = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=TIME)]
Duration = Annotated[int, Meta(ge=0, le=2**53)]


class Operation(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """One operation. In a trace it is an array: its tag, then its fields.

    :meth:`on` performs it on a reference model or on the rig of a subject: both have a method for each operation.
    """

    def on(self, to: Any) -> Any:
        """Perform the operation and answer with its result."""
        raise TypeError(f"{type(self).__name__} is not an operation")

    @property
    def tag(self) -> str:
        """The operation's name in a trace."""
        return str(self.__struct_config__.tag)


def marked(field: msgspec.structs.FieldInfo, mark: dict[str, str]) -> bool:
    """Whether the field has this mark."""
    return any(isinstance(part, Meta) and part.extra == mark for part in getattr(field.type, "__metadata__", ()))


def valid(record: msgspec.Struct) -> bool:
    """Whether every field is within its bounds; constructors do not ask."""
    try:
        msgspec.convert(msgspec.to_builtins(record), type(record))
    except msgspec.ValidationError:
        return False
    return True


def time_fields(operation: type[msgspec.Struct]) -> frozenset[str]:
    """The names of the fields that hold absolute times."""
    return frozenset(f.name for f in msgspec.structs.fields(operation) if marked(f, TIME))


@cache
def position_fields(operation: type[msgspec.Struct]) -> tuple[str, ...]:
    """The names of the fields that name a message."""
    return tuple(f.name for f in msgspec.structs.fields(operation) if marked(f, POSITION))


def shape(operations: Sequence[Operation]) -> str:
    """What a trace is like: the kinds of its operations, its positions by letters of first use, and no numbers."""
    names: dict[tuple[Any, ...], str] = {}
    words = []
    for operation in operations:
        position = tuple(getattr(operation, name) for name in position_fields(type(operation)))
        letter = names.setdefault(position, letters(len(names))) if position else ""
        words.append(f"{operation.tag} {letter}".strip())
    return "; ".join(words)


def letters(number: int) -> str:
    """A name for a number: A to Z, then AA, AB and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + ascii_uppercase[last]


def shifted(operation: Operation, ms: int) -> Operation:
    """The operation with every time moved; negative times mean "none" and stay."""
    times = {name: getattr(operation, name) for name in time_fields(type(operation))}
    return msgspec.structs.replace(operation, **{name: at + ms for name, at in times.items() if at >= 0})
