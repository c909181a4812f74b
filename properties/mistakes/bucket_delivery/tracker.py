"""Known mistakes: a tracker, from its recovery to its end."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.properties.mistakes.book import instead, look_at, of

of(
    Tracker.in_order,
    look="what a crash in the middle of a merge leaves: the merged bucket and its sources, in any order",
)(
    instead(
        "absent",
        (
            "A recovery of your tracker takes buckets in the order of the keys; of those that meet, the one that begins"
            " first is placed."
        ),
        lambda t, keys: keys,
    ),
)
of(Tracker.first_segment, look="a segment that ends at the cut-off; messages of skipped segments, which are not held")(
    instead(
        "absent",
        (
            "A recovery of your tracker skips no segments; those all of whose messages are due are read again by the "
            "dispatcher."
        ),
        lambda t, about: 1,
    ),
    instead(
        "strictly before",
        "A recovery of your tracker loads a segment whose messages are all due; it has to skip it.",
        lambda t, about: 1 + sum(each.last_time < t.cutoff() for each in about),
    ),
    instead(
        "by their first times",
        (
            "A recovery of your tracker skips segments that begin before the cut-off; all messages of a skipped one "
            "have to be due."
        ),
        lambda t, about: 1 + sum(each.first_time <= t.cutoff() for each in about),
    ),
)
of(Tracker.fails_recovery, look="a crash between the deletion of a snapshot and that of its key")(
    instead(
        "absent",
        "A recovery of your tracker fails where a snapshot is not there; it has to drop that bucket and its key.",
        lambda t, outcome: True,
    ),
)
of(Tracker.raise_failures, look="four failures in a row, while other buckets can be read")(
    instead(
        "absent",
        (
            "A recovery of your tracker goes on where a snapshot cannot be read that may be there; it has to fail as a "
            "whole."
        ),
        lambda t, read: None,
    ),
)
look_at("BD-32", "deletions under way, which another tracker could meet; a timeout that stays armed")
of(Tracker.has_closed)(
    instead(
        "absent",
        "A close of your tracker ends at once; it has to wait for all calls that change something.",
        lambda t: True,
    ),
    instead(
        "with its creations",
        (
            "A close of your tracker ends when its snapshots are created; it has to wait for all calls that change "
            "something."
        ),
        lambda t: all(bucket.created.settled for bucket in t.left),
    ),
    instead(
        "without keys",
        (
            "A close of your tracker does not wait for the cursor's properties to be put and removed; it has to wait "
            "for all calls that change something."
        ),
        lambda t: all(call.updates_key for call in t.durable.calls.waiting if call.owner is t.snapshots),
    ),
)
of(
    Tracker.take_over,
    look="the count after a recovery; segments that were skipped; messages below the mark-delete position",
)(
    instead(
        "absent",
        "A recovery of your tracker loads nothing; of each bucket one segment has to be loaded.",
        lambda t, read: [],
    ),
)
