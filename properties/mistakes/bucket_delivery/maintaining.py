"""Known mistakes: behind the scenes: buckets of orphans are trimmed, neighbours merged, and everything cleared."""

from __future__ import annotations

from itertools import chain as chain_of

from broker_tck.model.bucket_delivery.maintaining import Maintaining
from broker_tck.model.bucket_delivery.promise import settled
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Maintaining.too_many, look="the limit itself, which is not too many; a limit of 0 or less, which is none")(
    instead(
        "absent",
        "Your tracker never has too many buckets; beyond the limit a seal has to start a trim and a merge.",
        lambda t: False,
    ),
    instead(
        "at the limit",
        "Your tracker trims or merges at the limit of buckets; there have to be more.",
        lambda t: 0 < t.config.max_buckets <= len(t.placed.pieces),
    ),
)
of(Maintaining.busy)(
    instead("absent", "Your tracker starts a chain of a trim and a merge while another is under way.", lambda t: False),
)
of(
    Maintaining.is_trimmed_at,
    look="a bucket that reaches into the mark-delete ledger; what follows a failure; a creation under way",
)(
    instead(
        "absent",
        "Your tracker trims nothing; buckets wholly below the mark-delete position's ledger have to be deleted.",
        lambda t, ledgers: False,
    ),
    instead(
        "up to that ledger",
        "Your tracker trims a bucket that has the ledger of the mark-delete position.",
        lambda t, ledgers: t.is_orphan(ledgers[1] - 1),
    ),
    instead(
        "those that reach it",
        "Your tracker trims a bucket that reaches over the mark-delete position.",
        lambda t, ledgers: t.is_orphan(ledgers[0]),
    ),
)
of(Maintaining.stored)(
    instead(
        "absent",
        "A trim of your tracker deletes a bucket that is not stored yet; it has to wait for that.",
        lambda t, victim: settled(True),
    ),
)
of(Maintaining.is_still_victim)(
    instead(
        "absent",
        "A trim of your tracker deletes a bucket that is gone by then, or no longer to be trimmed.",
        lambda t, victim: True,
    ),
)
of(Maintaining.goes_on_trimming)(
    instead(
        "absent",
        "A trim of your tracker goes on after a deletion that failed; the first failure ends the chain.",
        lambda t, deleted: True,
    ),
)
of(Maintaining.trimmed)(
    instead(
        "absent",
        "Your tracker still holds the messages of a bucket that it has trimmed.",
        lambda t, victim: t.take_away(victim.bucket),
    ),
)
of(
    Maintaining.to_merge,
    look="segments that are loaded already; a merged snapshot that cannot be stored; what a crash leaves",
)(
    instead(
        "absent",
        "A merge of your tracker reads only the segments that are not loaded; it has to read them all.",
        lambda t, source: (source.current + 1, source.last),
    ),
)
of(Maintaining.merged_indexes)(
    instead(
        "one after the other",
        (
            "A merge of your tracker puts its sources one behind the other; their messages have to be in the order of "
            "their times."
        ),
        lambda t, *sources: chain_of(*sources),
    ),
)
of(Maintaining.can_commit)(
    instead(
        "absent",
        "A merge of your tracker goes on although its sources are gone, or another bucket lies among them.",
        lambda t, sources: True,
    ),
)
of(Maintaining.replaces_sources)(
    instead(
        "absent",
        "A merge of your tracker deletes its sources although the merged bucket has no key; it could not be recovered.",
        lambda t, merged: True,
    ),
)
look_at("BD-31", "a load or a merge under way; a creation that ends or fails later; what is added while snapshots go")
