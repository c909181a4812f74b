"""Read counts: how many reads of an entry are still expected."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Count
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


class ReadCounts(Part):
    """What a count starts with, and what changes it."""

    @said(
        absent="Your cache counts the reads of an entry of which none is expected; it has no count.",
        in_16_bits="Your cache keeps 16 bits of the reads that are expected; it has to keep all of them.",
        one_more="A read count of your cache starts at one read more than is expected.",
        none_for_one="Your cache keeps no read count where a single read is expected; it has to start at 1.",
    )
    @rule(
        "RC-01",
        "A read count starts with the number of reads that are expected; where none is, there is no count.",
        source="EntryReadCountHandlerImpl, PR 24623",
        look="a count of 0 or below, which is no count at all",
        absent=lambda c, expected: expected,
        one_more=lambda c, expected: expected + 1 if expected > 0 else None,
        in_16_bits=lambda c, expected: (expected + 2**15) % 2**16 - 2**15 if expected > 0 else None,
        none_for_one=lambda c, expected: expected if expected > 1 else None,
    )
    def counted_from(self, expected: int) -> int | None:
        return expected if expected > 0 else None

    @said(
        absent="Your cache lets no read count fall below 0; it has no floor.",
    )
    @rule(
        "RC-08",
        "A count is its start, with one more for each increment and one less for each read: it has no floor.",
        source="EntryReadCountHandlerImpl, PR 24623",
        look="a count that stops at 0",
        absent=lambda c, count: max(count - 1, 0),
    )
    def after_read(self, count: int) -> int:
        return count - 1

    @said(
        absent="Your cache lifts a read count that is below 0 to 0 before it is incremented; a count has no floor.",
    )
    @also(after_read, absent=lambda c, count: max(count, 0) + 1)
    def after_increment(self, count: int) -> int:
        return count + 1

    @said(
        when_handed_out="Your cache counts a read when it hands the entry out; it has to when that is freed.",
        by_every_release=(
            "Your cache counts a read at every release of an entry; it has to when the entry that was returned is "
            "freed."
        ),
        absent="Your cache never counts a read; it has to when the entry that was returned is freed.",
    )
    @rule(
        "RC-06",
        "A read is counted when the entry that was returned is freed, not when it is handed out, and once.",
        source="EntryImpl, PR 24623",
        look="a count that is lowered on the way out of the cache, or by every release",
        needs="reads",
        absent=lambda c, moment: False,
        when_handed_out=lambda c, moment: moment == "answered",
        by_every_release=lambda c, moment: moment in ("freed", "released"),
    )
    def counts_as_read(self, moment: str) -> bool:
        return moment == "freed"

    @said(
        absent=(
            "An entry that is put back to be replayed keeps its read count in your cache; one more read has to be "
            "expected."
        ),
    )
    @rule(
        "RC-09",
        "An entry that is put back to be replayed has one more read expected, if its reads are counted.",
        source="PIP-430",
        look="the count that cache and reader share",
        needs="reads",
        absent=lambda c, left: left,
    )
    def replayed(self, left: int) -> int:
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
