"""What a read takes from the cache, what it has the storage asked for, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.entry_cache.readers import Reader, Request, Run, runs
from broker_tck.model.rules import Part, rule


class Answers(Part):
    """How reads are answered, and how that is counted."""

    def __init__(self) -> None:
        self.hits_and_misses = [0, 0, 0, 0]
        """Entries and bytes that were cached, entries and bytes that were not."""

    # ---- Out of the cache

    @rule("EC-45", source="RangeEntryCacheImpl, 2026", needs="reads")
    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        """Of a range of which something is cached, the storage is asked for what is missing alone, once for each run in
        order.
        """
        return runs(self.lacking(reader, there))

    @staticmethod
    def lacking(reader: Reader, there: Iterable[int]) -> list[int]:
        """The entries of a range that are not there."""
        return sorted({*reader.entries}.difference(there))

    @rule("EC-46", source="RangeEntryCacheImpl", needs="reads")
    def hit(self, entries: int, size: int) -> list[int]:
        """Hits are counted, by entries and bytes, when the cache is searched."""
        return [entries, size]

    @rule("EC-46", needs="reads")
    def missed(self, entries: int, size: int) -> list[int]:
        """Misses are counted, by entries and bytes, when a storage read completes."""
        return [entries, size]

    def tally_hit(self, entries: int, size: int) -> None:
        """Count what was found in the cache."""
        self.tally(0, self.hit(entries, size))

    def tally_missed(self, entries: int, size: int) -> None:
        """Count what the storage answered with."""
        self.tally(2, self.missed(entries, size))

    def tally(self, where: int, counted: list[int]) -> None:
        """Count hits or misses, entries and bytes."""
        self.hits_and_misses[where] += counted[0]
        self.hits_and_misses[where + 1] += counted[1]

    # ---- Out of the storage

    @rule("EC-52", source="PendingReadsManager", needs="reads")
    def determining(self, request: Request) -> list[Reader]:
        """Only the reader that made a storage read determines the count; those that joined it are not asked."""
        return [request.creator]

    @rule("EC-47", source="RangeEntryCacheImpl, PR 24623", needs="reads")
    def populates(self, start: int) -> bool:
        """What the storage answered is cached only if reads are expected, which is asked once for each answer."""
        return start > 0

    @rule("EC-51", source="PendingReadsManager, PR 24623", needs="reads")
    def in_part(self, entry: int, first: int, last: int) -> bool:
        """A single listener is given the entries themselves; of several each has copies, cut to its range, and the
        entries are released without counting as read.
        """
        return first <= entry <= last
