"""Known mistakes between the steps of calls that overlap."""

from __future__ import annotations

from broker_tck.model.entry_cache.overlapping import Steps
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.mistakes.book import instead, of

of(
    Steps.removable,
    look="a removal that does not wait for the lock; a size that is read from an entry which may be gone",
)(
    instead("absent", "Your cache removes an entry whose insertion has not queued it yet.", lambda s, entry: True),
)
of(
    Steps.judged,
    look="what happens between the look at the head and the removal: which entry is taken then; what is recycled",
)(
    instead(
        "absent",
        "A pass of your cache judges the head as it was when it was looked at; it must when it has its lock.",
        lambda s, now, then: then or now,
    ),
)
of(Steps.answers, look="a value that cannot be retained any more; a miss where the entry was there all along")(
    instead(
        "absent",
        "A read of your cache misses what was there all the while, or hits what was there at no moment.",
        lambda s, was: ("hit", "miss"),
    ),
    instead("never a hit", "A read of your cache misses an entry that is there.", lambda s, was: ("miss",)),
)
of(Steps.named, look="a key that is not compared once the wrapper is read")(
    instead(
        "absent",
        "A read of your cache answers with the value of another position.",
        lambda s, answer: "hit of 0 0" if answer == "hit" else answer,
    ),
)
of(Steps.owed, look="entries that are skipped because another was removed beside them")(
    instead(
        "absent",
        "A removal of your cache ends when another call has taken an entry; it owes all that was there.",
        lambda s, due: [],
    ),
)
of(Steps.removed_by)(
    instead(
        "absent",
        "A clear of your cache answers with what was there when it began; it must answer with what it removed itself.",
        lambda s, due, removed: [len(due), sum(entry.size for entry in due)],
    ),
)
of(Steps.waits_for, look="two passes that look at one head")(
    instead(
        "absent", "Two passes of your cache run side by side; one must wait for the other.", lambda s, others: False
    ),
)
of(EntryCaches.total_shown, look="a broker's size that is changed with each entry of a pass")(
    instead(
        "absent",
        "Your cache takes each entry off the broker's size while a pass goes on; it must at the end of the pass.",
        lambda m: m.store.total,
    ),
)
