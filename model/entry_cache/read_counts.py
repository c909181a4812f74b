"""Read counts: how many reads of an entry are still expected."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Count
from broker_tck.model.rules import Part, rule


class ReadCounts(Part):
    """What a count starts with, and what changes it."""

    @rule("RC-01", source="EntryReadCountHandlerImpl, PR 24623")
    def counted_from(self, expected: int) -> int | None:
        """A read count starts with the number of reads that are expected; where none is, there is no count."""
        return expected if expected > 0 else None

    @rule("RC-08", source="EntryReadCountHandlerImpl, PR 24623")
    def after_read(self, count: int) -> int:
        """A count is its start, with one more for each increment and one less for each read: it has no floor."""
        return count - 1

    @rule("RC-08")
    def after_increment(self, count: int) -> int:
        """An increment expects one more read."""
        return count + 1

    @rule("RC-06", source="EntryImpl, PR 24623", needs="reads")
    def counts_as_read(self, moment: str) -> bool:
        """A read is counted when the entry that was returned is freed, not when it is handed out, and once."""
        return moment == "freed"

    @rule("RC-09", source="PIP-430", needs="reads")
    def replayed(self, left: int) -> int:
        """An entry that is put back to be replayed has one more read expected, if its reads are counted."""
        return self.after_increment(left)

    def new(self, expected: int) -> Count | None:
        """A count, if reads are expected."""
        left = self.counted_from(expected)
        return None if left is None else Count(left)

    def read(self, count: Count) -> None:
        """One of the reads that were expected was made."""
        count.left = self.after_read(count.left)

    def expect(self, count: Count) -> None:
        """One more is expected."""
        count.left = self.after_increment(count.left)

    def pass_by(self, count: Count | None, moment: str) -> None:
        """A returned entry was answered with, released or freed, which may count as a read."""
        if count is not None and self.counts_as_read(moment):
            self.read(count)

    def replay(self, count: Count | None) -> None:
        """A returned entry is put back."""
        if count is not None:
            count.left = self.replayed(count.left)
