"""Known mistakes: how messages are handed out, and segments loaded on the way."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.reading import Reading
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Reading.gave)(
    instead("absent", "A get leaves your tracker's timer as it is; it has to bring it up to date.", lambda t: None),
)
of(Reading.comes_out)(
    instead(
        "absent",
        "Your tracker takes out an index whether it is due or not; it has to wait until it is.",
        lambda t, index, cutoff: True,
    ),
    instead(
        "before its next segment",
        (
            "Your tracker hands out the last message of a segment before the next segment is loaded; it has to wait for"
            " that."
        ),
        lambda t, index, cutoff: index[0] <= cutoff or t.is_orphan(index[1]),
    ),
)
of(Reading.is_orphan, look="the mark-delete ledger itself, whose messages are none")(
    instead(
        "absent",
        "Your tracker hands out messages of ledgers below the mark-delete position; they are dropped.",
        lambda t, ledger: False,
    ),
    instead(
        "the ledger itself",
        (
            "Your tracker drops messages of the ledger of the mark-delete position itself; only those of ledgers below "
            "it are orphans."
        ),
        lambda t, ledger: t.durable.first_live is not None and ledger <= t.durable.first_live,
    ),
)
of(Reading.ending, look="a segment of orphans before one that is alive")(
    instead(
        "absent",
        "Your tracker does not load the next segment where one ends; it has to before the last message leaves.",
        lambda t, index, orphan: None,
    ),
)
look_at("BD-46", "a load under way at a clear or a merge: what it puts into memory, and whose boundary it takes away")
of(Reading.used_up, look="a bucket that is deleted while messages of it are in memory alone, or never")(
    instead(
        "absent", "Your tracker keeps a bucket of which nothing is left; it has to delete it.", lambda t, bucket: None
    ),
)
look_at("BD-20", "a boundary that is forgotten; a segment that is skipped; a snapshot that another tracker has deleted")
