"""Collections of Java whose order can be seen in what the broker answers: two hash tables and the priority queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")

LEAST_BINS = 16


@lru_cache(maxsize=65_536)
def spread(name: str) -> int:
    """``String.hashCode`` of a name, with its upper half folded into its lower one."""
    units = name.encode("utf-16-be", "surrogatepass")
    code = 0
    for i in range(0, len(units), 2):
        code = (31 * code + int.from_bytes(units[i : i + 2])) % 2**32
    return code ^ code >> 16


class HashOrder:
    """The order in which a ``HashMap`` lists its keys: by bin, and in a bin as they came.

    There are 16 bins, and twice as many each time that three quarters of their number are exceeded. They stay as many
    when keys go. What Java does where nine keys share a bin is left out.
    """

    def __init__(self) -> None:
        self.bins: list[list[str]] = [[] for _ in range(LEAST_BINS)]
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        for names in self.bins:
            yield from names

    def bin_of(self, name: str) -> list[str]:
        """The bin in which a name is, or would be."""
        return self.bins[spread(name) % len(self.bins)]

    def add(self, name: str) -> None:
        """Put a name in; one that is there stays where it is."""
        names = self.bin_of(name)
        if name not in names:
            names.append(name)
            self.size += 1
            if self.is_full():
                self.double()

    def discard(self, name: str) -> None:
        """Take a name out, if it is there."""
        names = self.bin_of(name)
        if name in names:
            names.remove(name)
            self.size -= 1

    def clear(self) -> None:
        """Take all names out."""
        for names in self.bins:
            names.clear()
        self.size = 0

    def is_full(self) -> bool:
        """Whether the bins are to be doubled."""
        return self.size > len(self.bins) * 3 // 4

    def double(self) -> None:
        """Divide each bin in two: the names that stay, and those that go to the bin as far on as there were bins."""
        n = len(self.bins)
        halves = [self.halves(names, n) for names in self.bins]
        self.bins = [stays for stays, _ in halves] + [goes for _, goes in halves]

    def halves(self, names: list[str], n: int) -> tuple[list[str], list[str]]:
        """The names of a bin that stay, and those that go."""
        return [name for name in names if not spread(name) & n], [name for name in names if spread(name) & n]


class ConcurrentHashOrder(HashOrder):
    """The order in which a ``ConcurrentHashMap`` lists its keys.

    It doubles its bins as soon as they are full by three quarters. Of a bin, those names at the end that go the same
    way keep their order, and the others come before them, the last one first.
    """

    def is_full(self) -> bool:
        """Whether the bins are to be doubled."""
        return self.size >= len(self.bins) * 3 // 4

    def halves(self, names: list[str], n: int) -> tuple[list[str], list[str]]:
        """The names of a bin that stay, and those that go."""
        run = len(names)
        while run and spread(names[run - 1]) & n == spread(names[-1]) & n:
            run -= 1
        return super().halves(names[:run][::-1] + names[run:], n)


class PriorityQueue(Generic[T]):
    """``java.util.PriorityQueue``: a binary heap. Of items that are equal, its sifting decides which comes first.

    ``compare`` is a Comparator. What it compares may change while it is in the heap, which does not notice.
    """

    def __init__(self, compare: Callable[[T, T], int]) -> None:
        self.compare = compare
        self.items: list[T] = []

    def add(self, item: T) -> None:
        """Put an item at the end, and let it rise above all that come after it."""
        items, at = self.items, len(self.items)
        items.append(item)
        while at and self.compare(item, items[(at - 1) // 2]) < 0:
            items[at] = items[(at - 1) // 2]
            at = (at - 1) // 2
        items[at] = item

    def poll(self) -> T:
        """Take the first item out; the last one comes in its place, and sinks below all that come before it."""
        items = self.items
        first, last = items[0], items.pop()
        if not items:
            return first
        at = 0
        while (child := 2 * at + 1) < len(items):
            if child + 1 < len(items) and self.compare(items[child], items[child + 1]) > 0:
                child += 1
            if self.compare(last, items[child]) <= 0:
                break
            items[at] = items[child]
            at = child
        items[at] = last
        return first
