"""The shared index: each message stands once, in a set of entries of its time bucket and ledger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pyroaring import BitMap
from sortedcontainers import SortedDict

SET_BYTES = 400
"""What a set of entries takes beside them: the bitmap, and its places under its bucket and its ledger.

Measured with one entry a set: 385 bytes where a bucket has five sets, 556 where it has one.
"""
ENTRY_BYTES = 2
"""What an entry takes in a bitmap; less where entries crowd."""
ENTRY_BITS = 32


class Entries(NamedTuple):
    """Some entries of one ledger in one bucket."""

    key: int
    ledger: int
    entries: BitMap


class SharedIndex:
    """Entries by bucket and ledger. ``count`` is the number of copies that are held."""

    __slots__ = ("_keys_of", "buckets", "count", "sets")

    def __init__(self) -> None:
        self.buckets: Any = SortedDict()
        """By the key of a bucket, and the id of a ledger, the entries."""
        self._keys_of: Any = SortedDict()
        """By the id of a ledger, the keys of the buckets that have some of it."""
        self.count = 0
        self.sets = 0

    def add(self, key: int, ledger: int, entry: int) -> bool:
        """Add a copy. False: it was there. Raises ``ValueError`` for an entry id that does not fit 32 bits."""
        if entry >> ENTRY_BITS:
            raise ValueError(f"entry id {entry} does not fit {ENTRY_BITS} bits")
        ledgers = self.buckets.get(key)
        if ledgers is None:
            ledgers = self.buckets[key] = {}
        entries = ledgers.get(ledger)
        if entries is None:
            ledgers[ledger] = BitMap((entry,))
            self._keys_of.setdefault(ledger, set()).add(key)
            self.sets += 1
        elif entry in entries:
            return False
        else:
            entries.add(entry)
        self.count += 1
        return True

    def remove(self, gone: Entries) -> None:
        """Remove copies that are held. What is left empty goes with them."""
        key, ledger, entries = gone
        ledgers = self.buckets[key]
        held = ledgers[ledger]
        held -= entries
        self.count -= len(entries)
        if held:
            return
        del ledgers[ledger]
        self.sets -= 1
        if not ledgers:
            del self.buckets[key]
        keys = self._keys_of[ledger]
        keys.remove(key)
        if not keys:
            del self._keys_of[ledger]

    def clear(self) -> None:
        """Remove everything."""
        self.buckets.clear()
        self._keys_of.clear()
        self.count = self.sets = 0

    def between(self, first_ledger: int | None, last_ledger: int) -> Iterator[Entries]:
        """What is held of some ledgers, in any bucket; from the first one there is, where none is given."""
        for ledger in self._keys_of.irange(first_ledger, last_ledger):
            for key in sorted(self._keys_of[ledger]):
                yield Entries(key, ledger, self.buckets[key][ledger])

    def from_bucket(self, first: int, last: int) -> Iterator[tuple[int, list[Entries]]]:
        """Each bucket between two keys with what is in it, by ledger."""
        for key in self.buckets.irange(first, last):
            yield key, self._of(key)

    def all(self) -> Iterator[Entries]:
        """Everything that is held."""
        for key in self.buckets:
            yield from self._of(key)

    def _of(self, key: int) -> list[Entries]:
        ledgers = self.buckets[key]
        return [Entries(key, ledger, ledgers[ledger]) for ledger in (sorted(ledgers) if len(ledgers) > 1 else ledgers)]

    def first_after(self, key: int) -> int | None:
        """The first bucket behind a key; None if there is none."""
        at = self.buckets.bisect_right(key)
        return self.buckets.keys()[at] if at < len(self.buckets) else None

    @property
    def memory(self) -> int:
        """An estimate in bytes: 0 when empty, never less after an add, never more after a removal."""
        return SET_BYTES * self.sets + ENTRY_BYTES * self.count
