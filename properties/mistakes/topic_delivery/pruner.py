"""Known mistakes: the pruner: which copies leave the shared index."""

from __future__ import annotations

from broker_tck.model.topic_delivery.pruner import Pruner
from broker_tck.properties.mistakes.book import instead, of

of(Pruner.may_go, look="whose mark-delete position bounds a prune; a view without one; buckets that are not due yet")(
    instead(
        "absent",
        "Your tracker keeps a copy that no view sees any more; it has to leave the index.",
        lambda p, placed, views: False,
    ),
    instead(
        "one is enough",
        "Your tracker drops a copy when one view is done with it; the last view decides.",
        lambda p, placed, views: not views or any(not v.sees(placed) for v in views),
    ),
    instead(
        "the furthest mark",
        "Your tracker drops a copy that the furthest view has acknowledged; the last view decides.",
        lambda p, placed, views: any(v.acknowledged(placed[1][:2]) for v in views),
    ),
    instead(
        "those with a mark",
        (
            "Your tracker drops a copy when the views with a mark-delete position are done with it; those without one "
            "count as well."
        ),
        lambda p, placed, views: not any(v.sees(placed) for v in views if v.mark),
    ),
    instead(
        "the acknowledged alone",
        (
            "Your tracker keeps a copy until every view has acknowledged it; one that a view was handed, or has "
            "cleared, it is done with as well."
        ),
        lambda p, placed, views: all(v.acknowledged(placed[1][:2]) for v in views),
    ),
    instead(
        "the first view",
        "Your tracker drops a copy when its first view is done with it; the last one decides.",
        lambda p, placed, views: not any(v.sees(placed) for v in [*views][:1]),
    ),
)
