"""Known mistakes: the registry: which views there are, which of them is its subscription's, and where each subscription is."""

from __future__ import annotations

from broker_tck.model.topic_delivery.registry import Registry
from broker_tck.properties.mistakes.book import instead, of

of(Registry.mark_of, look="a subscription that is opened again: what it had acknowledged before")(
    instead(
        "absent",
        "A new view of your tracker has no mark-delete position; it has to begin at that of its subscription.",
        lambda r, name: None,
    ),
    instead(
        "of whoever is furthest",
        (
            "A new view of your tracker begins where the furthest subscription is; it has to begin at the position of "
            "its own."
        ),
        lambda r, name: max(r.marks.values(), default=None),
    ),
)
of(Registry.after_shutdown, look="views that live on, and add to an index that nobody looks at")(
    instead(
        "absent", "Your tracker's views live on after a shutdown; it has to close them all.", lambda r: r.registered
    ),
)
of(Registry.may_open)(
    instead("absent", "Your tracker opens a view after a shutdown; nothing may be opened then.", lambda r: True),
)
of(Registry.taken_over, look="which dispatcher is asked to read; a registration that is found by the name alone")(
    instead(
        "absent",
        "A subscription that is opened again gets the old view of your tracker; it needs one of its own.",
        lambda r, name: r.registered.get(name),
    ),
)
of(Registry.is_stale)(
    instead(
        "absent",
        "A stale view of your tracker goes on as before; it has to refuse every call but its close.",
        lambda r, view: False,
    ),
)
of(Registry.is_closed, look="the check at the start of each call")(
    instead(
        "absent",
        "A closed view of your tracker goes on as before; it has to refuse every call but another close.",
        lambda r, handle: False,
    ),
)
of(Registry.is_registered, look="a registration that is looked up by the name of its subscription alone")(
    instead(
        "absent",
        "A close of a stale view ends the newer one in your tracker; it has to leave that as it is.",
        lambda r, view: True,
    ),
)
