"""The pruner: which copies leave the shared index."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from broker_tck.model.rules import Part, rule
from broker_tck.model.topic_delivery.view import Placed, SubscriptionView


class Pruner(Part):
    """Lets go of what no view can still ask for, as soon as that is so."""

    def __init__(self, config: object) -> None:
        """As configured; this one has nothing to configure."""

    @rule("TD-20", source="PIP-448, High Level Design")
    def may_go(self, placed: Placed, views: Collection[SubscriptionView]) -> bool:
        """A copy leaves the index when the last view that sees it is done with it: it was handed to it, cleared by it,
        or acknowledged; not before.
        """
        return not any(view.sees(placed) for view in views)

    def pruned(self, released: Iterable[Placed], views: Collection[SubscriptionView]) -> list[Placed]:
        """Of some copies with which a view is done, those that leave the index."""
        return [placed for placed in released if self.may_go(placed, views)]
