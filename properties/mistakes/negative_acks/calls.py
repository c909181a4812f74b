"""Known mistakes in what a firing calls: the application's callback, then the requests to the broker."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import REQUEST, Calls
from broker_tck.properties.mistakes.book import instead, of

of(Calls.emits, look="the callback, or a request, with no ids")(
    instead("absent", "Your tracker calls back though nothing is due; it must call nothing.", lambda c, ids: True),
)
of(Calls.requests, look="how the ids are cut; exact multiples of 1,000")(
    instead("absent", "Your tracker requests all ids at once; a request has 1,000 at most.", lambda c, ids: [len(ids)]),
    instead(
        "one more",
        "Your tracker puts 1,001 ids into a request; 1,000 is the most.",
        lambda c, ids: c.cut(ids, REQUEST + 1),
    ),
    instead(
        "an empty one",
        "Your tracker makes a request for nothing.",
        lambda c, ids: [*c.cut(ids, REQUEST), *[0] * (len(ids) % REQUEST == 0)],
    ),
)
