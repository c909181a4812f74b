"""Known mistakes: a tracker's calls to the storage and to the cursor: which are made again, and which wait for others."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.bucket import About
from broker_tck.model.bucket_delivery.durable import BAD_VERSION, NOT_PERSISTED, OK
from broker_tck.model.bucket_delivery.snapshots import ATTEMPTS, Snapshots
from broker_tck.properties.mistakes.book import instead, of

of(Snapshots.retried, look="the number of attempts; failures of another kind")(
    instead(
        "absent",
        "Your tracker does not make a call to the storage again that was not persisted; four times in all is right.",
        lambda s, outcome, attempts: False,
    ),
    instead(
        "three attempts",
        "Your tracker makes a call to the storage three times in all; four times is right.",
        lambda s, outcome, attempts: outcome == NOT_PERSISTED and attempts < ATTEMPTS - 1,
    ),
    instead(
        "whatever fails",
        "Your tracker makes every call to the storage that failed again; only one that was not persisted is made again.",
        lambda s, outcome, attempts: outcome != OK and attempts < ATTEMPTS,
    ),
    instead(
        "once more",
        "Your tracker makes a call to the storage five times in all; four times is right.",
        lambda s, outcome, attempts: outcome == NOT_PERSISTED and attempts <= ATTEMPTS,
    ),
)
of(Snapshots.about, look="a first or last time that is another segment's; positions of the segment alone")(
    instead(
        "absent",
        (
            "A snapshot of your tracker says nothing of its segments; it has to say which positions they have, and "
            "their times."
        ),
        lambda s, segment: About(0, 0, frozenset()),
    ),
    instead(
        "first time of all",
        "A snapshot of your tracker has 0 for the first time of a segment; it has to say when its first message is due.",
        lambda s, segment: About(0, segment[-1][0], frozenset(index[1:] for index in segment)),
    ),
    instead(
        "of its first ledger",
        "A snapshot of your tracker tells the positions of a segment's first ledger alone; it has to tell them all.",
        lambda s, segment: About(
            segment[0][0], segment[-1][0], frozenset(index[1:] for index in segment if index[1] == segment[0][1])
        ),
    ),
    instead(
        "without its last",
        "A snapshot of your tracker leaves out the last position of a segment; it has to tell them all.",
        lambda s, segment: About(segment[0][0], segment[-1][0], frozenset(index[1:] for index in segment[:-1])),
    ),
)
of(
    Snapshots.number_of,
    look="segments behind the first; which snapshot is deleted in its place: that of another bucket, same range",
)(
    instead(
        "absent",
        "Your tracker deletes another bucket's snapshot in place of one that could not be stored.",
        lambda s, bucket: s.durable.keys.get(bucket.ledgers) if bucket.id is None else bucket.id,
    ),
)
of(
    Snapshots.updated_again,
    look="what a crash leaves between both; two buckets of the same range; a failure that is final",
)(
    instead(
        "absent",
        "Your tracker does not make a key update again that meets a bad version; four times in all is right.",
        lambda s, outcome, attempts: False,
    ),
    instead(
        "three attempts",
        "Your tracker makes a key update that meets a bad version three times in all; four times is right.",
        lambda s, outcome, attempts: outcome == BAD_VERSION and attempts < ATTEMPTS - 1,
    ),
    instead(
        "whatever fails",
        "Your tracker makes every key update that failed again; only one that met a bad version is made again.",
        lambda s, outcome, attempts: outcome != OK and attempts < ATTEMPTS,
    ),
)
of(Snapshots.puts_key)(
    instead("absent", "Your tracker puts the key of a bucket that was cleared; it may not.", lambda s, bucket: True),
)
of(Snapshots.has_key)(
    instead(
        "absent",
        (
            "Your tracker removes a key that leads to another snapshot by then; it may only where it still leads to the"
            " deleted one."
        ),
        lambda s, bucket: True,
    ),
)
