"""Values that are plainer than another: which come first, and which next where one of them will do."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

PLAIN = (1, 2, 3, 10, 100, 1000)
"""The plainest numbers, besides 0."""

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
    return (yield from made_of(plainer_values(value[i], zero), lambda part: (*value[:i], part, *value[i + 1 :]), value))


def made_of(values: Values, make: Callable[[Any], T], taken_last: T) -> Generator[T, bool | None, T]:
    """What is made of each of some values; returns what was taken last."""
    taken: bool | None = None
    with suppress(StopIteration):
        while True:
            made = make(values.send(taken))
            taken = yield made
            taken_last = made if taken else taken_last
    return taken_last


def plainer_numbers(value: int, zero: int) -> Values:
    """Numbers nearer to zero: the plainest first, then by powers of two, each subtracted where that is taken."""
    distance = value - zero
    if not distance or (yield zero):
        return
    if distance < 0 and (yield zero - distance):
        distance = -distance
    sign, size = (1, distance) if distance > 0 else (-1, -distance)
    for plain in PLAIN:
        if plain < size and (yield zero + sign * plain):
            size = plain
    for power in (1 << bit for bit in range(size.bit_length() - 1, -1, -1)):
        if power < size and (yield zero + sign * (size - power)):
            size -= power


def much_smaller_numbers(value: int) -> Values:
    """Numbers far below one: the plainest first, then half of it, and half of that where it is taken."""
    for plain in (0, *PLAIN):
        if plain < value and (yield plain):
            return
    while value > 1 and (yield value // 2):
        value //= 2


def plainer_lists(value: tuple[Any, ...]) -> Values:
    """Lists that are shorter, then such with plainer parts."""
    shortest = yield from made_of(plainer_numbers(len(value), 0), lambda length: value[:length], value)
    yield from plainer_values(shortest, 0)
