"""Known mistakes in the specification's profiles."""

from __future__ import annotations

from broker_tck.model.entry_cache.profiles import Legacy, RefusingManager
from broker_tck.properties.mistakes.book import instead, of

of(RefusingManager.has_space, look="the comparison; whether the pass is ordered before the entry is refused")(
    instead(
        "absent",
        "Your cache takes every insertion; it must refuse it while the largest size is reached.",
        lambda m, total: True,
    ),
    instead(
        "beyond the largest",
        "Your cache still takes an insertion when its largest size is reached; it must refuse it.",
        lambda m, total: m.max_size is None or total <= m.max_size,
    ),
    instead(
        "up to the trigger",
        "Your cache refuses an insertion when the trigger is passed; only the largest size is a reason.",
        lambda m, total: not m.triggers(total),
    ),
)
of(Legacy.taken_from, look="the order by size; the half; how the shares are rounded")(
    instead(
        "absent",
        "Only the largest cache gives up entries in your cache; those that together hold half of all bytes must.",
        lambda m, caches, asked: [(cache, asked) for cache in caches[:1]],
    ),
    instead(
        "all of them",
        (
            "A pass of your cache takes from all topics; it may only from the largest ones, which together hold half of"
            " all bytes."
        ),
        lambda m, caches, asked: m.shares(caches, asked),
    ),
)
of(Legacy.victims, look="the order of insertion instead of that of positions")(
    instead(
        "absent",
        "Your cache evicts in the order of insertion; the lowest positions go first.",
        lambda m, entries: entries,
    ),
    instead(
        "the highest first",
        "Your cache evicts its highest positions first; the lowest go first.",
        lambda m, entries: sorted(entries, key=lambda e: e.position, reverse=True),
    ),
)
of(Legacy.stops_at_young, look="old entries behind a young one")(
    instead(
        "absent",
        "Your cache asks the age of entries behind the first that is young; it must end there.",
        lambda m, entry, threshold: False,
    ),
)
