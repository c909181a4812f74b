"""Values that are plainer than another: which come first, and which next where one of them will do."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

Values = Generator[Any, bool | None, None]
"""Values to try, each answered with whether it was taken."""


def try_each(values: Values, attempt: Callable[[Any], bool]) -> None:
    """Try values; which comes next depends on whether the last was taken, as ``attempt`` says."""
    taken: bool | None = None
    with suppress(StopIteration):
        while True:
            taken = attempt(values.send(taken))


def plainer_values(value: Any, zero: int) -> Values:
    """Values that are plainer than this one, or than the last that was taken."""
    if isinstance(value, tuple):
        for i in range(len(value)):
            value = yield from plainer_parts(value, i, zero)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from plainer_numbers(value, zero)


def plainer_parts(value: tuple[Any, ...], i: int, zero: int) -> Generator[Any, bool | None, tuple[Any, ...]]:
    """Tuples of which one part is plainer; returns what was taken last."""
    parts = plainer_values(value[i], zero)
    taken: bool | None = None
    with suppress(StopIteration):
        while True:
            plainer = (*value[:i], parts.send(taken), *value[i + 1 :])
            taken = yield plainer
            value = plainer if taken else value
    return value


def plainer_numbers(value: int, zero: int) -> Values:
    """Numbers nearer to zero: the plainest first, then by powers of two, each subtracted where that is taken."""
    distance = value - zero
    if not distance or (yield zero):
        return
    if distance < 0 and (yield zero - distance):
        distance = -distance
    sign, size = (1, distance) if distance > 0 else (-1, -distance)
    for plain in (1, 2, 3, 10, 100, 1000):
        if plain < size and (yield zero + sign * plain):
            size = plain
    for power in (1 << bit for bit in range(size.bit_length() - 1, -1, -1)):
        if power < size and (yield zero + sign * (size - power)):
            size -= power


def plainer_lists(value: tuple[Any, ...]) -> Values:
    """Lists that are shorter, then such with plainer parts."""
    lengths = plainer_numbers(len(value), 0)
    taken: bool | None = None
    with suppress(StopIteration):
        while True:
            shorter = value[: lengths.send(taken)]
            taken = yield shorter
            value = shorter if taken else value
    yield from plainer_values(value, 0)
