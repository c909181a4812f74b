"""Known mistakes: which positions a tracker holds, and how many: the only truth for both."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.index import Held
from broker_tck.properties.mistakes.book import instead, of

of(Held.repeated, look="a second add with another time; one of a position that is in no loaded segment")(
    instead(
        "absent",
        "Your tracker queues a message again that it holds; the add has to change nothing.",
        lambda h, position, over: False,
    ),
    instead(
        "by 32 bits of the ledger",
        "Your tracker looks up what it holds by 32 bits of the ledger; it has 64.",
        lambda h, position, over: any(
            entry == position[1] and (ledger ^ position[0]) % 2**32 == 0 for ledger, entry in h.positions
        ),
    ),
)
of(Held.count, look="what is counted twice after a merge, or is never counted down")(
    instead("absent", "The count of your tracker is always 0; it has to be that of all positions held.", lambda h: 0),
)
of(Held.refused, look="a refusal of what was accepted before: the count, and what is handed out later")(
    instead(
        "absent",
        "Your tracker goes on holding a message that it refused; it is not held from then on.",
        lambda h, position, over: None,
    ),
)
of(
    Held.hands_out,
    look="a message that was refused, or refused and then accepted for a later time, or is in memory twice",
)(
    instead(
        "absent",
        "Your tracker hands out an index of a message that it does not hold; it has to drop that.",
        lambda h, index, over: True,
    ),
    instead(
        "whatever its time",
        "Your tracker hands out an index of a message that is held for another time; it has to drop that one.",
        lambda h, index, over: h.contains(index[1:], over),
    ),
)
