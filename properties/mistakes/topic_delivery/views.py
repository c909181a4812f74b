"""Known mistakes in views, in their registry, and in what leaves the index."""

from __future__ import annotations

from typing import Any

from broker_tck.model.delayed_delivery.specification import Position
from broker_tck.model.rules import Method
from broker_tck.model.topic_delivery.specification import Pruner, Registry, SubscriptionView, TopicDelivery
from broker_tck.properties.mistakes.book import around, instead, look_at, of

of(
    SubscriptionView.acknowledged,
    look="equality: the position itself is acknowledged; ledgers are compared first, then entries",
)(
    instead(
        "absent",
        "A view of your tracker sees copies before its mark-delete position; it must not.",
        lambda v, position: False,
    ),
    instead(
        "the position itself is seen",
        "A view of your tracker sees the message at its mark-delete position; it must not.",
        lambda v, position: v.mark is not None and position < v.mark,
    ),
    instead(
        "one more is hidden",
        "A view of your tracker does not see the message right behind its mark-delete position; it must.",
        lambda v, position: v.mark is not None and position <= (v.mark[0], v.mark[1] + 1),
    ),
    instead(
        "by ledger alone",
        "A view of your tracker compares ledgers alone with its mark-delete position; it must compare entries, too.",
        lambda v, position: v.mark is not None and position[0] <= v.mark[0],
    ),
    instead(
        "earlier ledgers alone",
        "A view of your tracker sees messages of a ledger before its mark-delete position; it must not.",
        lambda v, position: v.mark is not None and position[0] < v.mark[0],
    ),
    instead(
        "entries in any ledger",
        "A view of your tracker compares entries alone with its mark-delete position; it must compare ledgers first.",
        lambda v, position: v.mark is not None and position[1] <= v.mark[1],
    ),
    instead(
        "nothing without a mark",
        "A view of your tracker without a mark-delete position sees nothing; it must see all.",
        lambda v, position: v.mark is None or position <= v.mark,
    ),
)
of(SubscriptionView.was_handed, look="a head of the line that is handed out for as long as it is not acknowledged")(
    instead("absent", "Your tracker hands the same copy to a view twice; it must once.", lambda v, placed: False),
    instead(
        "by position",
        "A view of your tracker that was handed a message does not see its copy in another bucket; it must.",
        lambda v, placed: placed[1] in {copy for _, copy in v.handed},
    ),
)
of(SubscriptionView.was_cleared, look="a clear that does nothing, or that empties the index for all")(
    instead(
        "absent", "A view of your tracker still sees copies that it has cleared; it must not.", lambda v, placed: False
    ),
    instead(
        "by position",
        "A view of your tracker that has cleared a message does not see its copy in another bucket; it must.",
        lambda v, placed: placed[1] in {copy for _, copy in v.cleared},
    ),
)
look_at("TD-15", "a comparison with the earlier position; copies that others still hold, after a step back")


@around(SubscriptionView.move, "TD-15", "absent", was="view.mark_after: absent")
def ignores_a_new_position(move: Method, v: SubscriptionView, position: Position) -> None:
    """Your tracker ignores a new mark-delete position; it must take it over."""
    moved_to(v.mark, move, v, position)


@around(SubscriptionView.move, "TD-15", "never back", was="view.mark_after: never back")
def never_back(move: Method, v: SubscriptionView, position: Position) -> None:
    """A mark-delete position never goes back in your tracker; it must be taken over as it is."""
    moved_to(max(position, v.mark or position), move, v, position)


@around(SubscriptionView.move, "TD-15", "only the first", was="view.mark_after: only the first")
def only_the_first(move: Method, v: SubscriptionView, position: Position) -> None:
    """Your tracker keeps the first mark-delete position of a view; each new one must be taken over."""
    moved_to(v.mark or position, move, v, position)


@around(SubscriptionView.move, "TD-15", "ledgers alone", was="view.mark_after: ledgers alone")
def ledgers_alone(move: Method, v: SubscriptionView, position: Position) -> None:
    """Your tracker does not take over a mark-delete position that moves within its ledger; it must."""
    moved_to(v.mark if v.mark and position[0] == v.mark[0] else position, move, v, position)


@around(
    SubscriptionView.move, "TD-15", "going back begins anew", was="where it goes back, what was handed out comes back"
)
def going_back_begins_anew(move: Method, v: SubscriptionView, position: Position) -> None:
    """If a mark-delete position goes back, your tracker hands the same copies out again; it must not."""
    if v.mark is not None and position < v.mark:
        v.handed, v.cleared = set(), set()
    move(v, position)


def moved_to(mark: Position | None, move: Method, v: SubscriptionView, position: Position) -> None:
    """Move to a position, and take over another one."""
    move(v, position)
    v.mark = mark


of(SubscriptionView.was_passed)(
    instead(
        "absent",
        "If its mark-delete position goes back, a view of your tracker sees passed copies again; it must not.",
        lambda v, position: False,
    ),
)
of(SubscriptionView.asks_again)(
    instead(
        "absent",
        "A view of your tracker does not see a copy that it was handed and adds again; it must.",
        lambda v, placed: False,
    ),
    instead(
        "only what was handed",
        "A view of your tracker does not see a copy that it cleared or passed and adds again; it must.",
        lambda v, placed: placed in v.handed,
    ),
)

# ---- Views come and go

of(Registry.mark_of, look="a subscription that is opened again: what it had acknowledged before")(
    instead(
        "absent",
        "A new view of your tracker has no mark-delete position; it must begin at that of its subscription.",
        lambda r, name: None,
    ),
    instead(
        "of whoever is furthest",
        "A new view of your tracker begins at the furthest subscription's position; it must begin at its own.",
        lambda r, name: max(r.marks.values(), default=None),
    ),
)
of(Registry.shutdown, look="views that live on, and add to an index that nobody looks at")(
    instead(
        "views live on",
        "Your tracker's views live on after a shutdown; it must close them all.",
        lambda r: setattr(r, "ended", True),
        was="registry.after_shutdown: absent",
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
        "A stale view of your tracker goes on as before; it must refuse every call but its close.",
        lambda r, view: False,
    ),
)
of(Registry.is_closed, look="the check at the start of each call")(
    instead(
        "absent",
        "A closed view of your tracker goes on as before; it must refuse every call but another close.",
        lambda r, handle: False,
    ),
)
of(Registry.is_registered, look="a registration that is looked up by the name of its subscription alone")(
    instead(
        "absent",
        "A close of a stale view ends the newer one in your tracker; it must leave that as it is.",
        lambda r, view: True,
    ),
)

# ---- What leaves the index

of(Pruner.may_go, look="whose mark-delete position bounds a prune; a view without one; buckets that are not due yet")(
    instead(
        "absent",
        "Your tracker keeps a copy that no view sees any more; it must leave the index.",
        lambda p, placed, views: False,
    ),
    instead(
        "one is enough",
        "Your tracker drops a copy when one view is done with it; it must when the last view is.",
        lambda p, placed, views: not views or any(not v.sees(placed) for v in views),
    ),
    instead(
        "the furthest mark",
        "Your tracker drops a copy that the furthest view has acknowledged; the last view must decide.",
        lambda p, placed, views: any(v.acknowledged(placed[1]) for v in views),
    ),
    instead(
        "those with a mark",
        "Your tracker drops a copy without asking the views that have no mark-delete position; it must ask all.",
        lambda p, placed, views: not any(v.sees(placed) for v in views if v.mark),
    ),
    instead(
        "the acknowledged alone",
        "Your tracker keeps a copy until all views acknowledge it; a view that got it or cleared it must count, too.",
        lambda p, placed, views: all(v.acknowledged(placed[1]) for v in views),
    ),
    instead(
        "the first view",
        "Your tracker drops a copy when its first view is done with it; it must when the last one is.",
        lambda p, placed, views: not any(v.sees(placed) for v in [*views][:1]),
    ),
)


# ---- What is kept

look_at("TD-41", "registries that a closed view stays in; what is noted of views beside the index")


@around(Registry.close, "TD-41", "the view closed last is kept")
def last_closed_kept(close: Method, r: Any, handle: str) -> object:
    """Your manager keeps the view that was closed last; it must let go of it."""
    r.last_closed = r.views.get(handle)
    return close(r, handle)


@around(TopicDelivery.shutdown, "TD-41", "copies kept at a shutdown")
def kept_at_a_shutdown(shutdown: Method, m: Any) -> None:
    """Your manager keeps the copies that it held at its shutdown; it must let go of them."""
    m.at_shutdown = m.index.held
    shutdown(m)
