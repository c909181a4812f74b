"""Known mistakes: read counts: how many reads of an entry are still expected."""

from __future__ import annotations

from broker_tck.model.entry_cache.read_counts import ReadCounts
from broker_tck.properties.mistakes.book import instead, of

of(ReadCounts.counted_from, look="a count of 0 or below, which is no count at all")(
    instead(
        "absent",
        "Your cache counts the reads of an entry of which none is expected; it has no count.",
        lambda c, expected: expected,
    ),
    instead(
        "one more",
        "A read count of your cache starts at one read more than is expected.",
        lambda c, expected: expected + 1 if expected > 0 else None,
    ),
    instead(
        "in 16 bits",
        "Your cache keeps 16 bits of the reads that are expected; it must keep all of them.",
        lambda c, expected: (expected + 2**15) % 2**16 - 2**15 if expected > 0 else None,
    ),
    instead(
        "none for one",
        "Your cache keeps no read count where a single read is expected; it must start at 1.",
        lambda c, expected: expected if expected > 1 else None,
    ),
)
of(ReadCounts.after_read, look="a count that stops at 0")(
    instead(
        "absent", "Your cache lets no read count fall below 0; it has no floor.", lambda c, count: max(count - 1, 0)
    ),
)
of(ReadCounts.after_increment)(
    instead(
        "absent",
        "Your cache lifts a read count that is below 0 to 0 before it is incremented; a count has no floor.",
        lambda c, count: max(count, 0) + 1,
    ),
)
of(ReadCounts.counts_as_read, look="a count that is lowered on the way out of the cache, or by every release")(
    instead(
        "absent",
        "Your cache never counts a read; it must when the entry that was returned is freed.",
        lambda c, moment: False,
    ),
    instead(
        "when handed out",
        "Your cache counts a read when it hands the entry out; it must when that is freed.",
        lambda c, moment: moment == "answered",
    ),
    instead(
        "by every release",
        "Your cache counts a read at every release of an entry; it must when the entry that was returned is freed.",
        lambda c, moment: moment in ("freed", "released"),
    ),
)
of(ReadCounts.replayed, look="the count that cache and reader share")(
    instead(
        "absent",
        "An entry that is put back to be replayed keeps its read count in your cache; one more read must be expected.",
        lambda c, left: left,
    ),
)
