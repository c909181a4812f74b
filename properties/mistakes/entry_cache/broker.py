"""Known mistakes: the broker of the caches: passes over the queue, when they are made, and what is set at run time."""

from __future__ import annotations

from broker_tck.model.entry_cache.broker import Broker
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Broker.head, look="a queue of each topic's own")(
    instead(
        "absent",
        "Your cache has a queue for each topic; there is one for all.",
        lambda m: next((e for c in m.caches for e in m.store.queue if e.cache is c), m.store.queue[0]),
    ),
    instead(
        "the largest cache first",
        "Your cache evicts from the largest topic first; it must take the head of the one queue.",
        lambda m: max(m.store.queue, key=lambda e: e.cache.size),
    ),
)
look_at("EC-03", "the order of the tests: whether the entry is there comes before its age")
look_at("EC-02", "a blank head that is counted, or taken for what was removed")
of(Broker.keeps_in_size_pass, look="expired entries that lose their protection, young ones that are spared")(
    instead(
        "absent",
        "A size pass of your cache asks an entry's age; only a time pass does.",
        lambda m, entry: m.passes.should_requeue(entry) and entry.stamp >= m.now - m.config.ttl,
    ),
    instead(
        "young ones are kept",
        "A size pass of your cache keeps what was inserted just now; it may not look at ages.",
        lambda m, entry: m.passes.should_requeue(entry) or entry.stamp >= m.now,
    ),
)
of(Broker.run, look="the order: what time removes need not be asked for again")(
    instead(
        "absent",
        "The scheduled run of your cache does nothing; it must be a time pass, then a size pass.",
        lambda m: None,
    ),
)
