"""All of the state of a model that matters to what may come, as bytes: flows that wait are part of it."""

from __future__ import annotations

from io import BytesIO
from pickle import Pickler
from types import CellType, CodeType, CoroutineType, FunctionType, GeneratorType
from typing import Any


def state_of(model: Any) -> bytes:
    """The state of a model. Equal states mostly have the same bytes, and different ones never."""
    written = BytesIO()
    Written(written, 5).dump(model)
    return written.getvalue()


class Written(Pickler):
    """Writes what can be compared, and need not be read."""

    def reducer_override(self, value: Any) -> Any:
        """What a pickle has in place of what it cannot have: of a flow, where it waits, and what it knows there."""
        if isinstance(value, CoroutineType):
            return tuple, (of_frame(value.cr_frame), value.cr_await)
        if isinstance(value, GeneratorType):
            return tuple, (of_frame(value.gi_frame),)
        if isinstance(value, FunctionType):
            return tuple, (value.__code__, value.__closure__)
        if isinstance(value, CellType):
            return tuple, (value.cell_contents,)
        if isinstance(value, CodeType | type):
            return id, (id(value),)
        return NotImplemented


def of_frame(frame: Any) -> tuple[Any, ...]:
    """Where a flow waits, and what it knows there; nothing if it has ended."""
    return () if frame is None else (frame.f_code, frame.f_lasti, dict(frame.f_locals))
