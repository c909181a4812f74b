"""A map from ranges of ledgers, as Guava's tree range map, and the order in which a hash map lists such ranges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
BEFORE, AFTER = 0, 1
Cut = tuple[int, int]
"""A ledger, and whether the cut is before or after it."""


class Range(NamedTuple):
    """The ledgers between two cuts."""

    lower: Cut
    upper: Cut

    @property
    def hash(self) -> int:
        """Java's hash of it, its upper half folded into its lower one (32 bits)."""
        h = (31 * _hash(self.lower) + _hash(self.upper)) % 2**32
        return h ^ h >> 16

    def encloses(self, other: Range) -> bool:
        """Whether another range lies inside."""
        return self.lower <= other.lower and other.upper <= self.upper

    def meets(self, other: Range) -> bool:
        """Whether something lies in both."""
        return self.lower < other.upper and other.lower < self.upper

    def clipped(self, other: Range) -> Range:
        """What lies in both of two ranges that meet."""
        return Range(max(self.lower, other.lower), min(self.upper, other.upper))


def _hash(cut: Cut) -> int:
    ledger, side = cut
    h = (ledger ^ ledger >> 32) % 2**32
    return h if side == BEFORE else ~h % 2**32


def closed(first: int, last: int) -> Range:
    """All ledgers from one to another, both included."""
    return Range((first, BEFORE), (last, AFTER))


class RangeMap(Generic[T]):
    """Ranges that do not meet, each with a value, in ascending order."""

    def __init__(self) -> None:
        self._entries: list[tuple[Range, T]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> list[tuple[Range, T]]:
        """Each range with its value."""
        return [*self._entries]

    def values(self) -> list[T]:
        """The values, each as often as it has a range."""
        return [value for _, value in self._entries]

    def holds(self, value: T) -> bool:
        """Whether a value has a range, by identity."""
        return any(each is value for _, each in self._entries)

    def get(self, ledger: int) -> T | None:
        """The value over a ledger."""
        for (lower, upper), value in self._entries:
            if lower <= (ledger, BEFORE) and (ledger, AFTER) <= upper:
                return value
        return None

    def put(self, span: Range, value: T) -> None:
        """Put a value over a range, and over whatever lies there."""
        self.cut_out(span)
        self._entries.append((span, value))
        self._entries.sort(key=_by_range)

    def cut_out(self, span: Range) -> None:
        """Nothing lies in a range any more; of what reached out of it, the ends stay."""
        left: list[tuple[Range, T]] = []
        for each, value in self._entries:
            if not each.meets(span):
                left.append((each, value))
                continue
            if each.lower < span.lower:
                left.append((Range(each.lower, span.lower), value))
            if span.upper < each.upper:
                left.append((Range(span.upper, each.upper), value))
        self._entries = left

    def remove(self, span: Range) -> None:
        """Take out a range, if it is there as it is."""
        self._entries = [entry for entry in self._entries if entry[0] != span]

    def inside(self, span: Range) -> list[tuple[Range, T]]:
        """What meets a range, clipped to it."""
        return [(each.clipped(span), value) for each, value in self._entries if each.meets(span)]

    def clear(self) -> None:
        """Take out all."""
        self._entries.clear()


def _by_range(entry: tuple[Range, object]) -> Range:
    return entry[0]


LEAST_BINS = 16
"""Of a hash map that is not told how many it will hold."""


def hash_order(ranges: Iterable[Range], bins: int = LEAST_BINS) -> list[Range]:
    """Ranges in the order in which a hash map lists them, into which they were put in this order.

    It begins with so many bins, or with the next power of two, and doubles them while more than three quarters are
    filled. In a bin the order is that of coming.
    """
    came = [*ranges]
    size = 1
    while size < bins or 4 * len(came) > 3 * size:
        size *= 2
    return sorted(came, key=lambda each: each.hash % size)
