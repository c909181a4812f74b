"""The registry: which views there are, which of them is its subscription's, and where each subscription is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from broker_tck.model.delayed_delivery.index import Position
from broker_tck.model.rules import Part, rule
from broker_tck.model.topic_delivery.view import SubscriptionView


class Registry(Part):
    """Views by their handles, and the one that is registered for each subscription, by its name."""

    def __init__(self) -> None:
        self.views: dict[str, SubscriptionView] = {}
        """Those that are not closed. Handles are never used again."""
        self.closed: set[str] = set()
        self.registered: dict[str, SubscriptionView] = {}
        self.opened: Counter[str] = Counter()
        self.marks: dict[str, Position] = {}
        """The mark-delete position of each subscription's cursor, as its dispatcher told it last."""
        self.reads: dict[str, int] = {}
        """How much each dispatcher takes at once when it is asked to read; below 0: nothing."""
        self.ended = False

    # ---- Views come

    @rule("TD-32", source="PIP-448, Security Considerations; T-16")
    def mark_of(self, name: str) -> Position | None:
        """A view begins at its subscription's mark-delete position, behind which it sees every copy that is held,
        whoever added it.
        """
        return self.marks.get(name)

    @rule("TD-31", source="InMemoryTopicDelayedDeliveryTrackerManager, close; T-15", when=lambda r: r.registered)
    def after_shutdown(self) -> dict[str, SubscriptionView]:
        """A shutdown closes every view and empties the index; nothing is armed after it, and nothing is opened."""
        return {}

    @rule("TD-31", when=lambda r: r.ended)
    def may_open(self) -> bool:
        return not self.ended

    def open(self, name: str, made: Callable[[str, str, Position | None], SubscriptionView]) -> str:
        """A dispatcher of a subscription asks for a tracker; answers with its handle."""
        self.opened[name] += 1
        handle = f"{name}{self.opened[name]}"
        view = self.taken_over(name) or made(name, handle, self.mark_of(name))
        self.views[handle] = self.registered[name] = view
        return handle

    @rule(
        "TD-26",
        source="InMemoryTopicDelayedDeliveryTrackerManager, createOrGetTracker; T-11",
        when=lambda r, name: name in r.registered,
    )
    def taken_over(self, name: str) -> SubscriptionView | None:
        """A subscription that is opened again gets a view and a dispatcher of its own; the earlier view is stale from
        then on, and refuses every call but its close.
        """
        return None

    @rule("TD-26")
    def is_stale(self, view: SubscriptionView) -> bool:
        return self.registered.get(view.name) is not view

    # ---- Views are used

    @rule("TD-16", source="InMemoryTopicDelayedDeliveryTracker")
    def is_closed(self, handle: str) -> bool:
        """A closed view refuses every call but another close, which does nothing."""
        return handle in self.closed

    def refuses(self, handle: str) -> bool:
        """Whether a call to a view is an error."""
        return self.is_closed(handle) or (handle in self.views and self.is_stale(self.views[handle]))

    # ---- Views go

    @rule("TD-27", source="InMemoryTopicDelayedDeliveryTrackerManager, unregister; T-12, T-13, T-14")
    def is_registered(self, view: SubscriptionView) -> bool:
        """A close ends the registration of that very view: closing a stale one leaves the newer one as it is."""
        return self.registered.get(view.name) is view

    def close(self, handle: str) -> SubscriptionView | None:
        """A view is closed; answers with it if its registration ends with that."""
        view = self.views.pop(handle, None)
        if view is None:
            return None
        self.closed.add(handle)
        if not self.is_registered(view):
            return None
        return self.registered.pop(view.name, None)

    def shutdown(self) -> None:
        """Everything ends."""
        self.registered = self.after_shutdown()
        self.ended = True

    def in_order(self) -> list[tuple[str, SubscriptionView]]:
        """The views that are not closed, each with its handle, in the order of these: by name, then by number."""
        return sorted(self.views.items(), key=lambda each: (each[1].name, len(each[0]), each[0]))
