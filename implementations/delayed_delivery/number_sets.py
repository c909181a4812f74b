"""Ordered sets of numbers below 2**63, lean in memory: sorted runs in a flat array, and a bitmap for crowds.

Both answer ``__sizeof__`` in constant time, never less after an add and never more after a take.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from pyroaring import BitMap64

CONTAINER_BITS = 16
"""A roaring bitmap keeps numbers that differ in so many low bits only in one container."""

CONTAINER_BYTES = 96
"""What a container of a ``BitMap64`` takes beside its payload; measured."""

MAX_PAYLOAD_BYTES = (1 << CONTAINER_BITS) // 8
"""A container's payload: two bytes a number, or one bit for each number that could be there."""

SAMPLES = 16

if TYPE_CHECKING:
    Words = array[int]
else:
    Words = array  # takes no type argument before Python 3.12


class NumberSet(Protocol):
    """A set that gives away its smallest numbers first."""

    def add(self, number: int) -> bool:
        """Add a number. False: it was there."""

    def add_run(self, first: int, last: int) -> int:
        """Add all numbers from ``first`` to ``last``; answers how many were not there."""

    def take(self, count: int) -> tuple[list[int], NumberSet]:
        """Give the smallest numbers, at most ``count`` > 0, and the set of the others; this one is spent."""

    def __len__(self) -> int:
        """Zero if there is no number."""

    def __sizeof__(self) -> int:
        """Bytes."""


class Runs(Words):
    """A set as sorted runs: 8 bytes for a lone number, 16 for a run of any length.

    An item is a number shifted left by one; the low bit is set where it ends the run that the item before it starts.
    So items are in order as their numbers are.
    """

    __slots__ = ()

    @classmethod
    def of(cls, number: int) -> Runs:
        """Make a set of one number: a run of one, as it will grow most likely, and then does in place."""
        return cls("Q", (number << 1, number << 1 | 1))

    def add(self, number: int) -> bool:
        """Add a number to a set that is not empty. False: it was there."""
        item = number << 1
        step = item - self[-1]
        if step <= 0:
            return self._insert(item)
        if step == 1:
            self[-1] = item | 1
        else:
            self.append(item | 1 if step == 2 else item)
        return True

    def add_run(self, first: int, last: int) -> int:
        """Add all numbers from ``first`` to ``last``; answers how many were not there."""
        if first << 1 <= self[-1]:
            return sum(map(self.add, range(first, last + 1)))
        self.add(first)
        if first < last:
            self.add(first + 1)
            self[-1] = last << 1 | 1
        return last - first + 1

    def take(self, count: int) -> tuple[list[int], Runs]:
        """Give the smallest numbers, at most ``count``, and the set of the others."""
        taken: list[int] = []
        for at, item in enumerate(self):
            number = item >> 1
            if not item & 1:
                if len(taken) == count:
                    return taken, self._from(at, number)
                taken.append(number)
            elif number > taken[-1]:
                first = taken[-1] + 1
                stop = min(number + 1, first + count - len(taken))
                taken.extend(range(first, stop))
                if stop <= number:
                    return taken, self._from(at - 1, stop)
        return taken, NO_RUNS

    def runs(self) -> Iterator[tuple[int, int]]:
        """Give the first and last number of each run, in order."""
        first = -1
        for item in self:
            if item & 1:
                yield first, item >> 1
                first = -1
            else:
                if first >= 0:
                    yield first, first
                first = item >> 1
        if first >= 0:
            yield first, first

    def is_crowded(self) -> bool:
        """Whether a bitmap would be smaller."""
        step = len(self) // SAMPLES
        shared = sum((a ^ b) >> CONTAINER_BITS + 1 == 0 for a, b in zip(self[::step], self[1::step], strict=False))
        return shared >= SAMPLES - 1 and bitmap_bytes(self.runs()) < self.itemsize * len(self)

    def _insert(self, item: int) -> bool:
        at = bisect_right(self, item)
        left = self[at - 1] if at else -4
        if left == item or self[at] & 1:
            return False
        right = self[at]
        joins_left, joins_right = left | 1 == item - 1, right == item + 2
        items = []
        if not joins_left:
            items.append(item)
        elif not left & 1:
            items.append(left)
        if joins_right:
            items.extend(() if self._starts_run(at) else (right | 1,))
        elif joins_left:
            items.append(item | 1)
        self[at - joins_left : at + joins_right] = array("Q", items)
        return True

    def _starts_run(self, at: int) -> bool:
        return at + 1 < len(self) and self[at + 1] & 1 == 1

    def _from(self, at: int, first: int) -> Runs:
        # A copy takes what its items take; an array that is cut short may even grow.
        rest = Runs("Q", self[at:])
        rest[0] = first << 1
        return rest


NO_RUNS = Runs("Q")


def bitmap_bytes(runs: Iterator[tuple[int, int]]) -> int:
    """Give the size of a bitmap of these runs, at most, in bytes."""
    numbers = containers = 0
    previous = -1
    for first, last in runs:
        numbers += last - first + 1
        low, high = first >> CONTAINER_BITS, last >> CONTAINER_BITS
        containers += high - low + (low != previous)
        previous = high
    return containers * CONTAINER_BYTES + min(2 * numbers, containers * MAX_PAYLOAD_BYTES)


class Bitmap:
    """A set as a roaring bitmap: two bytes a number, and less where numbers crowd."""

    __slots__ = ("_bytes", "_numbers")

    def __init__(self, runs: Runs) -> None:
        """Take over the numbers. The size in bytes does not fall by that, as nothing was taken out."""
        self._numbers = BitMap64()
        self._bytes = runs.__sizeof__()
        for first, last in runs.runs():
            # One by one, since a range makes a run container, which later adds would bloat.
            for number in range(first, last + 1):
                self._numbers.add(number)

    def add(self, number: int) -> bool:
        """Add a number. False: it was there."""
        if number in self._numbers:
            return False
        start = number >> CONTAINER_BITS << CONTAINER_BITS
        neighbours = self._numbers.range_cardinality(start, start + (1 << CONTAINER_BITS))
        self._bytes += 2 * (2 * neighbours < MAX_PAYLOAD_BYTES) + CONTAINER_BYTES * (not neighbours)
        self._numbers.add(number)
        return True

    def add_run(self, first: int, last: int) -> int:
        """Add all numbers from ``first`` to ``last``; answers how many were not there."""
        return sum(map(self.add, range(first, last + 1)))

    def take(self, count: int) -> tuple[list[int], Bitmap]:
        """Give the smallest numbers, at most ``count``, and the set of the others."""
        before = len(self._numbers)
        taken = list(self._numbers[:count])
        self._numbers.remove_range(taken[0], taken[-1] + 1)
        self._bytes = self._bytes * len(self._numbers) // before
        return taken, self

    def __len__(self) -> int:
        return len(self._numbers)

    def __sizeof__(self) -> int:
        return self._bytes
