"""Operations: immutable, typed, serializable records of one call or one event."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

TIME = {"kind": "time"}
"""Marks a field that holds an absolute time: it moves with the clock where a trace is shifted or written short."""

Time = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=TIME)]
Duration = Annotated[int, Meta(ge=0, le=2**53)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


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


def is_time(field: msgspec.structs.FieldInfo) -> bool:
    """Whether the field holds an absolute time."""
    return any(isinstance(part, Meta) and part.extra == TIME for part in getattr(field.type, "__metadata__", ()))


def valid(record: msgspec.Struct) -> bool:
    """Whether every field is within its bounds; constructors do not ask."""
    try:
        msgspec.convert(msgspec.to_builtins(record), type(record))
    except msgspec.ValidationError:
        return False
    return True


def time_fields(operation: type[msgspec.Struct]) -> frozenset[str]:
    """The names of the fields that hold absolute times."""
    return frozenset(f.name for f in msgspec.structs.fields(operation) if is_time(f))


def shifted(operation: Operation, ms: int) -> Operation:
    """The operation with every time moved; negative times mean "none" and stay."""
    times = {name: getattr(operation, name) for name in time_fields(type(operation))}
    return msgspec.structs.replace(operation, **{name: at + ms for name, at in times.items() if at >= 0})
