"""The shared index: each message stands once, in a set of entries of its time bucket and ledger.

Sets are found by bucket, and by position: a ledger's entries are cut into chunks, and of each chunk it is known which
buckets have any of it. So what is asked of a span of positions costs as much as there is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pyroaring import BitMap
from sortedcontainers import SortedList

from broker_tck.implementations.interface import Position

SET_BYTES = 400
"""What a set of entries takes beside them: the bitmap, and its places under its bucket and its chunks.

Measured with one entry a set: 385 bytes where a bucket has five sets, 556 where it has one.
"""
ENTRY_BYTES = 2
"""What an entry takes in a bitmap; less where entries crowd."""
ENTRY_BITS = 32
MAX_ENTRY = (1 << ENTRY_BITS) - 1
NOTHING = BitMap()
NEVER = 1 << 64
"""The first bucket where there is none."""
CHUNK_BITS = 8
"""So many low bits of an entry id are the same chunk's."""
CHUNK = 1 << CHUNK_BITS
CHUNKS_BITS = ENTRY_BITS - CHUNK_BITS


class Entries(NamedTuple):
    """Some entries of one ledger in one bucket."""

    key: int
    ledger: int
    entries: BitMap


class Chunk:
    """Neighbouring entries of a ledger: how many copies of them are held, and in which buckets."""

    __slots__ = ("count", "keys")

    def __init__(self) -> None:
        self.count = 0
        self.keys: set[int] = set()


class SharedIndex:
    """Entries by bucket and ledger. ``count`` is the number of copies that are held."""

    __slots__ = ("_chunks", "_keys", "_numbers", "buckets", "count", "first", "sets")

    def __init__(self) -> None:
        self.buckets: dict[int, dict[int, BitMap]] = {}
        """By the key of a bucket, and the id of a ledger, the entries."""
        self._keys: Any = SortedList()
        """The keys of all buckets."""
        self.first = NEVER
        """The first of them, or :data:`NEVER`."""
        self._chunks: dict[int, Chunk] = {}
        """By ledger and number, the chunks that have copies."""
        self._numbers: Any = SortedList()
        """The numbers of all chunks."""
        self.count = 0
        self.sets = 0

    def add(self, key: int, ledger: int, entry: int) -> bool:
        """Add a copy. False: it was there. Raises ``ValueError`` for an entry id that does not fit 32 bits."""
        if entry >> ENTRY_BITS:
            raise ValueError(f"entry id {entry} does not fit {ENTRY_BITS} bits")
        ledgers = self.buckets.get(key)
        if ledgers is None:
            ledgers = self.buckets[key] = {}
            self._keys.add(key)
            if key < self.first:
                self.first = key
        entries = ledgers.get(ledger)
        if entries is None:
            ledgers[ledger] = BitMap((entry,))
            self.sets += 1
        elif entry in entries:
            return False
        else:
            entries.add(entry)
        self.count += 1
        number = ledger << CHUNKS_BITS | entry >> CHUNK_BITS
        chunk = self._chunks.get(number)
        if chunk is None:
            chunk = self._chunks[number] = Chunk()
            self._numbers.add(number)
        chunk.count += 1
        chunk.keys.add(key)
        return True

    def add_all(self, more: Entries) -> None:
        """Add copies, whether they are there or not."""
        for entry in more.entries:
            self.add(more.key, more.ledger, entry)

    def remove(self, gone: Entries) -> None:
        """Remove copies that are held. What is left empty goes with them."""
        key, ledger, entries = gone
        ledgers = self.buckets[key]
        held = ledgers[ledger]
        left = held - entries if len(held) > len(entries) else NOTHING
        self.count -= len(entries)
        self._took(gone, left)
        if left:
            ledgers[ledger] = left
        else:
            del ledgers[ledger]
            self.sets -= 1
            if not ledgers:
                del self.buckets[key]
                self._keys.remove(key)
                if key == self.first:
                    self.first = self._keys[0] if self.buckets else NEVER

    def _took(self, gone: Entries, left: BitMap) -> None:
        """Take copies that were removed off their chunks, chunk by chunk."""
        key, ledger, entries = gone
        at = 0
        while at < len(entries):
            number = chunk_of(ledger, entries[at])
            chunk = self._chunks[number]
            first = entries[at] >> CHUNK_BITS << CHUNK_BITS
            span = first, first + CHUNK
            count = entries.range_cardinality(*span)
            at += count
            chunk.count -= count
            if not chunk.count:
                del self._chunks[number]
                self._numbers.remove(number)
            elif not left.range_cardinality(*span):
                chunk.keys.discard(key)

    def clear(self) -> None:
        """Remove everything."""
        self.buckets.clear()
        self._keys.clear()
        self.first = NEVER
        self._chunks.clear()
        self._numbers.clear()
        self.count = self.sets = 0

    # ---- What is held

    def of(self, key: int, ledger: int) -> BitMap:
        """The entries of a ledger in a bucket, not to be changed."""
        ledgers = self.buckets.get(key)
        return ledgers.get(ledger, NOTHING) if ledgers else NOTHING

    def between(self, first: Position | None, last: Position | None) -> Iterator[Entries]:
        """What is held behind one position and up to another one, in any bucket, by ledger; None: no such end."""
        keys: dict[int, set[int]] = {}
        for number in self._numbers.irange(first and chunk_of(*first), last and chunk_of(*last)):
            keys.setdefault(number >> CHUNKS_BITS, set()).update(self._chunks[number].keys)
        for ledger, some in keys.items():
            for key in sorted(some):
                entries = self.buckets[key][ledger]
                if first is not None and ledger == first[0]:
                    entries = above(entries, first[1])
                if last is not None and ledger == last[0]:
                    entries = up_to(entries, last[1])
                if entries:
                    yield Entries(key, ledger, entries)

    def count_up_to(self, position: Position) -> int:
        """How many copies are held up to a position."""
        ledger, entry = position
        last = chunk_of(ledger, entry)
        before: int = sum(self._chunks[number].count for number in self._numbers.irange(None, last, (True, False)))
        start = min(max(entry, 0), MAX_ENTRY) >> CHUNK_BITS << CHUNK_BITS
        return before + sum(len(each.entries) for each in self.between((ledger, start - 1), position))

    def from_bucket(self, first: int, last: int) -> Iterator[tuple[int, list[Entries]]]:
        """Each bucket between two keys with what is in it, by ledger."""
        if self.first <= last:
            for key in self._keys.irange(first, last):
                yield key, self._of(key)

    def all(self) -> Iterator[Entries]:
        """Everything that is held."""
        for key in self._keys:
            yield from self._of(key)

    def _of(self, key: int) -> list[Entries]:
        ledgers = self.buckets[key]
        return [Entries(key, ledger, ledgers[ledger]) for ledger in (sorted(ledgers) if len(ledgers) > 1 else ledgers)]

    def first_after(self, key: int) -> int | None:
        """The first bucket behind a key; None if there is none."""
        if key < self.first:
            return self.first if self.buckets else None
        at = self._keys.bisect_right(key)
        return self._keys[at] if at < len(self._keys) else None

    @property
    def memory(self) -> int:
        """An estimate in bytes: 0 when empty, never less after an add, never more after a removal."""
        return SET_BYTES * self.sets + ENTRY_BYTES * self.count


def chunk_of(ledger: int, entry: int) -> int:
    """The number of the chunk of a position; numbers sort as positions do. The entry of a mark may be any."""
    return ledger << CHUNKS_BITS | min(max(entry, 0), MAX_ENTRY) >> CHUNK_BITS


def above(entries: BitMap, entry: int) -> BitMap:
    """The entries above one, which may be -1."""
    if not entries or entries.min() > entry:
        return entries
    left = entries.copy()
    left.remove_range(0, min(entry + 1, 1 << ENTRY_BITS))
    return left


def up_to(entries: BitMap, entry: int) -> BitMap:
    """The entries up to one, which may be -1."""
    return entries - above(entries, entry) if entries and entries.max() > entry else entries
