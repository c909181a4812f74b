"""An ordered set of numbers below 2**63 as sorted runs in a flat array: lean, as messages are mostly neighbours."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Words = array[int]
else:
    Words = array  # takes no type argument before Python 3.12


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
