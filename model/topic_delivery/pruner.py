"""The pruner: which copies leave the shared index."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said
from broker_tck.model.topic_delivery.view import Placed, SubscriptionView


class Pruner(Part):
    """Lets go of what no view can still ask for, as soon as that is so."""

    def __init__(self, config: object) -> None:
        """As configured; this one has nothing to configure."""

    @said(
        absent="Your tracker keeps a copy that no view sees any more; it has to leave the index.",
        one_is_enough="Your tracker drops a copy when one view is done with it; the last view decides.",
        the_furthest_mark="Your tracker drops a copy that the furthest view has acknowledged; the last view decides.",
        those_with_a_mark=(
            "Your tracker drops a copy when the views with a mark-delete position are done with it; those without "
            "one count as well."
        ),
        the_acknowledged_alone=(
            "Your tracker keeps a copy until every view has acknowledged it; one that a view was handed, or has "
            "cleared, it is done with as well."
        ),
        the_first_view="Your tracker drops a copy when its first view is done with it; the last one decides.",
    )
    @rule(
        "TD-20",
        "A copy leaves the index when the last view that sees it is done with it: it was handed to it, cleared by it, "
        "or acknowledged; not before.",
        source="PIP-448, High Level Design",
        look="whose mark-delete position bounds a prune; a view without one; buckets that are not due yet",
        absent=lambda p, placed, views: False,
        one_is_enough=lambda p, placed, views: not views or any(not v.sees(placed) for v in views),
        the_furthest_mark=lambda p, placed, views: any(v.acknowledged(placed[1][:2]) for v in views),
        those_with_a_mark=lambda p, placed, views: not any(v.sees(placed) for v in views if v.mark),
        the_acknowledged_alone=lambda p, placed, views: all(v.acknowledged(placed[1][:2]) for v in views),
        the_first_view=lambda p, placed, views: not any(v.sees(placed) for v in [*views][:1]),
    )
    def may_go(self, placed: Placed, views: Collection[SubscriptionView]) -> bool:
        return not any(view.sees(placed) for view in views)

    def pruned(self, released: Iterable[Placed], views: Collection[SubscriptionView]) -> list[Placed]:
        """Of some copies with which a view is done, those that leave the index."""
        return [placed for placed in released if self.may_go(placed, views)]
