"""The registry: which views there are, which of them is its subscription's, and where each subscription is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from broker_tck.model.delayed_delivery.index import Position
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said
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

    @said(
        absent="A new view of your tracker has no mark-delete position; it has to begin at that of its subscription.",
        of_whoever_is_furthest=(
            "A new view of your tracker begins where the furthest subscription is; it has to begin at the position "
            "of its own."
        ),
    )
    @rule(
        "TD-32",
        "A view begins at its subscription's mark-delete position, behind which it sees every copy that is held, "
        "whoever added it.",
        source="PIP-448, Security Considerations; T-16",
        look="a subscription that is opened again: what it had acknowledged before",
        absent=lambda r, name: None,
        of_whoever_is_furthest=lambda r, name: max(r.marks.values(), default=None),
    )
    def mark_of(self, name: str) -> Position | None:
        return self.marks.get(name)

    @said(
        absent="Your tracker's views live on after a shutdown; it has to close them all.",
    )
    @rule(
        "TD-31",
        "A shutdown closes every view and empties the index; nothing is armed after it, and nothing is opened.",
        source="InMemoryTopicDelayedDeliveryTrackerManager, close; T-15",
        look="views that live on, and add to an index that nobody looks at",
        when=lambda r: r.registered,
        absent=lambda r: r.registered,
    )
    def after_shutdown(self) -> dict[str, SubscriptionView]:
        return {}

    @said(
        absent="Your tracker opens a view after a shutdown; nothing may be opened then.",
    )
    @also(after_shutdown, when=lambda r: r.ended, absent=lambda r: True)
    def may_open(self) -> bool:
        return not self.ended

    def open(self, name: str, made: Callable[[str, str, Position | None], SubscriptionView]) -> str:
        """A dispatcher of a subscription asks for a tracker; answers with its handle."""
        self.opened[name] += 1
        handle = f"{name}{self.opened[name]}"
        view = self.taken_over(name) or made(name, handle, self.mark_of(name))
        self.views[handle] = self.registered[name] = view
        return handle

    @said(
        absent="A subscription that is opened again gets the old view of your tracker; it needs one of its own.",
    )
    @rule(
        "TD-26",
        "A subscription that is opened again gets a view and a dispatcher of its own; the earlier view is stale from "
        "then on, and refuses every call but its close.",
        source="InMemoryTopicDelayedDeliveryTrackerManager, createOrGetTracker; T-11",
        look="which dispatcher is asked to read; a registration that is found by the name alone",
        when=lambda r, name: name in r.registered,
        absent=lambda r, name: r.registered.get(name),
    )
    def taken_over(self, name: str) -> SubscriptionView | None:
        """The view that goes on as that of a new dispatcher; None: it gets a new one."""
        return None

    @said(
        absent="A stale view of your tracker goes on as before; it has to refuse every call but its close.",
    )
    @also(taken_over, absent=lambda r, view: False)
    def is_stale(self, view: SubscriptionView) -> bool:
        return self.registered.get(view.name) is not view

    # ---- Views are used

    @said(
        absent="A closed view of your tracker goes on as before; it has to refuse every call but another close.",
    )
    @rule(
        "TD-16",
        "A closed view refuses every call but another close, which does nothing.",
        source="InMemoryTopicDelayedDeliveryTracker",
        look="the check at the start of each call",
        absent=lambda r, handle: False,
    )
    def is_closed(self, handle: str) -> bool:
        return handle in self.closed

    def refuses(self, handle: str) -> bool:
        """Whether a call to a view is an error."""
        return self.is_closed(handle) or (handle in self.views and self.is_stale(self.views[handle]))

    # ---- Views go

    @said(
        absent="A close of a stale view ends the newer one in your tracker; it has to leave that as it is.",
    )
    @rule(
        "TD-27",
        "A close ends the registration of that very view: closing a stale one leaves the newer one as it is.",
        source="InMemoryTopicDelayedDeliveryTrackerManager, unregister; T-12, T-13, T-14",
        look="a registration that is looked up by the name of its subscription alone",
        absent=lambda r, view: True,
    )
    def is_registered(self, view: SubscriptionView) -> bool:
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
