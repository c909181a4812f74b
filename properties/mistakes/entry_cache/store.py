"""Known mistakes in the specification's store."""

from __future__ import annotations

from broker_tck.model.entry_cache.store import Store
from broker_tck.properties.mistakes.book import instead, look_at, of

look_at("EC-04", "where in the queue an entry is put; which time it is given")
of(
    Store.taken_over,
    look="a put that replaces; counters that are raised before it is known; a fresh place in the queue",
)(
    instead(
        "the time",
        "An insertion that your cache refuses still gives the old entry a new time; it must stay as it is.",
        lambda s: ("stamp",),
    ),
    instead(
        "the count",
        "An insertion that your cache refuses still gives the old entry a new read count; it must stay as it is.",
        lambda s: ("counter",),
    ),
    instead(
        "the access",
        "An insertion that your cache refuses still has the old entry no longer accessed; it must stay as it is.",
        lambda s: ("accessed",),
    ),
    instead(
        "the requeueings",
        "An insertion that your cache refuses still has the old entry's requeueings forgotten; it must stay as it is.",
        lambda s: ("requeued",),
    ),
)
of(Store.gives_back, look="two ways out that both count; a reference that is not given back, or given back twice")(
    instead("absent", "Your cache never lets go of an entry that it removed.", lambda s, entry: 0),
    instead(
        "twice", "Your cache lets go of a removed entry twice; once is right.", lambda s, entry: 2 * (entry.count > 0)
    ),
    instead(
        "of a freed value too",
        "Your cache lets go of a value that is freed already when it removes it; it may let go once only.",
        lambda s, entry: 1,
    ),
)
of(Store.counted)(
    instead(
        "absent",
        (
            "Your cache counts nothing for a removed entry whose value is freed already; its size as it was inserted "
            "must be taken off."
        ),
        lambda s, entry: [1, entry.size] if entry.count else [0, 0],
    ),
    instead(
        "the size that it has now",
        "Your cache takes off the size that an entry has now; it must be the size as it was inserted.",
        lambda s, entry: [1, entry.size if entry.count else 0],
    ),
)
of(Store.blanks, look="every way out of the cache, and whether the place in the queue is blank afterwards")(
    instead("absent", "Your cache tells what has left it among what is not to be evicted.", lambda s, entry: False),
    instead(
        "unless it was freed",
        "Your cache tells an entry that has left among what is not to be evicted, while a reader still holds it.",
        lambda s, entry: entry.count > 0,
    ),
)
look_at("EC-13", "a removal that frees what others hold")
look_at("EC-22", "each of the four; a time that is not renewed lets a pass go round")
