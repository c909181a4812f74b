"""The entries that readers have been given, and the references that these hold."""

from __future__ import annotations

from typing import Any

from broker_tck.model.entry_cache.entries import Cached, Count, ReadCounts, Store
from broker_tck.model.entry_cache.readers import Reader, Request, Returned, lefts
from broker_tck.model.reference import UNDEFINED, Allowed, either
from broker_tck.model.rules import Part, rule


class Retained(Part):
    """Entries outside of the cache: each has a reference of its own, and shares its count with the cached one."""

    def __init__(self, store: Store, read_counts: ReadCounts) -> None:
        self.store = store
        self.read_counts = read_counts
        self.failed: dict[Reader, None] = {}
        """Readers of whom a part failed, until they are told or read again. They may release what came now or then."""

    # ---- Readers have entries

    @rule(
        "EC-48",
        source="RangeEntryCacheImpl, PR 24623",
        needs="reads",
        when=lambda r, reader, cached: cached.expected_reads,
    )
    def take_cached(self, reader: Reader, cached: Cached) -> None:
        """The cached entry and the returned one share a count, so the reader's release lowers it."""
        self.hand_over(reader, cached.position[1], cached.expected_reads)

    def hand_over(self, reader: Reader, number: int, count: Count | None) -> None:
        """A reader has an entry, with a reference of its own."""
        self.store.references += 1
        self.obtain(reader, Returned(number, count))

    def obtain(self, reader: Reader, entry: Returned) -> None:
        """A reader has an entry, which it may have from elsewhere already."""
        entry.reader = reader
        if entry.entry in reader.got:
            self.discard([entry])
        else:
            reader.got[entry.entry] = entry

    def counts(self, entries: list[Returned]) -> list[Any]:
        """The counts of entries; anything for one that somebody shares who may have released it, or not."""
        open_ones = [entry.count for reader in self.failed for entry in reader.got.values() if entry.count]
        return [UNDEFINED if e.count in open_ones else left for e, left in zip(entries, lefts(entries), strict=True)]

    # ---- Entries are released

    @rule(
        "RC-07",
        source="EntryImpl, PR 24623",
        needs="reads",
        when=lambda r, entries: any(entry.count for entry in entries),
    )
    def discard(self, entries: list[Returned]) -> None:
        """An entry that was read and discarded counts as read."""
        for entry in entries:
            self.free(entry)

    def free(self, entry: Returned) -> None:
        """An entry that was returned is freed."""
        self.store.references -= 1
        self.read_counts.pass_by(entry.count, "freed")

    def release(self, reader: Reader) -> None:
        """A reader of whom a part has failed has nothing any longer."""
        del self.failed[reader]
        self.discard(reader.take_all())

    def keep(self, request: Request, entries: set[int]) -> None:
        """Some entries of an answer in part are kept, the others released."""
        self.store.references += len(entries) - len(request.came)
        request.came = entries

    # ---- What is seen

    def references(self) -> int | Allowed:
        """How many values are referred to. What came may be released when a part fails, or with the last part."""
        held = self.store.references
        released = held - sum(len(reader.got) for reader in self.failed)
        return either(held, released, self.release_early, f"{held} or {released}") if released < held else held

    def release_early(self) -> None:
        """What came is released now."""
        self.discard([entry for reader in self.failed for entry in reader.take_all()])
