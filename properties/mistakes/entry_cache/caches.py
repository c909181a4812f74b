"""Known mistakes: the caches of a broker's topics: entries are inserted, read and removed."""

from __future__ import annotations

from broker_tck.model.entry_cache.caches import Caches
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Caches.misput, look="the comparison of key and value before anything is done")(
    instead(
        "absent",
        "Your cache takes a value of another position than its key; it must refuse it.",
        lambda m, cache, ledger, entry: m.put(cache, ledger, entry + 1, 1, 0),
    ),
)
look_at("EC-11", "single reads and ranges alike; a read that refreshes the place or the time")
look_at("EC-16", "the size before instead of the sum that was removed")
