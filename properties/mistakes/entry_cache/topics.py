"""Known mistakes in the specification's topics."""

from __future__ import annotations

from broker_tck.model.entry_cache.readers import SINGLE
from broker_tck.model.entry_cache.topics import Topics
from broker_tck.properties.mistakes.book import instead, look_at, of

look_at("RC-11", "counts that are corrected; only the time and the limit of requeueing take such entries away")
of(Topics.invalidate_all)(
    instead(
        "absent",
        "Your cache keeps its entries when the last cursor leaves; where reads are not counted, all must go.",
        lambda m, topic: None,
    ),
)
of(Topics.start_of, look="the constant that it passes; a hit marks the entry and shares its count, as any other")(
    instead(
        "absent",
        "A read of a single entry populates your cache; it expects no reads.",
        lambda m, reader: 1 if reader.cursor == SINGLE else m.start_by_cursor(reader),
    ),
)
of(Topics.forget_dropped)(
    instead(
        "absent",
        "Your cache still joins reads of a ledger that was dropped; they can no longer be joined.",
        lambda m, cache, ledger: None,
    ),
)
of(Topics.forget_cleared)(
    instead(
        "absent",
        "A clear of your cache leaves the reads that run; they can no longer be joined.",
        lambda m, cache: None,
    ),
)
of(Topics.close, look="entries of a cache that no name leads to any more")(
    instead("absent", "Your cache keeps the entries of a topic that was closed; they must go.", lambda m, cache: None),
)
