"""What decides the order of cursors in the broker's list: chained hash tables of names, and a heap of waiting moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from broker_tck.implementations.interface import Position

FEWEST = 16


def hashed(name: str) -> int:
    """The hash of a name as Java's tables use it: 32 bits, the high ones folded in."""
    raw = name.encode("utf-16-le", "surrogatepass")
    value = 0
    for low, high in zip(raw[::2], raw[1::2], strict=True):
        value = value * 31 + (high << 8 | low) & 0xFFFFFFFF
    return value >> 16 ^ value


class Link:
    """A name in a chain."""

    __slots__ = ("hash", "name", "next")

    def __init__(self, name: str, value: int, following: Link | None) -> None:
        self.name = name
        self.hash = value
        self.next = following


class Names:
    """Names in the order of a ``HashMap``, or of a ``ConcurrentHashMap``: they split their chains differently.

    Chains are never made trees, as Java makes them from nine names on.
    """

    def __init__(self, concurrent: bool) -> None:
        self._concurrent = concurrent
        self._chains: list[Link | None] = [None] * FEWEST
        self._hashes: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        for first in self._chains:
            link = first
            while link:
                yield link.name
                link = link.next

    def put(self, name: str) -> None:
        """Append a name to its chain, unless it is there."""
        if name in self._hashes:
            return
        value = self._hashes[name] = hashed(name)
        self._append(Link(name, value, None))
        if 4 * len(self._hashes) + self._concurrent > 3 * len(self._chains):
            self._split()

    def drop(self, name: str) -> None:
        """Take a name out of its chain, if it is there."""
        value = self._hashes.pop(name, None)
        if value is None:
            return
        at = value & len(self._chains) - 1
        before, link = None, self._chains[at]
        while link and link.name != name:
            before, link = link, link.next
        assert link
        if before:
            before.next = link.next
        else:
            self._chains[at] = link.next

    def empty(self) -> None:
        """Drop all names; the table stays as large as it is."""
        if self._hashes:
            self._hashes.clear()
            self._chains = [None] * len(self._chains)

    def _append(self, new: Link) -> None:
        at = new.hash & len(self._chains) - 1
        link = self._chains[at]
        if link is None:
            self._chains[at] = new
            return
        while link.next:
            link = link.next
        link.next = new

    def _split(self) -> None:
        chains = self._chains
        self._chains = [None] * (2 * len(chains))
        for chain in chains:
            if self._concurrent:
                self._turn(chain, len(chains))
            else:
                self._move(chain, None)

    def _move(self, link: Link | None, until: Link | None) -> None:
        """Append the links of an old chain, up to one of them, to the new chains, in their order."""
        while link is not until:
            assert link
            following, link.next = link.next, None
            self._append(link)
            link = following

    def _turn(self, chain: Link | None, bit: int) -> None:
        """Move the last links of a chain that go to one place as they are, and put each other one before."""
        run = link = chain
        while link:
            if run and link.hash & bit != run.hash & bit:
                run = link
            link = link.next
        others = chain
        if run:
            self._chains[run.hash & len(self._chains) - 1] = run
        while others is not run:
            assert others
            at = others.hash & len(self._chains) - 1
            following, others.next = others.next, self._chains[at]
            self._chains[at] = others
            others = following


class Placed(Protocol):
    """Something that is at a position, or at none."""

    position: Position | None


P = TypeVar("P", bound=Placed)


class Moves(Generic[P]):
    """A binary heap: what is farthest is on top, what has no position below. One and the same may be in it twice.

    Of two without a position, either is below the other, so that the left one is never taken.
    """

    def __init__(self) -> None:
        self._heap: list[P] = []

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, item: P) -> None:
        """Put an item in."""
        heap, at = self._heap, len(self._heap)
        heap.append(item)
        while at > 0:
            parent = at - 1 >> 1
            if item.position is None or not _below(heap[parent], item):
                return
            heap[at], heap[parent] = heap[parent], heap[at]
            at = parent

    def pop(self) -> P:
        """Take the top out."""
        heap = self._heap
        heap[0], heap[-1] = heap[-1], heap[0]
        top = heap.pop()
        at, left = 0, 1
        while left < len(heap):
            right = left + 1
            child = right if right < len(heap) and _below(heap[left], heap[right]) else left
            if not _below(heap[at], heap[child]):
                break
            heap[at], heap[child] = heap[child], heap[at]
            at, left = child, 2 * child + 1
        return top

    def clear(self) -> None:
        """Take all out."""
        self._heap.clear()


def _below(one: Placed, other: Placed) -> bool:
    if one.position is None:
        return True
    return other.position is not None and one.position < other.position
