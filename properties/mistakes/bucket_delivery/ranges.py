"""Known mistakes: which bucket lies over a ledger: a map from ranges, none of which meets another."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.ranges import Placed
from broker_tck.properties.mistakes.book import instead, of

of(Placed.over, look="a ledger between two others; the first and the last one of a range")(
    instead(
        "absent",
        "The sealed buckets of your tracker lie over no ledger; each has to lie over all of its range.",
        lambda p, ledger: None,
    ),
    instead(
        "where it begins",
        "A sealed bucket of your tracker lies over its first ledger alone; it has to lie over all of its range.",
        lambda p, ledger: next((b.bucket for b in p.pieces if b.low[0] == ledger), None),
    ),
)
