"""Operations: immutable, typed, serializable records of one call or one event."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, wraps
from string import ascii_uppercase
from typing import Annotated, Any, ClassVar, get_args

import msgspec
from msgspec import Meta

from broker_tck.properties.engine.units import Unit

TIME = {"kind": "time"}
"""Marks a field that holds an absolute time: it moves with the clock where a trace is shifted or written short."""

DURATION = {"kind": "duration"}
"""Marks how far an operation moves the clock: two of a kind in a row can be one, as far as both."""

CLOCK = {"kind": "clock"}
"""Marks the field of a configuration that holds the time at the start, from which times are counted."""

BUDGET = {"kind": "budget"}
"""Marks how much an operation asks for at most: with less to be had, less will do."""

BULK = {"kind": "bulk"}
"""Marks how often an operation does what it does."""

POSITION = {"kind": "position"}
"""Marks the fields that together name a message."""

HANDLE = {"kind": "handle"}
"""Marks a name for what an earlier operation opened: a call under way, say. All that is done with it belongs together.

An operation on a handle that nothing has opened does nothing, so that each can be left out of a trace.
"""

PLACE = {"kind": "place"}
"""Marks where an operation puts what it names: another one of the same can be left out if this puts it there."""

Time = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=TIME)]
Duration = Annotated[int, Meta(ge=0, le=2**53, extra=DURATION)]
Bulk = Annotated[int, Meta(ge=0, le=1_000_000, extra=BULK)]


class Told:
    """In place of an adapter: a subject that is told the operation itself, and answers with its result."""

    ahead = False
    """Whether it is told all operations of a trace before it is asked for the first answer."""

    def asked(self, operations: Iterable[Operation]) -> Iterable[Operation]:
        """The operations, each announced before it is done. All may be looked at before the first is done."""
        return operations

    def told(self, operation: Operation) -> Any:
        """The result of the operation."""
        raise NotImplementedError

    def answers(self, line: bytes) -> bool:
        """Whether it answers the operation with this line, to the letter. If not, :meth:`told` says what it answers."""
        return False


class Operation(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """One operation. In a trace it is an array: its tag, then its fields.

    :meth:`on` performs it on a reference model or on the adapter of a subject: both have a method for each operation.
    It has the operation's name, and is called with the operation's fields: ``reset_tick(tick)`` for ``ResetTick``.
    """

    needs: ClassVar[str] = ""
    """The capability that a subject must have to be asked for it; empty: every subject can be."""

    unit: ClassVar[Unit] = ""
    """What its result counts, see :mod:`~broker_tck.properties.engine.units`."""

    opens: ClassVar[bool] = False
    """Whether it opens what its handle names."""

    traced: ClassVar[bool] = True
    """Whether traces may have it; if not, only an invariant asks it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.on.__qualname__ in (MADE, Operation.on.__qualname__):  # one that was written by hand is inherited
            type.__setattr__(cls, "on", performing(cls.__name__, tuple(cls.__annotations__)))
        elif "on" in cls.__dict__:
            type.__setattr__(cls, "on", unless_told(cls.on))

    def on(self, to: Any) -> Any:
        """Perform the operation and answer with its result."""
        raise TypeError(f"{type(self).__name__} is not an operation")

    @property
    def tag(self) -> str:
        """The operation's name in a trace."""
        return tag_of(type(self))


@cache
def tag_of(kind: type[Operation]) -> str:
    """The name of a kind of operations in a trace."""
    return str(kind.__struct_config__.tag)


MADE = "on"
"""The name of a method ``on`` that nobody wrote."""


def performing(name: str, fields: Sequence[str]) -> Callable[[Any, Any], Any]:
    """The method ``on`` of an operation. It is made of text, as a dataclass makes its own; walks call it a lot."""
    method = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    made: dict[str, Any] = {"__name__": __name__}
    exec(f"def on(self, to): return to.{method}({', '.join(f'self.{field}' for field in fields)})", made)
    performed: Callable[[Any, Any], Any] = made["on"]
    return performed


def unless_told(written: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A method ``on`` that was written by hand, which may call many methods; not those of a subject that is told."""

    @wraps(written)
    def on(self: Any, to: Any) -> Any:
        return to.told(self) if isinstance(to, Told) else written(self, to)

    return on


def kinds_of(operations: Any) -> tuple[type[Operation], ...]:
    """The types of a union of operations."""
    return get_args(operations)


@cache
def by_tag(operations: Any) -> dict[str, type[Operation]]:
    """The types of a union of operations, by their tags."""
    return {tag_of(kind): kind for kind in kinds_of(operations)}


def able(operation: Operation | type[Operation], capabilities: Any) -> bool:
    """Whether a subject with some capabilities can be asked for an operation, whatever was before it."""
    return not operation.needs or bool(getattr(capabilities, operation.needs))


def marked(record: type[msgspec.Struct], mark: dict[str, str]) -> tuple[str, ...]:
    """The names of the fields with a mark."""
    return _marked(record, mark["kind"])


@cache
def _marked(record: type[msgspec.Struct], kind: str) -> tuple[str, ...]:
    return tuple(f.name for f in msgspec.structs.fields(record) if kind in _kinds(f))


def _kinds(field: msgspec.structs.FieldInfo) -> set[str]:
    metas = (part for part in getattr(field.type, "__metadata__", ()) if isinstance(part, Meta))
    return {meta.extra["kind"] for meta in metas if meta.extra}


def belongings(operations: Sequence[Operation]) -> list[list[int]]:
    """Where all is done that belongs to one handle, from where it is opened on; for each that is opened."""
    found: list[list[int]] = []
    current: dict[Any, list[int]] = {}
    for i, operation in enumerate(operations):
        for name in marked(type(operation), HANDLE):
            handle = getattr(operation, name)
            if operation.opens:
                current[handle] = []
                found.append(current[handle])
            if handle in current:
                current[handle].append(i)
    return found


def clock_of(config: msgspec.Struct) -> int | None:
    """The time at which a trace starts; None if its contract has no times."""
    for name in marked(type(config), CLOCK):
        return int(getattr(config, name))
    return None


def bulk(operations: Iterable[Operation]) -> int:
    """How much the bulk operations of a trace do."""
    return sum(getattr(operation, name) for operation in operations for name in marked(type(operation), BULK))


def valid(record: msgspec.Struct) -> bool:
    """Whether every field is within its bounds; constructors do not ask."""
    try:
        msgspec.convert(msgspec.to_builtins(record), type(record))
    except msgspec.ValidationError:
        return False
    return True


def shape(operations: Sequence[Operation]) -> str:
    """What a trace is like: the kinds of its operations, its positions by letters of first use, and no numbers."""
    names: dict[tuple[Any, ...], str] = {}
    words = []
    for operation in operations:
        position = tuple(getattr(operation, name) for name in marked(type(operation), POSITION))
        letter = names.setdefault(position, letters(len(names))) if position else ""
        words.append(f"{operation.tag} {letter}".strip())
    return "; ".join(words)


def letters(number: int) -> str:
    """A name for a number: A to Z, then AA, AB and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + ascii_uppercase[last]


def shifted(operation: Operation, ms: int) -> Operation:
    """The operation with every time moved; negative times mean "none" and stay."""
    moved = {name: at + ms for name in marked(type(operation), TIME) if (at := getattr(operation, name)) >= 0}
    return msgspec.structs.replace(operation, **moved) if moved else operation
