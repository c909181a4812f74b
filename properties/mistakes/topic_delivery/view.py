"""Known mistakes: a view: what one subscription sees of the shared index, behind its own mark-delete position."""

from __future__ import annotations

from broker_tck.model.topic_delivery.view import SubscriptionView
from broker_tck.properties.mistakes.book import instead, of

of(
    SubscriptionView.acknowledged,
    look="equality: the position itself is acknowledged; ledgers are compared first, then entries",
)(
    instead(
        "absent", "A view of your tracker sees what lies before its mark-delete position.", lambda v, position: False
    ),
    instead(
        "the position itself is seen",
        "A view of your tracker sees the message at its mark-delete position; that is acknowledged.",
        lambda v, position: v.mark is not None and position < v.mark,
    ),
    instead(
        "one more is hidden",
        "A view of your tracker does not see the message right behind its mark-delete position; it has to.",
        lambda v, position: v.mark is not None and position <= (v.mark[0], v.mark[1] + 1),
    ),
    instead(
        "by ledger alone",
        "A view of your tracker compares ledgers alone with its mark-delete position; entries count as well.",
        lambda v, position: v.mark is not None and position[0] <= v.mark[0],
    ),
    instead(
        "earlier ledgers alone",
        (
            "A view of your tracker sees messages before its mark-delete position in the same ledger; those are "
            "acknowledged."
        ),
        lambda v, position: v.mark is not None and position[0] < v.mark[0],
    ),
    instead(
        "entries in any ledger",
        "A view of your tracker compares entries alone with its mark-delete position; ledgers come first.",
        lambda v, position: v.mark is not None and position[1] <= v.mark[1],
    ),
    instead(
        "nothing without a mark",
        "A view of your tracker without a mark-delete position sees nothing; it has to see all.",
        lambda v, position: v.mark is None or position <= v.mark,
    ),
)
of(SubscriptionView.was_handed, look="a head of the line that is handed out for as long as it is not acknowledged")(
    instead("absent", "Your tracker hands the same copy to a view twice.", lambda v, placed: False),
    instead(
        "by position",
        "A view of your tracker that was handed a message does not see its copy in another bucket; that is another copy.",
        lambda v, placed: placed[1] in {copy for _, copy in v.handed},
    ),
)
of(SubscriptionView.was_cleared, look="a clear that does nothing, or that empties the index for all")(
    instead("absent", "A view still sees what it has cleared in your tracker.", lambda v, placed: False),
    instead(
        "by position",
        (
            "A view of your tracker that has cleared a message does not see its copy in another bucket; that is another"
            " copy."
        ),
        lambda v, placed: placed[1] in {copy for _, copy in v.cleared},
    ),
)
of(
    SubscriptionView.mark_after,
    look="a comparison with the earlier position; copies that others still hold, after a step back",
)(
    instead(
        "absent", "Your tracker ignores a new mark-delete position; it has to take it over.", lambda v, position: v.mark
    ),
    instead(
        "never back",
        "A mark-delete position never goes back in your tracker; it has to be taken over as it is.",
        lambda v, position: max(position, v.mark or position),
    ),
    instead(
        "only the first",
        "Your tracker keeps the first mark-delete position of a view; each new one has to be taken over.",
        lambda v, position: v.mark or position,
    ),
    instead(
        "ledgers alone",
        "A mark-delete position that moves within its ledger is not taken over by your tracker; it has to be.",
        lambda v, position: v.mark if v.mark and position[0] == v.mark[0] else position,
    ),
)
of(SubscriptionView.was_passed)(
    instead(
        "absent",
        "What a view of your tracker had passed comes back when its mark-delete position goes back.",
        lambda v, position: False,
    ),
)
of(SubscriptionView.asks_again)(
    instead(
        "absent",
        "A view of your tracker does not see what it adds again after it was handed out.",
        lambda v, placed: False,
    ),
    instead(
        "only what was handed",
        "A view of your tracker does not see what it adds again after it was cleared or passed; it has to.",
        lambda v, placed: placed in v.handed,
    ),
)
