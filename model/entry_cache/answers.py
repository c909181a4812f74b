"""What a read takes from the cache, and what becomes of the storage's answer."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.entry_cache.readers import Reader, Request, Run, runs
from broker_tck.model.rules import Part, rule


class Answers(Part):
    """What a read takes from the cache, what becomes of the storage's answer, and how both are counted."""

    def __init__(self) -> None:
        self.hits_and_misses = [0, 0, 0, 0]
        """Entries and bytes that were cached, entries and bytes that were not."""

    @rule("EC-45", source="RangeEntryCacheImpl, 2026", needs="reads")
    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        """If a range is cached in part, the storage is asked for missing entries only, once for each run, in order.

        No run waits for another, and the reader is answered when the last one has come or failed.
        """
        return runs(self.lacking(reader, there))

    @staticmethod
    def lacking(reader: Reader, there: Iterable[int]) -> list[int]:
        """The entries of a range that are not there."""
        return sorted({*reader.entries}.difference(there))

    @rule("EC-46", source="RangeEntryCacheImpl", needs="reads")
    def hit(self, entries: int, size: int) -> None:
        """Hits are counted, by entries and bytes, when the cache is searched."""
        self.tally(0, entries, size)

    @rule("EC-46", needs="reads")
    def missed(self, entries: int, size: int) -> None:
        """Misses are counted, by entries and bytes, when a storage read completes."""
        self.tally(2, entries, size)

    def tally(self, where: int, entries: int, size: int) -> None:
        """Count hits or misses."""
        self.hits_and_misses[where] += entries
        self.hits_and_misses[where + 1] += size

    @rule("EC-52", source="PendingReadsManager", needs="reads")
    def determining(self, request: Request) -> list[Reader]:
        """Only the reader that made a storage read determines the count; those that joined it are not asked."""
        return [request.creator]

    @rule("EC-47", source="RangeEntryCacheImpl, PR 24623", needs="reads")
    def populates(self, start: int) -> bool:
        """The storage's answer is cached only if reads are expected, its lowest entry first.

        The cache asks for expected reads once for each answer.
        """
        return start > 0

    @rule("EC-51", source="PendingReadsManager, PR 24623", needs="reads")
    def in_part(self, entry: int, first: int, last: int) -> bool:
        """Each of several listeners gets the entries of its own range."""
        return first <= entry <= last
