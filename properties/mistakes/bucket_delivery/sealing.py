"""Known mistakes: how a bucket is sealed: cut into segments, placed, and stored."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.sealing import Sealing
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Sealing.crosses, look="a late message after a recovery, or after a clear: a range that begins below sealed buckets")(
    instead(
        "absent",
        "Your tracker's growing bucket grows across a sealed one; it has to be sealed before.",
        lambda t, ledger: False,
    ),
)
of(Sealing.keeps_in_memory, look="a bucket that another one is placed over: nobody loads what it has left")(
    instead(
        "absent",
        "Your tracker seals a range that meets a sealed bucket; what it holds has to be kept in memory.",
        lambda t, ledgers: False,
    ),
)
look_at(
    "BD-11", "what is in memory after a seal; an index from before a refusal, which a recovery takes for one of now"
)
of(Sealing.worth_storing)(
    instead(
        "absent",
        "A seal of your tracker stores indexes of messages that are held no longer; it has to store what is held.",
        lambda t, indexes: indexes,
    ),
)
of(Sealing.wake, look="a boundary that is due while its bucket is being stored or merged")(
    instead(
        "absent",
        (
            "The end of a creation, or of a merge, leaves your tracker's timer as it is; it has to fire it if something"
            " is due."
        ),
        lambda t: None,
    ),
)
