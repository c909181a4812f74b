"""Known mistakes in rules of old releases, and what to look at first if an invariant is broken."""

from __future__ import annotations

from broker_tck.model.entry_cache.releases import LargestFirst, RefusingManager
from broker_tck.properties.mistakes.book import instead, look_at, of

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
        "Your cache refuses an insertion when the trigger is passed; it must only when the largest size is reached.",
        lambda m, total: not m.triggers(total),
    ),
)
of(LargestFirst.taken_from, look="the order by size; the half; how the shares are rounded")(
    instead(
        "absent",
        "Only the largest cache gives up entries in your cache; those that together hold half of all bytes must.",
        lambda p, caches, asked: [(cache, asked) for cache in caches[:1]],
        was="taken_from: absent",
    ),
    instead(
        "all of them",
        "A pass of your cache takes from all topics; it may only from the largest, which hold half of all bytes.",
        lambda p, caches, asked: p.shares(caches, asked),
        was="taken_from: all of them",
    ),
)
of(LargestFirst.victims, look="the order of insertion instead of that of positions")(
    instead(
        "absent",
        "Your cache evicts in the order of insertion; the lowest positions must go first.",
        lambda p, entries: entries,
        was="victims: absent",
    ),
    instead(
        "the highest first",
        "Your cache evicts its highest positions first; the lowest must go first.",
        lambda p, entries: sorted(entries, key=lambda e: e.position, reverse=True),
        was="victims: the highest first",
    ),
)
of(LargestFirst.stops_at_young, look="old entries behind a young one")(
    instead(
        "absent",
        "Your cache checks the age of entries behind the first young one; it must end there.",
        lambda p, entry, threshold: False,
        was="stops_at_young: absent",
    ),
)

look_at("EC-P17", "permits that are given back twice, or never: after failures, with the last entry, from the queue")
look_at("EC-01", "counters that are kept beside the entries, on every way out of the cache")
look_at("EC-P18", "places in the queue of what was removed, refused insertions, what was read last")
look_at("EC-P3", "every way into the cache, refusals too, and every way out of it")
look_at("EC-P4", "the comparison; entries behind an old one")
look_at("EC-P6", "what is protected: it is only removed later")
look_at("EC-P7", "the comparison of what is removed with what was asked for")
look_at("EC-P12", "who else writes the count")
