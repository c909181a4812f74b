"""Known mistakes: which buckets are merged."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.selection import Selection
from broker_tck.properties.mistakes.book import instead, of

of(
    Selection.is_eligible,
    look="the time of the next segment, not of the one behind it; one unloaded segment; windows of three and two",
)(
    instead(
        "two segments needed",
        "Your tracker merges only buckets with two segments that are not loaded; one is enough.",
        lambda s, bucket: bucket.unloaded > 1,
    ),
)
of(Selection.next_time)(
    instead("absent", "Your tracker chooses what to merge without the time of the next segment.", lambda s, bucket: 0),
    instead(
        "of what is loaded",
        "Your tracker chooses what to merge by the segments that are loaded; the next ones decide.",
        lambda s, bucket: bucket.about[bucket.current - 1].first_time,
    ),
)
of(Selection.widest)(
    instead("absent", "Your tracker merges nothing; up to four neighbours have to be merged.", lambda s, n: 0),
    instead("two", "Your tracker merges two buckets at a time; it has to merge up to four.", lambda s, n: min(2, n)),
    instead("three", "Your tracker merges three buckets at most; it may be four.", lambda s, n: min(3, n)),
)
