"""Java's collections whose order shows in the broker's answers: three hash tables and the priority queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")

LEAST_BINS = 16
LEAST_SLOTS = 32


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
    when keys go. What Java does if nine keys share a bin is left out.
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

    It doubles its bins as soon as they are full by three quarters. The names at the end of a bin that go the same way
    keep their order; the others come before them, the last one first.
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


@lru_cache(maxsize=65_536)
def mixed(key: int) -> int:
    """``HashCommon.mix`` of fastutil: a long by the golden ratio, its upper bits folded into the lower ones."""
    code = key * 0x9E37_79B9_7F4A_7C15 % 2**64
    code ^= code >> 32
    return code ^ code >> 16


class LongHashOrder:
    """The order in which a ``Long2ObjectOpenHashMap`` of fastutil lists its keys: 0, then by slot, the last one first.

    A key lies in the first free slot from that of its hash on. A key that goes leaves the others as if it had never
    come, so only the order in which they came matters. There are 32 slots; twice as many once three quarters are
    exceeded, and half as many once fewer than three sixteenths are left. Keys then come anew, as they are listed.
    """

    def __init__(self, keys: Iterable[int] = ()) -> None:
        self.keys: dict[int, None] = {}
        self.slots = LEAST_SLOTS
        for key in keys:
            self.add(key)

    def __iter__(self) -> Iterator[int]:
        laid: dict[int, int] = {}
        for key in self.keys:
            at = mixed(int(key)) % self.slots  # of another class, it would stay in the table of answers
            while key and at in laid:
                at = (at + 1) % self.slots
            laid[at if key else self.slots] = key
        return (laid[at] for at in sorted(laid, reverse=True))

    def add(self, key: int) -> None:
        """Put a key in; one that is there stays where it is."""
        self.keys.setdefault(key)
        if len(self.keys) > self.slots * 3 // 4:
            self.lay_out(2 * self.slots)

    def discard(self, key: int) -> None:
        """Take a key out, if it is there."""
        self.keys.pop(key, None)
        if self.slots > LEAST_SLOTS and len(self.keys) < self.slots * 3 // 16:
            self.lay_out(self.slots // 2)

    def lay_out(self, slots: int) -> None:
        """Lay the keys out in this number of slots."""
        self.keys = dict.fromkeys(self)
        self.slots = slots


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


def hash_order(items: Iterable[T], hash_of: Callable[[T], int], bins: int) -> list[T]:
    """The order in which a ``HashMap`` lists keys that came in this order, if it began with this number of bins."""
    listed = [*items]
    while len(listed) > bins * 3 // 4:
        bins *= 2
    codes = {i: hash_of(item) % 2**32 for i, item in enumerate(listed)}
    return [listed[i] for i in sorted(codes, key=lambda i: ((codes[i] ^ codes[i] >> 16) % bins, i))]
