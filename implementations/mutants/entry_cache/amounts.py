"""Mutants that go wrong by how much there is: empty pages, blanks, what differs."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.entry_cache.reads import CacheReads, Running
from broker_tck.implementations.entry_cache.removal_queue import TopicCache
from broker_tck.implementations.interface import Entry, Position
from broker_tck.implementations.mutants.entry_cache.around import around_reads
from broker_tck.implementations.mutants.entry_cache.caches import of_topic
from broker_tck.implementations.mutants.mutant import mutant

PAGE_BITS = 6
"""Entries whose ids differ in so many low bits only are in one page."""

# ---- Sizes


@mutant(
    "EC-10",
    shows="Pages of entries, of which the model has none.",
    source="RangeCache of 2026, which has pages of 64 entries",
    inside=of_topic,
    conditions=2,
)
class RangeEndsAtAnEmptyPage(TopicCache):
    """Entries are in pages of 64: a range ends at the first page after its first entry in which nothing is cached."""

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, as far as one page follows on another."""
        found: list[Entry] = []
        for value in super().get_range(first, last):
            if found and self._skips_a_page(found[-1].position, value.position):
                value.release()
            else:
                found.append(value)
        return found

    def _skips_a_page(self, one: Position, other: Position) -> bool:
        return one[0] == other[0] and (other[1] >> PAGE_BITS) - (one[1] >> PAGE_BITS) > 1


@mutant(
    "EC-14",
    shows="A page that is removed with its neighbour, in a large ledger alone.",
    inside=of_topic,
    conditions=3,
    deep=True,
)
class RemovalEndsAPageLate(TopicCache):
    """In a ledger of more than 64 entries a removal that ends before the first of a page takes that one along."""

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range; answers with entries and bytes."""
        full = len(self.ledgers.get(last[0], ())) > 1 << PAGE_BITS
        return super().remove_range(first, last, last_inclusive or (full and last[1] % (1 << PAGE_BITS) == 0))


# ---- Entries that differ


@mutant("EC-46", shows="A total of equal parts, where parts differ.", inside=around_reads)
class MissesHaveTheSizeOfTheFirst(CacheReads):
    """The bytes of a storage read's misses are those of its first entry, times as many as there are."""

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        if values:
            self.counters[3] += len(values) * values[0].length - sum(value.length for value in values)
        super().completed(running, values)


@mutant("EC-47", shows="A loop that ends early, seen only by what is cached later.", inside=around_reads, conditions=3)
class PopulationEndsAtACachedOne(CacheReads):
    """What the storage answered is cached up to the first entry that is cached already."""

    _met = False

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """Entries have come."""
        self._met = False
        super().completed(running, values)

    def populate(self, value: Entry) -> None:
        """Put an entry into the cache, if those before it were new."""
        ledger, entry = value.position
        cached = self.cache.get_range((ledger, entry), (ledger, entry)) if not self._met else ()
        for each in cached:
            self._met = True
            each.release()
        if not self._met:
            super().populate(value)
